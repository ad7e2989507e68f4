//! Rigid bodies with contact, impact and friction: nonsmooth contact dynamics by the Moreau-Jean scheme.
//!
//! A step of length h from (q_k, v_k) (Jean 1999, with Moreau's evaluation of the contacts half way):
//!
//! ```text
//! q_M     = q_k moved by (1 - theta) h v_k              free motion, no force
//! v_(k+1) = v_k + M^-1 (h F + H^T P)                     all forces and impulses, at the place q_M
//! q_(k+1) = q_M moved by theta h v_(k+1)                 free motion, no force
//! ```
//!
//! Contacts are those whose gap at q_M is not positive (for theta = 1/2 the predicted gap
//! g_k + h/2 u_N,k <= 0 of the velocity-level activation), and P solves K* ∋ w + mu |w_T| n ⟂ P ∈ K with w
//! from the contact law. Free rotation uses the midpoint rule with Cayley's map, which keeps energy and angular
//! momentum to rounding, so no gyroscopic term enters the contact problem: M is constant and symmetric while
//! impulses act, and the work of every force is known exactly. At theta = 1/2 kinetic plus potential energy
//! changes by the work of contacts, loads and prescribed motions alone, to rounding.
//!
//! Joints and force elements connect bodies. Their impulses are eliminated from the contact problem, so that joints hold
//! exactly, and places and velocities are projected on them at the end of a step. Scenes without contact can instead be
//! stepped by a Runge-Kutta method of high order ([`Stepper::Smooth`]).
//!
//! Bodies that contacts, bonds and joints connect are an island, a contact problem of its own; islands are solved on as
//! many threads as the settings say. SI units throughout, and no randomness: the same scene gives the same bits, on any
//! number of threads, alone or beside another.
//!
//! ```
//! use percuss_rigid::*;
//! let mut scene = Scene::default();
//! let ground = scene.add_body(Body::fixed("ground"));
//! let ball = scene.add_body(Body::dynamic("ball", Mass::Total(1.0)).at(Pose::translation(0.0, 0.0, 1.5)));
//! scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
//! scene.add_contactor(ball, Shape::sphere(0.5)?, Pose::identity(), 1);
//! scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
//! let mut world = World::new(scene, Settings::with_step(1e-3))?;
//! let recording = world.run(3.0, &Record::default())?;
//! let height = world.pose(ball).position.z;
//! assert!(height > 0.49 && height < 0.51, "it has come to rest on the ground, not below it: {height}");
//! assert!(world.state(ball).velocity.norm() < 1e-6, "and no longer moves");
//! assert_eq!((recording.unmet_steps, world.contacts().len()), (0, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod bonds;
mod elements;
mod energy;
mod error;
mod formula;
mod free_motion;
mod joints;
mod law_table;
mod load;
mod measures;
mod mesh_sides;
mod motion;
mod nonsmooth;
mod probe;
mod probing;
mod recording;
mod report;
mod scene;
mod settings;
mod settle;
mod setup;
mod signal;
mod smooth;
mod snapshot;
mod state;
mod stored;
mod table;
mod timing;
mod union;
mod world;

pub use body::{Body, Mass, Role};
pub use bonds::{Between, Bond, BondLaw, BondMemory};
pub use elements::{Effort, Element};
pub use energy::{Energy, PairWork};
pub use error::RigidError;
pub use formula::Formula;
pub use free_motion::BodyState;
pub use joints::{
    Assembled, Friction, HeldRow, Imposed, Joint, JointKind, Limit, Linkage, Placed, Row, RowValue,
    Target,
};
pub use law_table::{ContactLaw, MOST_FRICTION, MOST_ROLLING_M};
pub use load::Load;
pub use motion::Motion;
pub use nonsmooth::ActiveContact;
pub use percuss_geometry::{Contactor, MassProperties, Mat3, Pose, Quat, Shape, Vec3};
pub use percuss_laws::contact::ImpactLaw;
pub use percuss_solvers::Solver;
pub use probe::{Probe, ProbeKind};
pub use recording::{Record, Recording};
pub use report::StepReport;
pub use scene::Scene;
pub use settings::{LOOSEST_TOLERANCE, Settings, Stepper};
pub use settle::{Settle, Settled};
pub use signal::{Signal, Spline};
pub use smooth::Method;
pub use snapshot::Snapshot;
pub use table::{Column, Table};
pub use timing::Timing;
pub use world::World;
