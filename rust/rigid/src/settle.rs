//! Bringing a scene to rest under gravity before the experiment starts.
//!
//! A copy of the scene is stepped without restitution, loads and prescribed motions, its velocities damped, with
//! the bodies that carry an initial velocity (a projectile) held where they are; then places, and the impulses
//! that hold the bodies, are taken over. Time starts at zero afterwards.

use crate::body::{Body, Role};
use crate::bonds::Bond;
use crate::elements::Effort;
use crate::energy::{Energy, PairWork};
use crate::error::RigidError;
use crate::joints::Target;
use crate::probing::Gathered;
use crate::signal::Signal;
use crate::snapshot::Snapshot;
use crate::world::{Moving, World};
use percuss_geometry::Vec3;

/// When a scene counts as settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settle {
    /// Every body slower than this [m/s], its rotation counted by its energy.
    pub speed_m_per_s: f64,
    /// For this many steps in a row.
    pub quiet_steps: u64,
    /// Share of the velocity taken away in each step, 0 to 1.
    pub damping: f64,
    /// Most steps.
    pub max_steps: u64,
}

impl Default for Settle {
    fn default() -> Self {
        Self {
            speed_m_per_s: 1e-6,
            quiet_steps: 10,
            damping: 0.02,
            max_steps: 20_000,
        }
    }
}

/// How settling ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settled {
    /// Whether the scene came to rest.
    pub at_rest: bool,
    /// Steps taken.
    pub steps: u64,
    /// Speed of the fastest body at the end [m/s].
    pub speed_m_per_s: f64,
    /// Farthest way of a centre of mass [m].
    pub moved_m: f64,
}

impl World {
    /// Settles the scene; to be called before the first step.
    ///
    /// # Errors
    /// As [`World::step`], or after the first step.
    pub fn settle(&mut self, settle: &Settle) -> Result<Settled, RigidError> {
        let (places, settled) = self.settled(settle, || true)?;
        self.start_from(&places)?;
        Ok(settled)
    }

    /// Where the bodies come to rest, and how: this world stays as it is. The state serves every scene that
    /// differs in restitution, loads, motions, and the velocities of thrown bodies alone. `go_on` is asked after
    /// every step; its no leaves the bodies not at rest.
    ///
    /// # Errors
    /// As [`World::settle`].
    pub fn settled(
        &self,
        settle: &Settle,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<(Snapshot, Settled), RigidError> {
        self.at_start()?;
        if self.stepper.smooth().is_some() {
            return Err(RigidError::NotSmooth {
                what: "settling".into(),
                instead: "leave settle out, or use the nonsmooth stepper",
            });
        }
        if !(0.0..1.0).contains(&settle.damping) {
            return Err(RigidError::Setting {
                key: "damping",
                value: settle.damping,
                allowed: "from 0 to less than 1",
            });
        }
        let mut scene = self.setup.scene.clone();
        scene.loads.clear();
        scene.probes.clear();
        scene
            .elements
            .retain(|element| !matches!(element.effort, Effort::Actuator { .. }));
        for imposed in scene.joints.iter_mut().flat_map(|joint| &mut joint.imposed) {
            imposed.target = match &imposed.target {
                Target::Velocity(_) => Target::Velocity(Signal::Constant(0.0)),
                Target::Position(signal) => Target::Value(signal.at(0.0)[0]),
                value => value.clone(),
            };
        }
        for law in &mut scene.laws {
            law.restitution = 0.0;
        }
        for (index, body) in scene.bodies.iter_mut().enumerate() {
            body.pose = self.pose(index);
            body.removal_s = f64::INFINITY;
            if !settles(body) {
                body.role = Role::Static;
            }
            if !self.state.present[index] {
                body.birth_s = f64::MAX;
            }
        }
        let bonds = std::mem::take(&mut scene.bonds);
        let mut rest = World::new(scene, self.setup.settings)?;
        rest.bond_like(self, bonds);
        let mut quiet = 0;
        let mut speed = 0.0;
        while rest.state.step < settle.max_steps && quiet < settle.quiet_steps {
            rest.step()?;
            speed = rest.fastest();
            quiet = if speed < settle.speed_m_per_s {
                quiet + 1
            } else {
                0
            };
            for state in &mut rest.state.bodies {
                state.velocity *= 1.0 - settle.damping;
                state.spin *= 1.0 - settle.damping;
            }
            if !go_on() {
                break;
            }
        }
        let moved = |index: usize| {
            let way = rest.state.bodies[index].position - self.state.bodies[index].position;
            rest.setup.inertia[index].map_or(0.0, |_| way.norm())
        };
        let settled = Settled {
            at_rest: quiet >= settle.quiet_steps,
            steps: rest.state.step,
            speed_m_per_s: speed,
            moved_m: (0..rest.state.bodies.len()).map(moved).fold(0.0, f64::max),
        };
        Ok((rest.snapshot(), settled))
    }

    /// Puts the bodies where [`World::settled`] found them at rest; to be called before the first step.
    ///
    /// # Errors
    /// A state of another scene, or after the first step.
    pub fn start_from(&mut self, settled: &Snapshot) -> Result<(), RigidError> {
        self.at_start()?;
        self.check_snapshot(settled)?;
        for (index, body) in self.setup.scene.bodies.iter().enumerate() {
            if settles(body) {
                let (state, rest) = (&mut self.state.bodies[index], &settled.state.bodies[index]);
                state.position = rest.position;
                state.rotation = rest.rotation;
            }
        }
        let state = &mut self.state;
        state.contacts.clone_from(&settled.state.contacts);
        state.bonds.clone_from(&settled.state.bonds);
        // Motions, which settling holds, may begin with a velocity.
        state
            .bonds
            .iter_mut()
            .for_each(|bond| bond.together = false);
        state.energy = Energy::default();
        state.pair_work.fill(PairWork::default());
        state.gathered.fill(Gathered::default());
        self.setup.account_state(state);
        if let Moving::Nonsmoothly(nonsmooth) = &mut self.stepper {
            state.energy.elastic_j = nonsmooth.settle_on(state);
        }
        state.energy.brought_in_j = state.energy.mechanical_j();
        Ok(())
    }

    /// Takes over bonds as `other` found them: here thrown bodies are held, and faces of two that nothing moves are not
    /// looked at.
    fn bond_like(&mut self, other: &World, bonds: Vec<Bond>) {
        if let (Moving::Nonsmoothly(own), Moving::Nonsmoothly(others)) =
            (&mut self.stepper, &other.stepper)
        {
            self.setup.scene.bonds = bonds;
            own.set_bond_points(others.bond_points(), &mut self.state);
        }
    }

    fn at_start(&self) -> Result<(), RigidError> {
        if self.state.step > 0 {
            return Err(RigidError::Setting {
                key: "steps before settling",
                value: self.state.step as f64,
                allowed: "0",
            });
        }
        Ok(())
    }

    /// The largest sqrt(2 T / m) of a body present.
    fn fastest(&self) -> f64 {
        let speed = |index: usize| {
            let inertia = self.setup.inertia[index].filter(|_| self.state.present[index]);
            inertia.map_or(0.0, |i| {
                (2.0 * self.setup.energy_of(&self.state, index).0 / i.mass_kg).sqrt()
            })
        };
        (0..self.state.bodies.len()).map(speed).fold(0.0, f64::max)
    }
}

/// Bodies that forces move and nobody throws.
fn settles(body: &Body) -> bool {
    matches!(body.role, Role::Dynamic(_))
        && body.velocity_m_per_s == Vec3::zeros()
        && body.angular_velocity_rad_per_s == Vec3::zeros()
}
