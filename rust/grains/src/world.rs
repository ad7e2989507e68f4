//! Grains that move: state, material, and the step.

use nalgebra::Vector3;
use percuss_laws::grain::{Grain, GrainLaw, MomentLimit, PairLaw, damping_ratio};
use percuss_laws::with_grain_law;

use crate::contact::{Limits, Lost};
use crate::control::{Axis, Servo};
use crate::error::{GrainError, within};
use crate::forces::{self, Totals};
use crate::measure::overlap_energy_j;
use crate::neighbours::{Pairs, find_pairs};
use crate::packing::Packing;
use crate::stable_step::stable_step;
use crate::walls::Walls;

/// Margin of the pair list over the mean radius: small, because grains that are sheared slowly stay where they are.
const MARGIN: f64 = 0.06;
/// Steps between two looks at the stable step.
const STEP_UPDATE: u64 = 25;

/// What grains are made of, and what their contacts do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// The contact law.
    pub law: GrainLaw,
    /// Its parameters.
    pub grain: Grain,
    /// Whether contacts transfer rolling and twisting moments.
    pub moments: bool,
    /// What their limit holds for.
    pub moment_limit: MomentLimit,
    /// Whether the shear force shrinks with its stiffness while a contact unloads.
    pub rescaled: bool,
    /// Restitution of a head-on collision, by viscous damping of the normal force; 1 has none.
    pub restitution: f64,
    /// Density of the grains, kg/m^3.
    pub density_kg_m3: f64,
    /// By how much masses are multiplied in quasi-static tests, so that steps get longer.
    pub density_scaling: f64,
    /// Acceleration along -z, m/s^2, of grains between walls.
    pub gravity_m_s2: f64,
}

impl Material {
    /// Check every number.
    pub fn check(&self) -> Result<(), GrainError> {
        let g = &self.grain;
        within(
            "Young's modulus [Pa]",
            g.young_pa,
            g.young_pa > 0.0,
            "be positive",
        )?;
        let (taken, must) = with_grain_law!(self.law, g, law => poisson_of(law, g.poisson));
        within("Poisson's ratio", g.poisson, taken, must)?;
        within(
            "rolling stiffness",
            g.rolling_stiffness,
            g.rolling_stiffness >= 0.0,
            "not be negative",
        )?;
        within(
            "rolling friction",
            g.rolling_friction,
            g.rolling_friction >= 0.0,
            "not be negative",
        )?;
        within(
            "tan of the friction angle",
            g.friction,
            g.friction >= 0.0,
            "not be negative",
        )?;
        within(
            "density [kg/m^3]",
            self.density_kg_m3,
            self.density_kg_m3 > 0.0,
            "be positive",
        )?;
        within(
            "density scaling",
            self.density_scaling,
            self.density_scaling > 0.0,
            "be positive",
        )?;
        within(
            "restitution of contacts",
            self.restitution,
            self.restitution >= 0.01 && self.restitution <= 1.0,
            "lie between 0.01 and 1",
        )?;
        within(
            "gravity [m/s^2]",
            self.gravity_m_s2,
            self.gravity_m_s2 >= 0.0,
            "not be negative",
        )
    }

    pub(crate) fn limits(&self, dt_s: f64) -> Limits {
        Limits {
            dt_s,
            friction: self.grain.friction,
            rolling_friction: self.grain.rolling_friction,
            moment_limit: self.moment_limit,
            damping_ratio: damping_ratio(self.restitution),
        }
    }
}

/// Whether a law takes a Poisson's ratio, and what it must do.
fn poisson_of<L: PairLaw>(_: L, poisson: f64) -> (bool, &'static str) {
    (L::takes_poisson(poisson), L::POISSON_MUST)
}

/// Cundall's non-viscous damping: forces that speed a grain up are lowered by this share, others raised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Damping(pub f64);

/// A grain in motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub position: Vector3<f64>,
    pub velocity: Vector3<f64>,
    pub spin: Vector3<f64>,
    pub radius: f64,
}

/// Force and torque on a grain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loads {
    pub force: Vector3<f64>,
    pub torque: Vector3<f64>,
}

/// Grains, their contacts and their cell.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) cell: Vector3<f64>,
    pub(crate) start_cell: Vector3<f64>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) inverse_mass: Vec<f64>,
    pub(crate) loads: Vec<Loads>,
    pub(crate) pairs: Pairs,
    pub(crate) material: Material,
    pub(crate) solid_m3: f64,
    pub(crate) margin: f64,
    pub(crate) walls: Option<Walls>,
    /// Places in units of the cell, and the cell, when the pairs were found.
    pub(crate) anchors: Vec<Vector3<f64>>,
    pub(crate) pair_cell: Vector3<f64>,
    pub(crate) largest_m: f64,
    /// How far a grain may have moved since the pairs were found, m.
    pub(crate) drift: f64,
    pub(crate) rates: [f64; 3],
    pub(crate) servo: Servo,
    pub(crate) damping: f64,
    pub(crate) safety: f64,
    pub(crate) dt_s: f64,
    pub(crate) stiffness_pa: [f64; 3],
    pub(crate) totals: Totals,
    /// Put in by first overlaps, boundary and gravity, what contacts lost, and what damping of motion took, J.
    pub(crate) boundary_j: f64,
    pub(crate) lost: Lost,
    pub(crate) damped_j: f64,
    pub(crate) steps: u64,
    pub(crate) rebuilds: u64,
    /// Integral of each spin, rad: kept where it is to be shown only.
    pub(crate) turned: Vec<Vector3<f64>>,
}

