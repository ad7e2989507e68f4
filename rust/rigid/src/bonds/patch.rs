//! From faces that touch at the start to the points of bonds.

use super::Between;
use crate::body::Role;
use crate::error::RigidError;
use crate::setup::Setup;
use percuss_geometry::{ContactPoint, Detector, Pose, Shape, Vec3, tangents};

/// A point of a bond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BondPoint {
    /// Index of its bond.
    pub bond: u32,
    /// Its bodies, A and B: the normal points from A to B.
    pub bodies: [u32; 2],
    /// Where it is about the mass centres, in the axes of the bodies.
    pub arms: [Vec3; 2],
    /// The normal in the axes of A.
    pub normal: Vec3,
    pub area_m2: f64,
    /// Index of the contact law of the two groups.
    pub law: u32,
}

/// The points of all bonds, for bodies with their mass centres at `poses`; `detector` has looked at them there.
///
/// # Errors
/// A bond whose bodies do not touch by a face or by a round one, or two bonds between the same bodies.
pub(crate) fn find(
    setup: &Setup,
    detector: &Detector,
    poses: &[Pose],
) -> Result<Vec<BondPoint>, RigidError> {
    let mut points = Vec::new();
    let mut taken: Vec<Option<usize>> = vec![None; detector.manifolds().len()];
    for (index, bond) in setup.scene.bonds.iter().enumerate() {
        let before = points.len();
        for (place, manifold) in detector.manifolds().iter().enumerate() {
            let contactors = [manifold.a, manifold.b].map(|c| &detector.contactors()[c as usize]);
            let bodies = contactors.map(|c| c.body);
            let groups = (contactors[0].group, contactors[1].group);
            let wanted = match bond.between {
                Between::Bodies([a, b]) => {
                    let pair = bodies.map(|body| body as usize);
                    pair == [a, b] || pair == [b, a]
                }
                Between::Groups((a, b)) => groups == (a, b) || groups == (b, a),
            };
            let range = manifold.points.start as usize..manifold.points.end as usize;
            if !(wanted && meet(setup, bodies)) {
                continue;
            }
            // Steps that look ahead see more than what touches.
            let touching = detector.points()[range].iter();
            let touching = touching.filter(|p| p.gap <= setup.settings.contact_tolerance_m);
            let Some(face) = Face::of(&touching.copied().collect::<Vec<_>>()) else {
                continue;
            };
            if let Some(round) = contactors.iter().find(|c| is_round(&c.shape)) {
                return Err(RigidError::RoundFace {
                    bond: bond.name.clone(),
                    body: setup.scene.bodies[round.body as usize].name.clone(),
                    shape: round.shape.name(),
                });
            }
            if let Some(other) = taken[place].replace(index) {
                let names = [other, index].map(|bond| setup.scene.bonds[bond].name.clone());
                let bodies = bodies.map(|body| setup.scene.bodies[body as usize].name.clone());
                return Err(RigidError::TwoBonds { names, bodies });
            }
            let law = setup.laws.law(groups.0, groups.1) as u32;
            for (position, area_m2) in face.points(bond.refinement as usize) {
                let local = |body: u32| {
                    let pose = &poses[body as usize];
                    pose.rotation.inverse() * (position - pose.position)
                };
                points.push(BondPoint {
                    bond: index as u32,
                    bodies,
                    arms: bodies.map(local),
                    normal: poses[bodies[0] as usize].rotation.inverse() * face.normal,
                    area_m2,
                    law,
                });
            }
        }
        if points.len() == before {
            return Err(RigidError::NothingToBond {
                bond: bond.name.clone(),
            });
        }
    }
    Ok(points)
}

/// Whether the flat faces of a shape are round: their contact points, four on the rim, bound two thirds of the area.
fn is_round(shape: &Shape) -> bool {
    matches!(shape, Shape::Cylinder(_) | Shape::Cone(_) | Shape::Ring(_))
}

/// Whether two bodies are where they are at the start when both are there: they come together, or to one that never moves.
fn meet(setup: &Setup, bodies: [u32; 2]) -> bool {
    let [a, b] = bodies.map(|body| &setup.scene.bodies[body as usize]);
    let [born_a, born_b] = [a, b].map(|body| body.birth_s.max(0.0));
    let first = if born_a < born_b { a } else { b };
    born_a == born_b || matches!(first.role, Role::Static)
}

