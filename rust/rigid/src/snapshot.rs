//! The state of a world, to stop and go on later with the same bits.

use crate::contact::ActiveContact;
use crate::energy::{Energy, PairWork};
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::recording::Gathered;
use crate::world::World;
use percuss_geometry::{Quat, Shape, Vec3};

/// Everything that changes from step to step, and what tells the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    pub(crate) step: u64,
    pub(crate) present: Vec<bool>,
    pub(crate) states: Vec<BodyState>,
    pub(crate) active: Vec<ActiveContact>,
    pub(crate) energy: Energy,
    pub(crate) pair_work: Vec<PairWork>,
    pub(crate) gathered: Vec<Gathered>,
    /// Reactions of joints in the last step.
    pub(crate) reactions: Vec<[f64; 6]>,
    /// What the stepper hands from one step to the next.
    pub(crate) carried: Vec<f64>,
    /// Of what the scene is made: see [`World::form`].
    pub(crate) form: u64,
    /// Of its masses: see [`World::weights`].
    pub(crate) weights: u64,
}

const MAGIC: &[u8; 8] = b"percuss5";

impl World {
    /// The state now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            step: self.step,
            present: self.present.clone(),
            states: self.states.clone(),
            active: self.active.clone(),
            energy: self.energy,
            pair_work: self.pair_work.clone(),
            gathered: self.gathered.clone(),
            reactions: self.reactions.clone(),
            carried: self.carried(),
            form: self.form(),
            weights: self.weights(),
        }
    }

    /// Digest of what stays the same whatever a scene is settled or restarted for: contactors, which groups see each
    /// other, and what joints join. Restitution, loads, motions, velocities and probes may differ.
    fn form(&self) -> u64 {
        let mut digest = Digest::default();
        let scene = &self.scene;
        let joints = scene.joints.iter().map(|joint| (joint.kind, joint.bodies));
        let groups = scene.laws.iter().map(|law| law.groups);
        digest.take(&scene.bodies.len());
        for contactor in &scene.contactors {
            digest.take(&(contactor.body, contactor.pose, contactor.group));
            match &contactor.shape {
                // the rest of a mesh follows from these
                Shape::Mesh(mesh) => {
                    mesh.vertices().iter().for_each(|v| digest.bits(v.iter()));
                    mesh.triangles()
                        .iter()
                        .for_each(|t| digest.take(&t.corners));
                }
                shape => digest.take(shape),
            }
        }
        digest.take(&groups.collect::<Vec<_>>());
        digest.take(&joints.collect::<Vec<_>>());
        digest.0
    }

    /// Digest of the masses of the bodies that forces move.
    fn weights(&self) -> u64 {
        let mut digest = Digest::default();
        for inertia in &self.inertia {
            digest.take(&inertia.map(|i| (i.mass_kg, i.inertia, i.centre_m)));
        }
        digest.0
    }

    /// Goes back to a state of the same scene; the steps that follow repeat to the bit.
    ///
    /// # Errors
    /// A snapshot of a scene with other bodies, masses, contactors, laws or joints, or one with a number that is not
    /// finite.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RigidError> {
        self.check_snapshot(snapshot)?;
        if snapshot.weights != self.weights() {
            let other = "it comes from a scene whose bodies have other masses";
            return Err(RigidError::Snapshot(other.into()));
        }
        self.step = snapshot.step;
        self.present.clone_from(&snapshot.present);
        self.states.clone_from(&snapshot.states);
        self.active.clone_from(&snapshot.active);
        self.energy = snapshot.energy;
        self.pair_work.clone_from(&snapshot.pair_work);
        self.reactions.clone_from(&snapshot.reactions);
        // Under other probes, which a restart may have, every interval starts anew.
        if snapshot.gathered.len() == self.gathered.len() {
            self.gathered.clone_from(&snapshot.gathered);
        } else {
            self.gathered.fill(Gathered::default());
        }
        for (middle, state) in self.middle.iter_mut().zip(&self.states) {
            *middle = state.pose();
        }
        for (body, present) in self.present.iter().enumerate() {
            self.detector.set_present(body as u32, *present)?;
        }
        if let Some(smooth) = &mut self.smooth {
            smooth.carry(&snapshot.carried);
        }
        if let Some(joints) = &mut self.articulation {
            joints.carry(&snapshot.carried);
        }
        self.next_event_s = f64::NEG_INFINITY;
        Ok(())
    }

    /// What the stepper hands from one step to the next.
    fn carried(&self) -> Vec<f64> {
        match (&self.smooth, &self.articulation) {
            (Some(smooth), _) => smooth.carried(),
            (None, Some(joints)) => joints.carried(),
            (None, None) => Vec::new(),
        }
    }

    /// Refuses a snapshot that does not fit the scene.
    pub(crate) fn check_snapshot(&self, snapshot: &Snapshot) -> Result<(), RigidError> {
        let (bodies, laws) = (self.states.len(), self.pair_work.len());
        if snapshot.states.len() != bodies || snapshot.pair_work.len() != laws {
            return Err(RigidError::Snapshot(format!(
                "it holds {} bodies and {} laws, the scene has {bodies} and {laws}",
                snapshot.states.len(),
                snapshot.pair_work.len()
            )));
        }
        if snapshot.carried.len() != self.carried().len() {
            return Err(RigidError::Snapshot(
                "it comes from other joints or another stepper".into(),
            ));
        }
        if snapshot.form != self.form() || snapshot.reactions.len() != self.reactions.len() {
            return Err(RigidError::Snapshot(
                "it comes from a scene with other contactors, laws or joints".into(),
            ));
        }
        let contactors = self.scene.contactors.len() as u32;
        let known = |c: &ActiveContact| {
            c.a < contactors
                && c.b < contactors
                && (c.law as usize) < laws
                && c.bodies.iter().all(|&b| (b as usize) < bodies)
        };
        if !snapshot.active.iter().all(known) {
            return Err(RigidError::Snapshot(
                "a contact names a contactor, body or law that the scene does not have".into(),
            ));
        }
        Ok(())
    }
}

