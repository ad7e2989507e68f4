//! Tests on a packing: isotropic compression, then increments, each followed by rest (Cheng et al., 2018, section 2).
//!
//! An increment moves every strain-controlled axis to its strain exactly, under light damping, while the goals of the
//! others go straight to their stress; then strains stand still and heavy damping brings the packing to rest before it
//! is measured.

use crate::compaction::settle;
use crate::control::{Axis, Servo};
use crate::error::{GrainError, within};
use crate::frame::{Frame, frame};
use crate::measure::{Measured, measure};
use crate::packing::Packing;
use crate::world::{Damping, Material, World};

/// Goal of one axis at the end of an increment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// Logarithmic strain, positive in compression.
    Strain(f64),
    /// Stress, Pa, positive in compression.
    Stress(f64),
}

/// What is done after the isotropic compression; z is the axis, the list the axial strains to measure at.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Constant radial stress.
    Drained(Vec<f64>),
    /// Constant volume.
    Undrained(Vec<f64>),
    /// No radial strain.
    Oedometric(Vec<f64>),
    /// The same strain along all axes.
    Isotropic(Vec<f64>),
    /// Any path: goals of x, y and z.
    Paths(Vec<[Path; 3]>),
}

impl Test {
    /// Goals of every increment.
    fn paths(&self, pressure: f64) -> Vec<[Path; 3]> {
        let of = |list: &[f64], radial: &dyn Fn(f64) -> Path| -> Vec<[Path; 3]> {
            list.iter()
                .map(|&e| [radial(e), radial(e), Path::Strain(e)])
                .collect()
        };
        match self {
            Test::Drained(list) => of(list, &|_| Path::Stress(pressure)),
            Test::Undrained(list) => of(list, &|e| Path::Strain(-0.5 * e)),
            Test::Oedometric(list) => of(list, &|_| Path::Strain(0.0)),
            Test::Isotropic(list) => of(list, &Path::Strain),
            Test::Paths(list) => list.clone(),
        }
    }
}

/// How a test is driven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loading {
    /// Isotropic pressure, Pa.
    pub pressure_pa: f64,
    /// Strain rate of increments, 1/s; the servo of a periodic cell goes ten times as fast at most, that of walls no
    /// faster.
    pub rate_per_s: f64,
    /// Damping during increments and at rest.
    pub damping: [f64; 2],
    /// Largest unbalanced force at rest.
    pub unbalanced: f64,
    /// Largest distance of a kept stress from its goal, over the goal.
    pub stress_tolerance: f64,
    /// Most steps of an increment.
    pub most_steps: u64,
    /// Share of the stable step.
    pub safety: f64,
    /// Whether to keep a frame of every row.
    pub film: bool,
}

impl Loading {
    /// At a pressure, as Cheng et al. have it.
    pub fn at(pressure_pa: f64) -> Self {
        Self {
            pressure_pa,
            rate_per_s: 0.1,
            damping: [0.2, 0.9],
            unbalanced: 1e-3,
            stress_tolerance: 1e-3,
            most_steps: 40_000,
            safety: 0.8,
            film: false,
        }
    }

    fn check(&self) -> Result<(), GrainError> {
        within(
            "pressure [Pa]",
            self.pressure_pa,
            self.pressure_pa > 0.0,
            "be positive",
        )?;
        within(
            "strain rate [1/s]",
            self.rate_per_s,
            self.rate_per_s > 0.0,
            "be positive",
        )?;
        for d in self.damping {
            within("damping", d, (0.0..1.0).contains(&d), "lie in [0, 1)")?;
        }
        within(
            "unbalanced force",
            self.unbalanced,
            self.unbalanced > 0.0,
            "be positive",
        )?;
        within(
            "tolerance of the stress",
            self.stress_tolerance,
            self.stress_tolerance > 0.0,
            "be positive",
        )
    }
}

/// The state after an increment; the first row is that after isotropic compression.
#[derive(Clone, Debug)]
pub struct Row {
    /// Logarithmic strains since isotropic compression.
    pub strain: [f64; 3],
    /// Void ratio.
    pub void_ratio: f64,
    /// The packing in numbers.
    pub measured: Measured,
    /// Steps of this increment.
    pub steps: u64,
    /// Unbalanced force.
    pub unbalanced: f64,
    /// Whether rest was reached.
    pub at_rest: bool,
    /// What the packing looks like, of a test that is filmed.
    pub frame: Option<Frame>,
}

/// A finished test.
#[derive(Clone, Debug)]
pub struct Program {
    /// One row an increment.
    pub rows: Vec<Row>,
    /// Steps in all.
    pub steps: u64,
    /// Sum over steps of the contacts there were.
    pub contact_steps: f64,
    /// Void ratio before the isotropic compression.
    pub void_ratio_loaded: f64,
    /// Last length of the step, s.
    pub dt_s: f64,
}

