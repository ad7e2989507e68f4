//! Generated contact problems for tests and benchmarks: walls, stacks, random piles.
//!
//! Bodies are boxes; a contact is a point with a normal from the first body to the second, so that a positive
//! normal velocity separates. All have a rigid-body origin, W = H^T M^-1 H and q = H^T v, which is what
//! makes them solvable: a W of low rank with an arbitrary q need not be.

#![allow(dead_code)] // benchmarks use a part of it

use percuss_solvers::{
    Assembly, BlockKind, BlockMatrix, Contact, InverseMass, Jacobian, Problem, Report, Settings,
    Solver, Vector3, Workspace,
};

/// Small generator of random numbers (xorshift64*), so that problems are the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn unit(&mut self) -> Vector3 {
        loop {
            let x = [
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            ];
            let length = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
            if (0.1..1.0).contains(&length) {
                return x.map(|x| x / length);
            }
        }
    }
}

/// Boxes with velocities, and points where they touch.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    pub masses: Vec<InverseMass>,
    pub centres: Vec<Vector3>,
    pub velocities: Vec<[f64; 6]>,
    pub contacts: Vec<Contact>,
}

impl Scene {
    pub fn add_box(&mut self, mass: f64, size: Vector3, centre: Vector3, velocity: Vector3) -> u32 {
        let [x, y, z] = size.map(|edge| edge * edge);
        let inertia = [y + z, x + z, x + y].map(|sum| 12.0 / (mass * sum));
        self.masses.push(InverseMass {
            translation_per_kg: 1.0 / mass,
            rotation_per_kg_m2: [
                [inertia[0], 0.0, 0.0],
                [0.0, inertia[1], 0.0],
                [0.0, 0.0, inertia[2]],
            ],
        });
        self.centres.push(centre);
        self.velocities
            .push([velocity[0], velocity[1], velocity[2], 0.0, 0.0, 0.0]);
        self.masses.len() as u32 - 1
    }

    /// A contact at `point`; the normal points from the first body to the second.
    pub fn add_contact(
        &mut self,
        bodies: [Option<u32>; 2],
        point: Vector3,
        normal: Vector3,
        friction: f64,
    ) {
        let arms = bodies.map(|body| match body {
            Some(body) => std::array::from_fn(|k| point[k] - self.centres[body as usize][k]),
            None => [0.0; 3],
        });
        let mut jacobians = at_arms(normal, arms);
        for (jacobian, body) in jacobians.iter_mut().zip(bodies) {
            if body.is_none() {
                *jacobian = [[0.0; 6]; 3];
            }
        }
        self.add_block(bodies, jacobians, friction, BlockKind::Contact);
    }

    /// A block of any kind, with q = H v.
    fn add_block(
        &mut self,
        bodies: [Option<u32>; 2],
        jacobians: [Jacobian; 2],
        friction: f64,
        kind: BlockKind,
    ) {
        let mut free_velocity = [0.0; 3];
        for (body, jacobian) in bodies.iter().zip(&jacobians) {
            let Some(body) = body else { continue };
            let velocity = &self.velocities[*body as usize];
            for (q, row) in free_velocity.iter_mut().zip(jacobian) {
                *q += row.iter().zip(velocity).map(|(j, v)| j * v).sum::<f64>();
            }
        }
        self.contacts.push(Contact {
            bodies,
            jacobians,
            free_velocity,
            friction,
            kind,
        });
    }

    /// Give every contact that `chosen` picks a couple.
    pub fn add_couples(
        &mut self,
        twisting_m: f64,
        rolling_m: f64,
        mut chosen: impl FnMut() -> bool,
    ) {
        let scale = [twisting_m, rolling_m, rolling_m];
        for contact in std::mem::take(&mut self.contacts) {
            self.contacts.push(contact);
            if chosen() {
                // The first three columns of a contact's rows are its directions.
                let jacobians = contact.jacobians.map(|rows| {
                    std::array::from_fn(|k| {
                        let [x, y, z] = [rows[k][0], rows[k][1], rows[k][2]].map(|x| x * scale[k]);
                        [0.0, 0.0, 0.0, x, y, z]
                    })
                });
                self.add_block(contact.bodies, jacobians, 0.0, BlockKind::Couple);
            }
        }
    }

    /// Dry friction that resists the relative spin of two bodies, or of one, about up to three axes.
    pub fn add_dry_friction(&mut self, bodies: [Option<u32>; 2], axes: &[Vector3], bound: f64) {
        let mut jacobians = [[[0.0; 6]; 3]; 2];
        for (jacobian, sign) in jacobians.iter_mut().zip([-1.0, 1.0]) {
            for (row, axis) in jacobian.iter_mut().zip(axes) {
                row[3..].copy_from_slice(&axis.map(|x| sign * x));
            }
        }
        self.add_block(bodies, jacobians, bound, BlockKind::Bounded);
    }