impl Snapshot {
    /// Steps taken up to this state.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// As bytes, little-endian, bit for bit.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let word = |out: &mut Vec<u8>, x: u64| out.extend_from_slice(&x.to_le_bytes());
        let counts = [
            self.states.len(),
            self.active.len(),
            self.pair_work.len(),
            self.gathered.len(),
            self.reactions.len(),
            self.carried.len(),
        ];
        word(&mut out, self.step);
        word(&mut out, self.form);
        word(&mut out, self.weights);
        for count in counts {
            word(&mut out, count as u64);
        }
        for (state, present) in self.states.iter().zip(&self.present) {
            word(&mut out, u64::from(*present));
            for x in state_numbers(state) {
                word(&mut out, x.to_bits());
            }
        }
        for c in &self.active {
            for id in [c.a, c.b, c.feature, c.bodies[0], c.bodies[1], c.law] {
                word(&mut out, u64::from(id));
            }
            for x in contact_numbers(c) {
                word(&mut out, x.to_bits());
            }
        }
        for x in energy_numbers(&self.energy) {
            word(&mut out, x.to_bits());
        }
        word(&mut out, self.energy.gain_steps);
        for w in &self.pair_work {
            for x in [
                w.impact_dissipation_j,
                w.friction_dissipation_j,
                w.normal_impulse_n_s,
                w.friction_impulse_n_s,
            ] {
                word(&mut out, x.to_bits());
            }
        }
        for g in &self.gathered {
            word(&mut out, g.steps);
            for x in g.force.iter().chain(&g.torque).chain(&g.coordinates) {
                word(&mut out, x.to_bits());
            }
        }
        for x in self.reactions.iter().flatten().chain(&self.carried) {
            word(&mut out, x.to_bits());
        }
        out
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no snapshot, only part of one, or hold a number that is not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RigidError> {
        let damaged = || RigidError::Snapshot("the bytes are no complete snapshot".into());
        let body = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        if body.len() % 8 != 0 {
            return Err(damaged());
        }
        let mut words = body
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(std::array::from_fn(|i| c[i])));
        let mut next = || words.next().ok_or_else(damaged);
        let (step, form, weights) = (next()?, next()?, next()?);
        let counts = [next()?, next()?, next()?, next()?, next()?, next()?];
        let needed = 9 + counts[0]
            .saturating_mul(14)
            .saturating_add(counts[1].saturating_mul(25))
            .saturating_add(counts[2].saturating_mul(4))
            .saturating_add(counts[3].saturating_mul(10))
            .saturating_add(counts[4].saturating_mul(6))
            .saturating_add(counts[5])
            .saturating_add(13);
        if needed != (body.len() / 8) as u64 {
            return Err(damaged());
        }
        let mut present = Vec::new();
        let mut states = Vec::new();
        for _ in 0..counts[0] {
            present.push(next()? != 0);
            let mut x = [0.0; 13];
            for x in &mut x {
                *x = f64::from_bits(next()?);
            }
            states.push(BodyState {
                position: Vec3::new(x[0], x[1], x[2]),
                rotation: Quat::new_unchecked(nalgebra::Quaternion::new(x[3], x[4], x[5], x[6])),
                velocity: Vec3::new(x[7], x[8], x[9]),
                spin: Vec3::new(x[10], x[11], x[12]),
            });
        }
        let mut active = Vec::new();
        for _ in 0..counts[1] {
            let mut id = [0_u32; 6];
            for id in &mut id {
                *id = u32::try_from(next()?).map_err(|_| damaged())?;
            }
            let mut x = [0.0; 19];
            for x in &mut x {
                *x = f64::from_bits(next()?);
            }
            let vector = |k: usize| Vec3::new(x[k], x[k + 1], x[k + 2]);
            active.push(ActiveContact {
                a: id[0],
                b: id[1],
                feature: id[2],
                bodies: [id[3], id[4]],
                law: id[5],
                position: vector(0),
                normal: vector(3),
                gap_m: x[6],
                impulse_n_s: vector(7),
                velocity_before_m_per_s: [x[10], x[11], x[12]],
                velocity_after_m_per_s: [x[13], x[14], x[15]],
                couple_n_m_s: vector(16),
            });
        }
        let mut x = [0.0; 12];
        for x in &mut x {
            *x = f64::from_bits(next()?);
        }
        let energy = Energy {
            kinetic_j: x[0],
            potential_j: x[1],
            impact_dissipation_j: x[2],
            friction_dissipation_j: x[3],
            external_work_j: x[4],
            motion_work_j: x[5],
            stabilisation_work_j: x[6],
            scheme_j: x[7],
            brought_in_j: x[8],
            contact_gain_j: x[9],
            elastic_j: x[10],
            damping_dissipation_j: x[11],
            gain_steps: next()?,
        };
        let mut pair_work = Vec::new();
        for _ in 0..counts[2] {
            let mut x = [0.0; 4];
            for x in &mut x {
                *x = f64::from_bits(next()?);
            }
            pair_work.push(PairWork {
                impact_dissipation_j: x[0],
                friction_dissipation_j: x[1],
                normal_impulse_n_s: x[2],
                friction_impulse_n_s: x[3],
            });
        }
        let mut gathered = Vec::new();
        for _ in 0..counts[3] {
            let steps = next()?;
            let mut x = [0.0; 9];
            for x in &mut x {
                *x = f64::from_bits(next()?);
            }
            gathered.push(Gathered {
                steps,
                force: Vec3::new(x[0], x[1], x[2]),
                torque: Vec3::new(x[3], x[4], x[5]),
                coordinates: [x[6], x[7], x[8]],
                ..Gathered::default()
            });
        }
        let mut reactions = Vec::new();
        for _ in 0..counts[4] {
            let mut x = [0.0; 6];
            for x in &mut x {
                *x = f64::from_bits(next()?);
            }
            reactions.push(x);
        }
        let carried = words.map(f64::from_bits).collect();
        let snapshot = Self {
            step,
            present,
            states,
            active,
            energy,
            pair_work,
            gathered,
            reactions,
            carried,
            form,
            weights,
        };
        // of what is carried an infinite number says that something is to begin anew
        let carried = snapshot.carried.iter().any(|x| x.is_nan());
        if carried || snapshot.numbers().any(|x| !x.is_finite()) {
            return Err(RigidError::Snapshot(
                "it holds a number that is not finite".into(),
            ));
        }
        Ok(snapshot)
    }

    /// Every number of the state but those carried.
    fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let works = self.pair_work.iter().flat_map(|w| {
            [
                w.impact_dissipation_j,
                w.friction_dissipation_j,
                w.normal_impulse_n_s,
                w.friction_impulse_n_s,
            ]
        });
        let gathered = self
            .gathered
            .iter()
            .flat_map(|g| g.force.iter().chain(&g.torque).chain(&g.coordinates))
            .copied();
        self.states
            .iter()
            .flat_map(state_numbers)
            .chain(self.active.iter().flat_map(contact_numbers))
            .chain(energy_numbers(&self.energy))
            .chain(works)
            .chain(gathered)
            .chain(self.reactions.iter().flatten().copied())
    }
}

