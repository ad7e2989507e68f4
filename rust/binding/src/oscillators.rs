//! Masses on springs that collide: conversions for `percuss_oscillators` and the table of impact laws.

use std::error::Error;

use numpy::{IntoPyArray, PyArray1};
use percuss_laws::{Damping, Hysteresis, Law, LawError, SpringLaw};
use percuss_oscillators::{
    BaseMotion, Contact, Damper, Harmonic, Integrator, MOST_SAMPLES, Node, Rayleigh, Record, Run,
    Settings, Spring, System, sample_times, simulate_many,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::bad_input;

/// Index of a mass, or -1 for the base.
fn node(index: i64) -> Node {
    usize::try_from(index).map_or(Node::Base, Node::Mass)
}

/// Motion of the base: samples, or sines as (amplitude, frequency, phase, start, end).
#[derive(FromPyObject)]
enum BaseSpec {
    Samples(Vec<f64>, Vec<f64>),
    Sines(Vec<(f64, f64, f64, f64, f64)>),
}

/// One run as `percuss.models.oscillators` describes it; SI.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunSpec {
    masses_kg: Vec<f64>,
    springs: Vec<(i64, i64, f64, f64)>,
    /// Law and its numbers of each spring that has one.
    spring_laws: Vec<Option<(String, Vec<f64>)>>,
    dampers: Vec<(i64, i64, f64)>,
    damper_exponents: Vec<f64>,
    rayleigh: (f64, f64),
    contacts: Vec<(i64, i64, f64, String, String, f64, f64)>,
    displacement_m: Vec<f64>,
    velocity_m_s: Vec<f64>,
    base: Option<BaseSpec>,
    duration_s: f64,
    sampling_s: f64,
    integrator: String,
    step_s: f64,
}

impl RunSpec {
    pub(crate) fn build(self) -> Result<(System, Settings), Box<dyn Error>> {
        let base = match self.base {
            None => BaseMotion::Fixed,
            Some(BaseSpec::Samples(times, values)) => {
                BaseMotion::Record(Record::new(times, values)?)
            }
            Some(BaseSpec::Sines(sines)) => BaseMotion::Harmonics(
                sines
                    .into_iter()
                    .map(
                        |(amplitude_m_s2, frequency_hz, phase_rad, start_s, end_s)| Harmonic {
                            amplitude_m_s2,
                            frequency_hz,
                            phase_rad,
                            start_s,
                            end_s,
                        },
                    )
                    .collect(),
            ),
        };
        let contact = |(left, right, gap_m, law, damping, restitution, stiffness): (
            i64,
            i64,
            f64,
            String,
            String,
            f64,
            f64,
        )| {
            Ok::<_, LawError>(Contact {
                left: node(left),
                right: node(right),
                gap_m,
                law: Law::from_name(&law)?,
                damping: Damping::from_name(&damping)?,
                restitution,
                stiffness,
            })
        };
        let law = |(stiffness, law): (f64, Option<(String, Vec<f64>)>)| {
            law.map(|(name, numbers)| SpringLaw::from_name(&name)?.with(stiffness, &numbers))
                .transpose()
        };
        let stiffnesses = self.springs.iter().map(|spring| spring.2);
        let laws: Vec<Option<Hysteresis>> = stiffnesses
            .zip(self.spring_laws)
            .map(law)
            .collect::<Result<_, LawError>>()?;
        let system = System {
            masses_kg: self.masses_kg,
            springs: self
                .springs
                .into_iter()
                .zip(laws)
                .map(|((a, b, linear_n_per_m, cubic_n_per_m3), law)| Spring {
                    nodes: [node(a), node(b)],
                    linear_n_per_m,
                    cubic_n_per_m3,
                    law,
                })
                .collect(),
            dampers: self
                .dampers
                .into_iter()
                .zip(self.damper_exponents)
                .map(|((a, b, viscous_n_s_per_m), exponent)| Damper {
                    nodes: [node(a), node(b)],
                    viscous_n_s_per_m,
                    exponent,
                })
                .collect(),
            rayleigh: Rayleigh {
                mass_per_s: self.rayleigh.0,
                stiffness_s: self.rayleigh.1,
            },
            contacts: self
                .contacts
                .into_iter()
                .map(contact)
                .collect::<Result<_, _>>()?,
            initial_displacement_m: self.displacement_m,
            initial_velocity_m_s: self.velocity_m_s,
            base,
        };
        let settings = Settings {
            duration_s: self.duration_s,
            output_times_s: sample_times(self.sampling_s, self.duration_s)?,
            integrator: Integrator::from_name(&self.integrator, self.step_s)?,
        };
        Ok((system, settings))
    }
}

