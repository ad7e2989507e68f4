//! Surfaces as flat polygons, to be drawn. Round surfaces are replaced by polygons of [`SEGMENTS`] sides whose
//! corners lie on them.

use crate::pose::Vec3;
use crate::shape::Shape;
use crate::shapes::cuboid::Cuboid;

/// Corners of a circle.
pub const SEGMENTS: u32 = 24;

/// A surface of polygons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// Corners, in the shape's frame (m).
    pub vertices: Vec<Vec3>,
    /// Loops of corners, anticlockwise seen from outside.
    pub polygons: Vec<Vec<u32>>,
}

impl Shape {
    /// The surface as polygons; of a half-space a square of side 2 `extent_m` about its origin.
    pub fn outline(&self, extent_m: f64) -> Outline {
        match self {
            Self::Sphere(s) => revolved(&arc(s.radius_m, 0.0, -1.0, 1.0), false),
            Self::Box(s) => cuboid(s),
            Self::Cylinder(s) => {
                let (r, h) = (s.radius_m, s.half_height_m);
                revolved(&[(r, -h), (r, h)], false)
            }
            Self::Capsule(s) => {
                let (r, l) = (s.radius_m, s.half_length_m);
                let mut profile = arc(r, -l, -1.0, 0.0);
                profile.extend(arc(r, l, 0.0, 1.0));
                revolved(&profile, false)
            }
            Self::Cone(s) => {
                let h = s.half_height_m;
                revolved(&[(s.radius_m, -h), (0.0, h)], false)
            }
            Self::Ring(s) => {
                let (inner, outer, h) = (s.inner_radius_m, s.outer_radius_m, s.half_height_m);
                revolved(&[(outer, -h), (outer, h), (inner, h), (inner, -h)], true)
            }
            Self::HalfSpace(_) => Outline {
                vertices: [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                    .map(|(x, y)| Vec3::new(x * extent_m, y * extent_m, 0.0))
                    .to_vec(),
                polygons: vec![vec![0, 1, 2, 3]],
            },
            Self::Polyhedron(s) => Outline {
                vertices: s.vertices().to_vec(),
                polygons: s
                    .faces()
                    .iter()
                    .map(|face| face.corners.iter().map(|&c| u32::from(c)).collect())
                    .collect(),
            },
            Self::Mesh(s) => Outline {
                vertices: s.vertices().to_vec(),
                polygons: s.triangles().iter().map(|t| t.corners.to_vec()).collect(),
            },
        }
    }
}

fn cuboid(s: &Cuboid) -> Outline {
    // Bit i of a corner's number is its side of axis i.
    let loops: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    Outline {
        vertices: (0..8).map(|k| s.corner(k)).collect(),
        polygons: loops.map(|corners| corners.to_vec()).to_vec(),
    }
}

/// Points (r, z) of a circle about (0, `z`), between two latitudes given in right angles.
fn arc(radius: f64, z: f64, from: f64, to: f64) -> Vec<(f64, f64)> {
    let steps = (f64::from(SEGMENTS) / 4.0 * (to - from)).round();
    (0..=steps as u32)
        .map(|k| {
            let share = from + (to - from) * f64::from(k) / steps;
            let (sin, cos) = (share * std::f64::consts::FRAC_PI_2).sin_cos();
            // Poles are points, not circles of rounding's size.
            let r = if share.abs() == 1.0 {
                0.0
            } else {
                radius * cos
            };
            (r, z + radius * sin)
        })
        .collect()
}

/// The profile (r, z), bottom to top, turned about z; its ends are joined or covered.
fn revolved(profile: &[(f64, f64)], joined: bool) -> Outline {
    let mut outline = Outline::default();
    let rings: Vec<Vec<u32>> = profile
        .iter()
        .map(|&(r, z)| {
            let first = outline.vertices.len() as u32;
            if r == 0.0 {
                outline.vertices.push(Vec3::new(0.0, 0.0, z));
                return vec![first; SEGMENTS as usize];
            }
            for k in 0..SEGMENTS {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(SEGMENTS);
                let (sin, cos) = angle.sin_cos();
                outline.vertices.push(Vec3::new(r * cos, r * sin, z));
            }
            (first..first + SEGMENTS).collect()
        })
        .collect();
    let bands = if joined { rings.len() } else { rings.len() - 1 };
    for band in 0..bands {
        let (low, high) = (&rings[band], &rings[(band + 1) % rings.len()]);
        for k in 0..SEGMENTS as usize {
            let next = (k + 1) % SEGMENTS as usize;
            let mut corners = vec![low[k], low[next], high[next], high[k]];
            corners.dedup();
            outline.polygons.push(corners);
        }
    }
    if !joined {
        let [bottom, top] = [&rings[0], &rings[rings.len() - 1]];
        if bottom[0] != bottom[1] {
            outline
                .polygons
                .push(bottom.iter().rev().copied().collect());
        }
        if top[0] != top[1] {
            outline.polygons.push(top.clone());
        }
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: positive, and right, only if every polygon faces outwards.
    fn volume(outline: &Outline) -> f64 {
        let corner = |k: u32| outline.vertices[k as usize];
        let fan = |p: &Vec<u32>| -> f64 {
            (1..p.len() - 1)
                .map(|k| corner(p[0]).dot(&corner(p[k]).cross(&corner(p[k + 1]))) / 6.0)
                .sum()
        };
        outline.polygons.iter().map(fan).sum()
    }

    #[test]
    fn outlines_face_outwards_and_hold_the_volume() {
        let points = [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            (0.0, 0.0, 1.0),
        ];
        let shapes = [
            Shape::sphere(0.7).unwrap(),
            Shape::cuboid(1.0, 2.0, 3.0).unwrap(),
            Shape::cylinder(0.5, 1.2).unwrap(),
            Shape::capsule(0.4, 1.1).unwrap(),
            Shape::cone(0.6, 1.0).unwrap(),
            Shape::ring(0.3, 0.8, 0.2).unwrap(),
            Shape::polyhedron(&points.map(|(x, y, z)| Vec3::new(x, y, z))).unwrap(),
        ];
        for shape in shapes {
            let exact = shape.mass_properties(1.0).unwrap().mass_kg;
            let found = volume(&shape.outline(1.0));
            // A polygon of 24 sides has 1.14 % less area than its circle; a ball of rings twice that.
            assert!(
                found <= exact * (1.0 + 1e-12) && found > exact * 0.96,
                "{}: {found} of {exact}",
                shape.name()
            );
        }
    }

    #[test]
    fn a_half_space_is_drawn_as_large_as_asked() {
        let outline = Shape::half_space().outline(5.0);
        assert_eq!(outline.vertices[2], Vec3::new(5.0, 5.0, 0.0));
        assert_eq!(outline.polygons, [[0, 1, 2, 3]]);
    }
}
