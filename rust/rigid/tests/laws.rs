//! The contact law and its invariances, on small random scenes.

use crate::common::random::{Random, rain};
use crate::common::*;
use percuss_rigid::*;
use proptest::prelude::*;

/// 0.8 s: every solid has landed.
const STEPS: usize = 400;

fn settings() -> Settings {
    Settings {
        tolerance: 1e-9,
        ..Settings::with_step(2e-3)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn impulses_obey_coulomb_and_signorini(seed in 0_u64..1000, e in 0.0..1.0_f64, mu in 0.0..1.5_f64, fremond: bool) {
        let law = |groups| if fremond { ContactLaw::fremond(groups, e, mu) } else { ContactLaw::new(groups, e, mu) };
        let mut world = World::new(rain(seed, 2, 2, law), settings()).unwrap();
        for _ in 0..STEPS {
            let report = world.step().unwrap();
            if !report.met {
                continue;
            }
            let size = world.contacts().iter().map(|c| c.impulse_n_s.norm()).fold(0.0, f64::max);
            let speed = world.contacts().iter().flat_map(|c| c.velocity_before_m_per_s).fold(0.02, |m, x| f64::max(m, x.abs()));
            for c in world.contacts() {
                let p = c.local(&c.impulse_n_s);
                let shift = world.scene().laws[c.law as usize].impact.shift(&c.velocity_before_m_per_s, e);
                let w: [f64; 3] = std::array::from_fn(|k| c.velocity_after_m_per_s[k] + shift[k]);
                let sliding = w[1].hypot(w[2]);
                let small = 1e-6;
                prop_assert!(p[1].hypot(p[2]) <= mu * p[0] + small * size);
                prop_assert!(w[0] >= -small * speed, "closes at {}", w[0]);
                prop_assert!((p[0] * w[0]).abs() <= small * size * speed);
                // Friction opposes sliding with all it has.
                prop_assert!((p[1] * w[1] + p[2] * w[2] + mu * p[0] * sliding).abs() <= small * size * speed);
            }
        }
    }

    #[test]
    fn contacts_never_give_energy_where_theory_says_so(seed in 0_u64..1000, e in 0.0..1.0_f64, mu in 0.0..1.5_f64) {
        for law in [ContactLaw::fremond((0, 0), e, mu), ContactLaw::new((0, 0), e, 0.0)] {
            let scene = rain(seed, 2, 2, |groups| ContactLaw { groups, ..law });
            let mut world = World::new(scene, settings()).unwrap();
            for _ in 0..STEPS {
                let report = world.step().unwrap();
                prop_assert!(!(report.met && report.gained), "step {}: {} J", report.step, report.contact_work_j);
            }
            prop_assert!(closing(&world) < 1e-11);
        }
    }

    #[test]
    fn without_restitution_impulses_dissipate_against_the_free_motion(seed in 0_u64..1000, mu in 0.0..1.5_f64) {
        // P . (u_free + u+)/2 <= 0: what the impulses take from the motion the step would have had without them.
        let mut world = World::new(rain(seed, 2, 2, |groups| ContactLaw::new(groups, 0.0, mu)), settings()).unwrap();
        let mut energy = world.energy().mechanical_j();
        let mut forces = 0.0;
        for body in 1..world.scene().bodies.len() {
            forces += world.mass_kg(body).unwrap() * (G * 2e-3_f64).powi(2);
        }
        for _ in 0..STEPS {
            world.step().unwrap();
            // A force that turns sliding round within a step may leave up to (h F)^2 / 8 m behind.
            let now = world.energy().mechanical_j();
            prop_assert!(now <= energy + forces / 8.0, "gained {}", now - energy);
            energy = now;
        }
    }

    #[test]
    fn the_frame_the_order_and_the_units_do_not_matter(seed in 0_u64..1000) {
        let law = |groups| ContactLaw::new(groups, 0.3, 0.4);
        let scene = rain(seed, 2, 1, law);
        let run = |scene: Scene, settings: Settings| {
            // Impacts magnify what the solver leaves: 0.5 s and a tight tolerance.
            let settings = Settings { tolerance: 1e-11, ..settings };
            let mut world = World::new(scene, settings).unwrap();
            for _ in 0..250 {
                world.step().unwrap();
            }
            world
        };
        let base = run(scene.clone(), settings());
        prop_assert!(base.energy().impact_dissipation_j > 0.0);
        let place = |world: &World, body: usize| world.pose(body).position;
        let last = scene.bodies.len() - 1;

        let mut random = Random(seed);
        let motion = Pose::new(random.vector(-5.0, 5.0), random.vector(-2.0, 2.0));
        let mut moved = scene.clone();
        moved.gravity_m_per_s2 = motion.rotation * scene.gravity_m_per_s2;
        for body in &mut moved.bodies {
            body.pose = motion.compose(&body.pose);
            body.velocity_m_per_s = motion.rotation * body.velocity_m_per_s;
            body.angular_velocity_rad_per_s = motion.rotation * body.angular_velocity_rad_per_s;
        }
        let moved = run(moved, settings());

        let mut reversed = scene.clone();
        reversed.bodies.reverse();
        reversed.contactors.reverse();
        for contactor in &mut reversed.contactors {
            contactor.body = last as u32 - contactor.body;
        }
        let reversed = run(reversed, settings());

        // Millimetres and grams.
        let mut small = scene.clone();
        small.gravity_m_per_s2 *= 1000.0;
        for (body, contactor) in small.bodies.iter_mut().skip(1).zip(small.contactors.iter_mut().skip(1)) {
            body.pose.position *= 1000.0;
            body.velocity_m_per_s *= 1000.0;
            if let Role::Dynamic(Mass::Density(density)) = &mut body.role {
                *density *= 1e-6;
            }
            contactor.shape = scaled(&contactor.shape);
        }
        let small = run(small, Settings { contact_tolerance_m: 1e-5, overlap_tolerance_m: 1e-3, ..settings() });

        for body in 1..=last {
            let here = place(&base, body);
            let off = (place(&moved, body) - motion.point(&here)).norm();
            prop_assert!(off < 1e-4, "moved: {off:e}");
            let off = (place(&reversed, last - body) - here).norm();
            prop_assert!(off < 1e-4, "reversed: {off:e}");
            let off = (place(&small, body) / 1000.0 - here).norm();
            prop_assert!(off < 1e-4, "units: {off:e}");
        }
    }
}

/// The shape a thousand times as large.
fn scaled(shape: &Shape) -> Shape {
    let k = 1000.0;
    match shape {
        Shape::Sphere(s) => Shape::sphere(k * s.radius_m),
        Shape::Box(s) => Shape::cuboid(
            2.0 * k * s.half_m.x,
            2.0 * k * s.half_m.y,
            2.0 * k * s.half_m.z,
        ),
        Shape::Cylinder(s) => Shape::cylinder(k * s.radius_m, 2.0 * k * s.half_height_m),
        Shape::Capsule(s) => Shape::capsule(k * s.radius_m, 2.0 * k * s.half_length_m),
        Shape::Cone(s) => Shape::cone(k * s.radius_m, 2.0 * k * s.half_height_m),
        Shape::Polyhedron(s) => {
            let corners: Vec<Vec3> = s.vertices().iter().map(|v| v * k).collect();
            Shape::polyhedron(&corners)
        }
        _ => panic!("not rained"),
    }
    .unwrap()
}
