//! Bodies that are so fast that they leap through a mesh between two steps: no contact sees them.

use super::overlap::Overlap;
use crate::body::Role;
use crate::free_motion::BodyState;
use crate::setup::Setup;
use crate::state::State;
use percuss_geometry::{Pose, Shape, Vec3};

/// A way of less than this share of a shape's size in a step leaves contacts that tell of it.
const SLOW: f64 = 0.25;

/// A contactor that forces move and a mesh that it can touch, by their indices, and a point inside the former in the frame
/// of its body.
struct Leaper {
    contactor: usize,
    mesh: usize,
    inner: Vec3,
    /// Its way in a step is not looked at if the centre of mass has moved by less than this [m].
    slow_m: f64,
}

/// Looks for leaps.
pub(super) struct Passages {
    leapers: Vec<Leaper>,
    /// Where the centres of mass of the bodies were at the start of the step.
    before: Vec<Pose>,
}

impl Passages {
    pub fn new(setup: &Setup) -> Self {
        let contactors = setup.touching();
        let mut leapers = Vec::new();
        for (mesh, ground) in contactors.iter().enumerate() {
            if !matches!(ground.shape, Shape::Mesh(_)) {
                continue;
            }
            for (contactor, other) in contactors.iter().enumerate() {
                let Some(inner) = setup.inner_point(ground, other) else {
                    continue;
                };
                // However the body turns, its point moves by no more than twice the arm beside the centre of mass.
                let arm = (inner - setup.centre_m(other.body as usize)).norm();
                let stands = matches!(setup.scene.bodies[ground.body as usize].role, Role::Static);
                leapers.push(Leaper {
                    contactor,
                    mesh,
                    inner,
                    slow_m: if stands {
                        SLOW * other.shape.size() - 2.0 * arm
                    } else {
                        0.0
                    },
                });
            }
        }
        Self {
            leapers,
            before: Vec::new(),
        }
    }

    /// At the start of a step.
    pub fn begin(&mut self, state: &State) {
        self.before.clear();
        if !self.leapers.is_empty() {
            self.before.extend(state.bodies.iter().map(BodyState::pose));
        }
    }

    /// At its end: a leap counts as an overlap of more than half the width of what leaps.
    pub fn deepest(&self, setup: &Setup, state: &State) -> Overlap {
        let mut deepest = Overlap::default();
        for leaper in &self.leapers {
            let other = &setup.scene.contactors[leaper.contactor];
            let ground = &setup.scene.contactors[leaper.mesh];
            let [body, under] = [other.body, ground.body].map(|body| body as usize);
            if !(state.present[body] && state.present[under]) {
                continue;
            }
            let moved = state.bodies[body].position - self.before[body].position;
            if leaper.slow_m > 0.0 && moved.norm() <= leaper.slow_m {
                continue;
            }
            // In the frame of the mesh.
            let place = |of: &Pose, on: &Pose| {
                let point = of.point(&(leaper.inner - setup.centre_m(body)));
                on.compose(&ground.pose).inverse().point(&point)
            };
            let [pose, stand] = [body, under].map(|body| state.bodies[body].pose());
            let from = place(&self.before[body], &self.before[under]);
            let to = place(&pose, &stand);
            let Shape::Mesh(mesh) = &ground.shape else {
                continue;
            };
            if let Some((normal, behind)) = mesh.passed(&from, &to) {
                let normal = stand.rotation * (ground.pose.rotation * normal);
                let turned = pose.rotation * other.pose.rotation;
                let half = other.shape.half_width(&(turned.inverse() * normal));
                deepest = deepest.deeper(Overlap {
                    depth_m: half + behind,
                    share: 1.0 + behind / half,
                });
            }
        }
        deepest
    }
}