/// Column `index` of a history that is stored row by row.
fn column<'py>(
    py: Python<'py>,
    rows: &[f64],
    width: usize,
    index: usize,
) -> Bound<'py, PyArray1<f64>> {
    rows.iter()
        .skip(index)
        .step_by(width.max(1))
        .copied()
        .collect::<Vec<_>>()
        .into_pyarray(py)
}

fn columns<'py>(py: Python<'py>, rows: &[f64], width: usize) -> Vec<Bound<'py, PyArray1<f64>>> {
    (0..width)
        .map(|index| column(py, rows, width, index))
        .collect()
}

fn to_dict<'py>(py: Python<'py>, run: &Run) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (masses, contacts) = (run.masses, run.contacts);
    dict.set_item("times_s", run.times_s.clone().into_pyarray(py))?;
    for (name, rows, width) in [
        ("displacement_m", &run.displacement_m, masses),
        ("velocity_m_s", &run.velocity_m_s, masses),
        ("acceleration_m_s2", &run.acceleration_m_s2, masses),
        ("force_n", &run.force_n, contacts),
        ("gap_m", &run.gap_m, contacts),
        ("element_force_n", &run.element_force_n, run.elements),
    ] {
        dict.set_item(name, columns(py, rows, width))?;
    }
    for (name, peaks) in [
        ("peak_displacement_m", &run.peaks.displacement_m),
        ("peak_velocity_m_s", &run.peaks.velocity_m_s),
        ("peak_acceleration_m_s2", &run.peaks.acceleration_m_s2),
        ("peak_force_n", &run.peaks.force_n),
        ("smallest_gap_m", &run.peaks.smallest_gap_m),
        ("peak_drift_m", &run.peaks.drift_m),
        ("residual_m", &run.residual_m),
        ("hysteretic_energy_j", &run.energy.hysteretic_j),
    ] {
        dict.set_item(name, peaks.clone())?;
    }
    let impacts = PyDict::new(py);
    let list = |of: fn(&percuss_oscillators::ImpactEvent) -> f64| {
        run.impacts
            .iter()
            .map(of)
            .collect::<Vec<_>>()
            .into_pyarray(py)
    };
    impacts.set_item("contact", list(|i| i.contact as f64))?;
    impacts.set_item("t_s", list(|i| i.start_s))?;
    impacts.set_item("approach_m_s", list(|i| i.approach_speed_m_s))?;
    impacts.set_item("rebound_m_s", list(|i| i.rebound_speed_m_s))?;
    impacts.set_item("duration_s", list(|i| i.duration_s))?;
    impacts.set_item("peak_force_n", list(|i| i.peak_force_n))?;
    impacts.set_item("impulse_n_s", list(|i| i.impulse_n_s))?;
    impacts.set_item("grazing", list(|i| f64::from(u8::from(i.grazing))))?;
    dict.set_item("impacts", impacts)?;
    let energy = &run.energy;
    let account = PyDict::new(py);
    for (name, value) in [
        ("initial", energy.initial_j),
        ("base", energy.base_j),
        ("kinetic", energy.kinetic_j),
        ("elastic", energy.elastic_j),
        ("damped", energy.damped_j),
        ("hysteretic", energy.hysteretic_j.iter().sum()),
        ("contact", energy.contact_j.iter().sum()),
        ("closing_error", energy.closing_error),
    ] {
        account.set_item(name, value)?;
    }
    dict.set_item("energy_j", account)?;
    dict.set_item("contact_energy_j", energy.contact_j.clone())?;
    Ok(dict)
}

