//! What can be wrong with a scene, its settings, or a step.

use percuss_geometry::GeometryError;
use thiserror::Error;

/// Every refusal of this crate; a step whose contact problem merely stays above its tolerance is none.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RigidError {
    /// Threads that the machine does not give.
    #[error("threads = {threads}: {fault}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What went wrong.
        fault: String,
    },
    /// A number of a bond that cannot be.
    #[error("bond {bond}: {key} is {value}, must be {allowed}")]
    Bond {
        /// The bond's name.
        bond: String,
        /// Which number.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A bond between bodies that forces do not move.
    #[error("bond {bond}: both bodies are fixed or move as given, it would have nothing to hold")]
    BondOfTheUnmoved {
        /// The bond's name.
        bond: String,
    },
    /// A bond between bodies that do not touch.
    #[error(
        "bond {bond}: no two faces of these bodies touch at the start, there is nothing to bond"
    )]
    NothingToBond {
        /// The bond's name.
        bond: String,
    },
    /// A bond of a face whose area no polygon gives.
    #[error(
        "bond {bond}: body {body} touches by the round face of a {shape}, only faces with straight edges are bonded, \
         such as those of a polyhedron"
    )]
    RoundFace {
        /// The bond's name.
        bond: String,
        /// The body's name.
        body: String,
        /// The shape's name.
        shape: &'static str,
    },
    /// Faces that two bonds claim.
    #[error(
        "bonds {} and {} both hold {} and {} together, one of them has to go",
        names[0], names[1], bodies[0], bodies[1]
    )]
    TwoBonds {
        /// Names of the bonds.
        names: [String; 2],
        /// Names of the bodies.
        bodies: [String; 2],
    },
    /// A body without a positive mass.
    #[error(
        "body {body}: mass is {value} kg, must be finite and > 0 (no contactor to fill, or a zero given?)"
    )]
    Mass {
        /// The body's name.
        body: String,
        /// The mass found.
        value: f64,
    },
    /// Moments of inertia no solid has.
    #[error(
        "body {body}: principal moments {moments:?} kg m2, must be > 0 and none above the sum of the others"
    )]
    Inertia {
        /// The body's name.
        body: String,
        /// Principal moments found.
        moments: [f64; 3],
    },
    /// An inertia matrix that is not symmetric.
    #[error(
        "body {body}: inertia has {} in row {}, column {} and {} across the diagonal, it must be symmetric",
        values[0], place[0] + 1, place[1] + 1, values[1]
    )]
    Unsymmetric {
        /// The body's name.
        body: String,
        /// Row and column, from 0.
        place: [usize; 2],
        /// The entry there and the one across the diagonal [kg m2].
        values: [f64; 2],
    },
    /// Bodies on the side of a surface that cannot be touched.
    #[error(
        "body {body} lies behind the mesh of body {mesh}: triangles must be anticlockwise seen from the side that is \
         touched (turn their corners round)"
    )]
    BehindMesh {
        /// The body's name.
        body: String,
        /// Name of the body that carries the mesh.
        mesh: String,
    },
    /// Friction that drowns the normal velocity in the measure of the contact solver.
    #[error(
        "friction = {friction} with tolerance = {tolerance}: bodies that slide would sink, friction times tolerance \
         must be at most {}",
        crate::law_table::MOST_FRICTION_BY_TOLERANCE
    )]
    FrictionByTolerance {
        /// The coefficient.
        friction: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// A contactor that no law lets touch anything.
    #[error(
        "contactor {contactor} is in group {group}, which no law names: add a law or leave the contactor out"
    )]
    MissingLaw {
        /// Index of the contactor.
        contactor: usize,
        /// Its group.
        group: u16,
    },
    /// A law about a group that no contactor is in.
    #[error("law between groups {} and {}: no contactor is in group {group}", groups.0, groups.1)]
    UnreachableGroup {
        /// The law's groups.
        groups: (u16, u16),
        /// The empty one.
        group: u16,
    },
    /// Two laws for one pair of groups.
    #[error("groups {} and {} have two laws, one is allowed", groups.0, groups.1)]
    TwoLaws {
        /// The groups.
        groups: (u16, u16),
    },
    /// A coefficient out of bounds.
    #[error("law between groups {} and {}: {key} = {value:?}, must be from 0 to {most}", groups.0, groups.1)]
    Law {
        /// The law's groups.
        groups: (u16, u16),
        /// The coefficient.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The largest allowed.
        most: f64,
    },
    /// Bodies that overlap before the first step.
    #[error(
        "bodies {} and {} overlap by {overlap_m:e} m at the start, at most {allowed_m:e} m is allowed",
        bodies[0], bodies[1]
    )]
    Overlap {
        /// Names of the two bodies.
        bodies: [String; 2],
        /// Depth of the overlap [m].
        overlap_m: f64,
        /// The tolerance [m].
        allowed_m: f64,
    },
    /// A setting out of bounds.
    #[error("{key} = {value:?}, must be {allowed}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A number that is NaN or infinite.
    #[error("{what} holds a number that is not finite")]
    NotFinite {
        /// Where.
        what: String,
    },
    /// A table over time that cannot be read.
    #[error(
        "{what}: {times} instants for {values} values, there must be as many, at least one, and rising"
    )]
    Times {
        /// Which table.
        what: String,
        /// Number of instants.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// Something names a body that does not exist.
    #[error("{what} names body {body}, there are {bodies} bodies")]
    NoBody {
        /// What names it.
        what: String,
        /// The index.
        body: usize,
        /// Number of bodies.
        bodies: usize,
    },
    /// Something names a law that does not exist.
    #[error("{what} names law {law}, there are {laws} laws")]
    NoLaw {
        /// What names it.
        what: String,
        /// The index.
        law: usize,
        /// Number of laws.
        laws: usize,
    },
    /// Something that acts on moving bodies only names another.
    #[error("{what} names body {body}, which is not dynamic")]
    NotDynamic {
        /// What names it.
        what: String,
        /// The body's name.
        body: String,
    },
    /// A coordinate that a kind of joint does not have.
    #[error(
        "joint {joint}: {kind} joints have no coordinate `{coordinate}`, {}",
        if known.is_empty() { "they leave nothing free".into() } else { format!("only {}", known.join(", ")) }
    )]
    Coordinate {
        /// The joint's name.
        joint: String,
        /// Its kind.
        kind: &'static str,
        /// The coordinate asked for.
        coordinate: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// A joint whose two sides are one body.
    #[error("joint {joint} joins a body to itself")]
    JointOnItself {
        /// The joint's name.
        joint: String,
    },
    /// A coordinate that two motions are imposed on.
    #[error("joint {joint}: coordinate {coordinate} has two imposed motions, one is allowed")]
    ImposedTwice {
        /// The joint's name.
        joint: String,
        /// The coordinate.
        coordinate: String,
    },
    /// A number of a joint out of bounds.
    #[error("joint {joint}: {key} = {value}, must be {allowed}")]
    JointNumber {
        /// The joint's name.
        joint: String,
        /// The key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Joints that cannot be met together at the start.
    #[error(
        "joint {joint}: its {row} cannot be met together with the other joints and motions, its {of} stays off by \
         {off_by:.3e}"
    )]
    Conflict {
        /// The joint's name.
        joint: String,
        /// The row.
        row: String,
        /// Place or velocity.
        of: &'static str,
        /// By how much.
        off_by: f64,
    },
    /// Joints that can no longer be met.
    #[error(
        "t = {time_s} s: joint {joint} comes apart, its {row} is off by {off_by:.3e}: its motions conflict, or the \
         step is too long"
    )]
    Broken {
        /// The joint's name.
        joint: String,
        /// The row.
        row: String,
        /// When [s].
        time_s: f64,
        /// By how much.
        off_by: f64,
    },
    /// What the smooth stepper cannot do.
    #[error("the smooth stepper takes no {what}: {instead}")]
    NotSmooth {
        /// What it was given.
        what: String,
        /// What to do.
        instead: &'static str,
    },
    /// A tolerance that no step meets.
    #[error("t = {time_s} s: tolerance {tolerance:e} would need steps of {step_s:.1e} s")]
    StepTooShort {
        /// When [s].
        time_s: f64,
        /// The step [s].
        step_s: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// A joint or element on a body that is not there all the time.
    #[error("{what} names body {body}, which has a birth or removal: joined bodies stay")]
    JoinedBirth {
        /// What names it.
        what: String,
        /// The body's name.
        body: String,
    },
    /// A stiffness or damping below zero.
    #[error("element {element}: stiffness and damping must be >= 0, found {value}")]
    Element {
        /// The element's name.
        element: String,
        /// The value.
        value: f64,
    },
    /// Something names a joint that does not exist.
    #[error("{what} names joint {joint}, there are {joints} joints")]
    NoJoint {
        /// What names it.
        what: String,
        /// The index.
        joint: usize,
        /// Number of joints.
        joints: usize,
    },
    /// Text that is no formula in t.
    #[error("formula `{text}`: expected {expected} at character {}", at + 1)]
    Formula {
        /// The text.
        text: String,
        /// Where it stops being one.
        at: usize,
        /// What could stand there.
        expected: &'static str,
    },
    /// A list that is too long.
    #[error("{count} {what}, at most {limit} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// The state left the finite numbers.
    #[error("step {step} (t = {time_s} s): the velocity of body {body} is not finite")]
    Diverged {
        /// The step.
        step: u64,
        /// Its start [s].
        time_s: f64,
        /// The body's name.
        body: String,
    },
    /// A snapshot of another scene, or damaged.
    #[error("snapshot: {0}")]
    Snapshot(String),
    /// A shape, pose or group is wrong.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The contact problem of a step is not one.
    #[error(transparent)]
    Solver(#[from] percuss_solvers::Error),
}

impl RigidError {
    /// Refuses two sides of which one is a body that is not there; None is the ground.
    pub(crate) fn unless_bodies(
        sides: [Option<usize>; 2],
        bodies: usize,
        what: impl Fn() -> String,
    ) -> Result<(), Self> {
        match sides.into_iter().flatten().find(|&body| body >= bodies) {
            Some(body) => Err(Self::NoBody {
                what: what(),
                body,
                bodies,
            }),
            None => Ok(()),
        }
    }
}
