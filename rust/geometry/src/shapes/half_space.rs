//! Half-space: ground or wall without end.

use crate::aabb::Aabb;
use crate::pose::Frame;

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
