//! Bodies and the rows of all their joints: J, and the factors of J M^-1 J^T.

use super::envelope::{Envelope, LANES, Lanes, dot};
use super::frames::Local;
use super::order::{Coupling, couplings, joints_of, narrow_order};
use super::rows::joined;
use super::{HeldRow, Joint, Linkage, Placed, Row, RowValue, Target};
use crate::body::Inertia;
use crate::error::RigidError;
use crate::signal::Signal;
use percuss_geometry::{Mat3, Pose, Vec3};

/// Inverse mass of a body; zero for what forces do not move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    pub per_kg: f64,
    /// Inertia and its inverse, in the body's axes.
    pub inertia: Mat3,
    pub inverse: Mat3,
    /// The inverse in world axes.
    pub turned: Mat3,
    pub moves: bool,
    round: bool,
}

/// Rows that are not held but give way: the scale of each Jacobian, at a compliance of one.
#[derive(Debug, Clone)]
pub(crate) struct Soft {
    pub bodies: [Option<usize>; 2],
    pub frames: [Pose; 2],
    pub rows: Vec<(Row, f64)>,
}

impl Soft {
    /// Its rows, those of angular velocities last, and their scales.
    fn held(&self) -> (Vec<HeldRow>, Vec<f64>) {
        let mut rows = self.rows.clone();
        rows.sort_by_key(|(row, _)| row.turns());
        let held = |(row, scale): &(Row, f64)| {
            let target = Target::Velocity(Signal::Constant(0.0));
            (HeldRow { row: *row, target }, *scale)
        };
        rows.iter().map(held).unzip()
    }
}

/// A joint in the order of the rows.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    /// Its index in the scene; what gives way is counted after the joints.
    pub joint: usize,
    /// Indices into `placed`; the world is the last.
    pub bodies: [usize; 2],
    pub local: [Local; 2],
    pub held: Vec<HeldRow>,
    /// Its first row.
    pub first: usize,
    /// From here on its rows are of the angular velocities alone.
    pub turning: usize,
    pub linkage: Linkage,
}

/// A row's Jacobian, and M^-1 J^T.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighted {
    pub value: RowValue,
    pub response: [[f64; 6]; 2],
}

/// Bodies in the world, and their joints.
#[derive(Debug, Clone)]
pub(crate) struct Mechanism {
    /// The bodies, then the world.
    pub placed: Vec<Placed>,
    pub weights: Vec<Weight>,
    pub joints: Vec<Linked>,
    pub rows: Vec<Weighted>,
    /// Rows that give way, and their scales.
    pub soft: Vec<(usize, f64)>,
    /// The Jacobians of each joint and side by their six columns.
    columns: Vec<[[Lanes; 6]; 2]>,
    couplings: Vec<Coupling>,
    factors: Envelope,
    /// Value and derivatives of what each row is held at.
    pub targets: Vec<[f64; 3]>,
    /// When `targets` holds.
    aimed_s: f64,
}

