//! Adams' method where its past does not tell: kinks of the forces, and steps too long for it.

use percuss_rigid::*;

/// A mass on a spring along x, pushed as given, stretched by 10 cm unless pushed.
fn pushed(rate_per_s: f64, effort: Option<Signal>) -> Scene {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    let properties = MassProperties {
        mass_kg: 1.0,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::identity(),
    };
    let start = if effort.is_some() { 1.0 } else { 1.1 };
    let mass = Body::dynamic("mass", Mass::Given(properties));
    let mass = scene.add_body(mass.at(Pose::translation(start, 0.0, 0.0)));
    let element = |effort: Effort| Element {
        name: "element".into(),
        bodies: [None, Some(mass)],
        frames: [Pose::identity(); 2],
        effort,
    };
    scene.elements.push(element(Effort::Spring {
        row: Row::Length,
        stiffness: rate_per_s * rate_per_s,
        damping: 0.0,
        rest: Some(1.0),
        preload: 0.0,
    }));
    let actuator = |effort| {
        let row = Row::Slide(0);
        element(Effort::Actuator { row, effort })
    };
    scene.elements.extend(effort.map(actuator));
    scene
}

fn world(scene: Scene, dt_s: f64, method: Method) -> World {
    let settings = Settings {
        stepper: Stepper::Smooth(method),
        ..Settings::with_step(dt_s)
    };
    World::new(scene, settings).unwrap()
}

/// A force that rises from zero by 1 N/s and stays from half a second on, on a spring of one radian a second: the
/// stretch is t - sin(t), and 1/2 - sin(t) + sin(t - 1/2) after the kink.
#[test]
fn kinks_cost_no_order() {
    let error = |steps: u32, method: Method| {
        let ramp = Signal::linear("force", vec![0.0, 0.5], vec![0.0, 0.5]).unwrap();
        let mut world = world(pushed(1.0, Some(ramp)), 1.5 / f64::from(steps), method);
        (0..steps).for_each(|_| {
            world.step().unwrap();
        });
        let exact = 0.5 - 1.5_f64.sin() + 1.0_f64.sin();
        (world.state(0).position.x - 1.0 - exact).abs()
    };
    let errors = [30, 60, 120].map(|steps| error(steps, Method::Adams));
    for pair in errors.windows(2) {
        assert!((pair[0] / pair[1]).log2() > 3.7, "{errors:?}");
    }
    assert!(errors[0] < error(30, Method::Rk4), "{errors:?}");
}

/// From 0.8 radians a step on Adams' method alone would run away; Runge and Kutta's damps up to 2.8.
#[test]
fn a_step_too_long_is_no_worse_than_with_rk4() {
    for radians_a_step in [0.8, 1.2, 2.0, 2.6] {
        let mut world = world(pushed(radians_a_step * 1e3, None), 1e-3, Method::Adams);
        for _ in 0..2000 {
            world.step().unwrap();
            let stretch = (world.state(0).position.x - 1.0).abs();
            assert!(stretch < 0.1001, "{radians_a_step}: {stretch}");
        }
    }
}
