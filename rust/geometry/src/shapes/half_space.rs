//! Half-space: ground or wall without end.

use crate::aabb::Aabb;
use crate::convex::Kind;
use crate::description::Description;
use crate::outline::Outline;
use crate::pose::Frame;
use crate::pose::Vec3;

/// Everything below local z = 0; the surface normal is local +z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace;

impl HalfSpace {
    /// Bounded on one side when the surface is square to a world axis, unbounded otherwise.
    pub(crate) fn bounds(&self, frame: &Frame) -> Aabb {
        let normal = frame.axis(2);
        let mut bounds = Aabb::everything();
        for i in 0..3 {
            if normal[i] == 1.0 {
                bounds.max[i] = frame.position[i];
            } else if normal[i] == -1.0 {
                bounds.min[i] = frame.position[i];
            }
        }
        bounds
    }
}

impl HalfSpace {
    /// A square of side 2 `extent_m` about the origin.
    pub(crate) fn outline(&self, extent_m: f64) -> Outline {
        Outline {
            vertices: [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(x, y)| Vec3::new(x * extent_m, y * extent_m, 0.0))
                .to_vec(),
            polygons: vec![vec![0, 1, 2, 3]],
        }
    }
}

impl Kind for HalfSpace {
    const NAME: &'static str = "half-space";

    fn read<D: Description>(_: &D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}