impl World {
    /// Put a packing into motion, at rest and without contact forces yet. `safety` is the share of the stable step.
    pub fn new(packing: &Packing, material: Material, safety: f64) -> Result<Self, GrainError> {
        packing.check()?;
        material.check()?;
        within(
            "share of the stable step",
            safety,
            safety > 0.0 && safety <= 1.0,
            "lie in (0, 1]",
        )?;
        within(
            "gravity [m/s^2] in a periodic cell",
            material.gravity_m_s2,
            packing.walls || material.gravity_m_s2 == 0.0,
            "be 0: grains would fall for ever",
        )?;
        let density = material.density_kg_m3 * material.density_scaling;
        let volume = |r: f64| 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
        let mean = packing.radii_m.iter().sum::<f64>() / packing.radii_m.len() as f64;
        let mut world = Self {
            cell: packing.cell_m,
            start_cell: packing.cell_m,
            bodies: packing
                .positions_m
                .iter()
                .zip(&packing.radii_m)
                .map(|(&position, &radius)| Body {
                    position,
                    velocity: Vector3::zeros(),
                    spin: Vector3::zeros(),
                    radius,
                })
                .collect(),
            inverse_mass: packing
                .radii_m
                .iter()
                .map(|&r| 1.0 / (density * volume(r)))
                .collect(),
            loads: vec![Loads::default(); packing.radii_m.len()],
            pairs: Pairs::default(),
            walls: packing.walls.then(|| Walls::new(packing.radii_m.len())),
            material,
            solid_m3: packing.solid_m3(),
            margin: MARGIN * mean,
            anchors: Vec::new(),
            pair_cell: packing.cell_m,
            largest_m: packing.radii_m.iter().fold(0.0_f64, |a, &b| a.max(b)),
            drift: 0.0,
            rates: [0.0; 3],
            servo: Servo {
                axes: [Axis::Rate(0.0); 3],
                most_per_s: 1.0,
            },
            damping: 0.2,
            safety,
            dt_s: 0.0,
            stiffness_pa: [0.0; 3],
            totals: Totals::default(),
            boundary_j: 0.0,
            lost: Lost::default(),
            damped_j: 0.0,
            steps: 0,
            rebuilds: 0,
            turned: Vec::new(),
        };
        world.rebuild()?;
        world.dt_s = stable_step(&mut world);
        world.boundary_j = overlap_energy_j(&world);
        Ok(world)
    }

    /// Change what drives the cell.
    pub fn drive(&mut self, servo: Servo) {
        self.servo = servo;
    }

    /// Change the damping.
    pub fn damp(&mut self, damping: Damping) {
        self.damping = damping.0;
    }

    /// Change the friction between grains, at once for every contact.
    pub fn set_friction(&mut self, friction: f64) {
        self.material.grain.friction = friction;
    }

    /// Count strains from the present cell on.
    pub fn reset_strain(&mut self) {
        self.start_cell = self.cell;
    }