/// FNV-1a over what a value looks like in full: floats are written with the digits that tell them apart.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn take(&mut self, value: &impl std::fmt::Debug) {
        use std::fmt::Write;
        // writing into a number cannot fail
        let _ = write!(self, "{value:?};");
    }

    fn bits<'a>(&mut self, numbers: impl Iterator<Item = &'a f64>) {
        for number in numbers {
            self.bytes(&number.to_bits().to_le_bytes());
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

fn state_numbers(s: &BodyState) -> [f64; 13] {
    let (p, q, v, w) = (s.position, s.rotation, s.velocity, s.spin);
    [
        p.x, p.y, p.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z,
    ]
}

fn contact_numbers(c: &ActiveContact) -> [f64; 19] {
    let (p, n, i, s) = (c.position, c.normal, c.impulse_n_s, c.couple_n_m_s);
    let (u, w) = (c.velocity_before_m_per_s, c.velocity_after_m_per_s);
    [
        p.x, p.y, p.z, n.x, n.y, n.z, c.gap_m, i.x, i.y, i.z, u[0], u[1], u[2], w[0], w[1], w[2],
        s.x, s.y, s.z,
    ]
}

fn energy_numbers(e: &Energy) -> [f64; 12] {
    [
        e.kinetic_j,
        e.potential_j,
        e.impact_dissipation_j,
        e.friction_dissipation_j,
        e.external_work_j,
        e.motion_work_j,
        e.stabilisation_work_j,
        e.scheme_j,
        e.brought_in_j,
        e.contact_gain_j,
        e.elastic_j,
        e.damping_dissipation_j,
    ]
}
