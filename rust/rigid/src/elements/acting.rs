//! Elements on their bodies: what they add to the forces, and the energy they hold.

use super::{Effort, Element, bushing};
use crate::body::Inertia;
use crate::joints::{Joint, Limit, Linkage, Local, Placed, Row};
use crate::signal::Signal;
use percuss_geometry::Pose;

/// Powers of elements [W].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Power {
    /// Brought in by actuators.
    pub external: f64,
    /// Taken by dampers.
    pub damping: f64,
    /// Taken by dry friction.
    pub friction: f64,
}

#[derive(Debug, Clone)]
enum Law {
    Spring {
        stiffness: f64,
        damping: f64,
        rest: f64,
        preload: f64,
    },
    Actuator(Signal),
    /// bound tanh(rate / slip).
    Friction {
        bound: f64,
        slip: f64,
    },
    /// A spring and damper beyond a bound, which only push.
    Stop {
        low: f64,
        high: f64,
        stiffness: f64,
        damping: f64,
    },
}

#[derive(Debug, Clone)]
enum Kind {
    /// A law on a row; the value of an angle is counted on from `near` instead of jumping by a turn.
    Row {
        row: Row,
        law: Law,
        near: f64,
    },
    Bushing(bushing::Bushing),
}

/// An element on its bodies.
#[derive(Debug, Clone)]
pub(crate) struct Acting {
    bodies: [usize; 2],
    local: [Local; 2],
    kind: Kind,
}

impl Acting {
    /// The elements of a scene; `placed` holds its bodies at the start, then the world.
    pub fn elements(
        elements: &[Element],
        inertia: &[Option<Inertia>],
        placed: &[Placed],
    ) -> Vec<Self> {
        let compiled = |element: &Element| {
            let (bodies, local) = on_bodies(&element.bodies, &element.frames, inertia);
            let kind = match &element.effort {
                Effort::Spring {
                    row,
                    stiffness,
                    damping,
                    rest,
                    preload,
                } => {
                    let start = Linkage::new(&local, bodies.map(|b| &placed[b])).value(*row);
                    Kind::Row {
                        row: *row,
                        near: start,
                        law: Law::Spring {
                            stiffness: *stiffness,
                            damping: *damping,
                            rest: rest.unwrap_or(start),
                            preload: *preload,
                        },
                    }
                }
                Effort::Bushing {
                    stiffness,
                    damping,
                    preload,
                } => Kind::Bushing(bushing::Bushing::new(stiffness, damping, preload)),
                Effort::Actuator { row, effort } => Kind::Row {
                    row: *row,
                    near: 0.0,
                    law: Law::Actuator(effort.clone()),
                },
            };
            Self {
                bodies,
                local,
                kind,
            }
        };
        elements.iter().map(compiled).collect()
    }

    /// Friction and stops of joints as smooth forces.
    pub fn of_joint(joint: &Joint, inertia: &[Option<Inertia>]) -> Vec<Self> {
        let (bodies, local) = on_bodies(&joint.bodies, &joint.frames, inertia);
        let row = |name: &str| joint.coordinate(name).ok();
        let friction = joint.friction.iter().filter_map(|friction| {
            let law = Law::Friction {
                bound: friction.bound,
                slip: friction.slip_rate,
            };
            Some((row(&friction.coordinate)?, law))
        });
        let stops = joint.limits.iter().filter_map(|limit: &Limit| {
            let law = Law::Stop {
                low: limit.low,
                high: limit.high,
                stiffness: limit.stiffness,
                damping: limit.damping,
            };
            Some((row(&limit.coordinate)?, law))
        });
        let acting = |(row, law): (Row, Law)| Self {
            bodies,
            local,
            kind: Kind::Row {
                row,
                law,
                near: 0.0,
            },
        };
        friction.chain(stops).map(acting).collect()
    }

    /// Adds forces and torques about the mass centres at time `t`; gives the power.
    #[inline]
    pub fn add(&self, t: f64, placed: &[Placed], forces: &mut [[f64; 6]]) -> Power {
        let [a, b] = self.bodies;
        let linkage = Linkage::new(&self.local, [&placed[a], &placed[b]]);
        match &self.kind {
            Kind::Bushing(bushing) => {
                let (on_a, on_b, damping) = bushing.forces(&linkage);
                add(&mut forces[a], &on_a, 1.0);
                add(&mut forces[b], &on_b, 1.0);
                Power {
                    damping,
                    ..Power::default()
                }
            }
            Kind::Row { row, law, near } => {
                let value = linkage.row(*row);
                let twist = |body: usize| placed[body].twist();
                let rate = value.rate([&twist(a), &twist(b)]);
                let x = near + row.difference(linkage.value(*row), *near);
                let (force, power) = law.force(t, x, rate);
                add(&mut forces[a], &value.jacobian[0], force);
                add(&mut forces[b], &value.jacobian[1], force);
                power
            }
        }
    }