    pub fn problem(&self) -> Problem {
        let mut problem = Problem::default();
        Assembly::default()
            .assemble(&self.masses, &self.contacts, &mut problem)
            .expect("a scene is valid");
        problem
    }
}

pub fn cross(x: Vector3, y: Vector3) -> Vector3 {
    [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ]
}

/// Orthonormal rows: the normal and two tangents.
/// Rows of a contact at these arms from the centres of A and B.
pub fn at_arms(normal: Vector3, arms: [Vector3; 2]) -> [Jacobian; 2] {
    let frame = frame(normal);
    [(-1.0, arms[0]), (1.0, arms[1])].map(|(sign, arm)| {
        frame.map(|axis| {
            let turn = cross(arm, axis);
            [axis[0], axis[1], axis[2], turn[0], turn[1], turn[2]].map(|x| sign * x)
        })
    })
}

pub fn frame(normal: Vector3) -> [Vector3; 3] {
    let least = (0..3)
        .min_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs()))
        .unwrap();
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let tangent = cross(normal, axis);
    let length = tangent.iter().map(|x| x * x).sum::<f64>().sqrt();
    let tangent = tangent.map(|x| x / length);
    [normal, tangent, cross(normal, tangent)]
}

const GRAVITY: f64 = 9.80665;
const STEP: f64 = 2.5e-4;
const UP: Vector3 = [0.0, 0.0, 1.0];

/// A wall of 1.8 t blocks in running bond, two points per half face, every block on two others; a hit in the
/// middle at `speed`. With `bars`, a 12 kg bar stands in each interface and touches the blocks above and below
/// it sideways.
pub fn wall(rows: usize, columns: usize, bars: bool, speed: f64) -> Scene {
    let (length, width, height, friction) = (1.56, 0.76, 0.8, 0.35);
    let mut random = Random::new(7);
    let mut scene = Scene::default();
    let mut blocks = vec![vec![0; columns]; rows];
    for row in 0..rows {
        for column in 0..columns {
            let y = length * (column as f64 + 0.5 * (row % 2) as f64);
            let z = height * (row as f64 + 0.5);
            let middle = row == rows / 2 && column == columns / 2;
            let jitter = || 1e-3 * random.range(-1.0, 1.0);
            let mut velocity: Vector3 = [(); 3].map({
                let mut jitter = jitter;
                move |()| jitter()
            });
            velocity[0] += if middle { speed } else { 0.0 };
            velocity[2] -= GRAVITY * STEP;
            blocks[row][column] =
                scene.add_box(1800.0, [width, length, height], [0.0, y, z], velocity);
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let above = blocks[row][column];
            let centre = scene.centres[above as usize];
            let z = height * row as f64;
            // The two halves of the lower face stand on different blocks, or both on the ground.
            for half in [-1.0, 1.0] {
                let below = match row {
                    0 => None,
                    _ => {
                        let shift = if row % 2 == 0 { half - 1.0 } else { half + 1.0 } / 2.0;
                        let neighbour = column as f64 + shift;
                        if neighbour < 0.0 || neighbour >= columns as f64 {
                            continue;
                        }
                        Some(blocks[row - 1][neighbour as usize])
                    }
                };
                let y = centre[1] + half * length / 4.0;
                for x in [-0.5 * width, 0.5 * width] {
                    scene.add_contact([below, Some(above)], [x, y, z], UP, friction);
                }
                if let (true, Some(below)) = (bars, below) {
                    let bar = scene.add_box(
                        12.0,
                        [0.14, 0.14, 0.8],
                        [0.0, y, z],
                        [0.0, 0.0, -GRAVITY * STEP],
                    );
                    let across = [1.0, 0.0, 0.0];
                    scene.add_contact([Some(above), Some(bar)], [-0.07, y, z + 0.1], across, 0.3);
                    scene.add_contact([Some(bar), Some(below)], [0.07, y, z - 0.1], across, 0.3);
                }
            }
        }
    }
    scene
}

/// A tower of equal cubes, four corners each: twelve unknowns for six motions, so W is singular. Each cube
/// moves sideways at `shear` relative to the one below.
pub fn tower(cubes: usize, friction: f64, shear: f64) -> Scene {
    let mut scene = Scene::default();
    for k in 0..cubes {
        let body = scene.add_box(
            2.0,
            [1.0; 3],
            [0.0, 0.0, k as f64 + 0.5],
            [shear * k as f64, 0.0, -GRAVITY * STEP],
        );
        for corner in [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]] {
            scene.add_contact(
                [body.checked_sub(1), Some(body)],
                [corner[0], corner[1], k as f64],
                UP,
                friction,
            );
        }
    }
    scene
}

