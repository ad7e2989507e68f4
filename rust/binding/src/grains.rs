//! Grains in a periodic cell: packings and tests on them, as `percuss.models.grains` describes them; SI.

use std::time::{Duration, Instant};

use nalgebra::Vector3;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use percuss_grains::{
    Compaction, Frame, GrainError, Loading, Material, Packing, Path, Program, SizeCurve, Test,
    load, make_packing,
};
use percuss_laws::grain::{Grain, GrainLaw, MomentLimit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::bad_input;

/// Edges of the cell, centres and radii of the grains, and whether walls hold them.
type Grains = ([f64; 3], Vec<[f64; 3]>, Vec<f64>, bool);

/// What to make.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PackingSpec {
    diameters: Vec<f64>,
    finer: Vec<f64>,
    grains: usize,
    cell_m: [f64; 3],
    void_ratio: f64,
    tolerance: f64,
    pressure_pa: f64,
    density_kg_m3: f64,
    seed: u64,
    walls: bool,
}

/// A test on a packing.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct TestSpec {
    law: String,
    young_pa: f64,
    poisson: f64,
    rolling_stiffness: f64,
    rolling_friction: f64,
    friction: f64,
    moments: bool,
    moment_limit: String,
    rescaled: bool,
    restitution: f64,
    gravity_m_s2: f64,
    density_kg_m3: f64,
    density_scaling: f64,
    pressure_pa: f64,
    rate_per_s: f64,
    damping: [f64; 2],
    unbalanced: f64,
    stress_tolerance: f64,
    most_steps: u64,
    step_safety: f64,
    test: String,
    strains: Vec<f64>,
    paths: Vec<[(bool, f64); 3]>,
    film: bool,
}

impl TestSpec {
    fn build(self) -> PyResult<(Material, Loading, Test)> {
        let material = Material {
            law: GrainLaw::from_name(&self.law).map_err(bad_input)?,
            grain: Grain {
                young_pa: self.young_pa,
                poisson: self.poisson,
                rolling_stiffness: self.rolling_stiffness,
                rolling_friction: self.rolling_friction,
                friction: self.friction,
            },
            moments: self.moments,
            moment_limit: MomentLimit::from_name(&self.moment_limit).map_err(bad_input)?,
            rescaled: self.rescaled,
            restitution: self.restitution,
            gravity_m_s2: self.gravity_m_s2,
            density_kg_m3: self.density_kg_m3,
            density_scaling: self.density_scaling,
        };
        let loading = Loading {
            pressure_pa: self.pressure_pa,
            rate_per_s: self.rate_per_s,
            damping: self.damping,
            unbalanced: self.unbalanced,
            stress_tolerance: self.stress_tolerance,
            most_steps: self.most_steps,
            safety: self.step_safety,
            film: self.film,
        };
        let goal = |(strain, value): (bool, f64)| {
            if strain {
                Path::Strain(value)
            } else {
                Path::Stress(value)
            }
        };
        let test = match self.test.as_str() {
            "drained" => Test::Drained(self.strains),
            "undrained" => Test::Undrained(self.strains),
            "oedometric" => Test::Oedometric(self.strains),
            "isotropic" => Test::Isotropic(self.strains),
            "path" => Test::Paths(self.paths.into_iter().map(|row| row.map(goal)).collect()),
            other => {
                return Err(bad_input(format!(
                    "unknown test `{other}`: must be one of drained, undrained, oedometric, isotropic, path"
                )));
            }
        };
        Ok((material, loading, test))
    }
}

/// Make a packing: cell, centres, radii, and facts about it.
#[pyfunction]
fn grain_packing<'py>(
    py: Python<'py>,
    spec: PackingSpec,
) -> PyResult<(Grains, Bound<'py, PyDict>)> {
    let wanted = Compaction {
        curve: SizeCurve {
            diameters: spec.diameters,
            finer: spec.finer,
        },
        grains: spec.grains,
        cell_m: spec.cell_m,
        void_ratio: spec.void_ratio,
        tolerance: spec.tolerance,
        pressure_pa: spec.pressure_pa,
        density_kg_m3: spec.density_kg_m3,
        walls: spec.walls,
        ..Compaction::toyoura(spec.grains, spec.seed)
    };
    let made = watched(py, None, |watch| make_packing(&wanted, &mut || watch(0.0)))?;
    let facts = PyDict::new(py);
    facts.set_item("steps", made.steps)?;
    facts.set_item("void_ratio", made.void_ratio)?;
    facts.set_item("coordination", made.coordination)?;
    facts.set_item("unbalanced", made.unbalanced)?;
    facts.set_item("friction", made.friction)?;
    facts.set_item("cycles", made.cycles)?;
    let grains = made.packing;
    let centres = grains.positions_m.iter().map(|p| (*p).into()).collect();
    let walls = grains.walls;
    Ok((
        (grains.cell_m.into(), centres, grains.radii_m, walls),
        facts,
    ))
}

/// Do a test on a packing: one column a quantity, one row an increment.
#[pyfunction]
#[pyo3(signature = (grains, spec, report=None))]
fn grain_test<'py>(
    py: Python<'py>,
    grains: Grains,
    spec: TestSpec,
    report: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (material, loading, test) = spec.build()?;
    let packing = Packing {
        cell_m: Vector3::from(grains.0),
        positions_m: grains.1.into_iter().map(Vector3::from).collect(),
        radii_m: grains.2,
        walls: grains.3,
    };
    let done = watched(py, report, |watch| {
        load(&packing, material, &loading, &test, watch)
    })?;
    columns(py, &done)
}