impl Mechanism {
    /// The joints between bodies placed as given (without the world).
    pub fn new(
        joints: &[Joint],
        soft: &[Soft],
        inertia: &[Option<Inertia>],
        placed: &[Placed],
    ) -> Result<Self, RigidError> {
        let world = placed.len();
        let placed: Vec<Placed> = placed.iter().copied().chain([Placed::WORLD]).collect();
        let mut weights: Vec<Weight> = inertia.iter().map(weight).collect();
        weights.push(weight(&None));
        let centre = |body: usize| match inertia.get(body) {
            Some(Some(inertia)) => inertia.centre_m,
            _ => Vec3::zeros(),
        };
        let sides = |bodies: &[Option<usize>; 2]| bodies.map(|body| body.unwrap_or(world));
        let mut between: Vec<([usize; 2], &[Pose; 2])> = Vec::new();
        between.extend(joints.iter().map(|j| (sides(&j.bodies), &j.frames)));
        between.extend(soft.iter().map(|s| (sides(&s.bodies), &s.frames)));
        let moving = |body: usize| weights[body].moves.then_some(body);
        let holds: Vec<[Option<usize>; 2]> = between
            .iter()
            .map(|(bodies, _)| bodies.map(moving))
            .collect();
        let joints_of = joints_of(&holds, world);
        let mut scales = Vec::new();
        let mut linked = Vec::with_capacity(between.len());
        let mut count = 0;
        for index in narrow_order(&holds, &joints_of) {
            let (bodies, frames) = between[index];
            let local = Linkage::local(&std::array::from_fn(|side| Pose {
                position: frames[side].position - centre(bodies[side]),
                rotation: frames[side].rotation,
            }));
            let linkage = Linkage::new(&local, bodies.map(|body| &placed[body]));
            let first = count;
            let held: Vec<HeldRow> = match index.checked_sub(joints.len()) {
                None => {
                    let mut held = joints[index].held(linkage.offset.norm())?;
                    held.sort_by_key(|held| held.row.turns());
                    held
                }
                Some(index) => {
                    let (held, own) = soft[index].held();
                    scales.extend((first..).zip(own));
                    held
                }
            };
            let turning = first + held.iter().filter(|held| !held.row.turns()).count();
            count += held.len();
            linked.push(Linked {
                joint: index,
                bodies,
                local,
                held,
                first,
                turning,
                linkage,
            });
        }
        let (couplings, sizes) = couplings(&linked, &holds, &joints_of);
        let none = Weighted {
            value: RowValue {
                jacobian: [[0.0; 6]; 2],
                bias: 0.0,
            },
            response: [[0.0; 6]; 2],
        };
        Ok(Self {
            placed,
            weights,
            rows: vec![none; count],
            soft: scales,
            couplings,
            columns: vec![[[[0.0; LANES]; 6]; 2]; linked.len()],
            factors: Envelope::new(&sizes),
            joints: linked,
            targets: vec![[0.0; 3]; count],
            aimed_s: f64::NAN,
        })
    }

    /// Brings the inverse inertia of a body into world axes.
    #[inline]
    pub fn turn(&mut self, body: usize) {
        let weight = &mut self.weights[body];
        if weight.moves && !weight.round {
            let axes = &self.placed[body].axes;
            weight.turned = turned(&weight.inverse, axes);
        }
    }

    /// Finds what the rows are held at; a time asked for again costs nothing.
    #[inline]
    pub fn aim(&mut self, t: f64) {
        if t != self.aimed_s {
            for joint in &self.joints {
                for (held, target) in joint.held.iter().zip(&mut self.targets[joint.first..]) {
                    *target = held.target(t);
                }
            }
            self.aimed_s = t;
        }
    }

    /// Frames of the joints where the bodies are now.
    pub fn relink(&mut self) {
        for joint in &mut self.joints {
            joint.linkage = Linkage::new(&joint.local, joint.bodies.map(|b| &self.placed[b]));
        }
    }

    /// Rows where the bodies are now, and the factors of J M^-1 J^T (plus the compliance of rows that give way).
    pub fn linearise(&mut self) {
        self.factor(1.0);
    }

    /// The same without the rows that give way.
    pub fn linearise_held(&mut self) {
        self.factor(0.0);
    }