/// Bodies of very different mass, touching at random points along random normals while being driven together.
pub fn pile(seed: u64, bodies: usize, contacts: usize, friction: [f64; 2]) -> Scene {
    let mut random = Random::new(seed);
    let mut scene = Scene::default();
    for _ in 0..bodies {
        let mass = 10.0_f64.powf(random.range(-1.0, 2.0));
        let centre = [
            random.range(0.0, 3.0),
            random.range(0.0, 3.0),
            random.range(0.0, 3.0),
        ];
        // Moving towards the ground at the bottom, so that a way out exists: upwards.
        let velocity = [
            random.range(-0.5, 0.5),
            random.range(-0.5, 0.5),
            random.range(-2.0, -0.5),
        ];
        let size = [
            random.range(0.3, 1.0),
            random.range(0.3, 1.0),
            random.range(0.3, 1.0),
        ];
        scene.add_box(mass, size, centre, velocity);
    }
    for k in 0..contacts {
        let above = (random.range(0.0, bodies as f64) as u32).min(bodies as u32 - 1);
        // From a lower index to a higher, or from the ground, with an upward normal: never a closed vice.
        let below = (k % 3 != 0 && above > 0).then(|| random.range(0.0, f64::from(above)) as u32);
        let mut normal = random.unit();
        normal[2] = normal[2].abs() + 0.5;
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let normal = normal.map(|x| x / length);
        let centre = scene.centres[above as usize];
        let point = std::array::from_fn(|k| centre[k] - 0.4 * normal[k] + random.range(-0.2, 0.2));
        let mu = random.range(friction[0], friction[1]);
        scene.add_contact([below, Some(above)], point, normal, mu);
    }
    scene
}

/// A pile of spinning bodies with blocks of every kind: couples at some contacts, and dry friction between some bodies,
/// also without any bound to speak of.
pub fn mixed_pile(seed: u64, bodies: usize, contacts: usize, friction: [f64; 2]) -> Scene {
    let mut random = Random::new(seed.rotate_left(32));
    let mut scene = pile(seed, bodies, contacts, friction);
    for velocity in &mut scene.velocities {
        velocity[3..].fill_with(|| random.range(-1.5, 1.5));
    }
    for contact in std::mem::take(&mut scene.contacts) {
        // The velocities have changed.
        scene.add_block(
            contact.bodies,
            contact.jacobians,
            contact.friction,
            contact.kind,
        );
    }
    let [twisting, rolling] = [(); 2].map(|()| 10.0_f64.powf(random.range(-3.0, -1.0)));
    let share = random.range(-0.5, 1.5);
    scene.add_couples(twisting, rolling, || random.range(0.0, 1.0) < share);
    for _ in 0..random.range(-4.0, 6.0) as usize {
        let [one, other] = [(); 2].map(|()| Some(random.range(0.0, bodies as f64) as u32));
        let axes: Vec<Vector3> = (0..random.range(1.0, 4.0) as usize)
            .map(|_| random.unit())
            .collect();
        let bound = match random.range(0.0, 1.0) {
            ..0.1 => 0.0,
            _ => 10.0_f64.powf(random.range(-3.0, 1.5)),
        };
        scene.add_dry_friction([one, other.filter(|_| other != one)], &axes, bound);
    }
    scene
}

/// A problem of one contact with the given W, by rows.
pub fn single(w: [f64; 9], q: Vector3, mu: f64) -> Problem {
    let matrix = BlockMatrix::from_block_rows(&[0, 1], &[0], &[w]).unwrap();
    Problem::new(matrix, vec![q], vec![mu]).unwrap()
}

/// Solve from rest with a fresh workspace.
pub fn solve(
    solver: Solver,
    problem: &Problem,
    tolerance: f64,
) -> (Vec<Vector3>, Vec<Vector3>, Report) {
    let settings = Settings {
        tolerance,
        ..Settings::default()
    };
    solve_within(solver, problem, &settings)
}

/// As [`solve`], within the limits given.
pub fn solve_within(
    solver: Solver,
    problem: &Problem,
    settings: &Settings,
) -> (Vec<Vector3>, Vec<Vector3>, Report) {
    let mut r = vec![[0.0; 3]; problem.contacts()];
    let mut u = r.clone();
    let report = solver
        .solve(problem, settings, &mut r, &mut u, &mut Workspace::default())
        .unwrap();
    (r, u, report)
}
