//! The one entry: a system, settings, a run.

use crate::{Model, OscillatorError, Run, System};
use crate::{
    fixed_step::central_difference, fixed_step::lanes, fixed_step::moreau_jean,
    fixed_step::newmark, fixed_step::runge_kutta, located,
};

/// How to integrate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Integrator {
    /// Free flight in closed form, contact by an adaptive eighth-order method, events located to rounding.
    Event,
    /// Explicit central differences, contact rate lagging by half a step.
    CentralDifference {
        /// Step, s.
        step_s: f64,
    },
    /// Newmark's average acceleration, contact solved implicitly.
    Newmark {
        /// Step, s.
        step_s: f64,
    },
    /// Classical fourth-order Runge-Kutta.
    RungeKutta {
        /// Step, s.
        step_s: f64,
    },
    /// Moreau-Jean time stepping for the rigid law.
    MoreauJean {
        /// Step, s.
        step_s: f64,
        /// Weight of the end of the step, 0.5 to 1.
        theta: f64,
    },
}

impl Integrator {
    /// Names in study files and commands.
    pub const NAMES: [&'static str; 5] = [
        "event",
        "central-difference",
        "newmark",
        "rk4",
        "moreau-jean",
    ];

    /// The integrator of this name; the event integrator ignores the step.
    pub fn from_name(name: &str, step_s: f64) -> Result<Self, OscillatorError> {
        match name {
            "event" => Ok(Self::Event),
            "central-difference" => Ok(Self::CentralDifference { step_s }),
            "newmark" => Ok(Self::Newmark { step_s }),
            "rk4" => Ok(Self::RungeKutta { step_s }),
            "moreau-jean" => Ok(Self::MoreauJean { step_s, theta: 0.5 }),
            _ => Err(OscillatorError::UnknownIntegrator {
                name: name.to_owned(),
                known: Self::NAMES.join(", "),
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::CentralDifference { .. } => "central-difference",
            Self::Newmark { .. } => "newmark",
            Self::RungeKutta { .. } => "rk4",
            Self::MoreauJean { .. } => "moreau-jean",
        }
    }
}

/// How long, how, and when to look.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Duration, s.
    pub duration_s: f64,
    /// Output times, s, increasing, within the duration. May be empty.
    pub output_times_s: Vec<f64>,
    /// Integrator.
    pub integrator: Integrator,
}

impl Settings {
    fn check(&self) -> Result<(), OscillatorError> {
        let duration_s = self.duration_s;
        if !(duration_s > 0.0 && duration_s.is_finite()) {
            return Err(OscillatorError::Duration { duration_s });
        }
        let mut before = -1.0;
        for (index, &time_s) in self.output_times_s.iter().enumerate() {
            if !(time_s > before && time_s >= 0.0 && time_s <= duration_s) {
                return Err(OscillatorError::OutputTime {
                    index,
                    time_s,
                    duration_s,
                });
            }
            before = time_s;
        }
        let integrator = self.integrator.name();
        match self.integrator {
            Integrator::Event => {}
            Integrator::CentralDifference { step_s }
            | Integrator::Newmark { step_s }
            | Integrator::RungeKutta { step_s }
            | Integrator::MoreauJean { step_s, .. } => {
                if !(step_s > 0.0 && step_s <= duration_s) {
                    return Err(OscillatorError::Step { integrator, step_s });
                }
            }
        }
        Ok(())
    }
}

/// Integrate a system.
pub fn simulate(system: &System, settings: &Settings) -> Result<Run, OscillatorError> {
    let mut runs = simulate_group(std::slice::from_ref(system), settings);
    runs.pop().expect("one run for one system")
}

/// Integrate systems one after the other; those that are alike and yield go together in lanes.
pub(crate) fn simulate_group(
    systems: &[System],
    settings: &Settings,
) -> Vec<Result<Run, OscillatorError>> {
    if let Err(fault) = settings.check() {
        return vec![Err(fault); systems.len()];
    }
    let models: Result<Vec<Model>, _> = systems.iter().map(Model::new).collect();
    if let (Ok(models), Integrator::Newmark { step_s }) = (&models, settings.integrator) {
        let together = |model: &Model| lanes::fits(model) && lanes::alike(model, &models[0]);
        if models.len() <= lanes::LANES && models.iter().all(together) {
            return newmark::run_together(models, settings, step_s);
        }
    }
    if systems.len() == 1 {
        return vec![models.and_then(|models| integrate(&models[0], settings))];
    }
    let each = systems.iter();
    each.map(|system| simulate(system, settings)).collect()
}

fn integrate(model: &Model, settings: &Settings) -> Result<Run, OscillatorError> {
    match settings.integrator {
        Integrator::Event => located::run(model, settings),
        Integrator::CentralDifference { step_s } => {
            central_difference::run(model, settings, step_s)
        }
        Integrator::Newmark { step_s } => newmark::run(model, settings, step_s),
        Integrator::RungeKutta { step_s } => runge_kutta::run(model, settings, step_s),
        Integrator::MoreauJean { step_s, theta } => {
            moreau_jean::run(model, settings, step_s, theta)
        }
    }
}
