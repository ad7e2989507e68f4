//! Rigid bodies: a scene as `percuss.scene` describes it in, tables of numbers out.

mod reading;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use percuss_rigid::{
    BondMemory, Energy, Formula, ImpactLaw, JointKind, LOOSEST_TOLERANCE, MOST_FRICTION,
    MOST_ROLLING_M, Method, PairWork, Record, Recording, Settle, Snapshot, Table, Vec3, World,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::bad_input;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;

/// Ctrl-C is answered after this many steps.
const STEPS_BETWEEN_SIGNALS: u64 = 64;

fn columns(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for column in table.columns {
        dict.set_item(column.name, column.values.into_pyarray(py))?;
    }
    Ok(dict)
}

fn recorded(py: Python<'_>, recording: Recording) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let probes = PyDict::new(py);
    for table in recording.probes {
        probes.set_item(table.name.clone(), columns(py, table)?)?;
    }
    dict.set_item("probes", probes)?;
    for table in [
        recording.energy,
        recording.steps,
        recording.bodies,
        recording.contacts,
        recording.bonds,
    ] {
        dict.set_item(table.name.clone(), columns(py, table)?)?;
    }
    dict.set_item("steps_taken", recording.steps_taken)?;
    dict.set_item("unmet_steps", recording.unmet_steps)?;
    dict.set_item("worst_residual", recording.worst_residual)?;
    dict.set_item("gain_steps", recording.gain_steps)?;
    dict.set_item("deepest_overlap_m", recording.deepest_overlap_m)?;
    dict.set_item("deepest_overlap_share", recording.deepest_overlap_share)?;
    dict.set_item("gained_j", recording.gained_j)?;
    dict.set_item("largest_kinetic_j", recording.largest_kinetic_j)?;
    dict.set_item("lifting_j", recording.lifting_j)?;
    dict.set_item("overlap_left_m", recording.overlap_left_m)?;
    dict.set_item("worst_drift", recording.worst_drift)?;
    Ok(dict)
}

fn rows<'py, const N: usize>(
    py: Python<'py>,
    rows: Vec<[f64; N]>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let height = rows.len();
    rows.into_flattened().into_pyarray(py).reshape([height, N])
}

type DrawnContactor<'py> = (u32, Bound<'py, PyArray2<f64>>, Vec<Vec<u32>>);

/// A scene in motion.
#[pyclass(module = "percuss._core")]
pub(crate) struct RigidWorld {
    world: World,
}

#[pymethods]
impl RigidWorld {
    #[new]
    fn new(scene: Any<'_, '_>, settings: Any<'_, '_>) -> PyResult<Self> {
        let world = World::new(reading::scene(scene)?, reading::settings(settings)?);
        Ok(Self {
            world: world.map_err(bad_input)?,
        })
    }

