//! Bad input gets one clear sentence.

use percuss_kalman::{Augmented, Inputs, RatioDamper, Sensed, Sensor, Tracked, misfit};
use percuss_oscillators::{Damper, Model, Node, Parameter, Spring, System};

fn model() -> Model {
    let nodes = [Node::Mass(0), Node::Base];
    Model::new(&System {
        masses_kg: vec![1.0],
        springs: vec![Spring {
            nodes,
            linear_n_per_m: 1.0,
            cubic_n_per_m3: 0.0,
            law: None,
        }],
        dampers: vec![Damper {
            nodes,
            viscous_n_s_per_m: 0.1,
            exponent: 1.0,
        }],
        initial_displacement_m: vec![0.0],
        initial_velocity_m_s: vec![0.0],
        ..System::default()
    })
    .unwrap()
}

fn inputs() -> Inputs {
    Inputs {
        step_s: 0.1,
        substeps: 1,
        base_m_s2: vec![],
        forces_n: vec![],
    }
}

const SENSOR: Sensor = Sensor {
    sensed: Sensed::Displacement,
    mass: 0,
};

#[test]
fn a_filter_without_sensors_is_refused() {
    let inputs = inputs();
    let fault = Augmented::new(model(), &[], &[], &inputs, &[])
        .err()
        .unwrap();
    assert_eq!(
        fault.to_string(),
        "there is no sensor: at least one is needed"
    );
    let sensors = [SENSOR];
    let dynamics = Augmented::new(model(), &[], &[], &inputs, &sensors).unwrap();
    assert!(misfit(&dynamics, &[0.0, 0.0], &[], &[]).is_ok());
}

#[test]
fn a_damping_ratio_that_follows_no_tracked_parameter_is_refused() {
    let tracked = [Tracked {
        numbers: vec![Parameter::Mass(0)],
    }];
    let ratio = |tracked| RatioDamper {
        damper: 0,
        spring: 0,
        mass: 0,
        ratio: 0.05,
        tracked,
    };
    let (inputs, sensors) = (inputs(), [SENSOR]);
    let with = |index| Augmented::new(model(), &tracked, &[ratio(index)], &inputs, &sensors);
    assert!(with(Some(0)).is_ok() && with(None).is_ok());
    let fault = with(Some(1)).err().unwrap();
    assert_eq!(
        fault.to_string(),
        "tracked parameter 1 does not exist in this system"
    );
}