/// Most steps of the isotropic compression.
const MOST_ISOTROPIC: u64 = 400_000;
/// The servo of a periodic cell may go so much faster than the loading. Walls may not: what they push has to be sped up.
const SERVO_FACTOR: f64 = 10.0;

/// Do a test. `watch` is told every now and then which share is done; when it says false the test ends with an error.
pub fn load(
    packing: &Packing,
    material: Material,
    loading: &Loading,
    test: &Test,
    watch: &mut dyn FnMut(f64) -> bool,
) -> Result<Program, GrainError> {
    loading.check()?;
    let paths = test.paths(loading.pressure_pa);
    let mut world = World::new(packing, material, loading.safety)?;
    let loaded = world.void_ratio();
    let [light, heavy] = loading.damping;
    let mut servo = Servo {
        axes: [Axis::Stress(loading.pressure_pa); 3],
        most_per_s: if packing.walls {
            loading.rate_per_s
        } else {
            SERVO_FACTOR * loading.rate_per_s
        },
    };
    world.drive(servo);
    world.damp(Damping(light));
    // The isotropic compression counts as one increment.
    let share = |done: usize| done as f64 / (paths.len() + 1) as f64;
    let mut rest = |world: &mut World, most: u64, done: usize| {
        settle(
            world,
            loading.unbalanced,
            loading.stress_tolerance,
            most,
            |_| false,
            &mut || watch(share(done)),
        )
    };
    rest(&mut world, MOST_ISOTROPIC, 0)?;
    world.damp(Damping(heavy));
    if !rest(&mut world, MOST_ISOTROPIC, 0)? {
        let stress = world.stress_pa();
        return Err(GrainError::NotCompressed {
            goal_pa: loading.pressure_pa,
            stress_pa: (stress[0] + stress[1] + stress[2]) / 3.0,
            steps: world.steps(),
        });
    }
    world.reset_strain();
    if loading.film {
        world.follow_turns();
    }
    let mut contact_steps = 0.0;
    let mut rows = vec![row(&world, loading, world.steps(), true)];
    for (number, goals) in paths.iter().enumerate() {
        let before = world.steps();
        world.damp(Damping(light));
        advance(&mut world, &mut servo, goals, loading)?;
        world.damp(Damping(heavy));
        let at_rest = rest(&mut world, loading.most_steps, number + 1)?;
        let taken = world.steps() - before;
        contact_steps += world.contacts() as f64 * taken as f64;
        rows.push(row(&world, loading, taken, at_rest));
    }
    Ok(Program {
        rows,
        steps: world.steps(),
        contact_steps,
        void_ratio_loaded: loaded,
        dt_s: world.dt_s(),
    })
}

/// Move all axes straight to their goals in the same time, in which the one with the longest way goes at the rate of
/// the loading. The way of a stress is that of an affine packing.
fn advance(
    world: &mut World,
    servo: &mut Servo,
    goals: &[Path; 3],
    loading: &Loading,
) -> Result<(), GrainError> {
    let (stress, strain, stiffness) = (world.stress_pa(), world.strain(), world.stiffness_pa);
    let start = [0, 1, 2].map(|k| match servo.axes[k] {
        Axis::Stress(goal) => goal,
        Axis::Rate(_) => stress[k],
    });
    let way = |k: usize| match goals[k] {
        Path::Strain(goal) => (goal - strain[k]).abs(),
        Path::Stress(goal) => (goal - start[k]).abs() / stiffness[k].max(goal.abs()).max(1e-300),
    };
    let whole = (0..3).fold(0.0_f64, |a, k| a.max(way(k))) / loading.rate_per_s;
    let mut left = whole;
    for _ in 0..loading.most_steps {
        let dt = world.dt_s();
        let share = if left > dt { dt / left } else { 1.0 };
        let now = world.strain();
        for k in 0..3 {
            servo.axes[k] = match goals[k] {
                Path::Stress(goal) if left > dt => {
                    Axis::Stress(goal - (goal - start[k]) * (left - dt) / whole)
                }
                Path::Stress(goal) => Axis::Stress(goal),
                // Of the stretch 1 + rate dt of a step the logarithm is what counts.
                Path::Strain(goal) => Axis::Rate(-(-(goal - now[k]) * share).exp_m1() / dt),
            };
        }
        world.drive(*servo);
        if left <= 0.0 {
            break;
        }
        world.step()?;
        left -= dt;
    }
    for axis in &mut servo.axes {
        if let Axis::Rate(rate) = axis {
            *rate = 0.0;
        }
    }
    world.drive(*servo);
    Ok(())
}

fn row(world: &World, loading: &Loading, steps: u64, at_rest: bool) -> Row {
    Row {
        strain: world.strain(),
        void_ratio: world.void_ratio(),
        measured: measure(world),
        steps,
        unbalanced: world.unbalanced(),
        at_rest,
        frame: loading.film.then(|| frame(world)),
    }
}
