//! Linkages shared by the tests.

use percuss_rigid::*;

/// A slender rod along x of its frame, which is at its centre of mass.
pub fn rod(name: &str, mass: f64, length: f64) -> Body {
    let across = mass * length * length / 12.0;
    let properties = MassProperties {
        mass_kg: mass,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::from_diagonal(&Vec3::new(1e-3 * across, across, across)),
    };
    Body::dynamic(name, Mass::Given(properties))
}

/// A rod in the plane of x and z from one point to another.
pub fn rod_between(name: &str, mass: f64, from: Vec3, to: Vec3) -> Body {
    let along = to - from;
    let turn = Vec3::new(0.0, (-along.z).atan2(along.x), 0.0);
    rod(name, mass, along.norm()).at(Pose::new((from + to) * 0.5, turn))
}

/// A joint at a point of the world as the bodies stand, z of its frames along `axis`.
pub fn joint(
    scene: &Scene,
    name: &str,
    kind: JointKind,
    bodies: [Option<usize>; 2],
    point: Vec3,
    axis: Vec3,
) -> Joint {
    let turn = Quat::rotation_between(&Vec3::z(), &axis).unwrap();
    let frame = |body: Option<usize>| match body {
        None => Pose {
            position: point,
            rotation: turn,
        },
        Some(body) => {
            let pose = &scene.bodies[body].pose;
            Pose {
                position: pose.rotation.inverse() * (point - pose.position),
                rotation: pose.rotation.inverse() * turn,
            }
        }
    };
    Joint::new(name, kind, bodies, bodies.map(frame))
}

/// A hinge about y.
pub fn hinge(scene: &mut Scene, a: Option<usize>, b: usize, point: Vec3) -> usize {
    let name = format!("hinge {}", scene.joints.len());
    let hinge = joint(
        scene,
        &name,
        JointKind::Revolute,
        [a, Some(b)],
        point,
        Vec3::y(),
    );
    scene.joints.push(hinge);
    scene.joints.len() - 1
}

/// A chain of rods hinged to the world at the first point, joint after joint.
pub fn chain(points: &[Vec3], mass: f64) -> Scene {
    let mut scene = Scene::default();
    let mut last = None;
    for (k, ends) in points.windows(2).enumerate() {
        let body = scene.add_body(rod_between(&format!("rod {k}"), mass, ends[0], ends[1]));
        hinge(&mut scene, last, body, ends[0]);
        last = Some(body);
    }
    scene
}

/// Largest distance between the two origins of any joint, and between their z axes.
pub fn apart(world: &World) -> f64 {
    let mut worst = 0.0_f64;
    for joint in &world.scene().joints {
        let [a, b] = [0, 1].map(|side| {
            let frame = &joint.frames[side];
            let pose = joint.bodies[side].map_or(Pose::identity(), |body| world.pose(body));
            (
                pose.point(&frame.position),
                pose.rotation * frame.rotation * Vec3::z(),
            )
        });
        worst = worst.max((a.0 - b.0).norm()).max((a.1 - b.1).norm());
    }
    worst
}

/// Momentum and angular momentum about the origin of all bodies.
pub fn momenta(world: &World) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
    for (index, body) in world.scene().bodies.iter().enumerate() {
        let Role::Dynamic(Mass::Given(properties)) = &body.role else {
            continue;
        };
        let state = world.state(index);
        let momentum = state.velocity * properties.mass_kg;
        linear += momentum;
        angular += state.position.cross(&momentum)
            + state.rotation * (properties.inertia_kg_m2 * state.spin);
    }
    (linear, angular)
}