/// Run each system; a run that cannot be done gives its reason instead of a result. All cores, the same bits at any
/// number of them. Ctrl-C is answered between batches of runs.
#[pyfunction]
fn simulate_oscillators<'py>(
    py: Python<'py>,
    runs: Vec<RunSpec>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut systems = Vec::new();
    let mut reasons = Vec::new();
    for run in runs {
        match run.build() {
            Ok(built) => {
                systems.push(built);
                reasons.push(None);
            }
            Err(fault) => reasons.push(Some(fault.to_string())),
        }
    }
    // Runs of one case share their settings, so that there is one group as a rule.
    let mut interrupted = Ok(());
    let done = py.detach(|| {
        let mut done = Vec::with_capacity(systems.len());
        for group in systems.chunk_by(|a, b| a.1 == b.1) {
            let same: Vec<System> = group.iter().map(|(system, _)| system.clone()).collect();
            done.extend(simulate_many(&same, &group[0].1, || {
                interrupted = Python::attach(|py| py.check_signals());
                interrupted.is_ok()
            }));
            if interrupted.is_err() {
                break;
            }
        }
        done
    });
    interrupted?;
    let mut done = done.into_iter();
    reasons
        .into_iter()
        .map(|reason| match reason {
            Some(reason) => Ok(reason.into_pyobject(py)?.into_any()),
            None => match done.next().expect("one result for each system") {
                Ok(run) => Ok(to_dict(py, &run)?.into_any()),
                Err(fault) => Ok(fault.to_string().into_pyobject(py)?.into_any()),
            },
        })
        .collect()
}

/// Every impact law: name, force in one line, source, exponent of the indentation, smallest restitution.
#[pyfunction]
fn impact_laws() -> Vec<(&'static str, &'static str, &'static str, f64, f64)> {
    Law::ALL
        .iter()
        .map(|law| {
            let facts = law.facts();
            (
                facts.name,
                facts.summary,
                facts.citation,
                facts.exponent,
                facts.smallest_restitution,
            )
        })
        .collect()
}

/// Number of a spring law: name, unit, default, low, low_open, high, high_open, what it is.
type Number = (
    &'static str,
    &'static str,
    Option<f64>,
    f64,
    bool,
    f64,
    bool,
    &'static str,
);

/// Every law of springs: name, force in one line, source, the numbers it takes beside the stiffness.
#[pyfunction]
fn spring_laws() -> Vec<(&'static str, &'static str, &'static str, Vec<Number>)> {
    let all = SpringLaw::ALL.iter().map(|law| law.facts());
    all.map(|facts| {
        let numbers = facts.numbers.iter().map(|n| {
            let bounds = (n.low, n.low_open, n.high, n.high_open);
            let (low, low_open, high, high_open) = bounds;
            (
                n.name, n.unit, n.default, low, low_open, high, high_open, n.doc,
            )
        });
        (facts.name, facts.summary, facts.citation, numbers.collect())
    })
    .collect()
}

/// Elongation and force at which a spring with a law yields, m and N; infinite for one that does not.
#[pyfunction]
fn spring_yield(law: &str, stiffness: f64, numbers: Vec<f64>) -> PyResult<(f64, f64)> {
    let law = SpringLaw::from_name(law).map_err(bad_input)?;
    let bound = law.with(stiffness, &numbers).map_err(bad_input)?;
    Ok((bound.yield_elongation(), bound.yield_force()))
}

/// Forces of a spring with a law along a path of elongations from rest, N.
#[pyfunction]
fn spring_cycle(
    law: &str,
    stiffness: f64,
    numbers: Vec<f64>,
    elongation_m: Vec<f64>,
) -> PyResult<Vec<f64>> {
    let law = SpringLaw::from_name(law).map_err(bad_input)?;
    let bound = law.with(stiffness, &numbers).map_err(bad_input)?;
    Ok(bound.forces_along(&elongation_m))
}

/// Restitution that a law achieves in a free collision, by integration of the motion.
#[pyfunction]
fn achieved_restitution(law: &str, damping: &str, restitution: f64) -> PyResult<f64> {
    let law = Law::from_name(law).map_err(bad_input)?;
    let damping = Damping::from_name(damping).map_err(bad_input)?;
    percuss_oscillators::achieved_restitution(law, damping, restitution).map_err(bad_input)
}

/// Add the functions of this file.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MOST_SAMPLES", MOST_SAMPLES)?;
    module.add_function(wrap_pyfunction!(simulate_oscillators, module)?)?;
    module.add_function(wrap_pyfunction!(impact_laws, module)?)?;
    module.add_function(wrap_pyfunction!(spring_laws, module)?)?;
    module.add_function(wrap_pyfunction!(spring_yield, module)?)?;
    module.add_function(wrap_pyfunction!(spring_cycle, module)?)?;
    module.add_function(wrap_pyfunction!(achieved_restitution, module)?)
}
