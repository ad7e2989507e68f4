//! A dense packing that bears next to no stress: a cloud, compressed under a small pressure, its friction lowered step by
//! step until the void ratio is reached (Cheng et al., 2018, section 2.2).
//!
//! When the target is passed friction goes back to its first value, so that the packing stays where it is and comes to
//! rest. Grains are nearly rigid: the modulus is STIFF times the pressure.

use percuss_laws::grain::{Grain, GrainLaw, MomentLimit};

use crate::cloud::{SizeCurve, cloud};
use crate::control::{Axis, Servo};
use crate::error::{GrainError, within};
use crate::packing::Packing;
use crate::world::{Damping, Material, World};

/// Modulus over pressure: overlaps of some ten-thousandths of a radius.
const STIFF: f64 = 2e4;
const POISSON: f64 = 0.3;
/// tan of the friction angle at first: packings under it are looser than any that are wanted.
const FRICTION: f64 = 0.4;
/// Void ratio of the cloud, and by how much it is still looser than wanted when the servo takes over.
const LOOSE: f64 = 2.5;
const BEFORE: f64 = 0.06;
/// Steps between two looks at whether the packing is at rest.
const LOOK: u64 = 20;

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// Grain sizes.
    pub curve: SizeCurve,
    /// How many grains.
    pub grains: usize,
    /// Edges of the cell at the target void ratio, m.
    pub cell_m: [f64; 3],
    /// Void ratio to reach.
    pub void_ratio: f64,
    /// Within what.
    pub tolerance: f64,
    /// Pressure, Pa.
    pub pressure_pa: f64,
    /// Density of the grains, kg/m^3.
    pub density_kg_m3: f64,
    /// Factor of friction from cycle to cycle.
    pub lowering: f64,
    /// Largest unbalanced force of a packing at rest.
    pub unbalanced: f64,
    /// Root of sizes and places.
    pub seed: u64,
    /// Between rigid walls instead of in a periodic cell.
    pub walls: bool,
}

impl Compaction {
    /// Toyoura sand in a cell of 50 x 50 x 100 mm at a void ratio of 0.68.
    pub fn toyoura(grains: usize, seed: u64) -> Self {
        let (diameters, finer) = crate::cloud::TOYOURA;
        Self {
            curve: SizeCurve {
                diameters: diameters.to_vec(),
                finer: finer.to_vec(),
            },
            grains,
            cell_m: [0.05, 0.05, 0.1],
            void_ratio: 0.68,
            tolerance: 0.002,
            pressure_pa: 100.0,
            density_kg_m3: 2650.0,
            lowering: 0.8,
            unbalanced: 0.01,
            seed,
            walls: false,
        }
    }
}

/// A packing, and how it came about.
#[derive(Clone, Debug)]
pub struct Made {
    /// The grains.
    pub packing: Packing,
    /// Void ratio reached.
    pub void_ratio: f64,
    /// Unbalanced force at the end.
    pub unbalanced: f64,
    /// tan of the friction angle at which it was reached.
    pub friction: f64,
    /// Contacts per grain, times two.
    pub coordination: f64,
    /// Cycles of lowering friction.
    pub cycles: usize,
    /// Steps made.
    pub steps: u64,
}

const MOST_CYCLES: usize = 60;
const MOST_STEPS: u64 = 200_000;

