//! The state of a world, to stop and go on later with the same bits.

use crate::error::RigidError;
use crate::nonsmooth::ActiveContact;
use crate::probing::Gathered;
use crate::setup::Setup;
use crate::state::State;
use crate::stored::{Carried, Stored, Words, damaged, stored};
use crate::world::{Moving, World};
use percuss_geometry::Shape;

/// Everything that changes from step to step, and what tells the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Of what the scene is made: see [`Setup::form`].
    form: u64,
    /// Of its masses: see [`Setup::weights`].
    weights: u64,
    pub(crate) state: State,
    /// What the stepper hands from one step to the next.
    carried: Vec<Carried>,
}

stored!(Snapshot {
    form,
    weights,
    state,
    carried
});

const MAGIC: &[u8; 8] = b"percuss7";

impl World {
    /// The state now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            form: self.form(),
            weights: self.setup.weights(),
            state: self.state.clone(),
            carried: self.stepper.carried().into_iter().map(Carried).collect(),
        }
    }

    /// Goes back to a state of the same scene; the steps that follow repeat to the bit.
    ///
    /// # Errors
    /// A snapshot of a scene with other bodies, masses, contactors, laws, joints or bonds, or one with a number that is not
    /// finite.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RigidError> {
        self.check_snapshot(snapshot)?;
        if snapshot.weights != self.setup.weights() {
            let other = "it comes from a scene whose bodies have other masses";
            return Err(RigidError::Snapshot(other.into()));
        }
        let probes = self.state.gathered.len();
        self.state.clone_from(&snapshot.state);
        // Under other probes, which a restart may have, every interval starts anew.
        if self.state.gathered.len() != probes {
            self.state.gathered = vec![Gathered::default(); probes];
        }
        let carried: Vec<f64> = snapshot.carried.iter().map(|x| x.0).collect();
        self.stepper.resume(&self.state, &carried)
    }

    /// Digest of what [`Setup::form`] tells, and of where bonds hold.
    fn form(&self) -> u64 {
        let mut digest = Digest(self.setup.form());
        if let Moving::Nonsmoothly(nonsmooth) = &self.stepper {
            let points = nonsmooth.bond_points().iter();
            points.for_each(|point| digest.take(point));
        }
        digest.0
    }

    /// Refuses a snapshot that does not fit the scene.
    pub(crate) fn check_snapshot(&self, snapshot: &Snapshot) -> Result<(), RigidError> {
        let refused = |what: &str| Err(RigidError::Snapshot(what.into()));
        let (own, other) = (&self.state, &snapshot.state);
        let (bodies, laws) = (own.bodies.len(), own.pair_work.len());
        if other.bodies.len() != bodies || other.pair_work.len() != laws {
            return Err(RigidError::Snapshot(format!(
                "it holds {} bodies and {} laws, the scene has {bodies} and {laws}",
                other.bodies.len(),
                other.pair_work.len()
            )));
        }
        if snapshot.carried.len() != self.stepper.carried().len() {
            return refused("it comes from other joints or another stepper");
        }
        if snapshot.form != self.form() || other.reactions.len() != own.reactions.len() {
            return refused("it comes from a scene with other contactors, laws, joints or bonds");
        }
        if [other.present.len(), other.quiet.len(), other.asleep.len()] != [bodies; 3] {
            return refused("its lists of bodies have different lengths");
        }
        if other.bonds.len() != own.bonds.len() {
            return refused("its points of bonds are not as many as those of the scene");
        }
        let contactors = self.setup.scene.contactors.len() as u32;
        let known = |c: &ActiveContact| {
            c.a < contactors
                && c.b < contactors
                && (c.law as usize) < laws
                && c.bodies.iter().all(|&b| (b as usize) < bodies)
        };
        if !other.contacts.iter().all(known) {
            return refused(
                "a contact names a contactor, body or law that the scene does not have",
            );
        }
        Ok(())
    }
}

impl Setup {
    /// Digest of what stays the same whatever a scene is settled or restarted for: contactors, which groups see each
    /// other, and what joints join. Restitution, loads, motions, velocities and probes may differ.
    pub fn form(&self) -> u64 {
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
    pub fn weights(&self) -> u64 {
        let mut digest = Digest::default();
        for inertia in &self.inertia {
            digest.take(&inertia.map(|i| (i.mass_kg, i.inertia, i.centre_m)));
        }
        digest.0
    }
}

impl Snapshot {
    /// Steps taken up to this state.
    pub fn step(&self) -> u64 {
        self.state.step
    }

    /// As bytes, little-endian, bit for bit.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        self.write(&mut out);
        out
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes that are no snapshot, only part of one, or hold a number that is not finite.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RigidError> {
        let mut words = Words::new(bytes.strip_prefix(MAGIC).ok_or_else(damaged)?);
        let snapshot = Self::read(&mut words)?;
        match words.left() {
            0 => Ok(snapshot),
            _ => Err(damaged()),
        }
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
