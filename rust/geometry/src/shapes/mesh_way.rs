//! Ways that lead through a mesh.

use super::mesh::Mesh;
use crate::aabb::Aabb;
use crate::pose::Vec3;

/// Share of a triangle's size by which a way may miss it: two neighbours leave no slit between them.
const SLIT: f64 = 1e-9;

impl Mesh {
    /// Whether the straight way between two points leads through a triangle from its front: the normal of the first such
    /// triangle, and how far the end lies behind its plane.
    pub fn passed(&self, from: &Vec3, to: &Vec3) -> Option<(Vec3, f64)> {
        let mut near = Vec::new();
        self.query(&Aabb::of_points([from, to]), &mut near);
        let mut first: Option<(f64, Vec3, f64)> = None;
        for t in near {
            let triangle = &self.triangles()[t as usize];
            let corners = triangle.corners.map(|v| self.vertices()[v as usize]);
            let above = |p: &Vec3| (p - corners[0]).dot(&triangle.normal);
            let (start, end) = (above(from), above(to));
            if start < 0.0 || end >= 0.0 {
                continue;
            }
            let share = start / (start - end);
            let place = from + (to - from) * share;
            let inside = (0..3).all(|k| {
                let along = corners[(k + 1) % 3] - corners[k];
                let across = triangle.normal.cross(&along);
                across.dot(&(place - corners[k])) >= -SLIT * along.norm_squared()
            });
            if inside && first.is_none_or(|(earlier, ..)| share < earlier) {
                first = Some((share, triangle.normal, -end));
            }
        }
        first.map(|(_, normal, behind)| (normal, behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::height_field::HeightField;

    #[test]
    fn ways_through_a_sheet_count_from_its_front() {
        let sheet = HeightField::new(3, 3, [1.0, 1.0], &[0.0; 9]).unwrap().0;
        let behind = |from: [f64; 3], to: [f64; 3]| {
            let passed = sheet.passed(&Vec3::from(from), &Vec3::from(to));
            passed.map(|(normal, behind)| {
                assert_eq!(normal, Vec3::z());
                behind
            })
        };
        assert_eq!(behind([0.3, 0.4, 2.0], [0.6, 0.7, -3.0]), Some(3.0));
        assert_eq!(behind([0.6, 0.7, -3.0], [0.3, 0.4, 2.0]), None);
        assert_eq!(behind([0.3, 0.4, 2.0], [0.6, 0.7, 1.0]), None);
        assert_eq!(behind([3.0, 0.4, 2.0], [2.9, 0.7, -3.0]), None, "beside");
        // through an edge, a diagonal, a vertex
        for place in [[1.0, 0.3], [0.5, 0.5], [1.0, 1.0]] {
            let [x, y] = place;
            assert_eq!(behind([x, y, 1.0], [x, y, -1.0]), Some(1.0), "{place:?}");
        }
    }
}
