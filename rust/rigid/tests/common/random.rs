//! Scenes from a seed.

use super::ground;
use percuss_rigid::*;

/// A small generator (Steele, Lea and Flood 2014), so that scenes do not depend on a library's choices.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two others.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A vector with entries between two numbers.
    pub fn vector(&mut self, low: f64, high: f64) -> Vec3 {
        Vec3::new(
            self.between(low, high),
            self.between(low, high),
            self.between(low, high),
        )
    }

    /// One of six kinds of solids, none farther from its centre than 0.5 m.
    pub fn shape(&mut self) -> Shape {
        match (self.unit() * 6.0) as u32 {
            0 => Shape::sphere(self.between(0.15, 0.4)),
            1 => Shape::cylinder(self.between(0.1, 0.3), self.between(0.2, 0.6)),
            2 => Shape::capsule(self.between(0.1, 0.2), self.between(0.1, 0.4)),
            3 => Shape::cone(self.between(0.1, 0.3), self.between(0.2, 0.6)),
            4 => {
                let corners: Vec<Vec3> = (0..10)
                    .map(|_| self.vector(-1.0, 1.0).normalize() * self.between(0.2, 0.4))
                    .collect();
                Shape::polyhedron(&corners)
            }
            _ => Shape::cuboid(
                self.between(0.2, 0.5),
                self.between(0.2, 0.5),
                self.between(0.2, 0.5),
            ),
        }
        .expect("sizes are positive")
    }
}

/// `layers` layers of `side` x `side` solids in rest or slow motion above the ground, under one law.
pub fn rain(seed: u64, side: u32, layers: u32, law: impl Fn((u16, u16)) -> ContactLaw) -> Scene {
    let mut random = Random(seed);
    let mut scene = ground(Pose::identity());
    for k in 0..layers {
        for i in 0..side {
            for j in 0..side {
                let place = Vec3::new(f64::from(i), f64::from(j), 0.6 + f64::from(k));
                let pose = Pose::new(place, random.vector(-3.0, 3.0));
                let name = format!("solid {}", scene.bodies.len());
                let body = scene.add_body(
                    Body::dynamic(&name, Mass::Density(random.between(500.0, 3000.0)))
                        .at(pose)
                        .moving(random.vector(-1.0, 1.0))
                        .spinning(random.vector(-3.0, 3.0)),
                );
                scene.add_contactor(body, random.shape(), Pose::identity(), 1);
            }
        }
    }
    scene.add_law(law((0, 1)));
    scene.add_law(law((1, 1)));
    scene
}
