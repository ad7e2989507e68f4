//! Joints between two bodies, or a body and the world.
//!
//! A joint carries a frame on each side, a and b, and is a list of [`Row`]s: scalar functions of the two frames,
//! each held at a target. A frame's z is the joint's axis (revolute, prismatic, cylindrical) or the normal of its
//! plane (planar); a universal joint turns about x of frame a and z of frame b. What a kind leaves free are its
//! coordinates, rows too: they can be imposed over time, limited, and rubbed on. All coordinates are zero while
//! the frames coincide, and count from a to b.
//!
//! For every held row g(q) = c(t) the steppers use J v = c'(t) and J v' + bias = c''(t), with v the velocity of
//! the mass centre and the angular velocity of each body in world axes (Haug 1989, chapters 9 and 11, with
//! angular velocities in the place of Euler parameters).

mod assembly;
mod connected;
mod envelope;
mod frames;
mod mechanism;
mod order;
mod rows;

use crate::error::RigidError;
use crate::signal::Signal;
pub use assembly::Assembled;
pub(crate) use assembly::assemble;
pub(crate) use connected::Connected;
pub(crate) use frames::Local;
pub use frames::{Linkage, Placed};
pub(crate) use mechanism::{Linked, Mechanism, Soft, response};
use percuss_geometry::Pose;
pub use rows::{Row, RowValue};

/// What a joint lets its bodies do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turn about z.
    Revolute,
    /// Slide along z.
    Prismatic,
    /// Turn about z and slide along it.
    Cylindrical,
    /// Turn about a point.
    Spherical,
    /// Turn about x of frame a and about z of frame b.
    Universal,
    /// Slide in the plane across z and turn about z.
    Planar,
    /// Anything that keeps the distance between the two origins.
    Distance,
}

use Row::{Angle, Length, Perpendicular, Slide};

/// z of frame b along z of frame a.
const AXIS: [Row; 2] = [Perpendicular(0, 2), Perpendicular(1, 2)];

impl JointKind {
    /// Every kind by name.
    pub const TABLE: [(&'static str, Self); 8] = [
        ("fixed", Self::Fixed),
        ("revolute", Self::Revolute),
        ("prismatic", Self::Prismatic),
        ("cylindrical", Self::Cylindrical),
        ("spherical", Self::Spherical),
        ("universal", Self::Universal),
        ("planar", Self::Planar),
        ("distance", Self::Distance),
    ];

    /// The table is in the order of the kinds, as `name` takes it.
    const IN_ORDER: () = {
        let mut place = 0;
        while place < Self::TABLE.len() {
            assert!(Self::TABLE[place].1 as usize == place);
            place += 1;
        }
    };

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let () = Self::IN_ORDER;
        let found = Self::TABLE.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].0
    }

    /// The rows it holds at zero (the length of a distance joint at its length).
    pub fn held(self) -> &'static [Row] {
        const TURNS: Row = Perpendicular(0, 1);
        match self {
            Self::Fixed => &[Slide(0), Slide(1), Slide(2), AXIS[0], AXIS[1], TURNS],
            Self::Revolute => &[Slide(0), Slide(1), Slide(2), AXIS[0], AXIS[1]],
            Self::Prismatic => &[Slide(0), Slide(1), AXIS[0], AXIS[1], TURNS],
            Self::Cylindrical => &[Slide(0), Slide(1), AXIS[0], AXIS[1]],
            Self::Spherical => &[Slide(0), Slide(1), Slide(2)],
            Self::Universal => &[Slide(0), Slide(1), Slide(2), AXIS[0]],
            Self::Planar => &[Slide(2), AXIS[0], AXIS[1]],
            Self::Distance => &[Length],
        }
    }

    /// Its coordinates by name.
    pub fn coordinates(self) -> &'static [(&'static str, Row)] {
        match self {
            Self::Fixed => &[],
            Self::Revolute => &[("angle", Angle(2))],
            Self::Prismatic => &[("slide", Slide(2))],
            Self::Cylindrical => &[("slide", Slide(2)), ("angle", Angle(2))],
            Self::Spherical => &[
                ("angle_x", Angle(0)),
                ("angle_y", Angle(1)),
                ("angle_z", Angle(2)),
            ],
            Self::Universal => &[("first_angle", Angle(0)), ("second_angle", Angle(2))],
            Self::Planar => &[
                ("slide_x", Slide(0)),
                ("slide_y", Slide(1)),
                ("angle", Angle(2)),
            ],
            Self::Distance => &[("length", Length)],
        }
    }
}