/// Make a packing. `watch` is asked every now and then; when it says false this ends with an error.
pub fn make_packing(
    wanted: &Compaction,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Made, GrainError> {
    within(
        "void ratio",
        wanted.void_ratio,
        wanted.void_ratio > 0.4 && wanted.void_ratio < 1.0,
        "lie in (0.4, 1)",
    )?;
    within(
        "pressure [Pa]",
        wanted.pressure_pa,
        wanted.pressure_pa > 0.0,
        "be positive",
    )?;
    within(
        "factor of friction",
        wanted.lowering,
        wanted.lowering > 0.0 && wanted.lowering < 1.0,
        "lie in (0, 1)",
    )?;
    within(
        "tolerance of the void ratio",
        wanted.tolerance,
        wanted.tolerance > 0.0,
        "be positive",
    )?;
    let volume: f64 = wanted.cell_m.iter().product();
    let solid = volume / (1.0 + wanted.void_ratio);
    let loose = cloud(
        &wanted.curve,
        wanted.grains,
        wanted.cell_m,
        solid,
        LOOSE,
        wanted.seed,
        wanted.walls,
    )?;
    let material = Material {
        law: GrainLaw::ClassicalLinear,
        grain: Grain {
            young_pa: STIFF * wanted.pressure_pa,
            poisson: POISSON,
            rolling_stiffness: 0.0,
            rolling_friction: 0.0,
            friction: FRICTION,
        },
        moments: false,
        moment_limit: MomentLimit::Joint,
        rescaled: true,
        restitution: 1.0,
        density_kg_m3: wanted.density_kg_m3,
        density_scaling: 1.0,
        gravity_m_s2: 0.0,
    };
    let mut world = World::new(&loose, material, 0.8)?;
    let size = 2.0 * loose.radii_m.iter().sum::<f64>() / loose.radii_m.len() as f64;
    // An inertial number of a few hundredths: as fast as a dense flow that still stays together.
    let rate = 0.05 / (size * (wanted.density_kg_m3 / wanted.pressure_pa).sqrt());
    world.damp(Damping(0.5));
    world.drive(Servo {
        axes: [Axis::Rate(rate); 3],
        most_per_s: rate,
    });
    while world.void_ratio() > wanted.void_ratio + BEFORE {
        world.run(LOOK)?;
        if !watch() {
            return Err(GrainError::Stopped);
        }
    }
    world.drive(Servo {
        axes: [Axis::Stress(wanted.pressure_pa); 3],
        most_per_s: rate,
    });
    let mut friction = FRICTION;
    let mut cycles = 0;
    loop {
        let dense = |w: &World| w.void_ratio() <= wanted.void_ratio;
        settle(&mut world, 0.05, 0.1, MOST_STEPS, dense, watch)?;
        if world.void_ratio() <= wanted.void_ratio {
            break;
        }
        if cycles == MOST_CYCLES {
            return Err(missed(wanted, &world, cycles));
        }
        cycles += 1;
        friction *= wanted.lowering;
        world.set_friction(friction);
    }
    world.set_friction(FRICTION);
    world.damp(Damping(0.9));
    let at_rest = settle(
        &mut world,
        wanted.unbalanced,
        0.02,
        MOST_STEPS,
        |_| false,
        watch,
    )?;
    if !at_rest {
        return Err(GrainError::NotAtRest {
            unbalanced: world.unbalanced(),
            limit: wanted.unbalanced,
            steps: world.steps(),
        });
    }
    if (world.void_ratio() - wanted.void_ratio).abs() > wanted.tolerance {
        return Err(missed(wanted, &world, cycles));
    }
    Ok(Made {
        packing: world.packing(),
        void_ratio: world.void_ratio(),
        unbalanced: world.unbalanced(),
        friction,
        coordination: 2.0 * world.contacts() as f64 / wanted.grains as f64,
        cycles,
        steps: world.steps(),
    })
}

/// Go on until the packing is at rest under its stresses, until `done`, or for so many steps. Whether it is at rest.
pub(crate) fn settle(
    world: &mut World,
    unbalanced: f64,
    off: f64,
    most: u64,
    done: impl Fn(&World) -> bool,
    watch: &mut dyn FnMut() -> bool,
) -> Result<bool, GrainError> {
    let end = world.steps() + most;
    while world.steps() < end {
        world.run(LOOK.min(end - world.steps()))?;
        if !watch() {
            return Err(GrainError::Stopped);
        }
        if done(world) {
            return Ok(false);
        }
        if world.servo.off(world.stress_pa()) < off && world.unbalanced() < unbalanced {
            return Ok(true);
        }
    }
    Ok(false)
}

fn missed(wanted: &Compaction, world: &World, cycles: usize) -> GrainError {
    GrainError::NotCompacted {
        target: wanted.void_ratio,
        tolerance: wanted.tolerance,
        reached: world.void_ratio(),
        cycles,
    }
}