    /// Energy stored [J].
    pub fn energy_j(&self, placed: &[Placed]) -> f64 {
        let linkage = Linkage::new(&self.local, self.bodies.map(|b| &placed[b]));
        match &self.kind {
            Kind::Bushing(bushing) => bushing.energy_j(&linkage),
            Kind::Row { row, law, near } => {
                law.energy_j(near + row.difference(linkage.value(*row), *near))
            }
        }
    }

    /// The angle it counts from: what [`Acting::count`] found last.
    pub fn counted(&self) -> Option<f64> {
        match self.kind {
            Kind::Row {
                row: Row::Angle(_),
                near,
                ..
            } => Some(near),
            _ => None,
        }
    }

    /// Counts from an angle.
    pub fn count_from(&mut self, angle: f64) {
        if let Kind::Row { near, .. } = &mut self.kind {
            *near = angle;
        }
    }

    /// Counts the turns of an angle on to where the bodies are now.
    pub fn count(&mut self, placed: &[Placed]) {
        if let Kind::Row {
            row: row @ Row::Angle(_),
            near,
            ..
        } = &mut self.kind
        {
            let linkage = Linkage::new(&self.local, self.bodies.map(|b| &placed[b]));
            *near += row.difference(linkage.value(*row), *near);
        }
    }
}

impl Law {
    fn force(&self, t: f64, x: f64, rate: f64) -> (f64, Power) {
        let none = Power::default();
        match self {
            Self::Spring {
                stiffness,
                damping,
                rest,
                preload,
            } => {
                let damped = damping * rate;
                let power = Power {
                    damping: damped * rate,
                    ..none
                };
                (-(stiffness * (x - rest) + damped + preload), power)
            }
            Self::Actuator(signal) => {
                let effort = signal.at(t)[0];
                let power = Power {
                    external: effort * rate,
                    ..none
                };
                (effort, power)
            }
            Self::Friction { bound, slip } => {
                let force = bound * (rate / slip).tanh();
                let power = Power {
                    friction: force * rate,
                    ..none
                };
                (-force, power)
            }
            Self::Stop {
                low,
                high,
                stiffness,
                damping,
            } => {
                let beyond = (x - high).max(0.0) + (x - low).min(0.0);
                if beyond == 0.0 {
                    return (0.0, none);
                }
                // A stop pushes and never pulls: the damper gives at most what the spring does.
                let elastic = -stiffness * beyond;
                let force = elastic - damping * rate;
                let force = if beyond > 0.0 {
                    force.min(0.0)
                } else {
                    force.max(0.0)
                };
                let power = Power {
                    damping: (elastic - force) * rate,
                    ..none
                };
                (force, power)
            }
        }
    }

    fn energy_j(&self, x: f64) -> f64 {
        match self {
            Self::Spring {
                stiffness,
                rest,
                preload,
                ..
            } => 0.5 * stiffness * (x - rest) * (x - rest) + preload * (x - rest),
            Self::Stop {
                low,
                high,
                stiffness,
                ..
            } => {
                let beyond = (x - high).max(0.0) + (x - low).min(0.0);
                0.5 * stiffness * beyond * beyond
            }
            Self::Actuator(_) | Self::Friction { .. } => 0.0,
        }
    }
}

/// Bodies, the world last, and the frames about their mass centres.
fn on_bodies(
    bodies: &[Option<usize>; 2],
    frames: &[Pose; 2],
    inertia: &[Option<Inertia>],
) -> ([usize; 2], [Local; 2]) {
    let world = inertia.len();
    let bodies = bodies.map(|body| body.unwrap_or(world));
    let mut frames = *frames;
    for (frame, body) in frames.iter_mut().zip(bodies) {
        if let Some(Some(inertia)) = inertia.get(body) {
            frame.position -= inertia.centre_m;
        }
    }
    (bodies, Linkage::local(&frames))
}

#[inline]
fn add(to: &mut [f64; 6], what: &[f64; 6], factor: f64) {
    for k in 0..6 {
        to[k] += factor * what[k];
    }
}