/// What a row is held at.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A value [m or rad].
    Value(f64),
    /// A value over time.
    Position(Signal),
    /// A rate over time [m/s or rad/s]: the value follows from where the joint starts.
    Velocity(Signal),
}

/// A row of a joint and what it is held at.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldRow {
    /// The function of the two frames.
    pub row: Row,
    /// Its target.
    pub target: Target,
}

impl HeldRow {
    /// What the row is held at, and its first and second derivative; of an imposed rate the value is unknown.
    pub fn target(&self, t: f64) -> [f64; 3] {
        match &self.target {
            Target::Value(value) => [*value, 0.0, 0.0],
            Target::Position(signal) => signal.at(t),
            Target::Velocity(signal) => {
                let [rate, second, _] = signal.at(t);
                [f64::NAN, rate, second]
            }
        }
    }

    /// What is left of the row, its value less what it is held at; zero where only the rate is imposed.
    #[inline]
    pub fn residual(&self, linkage: &Linkage, target: f64) -> f64 {
        match self.target {
            Target::Velocity(_) => 0.0,
            _ => self.row.difference(linkage.value(self.row), target),
        }
    }
}

/// Bounds of a coordinate.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The coordinate's name.
    pub coordinate: String,
    /// Lowest value [m or rad]; minus infinity for none.
    pub low: f64,
    /// Highest value [m or rad]; infinity for none.
    pub high: f64,
    /// Newton's restitution of the stop, for the nonsmooth stepper.
    pub restitution: f64,
    /// Stiffness of the stop [N/m or N m/rad], for the smooth stepper; zero: none given.
    pub stiffness: f64,
    /// Damping of the stop while it is pressed [N s/m or N m s/rad], for the smooth stepper.
    pub damping: f64,
}

/// Dry friction of a coordinate.
#[derive(Debug, Clone, PartialEq)]
pub struct Friction {
    /// The coordinate's name.
    pub coordinate: String,
    /// Largest friction force [N] or torque [N m].
    pub bound: f64,
    /// What the reaction force of the joint adds to the bound, for the nonsmooth stepper: the coefficient of friction
    /// of a slide, or that times the radius of the pin [m].
    pub per_reaction: f64,
    /// The smooth stepper's friction is bound * tanh(rate / slip_rate) [m/s or rad/s]; zero: none given.
    pub slip_rate: f64,
}

/// A coordinate that moves as given.
#[derive(Debug, Clone, PartialEq)]
pub struct Imposed {
    /// The coordinate's name.
    pub coordinate: String,
    /// Its position or velocity over time.
    pub target: Target,
}

/// A joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name in messages and tables.
    pub name: String,
    /// What it lets its bodies do.
    pub kind: JointKind,
    /// Its bodies, a and b; none for the world.
    pub bodies: [Option<usize>; 2],
    /// Frames of the joint in the frames of the bodies.
    pub frames: [Pose; 2],
    /// Length of a distance joint [m]; none: the distance at the start.
    pub length_m: Option<f64>,
    /// Coordinates that move as given.
    pub imposed: Vec<Imposed>,
    /// Bounds of coordinates.
    pub limits: Vec<Limit>,
    /// Dry friction of coordinates.
    pub friction: Vec<Friction>,
}

impl Joint {
    /// A joint with nothing imposed, no limits and no friction.
    pub fn new(name: &str, kind: JointKind, bodies: [Option<usize>; 2], frames: [Pose; 2]) -> Self {
        Self {
            name: name.into(),
            kind,
            bodies,
            frames,
            length_m: None,
            imposed: Vec::new(),
            limits: Vec::new(),
            friction: Vec::new(),
        }
    }

    /// The same joint with a coordinate that moves as given.
    pub fn imposing(mut self, coordinate: &str, target: Target) -> Self {
        self.imposed.push(Imposed {
            coordinate: coordinate.into(),
            target,
        });
        self
    }

    /// The same joint with dry friction in a coordinate.
    pub fn rubbing(mut self, coordinate: &str, bound: f64, slip_rate: f64) -> Self {
        self.friction.push(Friction {
            coordinate: coordinate.into(),
            bound,
            per_reaction: 0.0,
            slip_rate,
        });
        self
    }