    /// Go on by some steps.
    pub fn run(&mut self, steps: u64) -> Result<(), GrainError> {
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// One step.
    pub fn step(&mut self) -> Result<(), GrainError> {
        self.update_pairs()?;
        forces::apply(self);
        let stress = self.stress_pa();
        self.rates = self.servo.rates(stress, self.stiffness_pa, self.dt_s);
        let volume = self.cell.product();
        for k in 0..3 {
            // Of two walls the upper one moves.
            let pressed = self
                .walls
                .as_ref()
                .map_or(stress[k] * volume, |w| w.force_n[k][1] * self.cell[k]);
            self.boundary_j -= pressed * self.rates[k] * self.dt_s;
        }
        self.integrate();
        self.steps += 1;
        if self.steps.is_multiple_of(STEP_UPDATE) {
            self.dt_s = stable_step(self);
        }
        Ok(())
    }

    /// Find the pairs anew when a grain may have crossed half the margin.
    fn update_pairs(&mut self) -> Result<(), GrainError> {
        if 2.0 * self.drift < self.margin {
            return Ok(());
        }
        // The sum of the fastest grains' ways was too careful: look how far each really is, strain included.
        let mut farthest = 0.0_f64;
        let moves_along = if self.walls.is_none() {
            self.cell
        } else {
            self.pair_cell
        };
        for (body, anchor) in self.bodies.iter().zip(&self.anchors) {
            let moved = body.position - anchor.component_mul(&moves_along);
            farthest = farthest.max(moved.norm_squared());
        }
        // A pair is at most two radii long, and strain acts on all of it: each grain has half.
        let strained = if self.walls.is_none() {
            self.strain_since_pairs()
        } else {
            0.0
        };
        let seen = farthest.sqrt() + self.largest_m * strained;
        if !seen.is_finite() {
            return Err(GrainError::Diverged { step: self.steps });
        }
        if 2.0 * seen < 0.8 * self.margin {
            self.drift = seen;
            return Ok(());
        }
        self.rebuild()
    }

    fn strain_since_pairs(&self) -> f64 {
        (0..3).fold(0.0_f64, |a, k| {
            a.max((self.cell[k] / self.pair_cell[k]).ln().abs())
        })
    }

    fn rebuild(&mut self) -> Result<(), GrainError> {
        let mut cell = self.cell;
        if self.walls.is_some() {
            // Pairs are looked for in a larger cell, in which nothing reaches across the boundary.
            cell.add_scalar_mut(2.0 * self.largest_m + self.margin);
        }
        for body in &mut self.bodies {
            for k in 0..3 {
                if self.walls.is_some() {
                    continue;
                }
                let x = body.position[k] - cell[k] * (body.position[k] / cell[k]).floor();
                body.position[k] = if x < cell[k] { x } else { 0.0 };
            }
            if !body.position.iter().all(|x| x.is_finite()) {
                return Err(GrainError::Diverged { step: self.steps });
            }
        }
        let positions: Vec<_> = self.bodies.iter().map(|b| b.position).collect();
        let radii: Vec<_> = self.bodies.iter().map(|b| b.radius).collect();
        let grain = &self.material.grain;
        self.pairs = with_grain_law!(self.material.law, grain, law => find_pairs(
            &cell,
            &positions,
            &radii,
            self.margin,
            &self.pairs,
            |a, b| law.factor(a, b),
        )?);
        self.anchors = positions
            .iter()
            .map(|p| p.component_div(&self.cell))
            .collect();
        self.pair_cell = self.cell;
        self.drift = 0.0;
        self.rebuilds += 1;
        Ok(())
    }

    /// Normal stresses along the axes, Pa, positive in compression, of the last step; between walls what they bear.
    pub fn stress_pa(&self) -> [f64; 3] {
        let volume = self.cell.product();
        match &self.walls {
            None => self.totals.moment_j.map(|sum| sum / volume),
            Some(walls) => [0, 1, 2].map(|k| {
                let [lower, upper] = walls.force_n[k];
                0.5 * (lower + upper) * self.cell[k] / volume
            }),
        }
    }

    /// Forces on the lower and upper wall of each axis, N, positive in compression; None in a periodic cell.
    pub fn wall_forces_n(&self) -> Option<[[f64; 2]; 3]> {
        self.walls.as_ref().map(|walls| walls.force_n)
    }

    /// Logarithmic strains since `reset_strain`, positive in compression.
    pub fn strain(&self) -> [f64; 3] {
        [0, 1, 2].map(|k| -(self.cell[k] / self.start_cell[k]).ln())
    }

    /// Mean resultant force on a grain over the mean contact force.
    pub fn unbalanced(&self) -> f64 {
        let sum: f64 = self.loads.iter().map(|l| l.force.norm()).sum();
        let mean = sum / self.loads.len() as f64;
        if self.totals.contacts == 0 {
            return if mean > 0.0 { f64::INFINITY } else { 0.0 };
        }
        mean / (self.totals.force_n / self.totals.contacts as f64).max(1e-300)
    }

    /// Volume of voids over that of grains.
    pub fn void_ratio(&self) -> f64 {
        self.cell.product() / self.solid_m3 - 1.0
    }

    /// The grains as they are.
    pub fn packing(&self) -> Packing {
        Packing {
            cell_m: self.cell,
            positions_m: self.bodies.iter().map(|b| b.position).collect(),
            radii_m: self.bodies.iter().map(|b| b.radius).collect(),
            walls: self.walls.is_some(),
        }
    }

    /// Give every grain a velocity, m/s.
    pub fn set_velocities(&mut self, velocities_m_s: &[Vector3<f64>]) {
        for (body, velocity) in self.bodies.iter_mut().zip(velocities_m_s) {
            body.velocity = *velocity;
        }
    }

    /// Velocity of every grain, m/s, beside the deformation of the cell.
    pub fn velocities_m_s(&self) -> Vec<Vector3<f64>> {
        self.bodies.iter().map(|b| b.velocity).collect()
    }

    /// From now on keep how far each grain turns.
    pub fn follow_turns(&mut self) {
        self.turned = vec![Vector3::zeros(); self.bodies.len()];
    }

    /// How many contacts there were in the last step.
    pub fn contacts(&self) -> usize {
        self.totals.contacts
    }

    /// How many steps were made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How often pairs were found anew.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    /// Length of the step, s.
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }
}
