//! Buffers the pair functions write their outlines into, kept from call to call.

use crate::contact::ContactPoint;
use crate::polygon::{Outlines, Polygon};

/// Scratch memory of the pair functions; make one and keep it.
#[derive(Default)]
pub struct Workspace {
    pub(crate) faces: [Polygon; 2],
    pub(crate) outlines: Outlines,
    pub(crate) triangles: Vec<u32>,
    pub(crate) found: Vec<ContactPoint>,
}