    /// Run for a while; rows of each table every so many steps, 0 for never.
    #[pyo3(signature = (duration_s, *, energy_every=1, steps_every=1, bodies_every=0, contacts_every=0))]
    fn run<'py>(
        &mut self,
        py: Python<'py>,
        duration_s: f64,
        energy_every: u64,
        steps_every: u64,
        bodies_every: u64,
        contacts_every: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let record = Record {
            energy_every,
            steps_every,
            bodies_every,
            contacts_every,
        };
        let mut interrupted = Ok(());
        let recording = py.detach(|| {
            self.world.run_while(duration_s, &record, |world, _| {
                if world.steps().is_multiple_of(STEPS_BETWEEN_SIGNALS) {
                    interrupted = Python::attach(|py| py.check_signals());
                }
                interrupted.is_ok()
            })
        });
        interrupted?;
        recorded(py, recording.map_err(bad_input)?)
    }

    /// Where the bodies come to rest, as bytes for `start_from`, and how they got there.
    fn settled<'py>(
        &self,
        py: Python<'py>,
        speed_m_per_s: f64,
        quiet_steps: u64,
        damping: f64,
        max_steps: u64,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
        let settle = Settle {
            speed_m_per_s,
            quiet_steps,
            damping,
            max_steps,
        };
        let (mut steps, mut interrupted) = (0_u64, Ok(()));
        let found = py.detach(|| {
            self.world.settled(&settle, || {
                steps += 1;
                if steps.is_multiple_of(STEPS_BETWEEN_SIGNALS) {
                    interrupted = Python::attach(|py| py.check_signals());
                }
                interrupted.is_ok()
            })
        });
        interrupted?;
        let (state, settled) = found.map_err(bad_input)?;
        let facts = PyDict::new(py);
        facts.set_item("at_rest", settled.at_rest)?;
        facts.set_item("steps", settled.steps)?;
        facts.set_item("speed_m_per_s", settled.speed_m_per_s)?;
        facts.set_item("moved_m", settled.moved_m)?;
        Ok((PyBytes::new(py, &state.to_bytes()), facts))
    }

    /// Put the bodies where `settled` found them at rest.
    fn start_from(&mut self, state: &[u8]) -> PyResult<()> {
        let state = Snapshot::from_bytes(state).map_err(bad_input)?;
        self.world.start_from(&state).map_err(bad_input)
    }

    /// The state now, bit for bit.
    fn snapshot<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.world.snapshot().to_bytes())
    }

    /// Go back to a state.
    fn restore(&mut self, state: &[u8]) -> PyResult<()> {
        let state = Snapshot::from_bytes(state).map_err(bad_input)?;
        self.world.restore(&state).map_err(bad_input)
    }

    /// Set the velocity of a body's centre of mass and its angular velocity, world axes.
    fn set_velocity(
        &mut self,
        body: usize,
        velocity_m_per_s: [f64; 3],
        angular_velocity_rad_per_s: [f64; 3],
    ) -> PyResult<()> {
        let bodies = self.world.scene().bodies.len();
        if body >= bodies {
            return Err(bad_input(format!("body {body}, there are {bodies} bodies")));
        }
        let (velocity, turning) = (velocity_m_per_s.into(), angular_velocity_rad_per_s.into());
        self.world.set_velocity(body, velocity, turning);
        Ok(())
    }

    /// Frames of the bodies: x, y, z in m, then the quaternion w, x, y, z; one row a body.
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let row = |body: usize| {
            let pose = self.world.pose(body);
            let (p, q) = (pose.position, pose.rotation);
            [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
        };
        rows(py, (0..self.world.scene().bodies.len()).map(row).collect())
    }

    /// Velocities of the centres of mass (m/s) and angular velocities (rad/s), world axes; one row a body.
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let row = |body: usize| {
            let (v, w) = (
                self.world.state(body).velocity,
                self.world.angular_velocity(body),
            );
            [v.x, v.y, v.z, w.x, w.y, w.z]
        };
        rows(py, (0..self.world.scene().bodies.len()).map(row).collect())
    }

    /// How the scene went together: the farthest way of a mass centre (m), and rows that others imply, as joint and row.
    fn assembled(&self) -> (f64, Vec<(String, String)>) {
        let assembled = self.world.assembled();
        (assembled.moved_m, assembled.redundant.clone())
    }

    /// Mass of each body in kg; none where it is not moved by forces.
    fn masses_kg(&self) -> Vec<Option<f64>> {
        (0..self.world.scene().bodies.len())
            .map(|body| self.world.mass_kg(body))
            .collect()
    }

    /// The energy account, J.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let energy = self.world.energy();
        for (name, value) in Energy::NAMES.into_iter().zip(energy.numbers()) {
            dict.set_item(name, value)?;
        }
        dict.set_item("closing_error_j", energy.closing_error_j())?;
        Ok(dict)
    }

    /// What the contacts under each law did: impact and friction dissipation (J), normal and friction impulse (N s).
    fn pair_work(&self) -> Vec<[f64; 4]> {
        let works = self.world.pair_work().iter();
        works.map(PairWork::numbers).collect()
    }

    /// Points of bonds: index of the bond, area (m2), damage from 0 to 1, opening and slide (m), normal force and the two
    /// shear forces of the last step (N).
    fn bond_points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let row = |(bond, area, memory): (usize, f64, &BondMemory)| {
            let [damage, _, rest @ ..] = memory.numbers();
            let [opening, slide, normal, first, second] = rest;
            [
                bond as f64,
                area,
                damage,
                opening,
                slide,
                normal,
                first,
                second,
            ]
        };
        rows(py, self.world.bond_points().map(row).collect())
    }

    /// Surface of each contactor as polygons: its body, corners in the body's frame (m), loops of corners. Of a
    /// half-space a square of side 2 `extent_m`.
    fn outlines<'py>(&self, py: Python<'py>, extent_m: f64) -> PyResult<Vec<DrawnContactor<'py>>> {
        self.world
            .scene()
            .contactors
            .iter()
            .map(|contactor| {
                let outline = contactor.shape.outline(extent_m);
                let corner = |p: &Vec3| contactor.pose.point(p).into();
                let corners = rows(py, outline.vertices.iter().map(corner).collect())?;
                Ok((contactor.body, corners, outline.polygons))
            })
            .collect()
    }

    /// Time now, s.
    #[getter]
    fn time_s(&self) -> f64 {
        self.world.time_s()
    }

    /// Steps taken.
    #[getter]
    fn steps(&self) -> u64 {
        self.world.steps()
    }
}

/// Names of the impact laws of contacts.
#[pyfunction]
fn contact_impact_laws() -> Vec<&'static str> {
    ImpactLaw::TABLE.map(|(name, _)| name).to_vec()
}

/// Names of the kinds of joints, each with those of its coordinates.
#[pyfunction]
fn joint_kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    let coordinates = |kind: JointKind| kind.coordinates().iter().map(|(name, _)| *name).collect();
    JointKind::TABLE
        .map(|(name, kind)| (name, coordinates(kind)))
        .to_vec()
}

/// Names of the methods of the smooth stepper.
#[pyfunction]
fn smooth_methods() -> Vec<&'static str> {
    Method::NAMES.to_vec()
}

/// Value, first and second derivative of a formula in t at each time.
#[pyfunction]
fn formula_values<'py>(
    py: Python<'py>,
    formula: &str,
    times_s: Vec<f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let formula = Formula::new(formula).map_err(bad_input)?;
    rows(py, times_s.into_iter().map(|t| formula.at(t)).collect())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RigidWorld>()?;
    module.add("MOST_FRICTION", MOST_FRICTION)?;
    module.add("MOST_ROLLING_M", MOST_ROLLING_M)?;
    module.add("LOOSEST_TOLERANCE", LOOSEST_TOLERANCE)?;
    module.add_function(wrap_pyfunction!(reading::set_default_threads, module)?)?;
    module.add_function(wrap_pyfunction!(joint_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(smooth_methods, module)?)?;
    module.add_function(wrap_pyfunction!(formula_values, module)?)?;
    module.add_function(wrap_pyfunction!(contact_impact_laws, module)?)
}
