//! On which side of a mesh a point lies.

use super::mesh::Mesh;
use crate::pose::Vec3;

/// Differences of distances below this share are rounding.
const SAME: f64 = 1e-12;

impl Mesh {
    /// Whether a point lies in front of the surface, on the side its triangles face; none where the nearest place of the
    /// surface is its border, beyond which there is no side.
    ///
    /// The nearest triangle decides; where several are as near, at an edge or a vertex, the one that the point lies
    /// farthest off in the direction of the normal (Baerentzen and Aanaes, 2005, weigh normals to the same end).
    pub fn is_in_front(&self, point: &Vec3) -> Option<bool> {
        let mut nearest = f64::INFINITY;
        let mut height = 0.0_f64;
        let mut border = false;
        for triangle in self.triangles() {
            let corners = triangle.corners.map(|v| self.vertices()[v as usize]);
            let (place, on) = nearest_on_triangle(point, &corners);
            let away = point - place;
            let distance = away.norm_squared();
            if distance > nearest * (1.0 + SAME) {
                continue;
            }
            let own = away.dot(&triangle.normal);
            if distance < nearest * (1.0 - SAME) {
                (height, border) = (0.0, false);
            }
            nearest = nearest.min(distance);
            border |= match on {
                Feature::Face => false,
                Feature::Edge(k) => self.edge(triangle.edges[k]).inward[1].is_none(),
                Feature::Corner(k) => [triangle.edges[k], triangle.edges[(k + 2) % 3]]
                    .iter()
                    .any(|&e| self.edge(e).inward[1].is_none()),
            };
            if own.abs() > height.abs() {
                height = own;
            }
        }
        (!border && height != 0.0).then_some(height > 0.0)
    }
}

/// A part of a triangle: edges run from each corner to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

/// The point of a triangle nearest to another, by the regions of its corners, edges and face (Ericson, 2005).
fn nearest_on_triangle(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> (Vec3, Feature) {
    let (ab, ac) = (b - a, c - a);
    let along = |from: &Vec3| (ab.dot(&(p - from)), ac.dot(&(p - from)));
    let ((d1, d2), (d3, d4), (d5, d6)) = (along(a), along(b), along(c));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Feature::Corner(0));
    }
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Feature::Corner(1));
    }
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Feature::Corner(2));
    }
    let of_c = d1 * d4 - d3 * d2;
    if of_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let of_b = d5 * d2 - d1 * d6;
    if of_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let of_a = d3 * d6 - d5 * d4;
    let (to_c, to_b) = (d4 - d3, d5 - d6);
    if of_a <= 0.0 && to_c >= 0.0 && to_b >= 0.0 {
        return (b + (c - b) * (to_c / (to_c + to_b)), Feature::Edge(1));
    }
    let whole = of_a + of_b + of_c;
    (a + ab * (of_b / whole) + ac * (of_c / whole), Feature::Face)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::height_field::HeightField;

    fn cube(reversed: bool) -> Mesh {
        let corner = |i: usize| {
            let side = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
            Vec3::new(side(1), side(2), side(4))
        };
        let squares = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let mut triangles: Vec<[u32; 3]> = squares
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        if reversed {
            triangles.iter_mut().for_each(|t| t.reverse());
        }
        Mesh::new((0..8).map(corner).collect(), &triangles).unwrap()
    }

    #[test]
    fn faces_edges_and_corners_of_a_cube_tell_inside_from_outside() {
        for reversed in [false, true] {
            let cube = cube(reversed);
            for (point, outside) in [
                ([0.1, 0.2, 3.0], true),
                ([2.0, 0.3, 2.0], true),
                ([2.0, 2.0, 2.0], true),
                ([-1.5, -1.2, 9.0], true),
                ([0.0, 0.0, 0.0], false),
                ([0.9, 0.9, 0.9], false),
                ([-0.5, 0.2, 0.99], false),
            ] {
                let found = cube.is_in_front(&Vec3::from(point));
                assert_eq!(found, Some(outside != reversed), "{point:?}");
            }
        }
    }

    #[test]
    fn beyond_the_border_of_a_sheet_there_is_no_side() {
        let sheet = HeightField::new(3, 3, [1.0, 1.0], &[0.0; 9]).unwrap().0;
        let side = |x, y, z| sheet.is_in_front(&Vec3::new(x, y, z));
        assert_eq!(side(1.0, 1.0, 0.5), Some(true));
        assert_eq!(side(1.2, 0.3, -0.5), Some(false));
        assert_eq!(side(3.0, 1.0, -0.5), None);
        assert_eq!(side(-1.0, -1.0, 0.5), None);
    }
}
