//! Surfaces as flat polygons, to be drawn. Round surfaces are replaced by polygons of [`SEGMENTS`] sides whose
//! corners lie on them.

use crate::pose::Vec3;

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

/// Points (r, z) of a circle about (0, `z`), between two latitudes given in right angles.
pub(crate) fn arc(radius: f64, z: f64, from: f64, to: f64) -> Vec<(f64, f64)> {
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
pub(crate) fn revolved(profile: &[(f64, f64)], joined: bool) -> Outline {
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
    use crate::shape::Shape;

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
            Shape::ellipsoid(0.6, 1.0, 0.3).unwrap(),
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