    /// Rows where the frames are now; those that give way times `softness`.
    pub fn evaluate(&mut self, softness: f64) {
        for joint in &self.joints {
            let weights = joint.bodies.map(|body| &self.weights[body]);
            for (held, row) in joint.held.iter().zip(&mut self.rows[joint.first..]) {
                let arrow = joint.linkage.arrow(held.row);
                row.value = arrow.value();
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let weight = weights[side];
                    if weight.moves {
                        let pushed = arrow.along * (sign * weight.per_kg);
                        row.response[side] = joined(&pushed, &(weight.turned * arrow.about[side]));
                    }
                }
            }
        }
        for &(row, scale) in &self.soft {
            let row = &mut self.rows[row];
            let sides = row.value.jacobian.iter_mut().chain(&mut row.response);
            sides.flatten().for_each(|x| *x *= softness * scale);
        }
    }

    fn factor(&mut self, softness: f64) {
        self.relink();
        self.evaluate(softness);
        for (joint, columns) in self.joints.iter().zip(&mut self.columns) {
            for (lane, row) in self.rows[joint.first..][..joint.held.len()]
                .iter()
                .enumerate()
            {
                for side in 0..2 {
                    for k in 0..6 {
                        columns[side][k][lane] = row.value.jacobian[side][k];
                    }
                }
            }
        }
        self.factors.clear();
        for coupling in &self.couplings {
            let [p, q] = coupling.joints;
            let [side, other] = coupling.sides;
            let (jacobian, two) = (&self.columns[p][side], &self.joints[q]);
            let entries = self.factors.columns_mut(p, two.first);
            let rows = two.first..two.first + two.held.len();
            for (entry, row) in entries.iter_mut().zip(rows) {
                let response = &self.rows[row].response[other];
                // Rows of the rotations alone have no first half.
                if row < two.turning {
                    add(entry, jacobian, response, 0);
                }
                add(entry, jacobian, response, 3);
            }
        }
        for &(row, _) in &self.soft {
            self.factors.stiffen(row, 1.0);
        }
        self.factors.factor();
    }

    /// D^-1/2 L^-1 of three right-hand sides that are zero before row `first`, up to a row beyond which L does not
    /// reach.
    pub fn halve(&self, first: usize, columns: &mut [[f64; 3]]) {
        self.factors.halve(first, columns);
    }

    /// Solves J M^-1 J^T x = x in place.
    #[inline]
    pub fn solve(&self, x: &mut [f64]) {
        self.factors.solve(x);
    }

    /// Whether a row depends on those before it.
    pub fn is_dependent(&self, row: usize) -> bool {
        self.factors.is_dependent(row)
    }

    /// Adds M^-1 J^T x to the twists of the moving bodies.
    #[inline]
    pub fn respond(&self, x: &[f64], twists: &mut [[f64; 6]]) {
        for joint in &self.joints {
            for (side, &body) in joint.bodies.iter().enumerate() {
                if self.weights[body].moves {
                    let mut twist = twists[body];
                    for row in joint.first..joint.first + joint.held.len() {
                        let response = &self.rows[row].response[side];
                        for k in 0..6 {
                            twist[k] += response[k] * x[row];
                        }
                    }
                    twists[body] = twist;
                }
            }
        }
    }

    /// Rates of the rows when the bodies move with these twists.
    #[inline]
    pub fn rates(&self, twists: &[[f64; 6]], into: &mut [f64]) {
        for joint in &self.joints {
            let own = joint.bodies.map(|body| &twists[body]);
            for row in joint.first..joint.first + joint.held.len() {
                into[row] = self.rows[row].value.rate(own);
            }
        }
    }

    /// What twists leave of the rates that the rows are held at.
    #[inline]
    pub fn rate_residuals(&self, twists: &[[f64; 6]], into: &mut [f64]) {
        self.rates(twists, into);
        for (rate, target) in into.iter_mut().zip(&self.targets) {
            *rate -= target[1];
        }
    }

    /// What accelerations leave of the second derivatives that the rows are held at.
    #[inline]
    pub fn acceleration_residuals(&self, accelerations: &[[f64; 6]], into: &mut [f64]) {
        for joint in &self.joints {
            let own = joint.bodies.map(|body| &accelerations[body]);
            for row in joint.first..joint.first + joint.held.len() {
                let value = &self.rows[row].value;
                into[row] = value.rate(own) + value.bias - self.targets[row][2];
            }
        }
    }

    /// Power that the forces `x` of the rows bring to the moving bodies: of rates that are imposed, and of joints to
    /// bodies whose motion is given.
    #[inline]
    pub fn power(&self, x: &[f64]) -> f64 {
        let mut power = 0.0;
        for (x, target) in x.iter().zip(&self.targets) {
            power += x * target[1];
        }
        for joint in &self.joints {
            for (side, &body) in joint.bodies.iter().enumerate() {
                let (weight, placed) = (&self.weights[body], &self.placed[body]);
                let stands = placed.velocity == Vec3::zeros() && placed.turning == Vec3::zeros();
                if !weight.moves && !stands {
                    let twist = placed.twist();
                    for row in joint.first..joint.first + joint.held.len() {
                        power -= x[row] * dot(&self.rows[row].value.jacobian[side], &twist);
                    }
                }
            }
        }
        power
    }

    /// Residuals of all rows; zero where only a rate is imposed. Gives the largest.
    pub fn residuals(&self, into: &mut [f64]) -> f64 {
        let mut worst = 0.0_f64;
        for joint in &self.joints {
            for (k, held) in joint.held.iter().enumerate() {
                let row = joint.first + k;
                into[row] = held.residual(&joint.linkage, self.targets[row][0]);
                worst = worst.max(into[row].abs());
            }
        }
        worst
    }

    /// The error of the row that is farthest from being met, of joints named as given.
    pub fn broken(&self, time_s: f64, name: impl Fn(usize) -> String) -> RigidError {
        let mut residuals = vec![0.0; self.rows.len()];
        self.residuals(&mut residuals);
        let worst =
            (0..residuals.len()).max_by(|&p, &q| residuals[p].abs().total_cmp(&residuals[q].abs()));
        let row = worst.unwrap_or(0);
        let (joint, named) = self.named(row);
        RigidError::Broken {
            joint: name(joint),
            row: named,
            time_s,
            off_by: residuals[row].abs(),
        }
    }

    /// The joint and the row of an index.
    pub fn named(&self, row: usize) -> (usize, String) {
        let after = self.joints.partition_point(|joint| joint.first <= row);
        let joint = &self.joints[after - 1];
        (joint.joint, joint.held[row - joint.first].row.name())
    }
}