    /// The same joint with Coulomb friction in a coordinate: `per_reaction` times its reaction force.
    pub fn rubbing_under_load(mut self, coordinate: &str, per_reaction: f64) -> Self {
        self.friction.push(Friction {
            coordinate: coordinate.into(),
            bound: 0.0,
            per_reaction,
            slip_rate: 0.0,
        });
        self
    }

    /// The same joint with a bounded coordinate.
    pub fn limited(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// The row of a coordinate.
    ///
    /// # Errors
    /// A name that the kind does not have.
    pub fn coordinate(&self, name: &str) -> Result<Row, RigidError> {
        let known = self.kind.coordinates();
        match known.iter().find(|(own, _)| *own == name) {
            Some((_, row)) => Ok(*row),
            None => Err(RigidError::Coordinate {
                joint: self.name.clone(),
                kind: self.kind.name(),
                coordinate: name.into(),
                known: known.iter().map(|(own, _)| *own).collect(),
            }),
        }
    }

    /// All rows it holds, the imposed ones last. `start_length_m` is the distance of the origins at the start.
    ///
    /// A distance joint with limits is a tether: its length is bounded, not held.
    ///
    /// # Errors
    /// A coordinate that the kind does not have.
    pub fn held(&self, start_length_m: f64) -> Result<Vec<HeldRow>, RigidError> {
        let distance = self.kind == JointKind::Distance;
        let replaced = distance && !(self.imposed.is_empty() && self.limits.is_empty());
        let value = match self.length_m {
            Some(length) if distance => length,
            _ if distance => start_length_m,
            _ => 0.0,
        };
        let own = self.kind.held().iter().filter(|_| !replaced);
        let mut rows: Vec<HeldRow> = own
            .map(|&row| HeldRow {
                row,
                target: Target::Value(value),
            })
            .collect();
        for imposed in &self.imposed {
            rows.push(HeldRow {
                row: self.coordinate(&imposed.coordinate)?,
                target: imposed.target.clone(),
            });
        }
        Ok(rows)
    }

    /// Refuses what cannot be, whatever the stepper.
    pub(crate) fn check(&self, bodies: usize) -> Result<(), RigidError> {
        let what = || format!("joint {}", self.name);
        RigidError::unless_bodies(self.bodies, bodies, what)?;
        if self.bodies[0] == self.bodies[1] {
            return Err(RigidError::JointOnItself {
                joint: self.name.clone(),
            });
        }
        for frame in self.frames {
            frame.checked(&format!("a frame of joint {}", self.name))?;
        }
        let wrong = |key, value, allowed| RigidError::JointNumber {
            joint: self.name.clone(),
            key,
            value,
            allowed,
        };
        if let Some(length) = self.length_m
            && !(length > 0.0 && length.is_finite())
        {
            return Err(wrong("length_m", length, "finite and > 0"));
        }
        for (index, imposed) in self.imposed.iter().enumerate() {
            self.coordinate(&imposed.coordinate)?;
            let before = &self.imposed[..index];
            if before.iter().any(|i| i.coordinate == imposed.coordinate) {
                return Err(RigidError::ImposedTwice {
                    joint: self.name.clone(),
                    coordinate: imposed.coordinate.clone(),
                });
            }
        }
        for limit in &self.limits {
            self.coordinate(&limit.coordinate)?;
            if limit.low.is_nan() || limit.high.is_nan() || limit.low >= limit.high {
                return Err(wrong("high", limit.high, "above low"));
            }
            if !(0.0..=1.0).contains(&limit.restitution) {
                return Err(wrong("restitution", limit.restitution, "from 0 to 1"));
            }
            for (key, value) in [("stiffness", limit.stiffness), ("damping", limit.damping)] {
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(wrong(key, value, "finite and >= 0"));
                }
            }
        }
        for friction in &self.friction {
            self.coordinate(&friction.coordinate)?;
            for (key, value) in [
                ("friction", friction.bound),
                ("per_reaction", friction.per_reaction),
                ("slip_rate", friction.slip_rate),
            ] {
                if !(value >= 0.0 && value.is_finite()) {
                    return Err(wrong(key, value, "finite and >= 0"));
                }
            }
        }
        Ok(())
    }
}
