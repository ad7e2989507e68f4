//! Meshes are one-sided: what starts behind one falls through it.

use crate::error::RigidError;
use crate::setup::Setup;
use crate::world::World;
use percuss_geometry::{Contactor, Shape, Vec3};

impl World {
    /// Refuses a mesh that all bodies it is meant for lie behind: its triangles face the wrong way. One in front is enough
    /// for it to be right, as others may well pass under a ramp.
    pub(crate) fn check_mesh_sides(&self) -> Result<(), RigidError> {
        for mesh in &self.setup.scene.contactors {
            let Shape::Mesh(surface) = &mesh.shape else {
                continue;
            };
            let to_mesh = self.pose(mesh.body as usize).compose(&mesh.pose).inverse();
            let mut behind = None;
            let mut right = false;
            for other in &self.setup.scene.contactors {
                let Some(point) = self.setup.inner_point(mesh, other) else {
                    continue;
                };
                let point = self.pose(other.body as usize).point(&point);
                match surface.is_in_front(&to_mesh.point(&point)) {
                    Some(true) => {
                        right = true;
                        break;
                    }
                    Some(false) => behind = behind.or(Some(other.body)),
                    None => {}
                }
            }
            if let Some(body) = behind.filter(|_| !right) {
                let name = |body: u32| self.setup.scene.bodies[body as usize].name.clone();
                return Err(RigidError::BehindMesh {
                    body: name(body),
                    mesh: name(mesh.body),
                });
            }
        }
        Ok(())
    }
}

impl Setup {
    /// A point inside a contactor, in the frame of its body, if it is moved by forces and can touch the mesh.
    pub(crate) fn inner_point(&self, mesh: &Contactor, other: &Contactor) -> Option<Vec3> {
        self.inertia[other.body as usize].as_ref()?;
        let groups = (usize::from(mesh.group), usize::from(other.group));
        self.laws.find(groups.0, groups.1)?;
        if matches!(other.shape, Shape::Ring(_)) {
            return None; // its middle is not inside
        }
        let inner = other.shape.mass_properties(1.0).ok()?.centre_m;
        Some(other.pose.point(&inner))
    }
}