fn weight(inertia: &Option<Inertia>) -> Weight {
    let (inertia, none) = (inertia.as_ref(), Mat3::zeros());
    let inverse = inertia.map_or(none, |i| i.inverse);
    Weight {
        per_kg: inertia.map_or(0.0, |i| 1.0 / i.mass_kg),
        inertia: inertia.map_or(none, |i| i.inertia),
        inverse,
        turned: inverse,
        moves: inertia.is_some(),
        round: inertia.is_none_or(|i| i.round),
    }
}

/// A symmetric tensor in axes given as columns.
#[inline]
fn turned(tensor: &Mat3, axes: &Mat3) -> Mat3 {
    let half = axes * tensor;
    let entry = |i: usize, j: usize| half.row(i).dot(&axes.row(j));
    let (xy, xz, yz) = (entry(0, 1), entry(0, 2), entry(1, 2));
    let [xx, yy, zz] = [0, 1, 2].map(|i| entry(i, i));
    Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

/// M^-1 of a body applied to a force and torque.
#[inline]
pub(crate) fn response(weight: &Weight, force: &[f64; 6]) -> [f64; 6] {
    let turned = weight.turned * Vec3::new(force[3], force[4], force[5]);
    let m = weight.per_kg;
    [
        m * force[0],
        m * force[1],
        m * force[2],
        turned.x,
        turned.y,
        turned.z,
    ]
}

/// Adds three of the six parts of rows' products with a response.
#[inline(always)]
fn add(to: &mut Lanes, jacobian: &[Lanes; 6], response: &[f64; 6], from: usize) {
    for lane in 0..LANES {
        to[lane] += jacobian[from][lane] * response[from]
            + jacobian[from + 1][lane] * response[from + 1]
            + jacobian[from + 2][lane] * response[from + 2];
    }
}
