//! Parts of a scene that joints and elements connect: each is put together, held and closed on its own, so that what
//! one does, to the bit, does not depend on what else there is.

use super::Joint;
use crate::body::Inertia;
use crate::elements::Element;
use crate::scene::Scene;
use crate::union::Union;

/// Bodies (rising), joints and elements that hang together, by their indices in the scene. Bodies that forces do not
/// move may be of several.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connected {
    pub bodies: Vec<usize>,
    pub joints: Vec<usize>,
    pub elements: Vec<usize>,
}

impl Connected {
    /// The connected parts of a scene, in the order of their first joints, then of their first elements.
    pub fn parts(scene: &Scene, inertia: &[Option<Inertia>]) -> Vec<Self> {
        let joints = scene.joints.iter().map(|joint| joint.bodies);
        let links: Vec<[Option<usize>; 2]> = joints
            .chain(scene.elements.iter().map(|element| element.bodies))
            .collect();
        let moves = |body: &usize| inertia[*body].is_some();
        let mut union = Union::default();
        union.reset(scene.bodies.len());
        for link in &links {
            if let [Some(a), Some(b)] = link.map(|body| body.filter(moves)) {
                union.join(a as u32, b as u32);
            }
        }
        let mut parts: Vec<Self> = Vec::new();
        let mut part_of = vec![None; scene.bodies.len()];
        for (index, link) in links.iter().enumerate() {
            let root = link.iter().flatten().copied().find(moves);
            let root = root.map(|body| union.root(body as u32) as usize);
            let known = root.and_then(|root| part_of[root]);
            let part = known.unwrap_or(parts.len());
            if known.is_none() {
                parts.push(Self::default());
            }
            if let Some(root) = root {
                part_of[root] = Some(part);
            }
            let part = &mut parts[part];
            match index.checked_sub(scene.joints.len()) {
                None => part.joints.push(index),
                Some(element) => part.elements.push(element),
            }
            part.bodies.extend(link.iter().flatten());
        }
        for part in &mut parts {
            part.bodies.sort_unstable();
            part.bodies.dedup();
        }
        parts
    }

    /// The numbers that bodies have within the part.
    fn local(&self, bodies: &[Option<usize>; 2]) -> [Option<usize>; 2] {
        bodies.map(|body| body.and_then(|body| self.bodies.binary_search(&body).ok()))
    }

    /// Its joints between bodies numbered within it.
    pub fn own_joints(&self, scene: &Scene) -> Vec<Joint> {
        let own = |&joint: &usize| {
            let joint = &scene.joints[joint];
            Joint {
                bodies: self.local(&joint.bodies),
                ..joint.clone()
            }
        };
        self.joints.iter().map(own).collect()
    }

    /// Its elements between bodies numbered within it.
    pub fn own_elements(&self, scene: &Scene) -> Vec<Element> {
        let own = |&element: &usize| {
            let element = &scene.elements[element];
            Element {
                bodies: self.local(&element.bodies),
                ..element.clone()
            }
        };
        self.elements.iter().map(own).collect()
    }

    /// What belongs to each of its bodies.
    pub fn own<T: Copy>(&self, all: &[T]) -> Vec<T> {
        self.bodies.iter().map(|&body| all[body]).collect()
    }
}