/// Time between two looks for Ctrl-C, and two reports.
const LOOK: Duration = Duration::from_millis(50);

/// Work without the GIL, answering Ctrl-C and whatever `report` raises; it is called with the share that is done.
fn watched<T: Send>(
    py: Python<'_>,
    report: Option<Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(f64) -> bool) -> Result<T, GrainError> + Send,
) -> PyResult<T> {
    let mut raised = Ok(());
    let done = py.detach(|| {
        let mut looked = Instant::now();
        work(&mut |share| {
            if looked.elapsed() < LOOK {
                return true;
            }
            looked = Instant::now();
            raised = Python::attach(|py| {
                py.check_signals()?;
                report
                    .as_ref()
                    .map_or(Ok(()), |call| call.call1(py, (share,)).map(drop))
            });
            raised.is_ok()
        })
    });
    raised?;
    done.map_err(bad_input)
}

fn columns<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let add = |name: &str, of: &dyn Fn(&percuss_grains::Row) -> f64| {
        let column: Vec<f64> = program.rows.iter().map(of).collect();
        let array: Bound<'_, PyArray1<f64>> = column.into_pyarray(py);
        found.set_item(name, array)
    };
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        add(&format!("strain_{axis}"), &|row| row.strain[k])?;
    }
    for (i, j, axes) in [
        (0, 0, "xx"),
        (1, 1, "yy"),
        (2, 2, "zz"),
        (0, 1, "xy"),
        (0, 2, "xz"),
        (1, 2, "yz"),
    ] {
        add(&format!("stress_{axes}"), &|row| {
            row.measured.stress_pa[(i, j)]
        })?;
        add(&format!("fabric_{axes}"), &|row| {
            row.measured.fabric[(i, j)]
        })?;
    }
    for bin in 0..percuss_grains::ORIENTATION_BINS {
        add(&format!("orientation_{bin}"), &|row| {
            row.measured.orientation[bin]
        })?;
    }
    add("void_ratio", &|row| row.void_ratio)?;
    add("contacts", &|row| row.measured.contacts as f64)?;
    add("coordination", &|row| row.measured.coordination)?;
    add("mechanical_coordination", &|row| {
        row.measured.mechanical_coordination
    })?;
    add("normal_force_mean", &|row| row.measured.mean_normal_n)?;
    add("normal_force_max", &|row| row.measured.largest_normal_n)?;
    add("normal_force_spread", &|row| row.measured.normal_spread)?;
    add("sliding_share", &|row| row.measured.sliding)?;
    add("energy_elastic", &|row| row.measured.energy.elastic_j)?;
    add("energy_kinetic", &|row| row.measured.energy.kinetic_j)?;
    add("energy_boundary", &|row| row.measured.energy.boundary_j)?;
    add("energy_sliding", &|row| row.measured.energy.sliding_j)?;
    add("energy_rolling", &|row| row.measured.energy.rolling_j)?;
    add("energy_damping", &|row| row.measured.energy.damping_j)?;
    add("energy_stiffening", &|row| row.measured.energy.stiffening_j)?;
    add("cycles", &|row| row.steps as f64)?;
    add("unbalanced", &|row| row.unbalanced)?;
    add("at_rest", &|row| f64::from(row.at_rest))?;
    let frames: Vec<_> = program
        .rows
        .iter()
        .filter_map(|row| row.frame.as_ref())
        .collect();
    if !frames.is_empty() {
        let drawn: PyResult<Vec<_>> = frames.iter().map(|frame| drawn(py, frame)).collect();
        found.set_item("frames", drawn?)?;
    }
    found.set_item("steps", program.steps)?;
    found.set_item("contact_steps", program.contact_steps)?;
    found.set_item("dt_s", program.dt_s)?;
    found.set_item("void_ratio_loaded", program.void_ratio_loaded)?;
    Ok(found)
}

/// A frame: cell, centres, turns, and of contacts the two grains (-1: a wall), arm from the first, force on the second.
fn drawn<'py>(py: Python<'py>, frame: &Frame) -> PyResult<Bound<'py, PyDict>> {
    let rows = |list: &[Vector3<f64>]| -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list: Vec<Vec<f64>> = list.iter().map(|v| v.iter().copied().collect()).collect();
        Ok(PyArray2::from_vec2(py, &list)?)
    };
    let number = |grain: Option<usize>| grain.map_or(-1, |k| k as i64);
    let contacts = &frame.contacts;
    let pairs: Vec<Vec<i64>> = contacts
        .iter()
        .map(|c| vec![c.grain as i64, number(c.other)])
        .collect();
    let found = PyDict::new(py);
    found.set_item("cell_m", <[f64; 3]>::from(frame.cell_m))?;
    found.set_item("positions_m", rows(&frame.positions_m)?)?;
    found.set_item("turned_rad", rows(&frame.turned_rad)?)?;
    found.set_item("grains", PyArray2::from_vec2(py, &pairs)?)?;
    let arms: Vec<_> = contacts.iter().map(|c| c.arm_m).collect();
    let forces: Vec<_> = contacts.iter().map(|c| c.force_n).collect();
    found.set_item("arms_m", rows(&arms)?)?;
    found.set_item("forces_n", rows(&forces)?)?;
    Ok(found)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(grain_packing, module)?)?;
    module.add_function(wrap_pyfunction!(grain_test, module)?)
}