/// A convex polygon.
struct Face {
    corners: Vec<Vec3>,
    normal: Vec3,
}

impl Face {
    /// The polygon whose corners touch; none where points make no face.
    fn of(points: &[ContactPoint]) -> Option<Self> {
        if points.len() < 3 {
            return None;
        }
        let normal = points.iter().fold(Vec3::zeros(), |sum, p| sum + p.normal);
        let normal = normal.try_normalize(0.5)?;
        let middle = points.iter().fold(Vec3::zeros(), |sum, p| sum + p.position);
        let middle = middle / points.len() as f64;
        let (t, s) = tangents(&normal);
        let angle = |p: &Vec3| (p - middle).dot(&s).atan2((p - middle).dot(&t));
        let mut corners: Vec<Vec3> = points.iter().map(|p| p.position).collect();
        corners.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
        let face = Self { corners, normal };
        let size = face.corners.iter().map(|p| (p - middle).norm());
        let size = size.fold(0.0, f64::max);
        (face.triangles().map(|t| area(&t)).sum::<f64>() > 1e-9 * size * size).then_some(face)
    }

    /// Triangles from its middle to its edges.
    fn triangles(&self) -> impl Iterator<Item = [Vec3; 3]> + '_ {
        let corners = &self.corners;
        let middle = corners.iter().fold(Vec3::zeros(), |sum, p| sum + p) / corners.len() as f64;
        (0..corners.len()).map(move |k| [middle, corners[k], corners[(k + 1) % corners.len()]])
    }

    /// Points with their areas: the middles of the edges of triangles, exact for what varies quadratically over a face.
    fn points(&self, refinement: usize) -> Vec<(Vec3, f64)> {
        let mut points: Vec<(Vec3, f64)> = Vec::new();
        for triangle in self.triangles().flat_map(|t| divided(t, refinement)) {
            let third = area(&triangle) / 3.0;
            for k in 0..3 {
                let middle = (triangle[k] + triangle[(k + 1) % 3]) * 0.5;
                let size = (triangle[k] - triangle[(k + 1) % 3]).norm();
                let near = |(known, _): &(Vec3, f64)| (known - middle).norm() < 1e-6 * size;
                match points.iter().position(near) {
                    Some(known) => points[known].1 += third,
                    None => points.push((middle, third)),
                }
            }
        }
        points
    }
}

/// A triangle cut into `n` x `n` alike.
fn divided([a, b, c]: [Vec3; 3], n: usize) -> Vec<[Vec3; 3]> {
    let at = |i: usize, j: usize| a + ((b - a) * i as f64 + (c - a) * j as f64) / n as f64;
    let mut triangles = Vec::with_capacity(n * n);
    for i in 0..n {
        for j in 0..n - i {
            triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
            if i + j + 1 < n {
                triangles.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
    }
    triangles
}

fn area([a, b, c]: &[Vec3; 3]) -> f64 {
    0.5 * (b - a).cross(&(c - a)).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area and second moments of a rectangle, whatever the refinement.
    #[test]
    fn points_carry_area_and_moments_of_their_face() {
        let corner = |x: f64, y: f64| ContactPoint {
            position: Vec3::new(x, y, 0.3),
            normal: Vec3::z(),
            gap: 0.0,
            feature: 0,
        };
        let corners = [
            corner(1.0, 2.0),
            corner(-1.0, -2.0),
            corner(1.0, -2.0),
            corner(-1.0, 2.0),
        ];
        let face = Face::of(&corners).unwrap();
        for refinement in [1, 2, 5] {
            let points = face.points(refinement);
            let sum = |f: fn(&Vec3) -> f64| points.iter().map(|(p, a)| a * f(p)).sum::<f64>();
            for (found, exact) in [
                (sum(|_| 1.0), 8.0),
                (sum(|p| p.x), 0.0),
                (sum(|p| p.x * p.x), 8.0 / 3.0),
                (sum(|p| p.y * p.y), 32.0 / 3.0),
            ] {
                assert!((found - exact).abs() < 1e-12, "{found} {exact}");
            }
        }
        assert!(Face::of(&corners[..2]).is_none());
    }
}
