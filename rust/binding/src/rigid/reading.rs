//! A scene as `percuss.scene` describes it: a dict of plain values, SI, bodies and laws named by index.
//!
//! Each of its parts has a function here that reads it. Whatever names a kind (shape, role, motion, probe, joint,
//! element) says so under the key `kind`.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use percuss_geometry::{Description, GeometryError};
use percuss_rigid::{
    Between, Body, Bond, BondLaw, ContactLaw, Effort, Element, Formula, Friction, ImpactLaw,
    Imposed, Joint, JointKind, Limit, Load, Mass, MassProperties, Mat3, Method, Motion, Pose,
    Probe, ProbeKind, Role, Row, Scene, Settings, Shape, Signal, Solver, Stepper, Target, Vec3,
};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::bad_input;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;

fn item<'py, T: FromPyObjectOwned<'py>>(from: Any<'_, 'py>, key: &str) -> PyResult<T> {
    let value = from.get_item(key)?;
    value.extract::<T>().map_err(|fault| {
        let fault: PyErr = fault.into();
        bad_input(format!("{key} = {value}: {}", fault.value(from.py())))
    })
}

fn vector(from: Any<'_, '_>, key: &str) -> PyResult<Vec3> {
    Ok(Vec3::from(item::<[f64; 3]>(from, key)?))
}

fn pose(from: Any<'_, '_>) -> PyResult<Pose> {
    let (position, turn) = (vector(from, "position_m")?, vector(from, "rotation_rad")?);
    Ok(Pose::new(position, turn))
}

/// Every item of the list under `key`.
fn each<'py, T>(
    from: Any<'_, 'py>,
    key: &str,
    read: impl Fn(Any<'_, 'py>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let list: Vec<Bound<'py, PyAny>> = item(from, key)?;
    list.iter().map(read).collect()
}

fn unknown(what: &str, name: &str, known: &str) -> PyErr {
    bad_input(format!("unknown {what} `{name}`: must be one of {known}"))
}

/// The numbers of a shape, under the keys of a dict; tables may be arrays of numpy.
struct ShapeNumbers<'a, 'py>(Any<'a, 'py>);

/// A fault of a shape's numbers, as Python sees it.
struct ShapeFault(PyErr);

impl From<GeometryError> for ShapeFault {
    fn from(fault: GeometryError) -> Self {
        Self(bad_input(fault))
    }
}

impl From<PyErr> for ShapeFault {
    fn from(fault: PyErr) -> Self {
        Self(fault)
    }
}

impl<'py> ShapeNumbers<'_, 'py> {
    /// Rows of N numbers: of an array without a look at each, else of lists.
    fn rows<T, const N: usize>(&self, key: &str) -> Result<Vec<[T; N]>, ShapeFault>
    where
        T: numpy::Element + Copy + FromPyObjectOwned<'py>,
    {
        let value = self.0.get_item(key)?;
        if let Ok(array) = value.extract::<PyReadonlyArray2<'py, T>>()
            && array.shape()[1] == N
        {
            let rows = array.as_array();
            let rows = rows.rows().into_iter();
            return Ok(rows.map(|row| std::array::from_fn(|k| row[k])).collect());
        }
        Ok(item::<Vec<[T; N]>>(self.0, key)?)
    }
}

impl Description for ShapeNumbers<'_, '_> {
    type Error = ShapeFault;

    fn number(&self, key: &'static str) -> Result<f64, ShapeFault> {
        Ok(item(self.0, key)?)
    }

    fn numbers<const N: usize>(&self, key: &'static str) -> Result<[f64; N], ShapeFault> {
        Ok(item(self.0, key)?)
    }

    fn points(&self, key: &'static str) -> Result<Vec<Vec3>, ShapeFault> {
        let points = self.rows::<f64, 3>(key)?;
        Ok(points.into_iter().map(Vec3::from).collect())
    }

    fn triangles(&self, key: &'static str) -> Result<Vec<[u32; 3]>, ShapeFault> {
        self.rows(key)
    }

    fn table(&self, key: &'static str) -> Result<(usize, Vec<f64>), ShapeFault> {
        let value = self.0.get_item(key)?;
        if let Ok(array) = value.extract::<PyReadonlyArray2<'_, f64>>() {
            return Ok((array.shape()[1], array.as_array().iter().copied().collect()));
        }
        let rows: Vec<Vec<f64>> = item(self.0, key)?;
        let columns = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().position(|row| row.len() != columns) {
            let count = rows[row].len();
            let message = format!("{key}: row {row} has {count} numbers, the first {columns}");
            return Err(ShapeFault(bad_input(message)));
        }
        Ok((columns, rows.concat()))
    }
}

fn shape(from: Any<'_, '_>) -> PyResult<Shape> {
    let kind: String = item(from, "kind")?;
    match Shape::read(&kind, &ShapeNumbers(from)) {
        Some(read) => read.map_err(|fault| fault.0),
        None => Err(unknown("shape", &kind, &Shape::NAMES.join(", "))),
    }
}

fn motion(from: Any<'_, '_>) -> PyResult<Motion> {
    let kind: String = item(from, "kind")?;
    Ok(match kind.as_str() {
        "constant" => Motion::Constant {
            velocity_m_per_s: vector(from, "velocity_m_per_s")?,
            angular_velocity_rad_per_s: vector(from, "angular_velocity_rad_per_s")?,
        },
        "harmonic" => Motion::Harmonic {
            amplitude_m: vector(from, "amplitude_m")?,
            frequency_hz: item(from, "frequency_hz")?,
            phase_rad: item(from, "phase_rad")?,
        },
        "sampled" => {
            let velocities: Vec<[f64; 3]> = item(from, "velocities_m_per_s")?;
            let turnings: Vec<[f64; 3]> = item(from, "angular_velocities_rad_per_s")?;
            if !turnings.is_empty() && turnings.len() != velocities.len() {
                return Err(bad_input(format!(
                    "{} angular_velocities_rad_per_s for {} velocities_m_per_s: there must be as many, or none",
                    turnings.len(),
                    velocities.len()
                )));
            }
            let twist = |(k, [x, y, z]): (usize, [f64; 3])| {
                let [a, b, c] = turnings.get(k).copied().unwrap_or_default();
                [x, y, z, a, b, c]
            };
            Motion::Sampled {
                times_s: item(from, "times_s")?,
                twists: velocities.into_iter().enumerate().map(twist).collect(),
            }
        }
        _ => return Err(unknown("motion", &kind, "constant, harmonic, sampled")),
    })
}

fn role(from: Any<'_, '_>) -> PyResult<Role> {
    let kind: String = item(from, "kind")?;
    Ok(match kind.as_str() {
        "fixed" => Role::Static,
        "moved" => Role::Kinematic(motion(&from.get_item("motion")?)?),
        "density" => Role::Dynamic(Mass::Density(item(from, "density_kg_per_m3")?)),
        "mass" => Role::Dynamic(Mass::Total(item(from, "mass_kg")?)),
        "inertia" => {
            let rows: [[f64; 3]; 3] = item(from, "inertia_kg_m2")?;
            Role::Dynamic(Mass::Given(MassProperties {
                mass_kg: item(from, "mass_kg")?,
                centre_m: vector(from, "centre_m")?,
                inertia_kg_m2: Mat3::from_fn(|i, j| rows[i][j]),
            }))
        }
        _ => {
            let known = "fixed, moved, density, mass, inertia";
            return Err(unknown("role", &kind, known));
        }
    })
}

fn body(from: Any<'_, '_>) -> PyResult<Body> {
    Ok(Body {
        name: item(from, "name")?,
        role: role(&from.get_item("role")?)?,
        pose: pose(from)?,
        velocity_m_per_s: vector(from, "velocity_m_per_s")?,
        angular_velocity_rad_per_s: vector(from, "angular_velocity_rad_per_s")?,
        birth_s: item(from, "birth_s")?,
        removal_s: item(from, "removal_s")?,
    })
}

fn law(from: Any<'_, '_>) -> PyResult<ContactLaw> {
    let impact: String = item(from, "impact")?;
    let known = ImpactLaw::TABLE.map(|(name, _)| name).join(", ");
    Ok(ContactLaw {
        groups: item(from, "groups")?,
        impact: ImpactLaw::from_name(&impact)
            .ok_or_else(|| unknown("impact law", &impact, &known))?,
        restitution: item(from, "restitution")?,
        friction: item(from, "friction")?,
        rolling_m: item(from, "rolling_m")?,
        twisting_m: item(from, "twisting_m")?,
    })
}

fn load(from: Any<'_, '_>) -> PyResult<Load> {
    Ok(Load {
        body: item(from, "body")?,
        point_m: vector(from, "point_m")?,
        force_n: vector(from, "force_n")?,
        torque_n_m: vector(from, "torque_n_m")?,
        times_s: item(from, "times_s")?,
        factors: item(from, "factors")?,
    })
}

fn probe(from: Any<'_, '_>) -> PyResult<Probe> {
    let kind: String = item(from, "kind")?;
    Ok(Probe {
        name: item(from, "name")?,
        every: item(from, "every")?,
        kind: match kind.as_str() {
            "point" => ProbeKind::Point {
                body: item(from, "body")?,
                point_m: vector(from, "point_m")?,
            },
            "body-contacts" => ProbeKind::BodyContacts {
                body: item(from, "body")?,
            },
            "law-contacts" => ProbeKind::LawContacts {
                law: item(from, "law")?,
            },
            "joint" => ProbeKind::Joint {
                joint: item(from, "joint")?,
            },
            _ => {
                let known = "point, body-contacts, law-contacts, joint";
                return Err(unknown("probe", &kind, known));
            }
        },
    })
}

/// A number over time: a formula, or a table, smooth between its instants where `smooth` says so.
fn signal(from: Any<'_, '_>, what: &str, smooth: bool) -> PyResult<Signal> {
    if let Some(formula) = item::<Option<String>>(from, "formula")? {
        return Ok(Signal::Formula(Formula::new(&formula).map_err(bad_input)?));
    }
    let (times, values) = (item(from, "times_s")?, item(from, "values")?);
    let table = if smooth {
        Signal::spline
    } else {
        Signal::linear
    };
    table(what, times, values).map_err(bad_input)
}

/// Two bodies, none for the world, and a frame on each.
fn sides(from: Any<'_, '_>) -> PyResult<([Option<usize>; 2], [Pose; 2])> {
    let frames: Vec<Bound<'_, PyAny>> = item(from, "frames")?;
    let [a, b] = frames.as_slice() else {
        return Err(bad_input(format!("{} frames, must be two", frames.len())));
    };
    Ok((item(from, "bodies")?, [pose(a)?, pose(b)?]))
}

fn joint(from: Any<'_, '_>) -> PyResult<Joint> {
    let (name, kind): (String, String) = (item(from, "name")?, item(from, "kind")?);
    let known = JointKind::TABLE.map(|(name, _)| name).join(", ");
    let kind = JointKind::from_name(&kind).ok_or_else(|| unknown("joint", &kind, &known))?;
    let (bodies, frames) = sides(from)?;
    let imposed = |from: Any<'_, '_>| {
        let coordinate: String = item(from, "coordinate")?;
        let what = format!("{coordinate} of joint {name}");
        let target = if item::<bool>(from, "velocity")? {
            Target::Velocity(signal(from, &what, false)?)
        } else {
            Target::Position(signal(from, &what, true)?)
        };
        Ok(Imposed { coordinate, target })
    };
    let limit = |from: Any<'_, '_>| {
        Ok(Limit {
            coordinate: item(from, "coordinate")?,
            low: item(from, "low")?,
            high: item(from, "high")?,
            restitution: item(from, "restitution")?,
            stiffness: item(from, "stiffness")?,
            damping: item(from, "damping")?,
        })
    };
    let friction = |from: Any<'_, '_>| {
        Ok(Friction {
            coordinate: item(from, "coordinate")?,
            bound: item(from, "bound")?,
            per_reaction: item(from, "per_reaction")?,
            slip_rate: item(from, "slip_rate")?,
        })
    };
    Ok(Joint {
        length_m: item(from, "length_m")?,
        imposed: each(from, "imposed", imposed)?,
        limits: each(from, "limits", limit)?,
        friction: each(from, "friction", friction)?,
        ..Joint::new(&name, kind, bodies, frames)
    })
}

/// What a spring or an actuator acts on: a coordinate of a kind of joint between its two frames.
fn row(from: Any<'_, '_>) -> PyResult<Row> {
    let (kind, coordinate): (String, String) = (item(from, "on")?, item(from, "coordinate")?);
    let known = JointKind::TABLE.map(|(name, _)| name).join(", ");
    let kind = JointKind::from_name(&kind).ok_or_else(|| unknown("joint", &kind, &known))?;
    let nothing = Joint::new(
        &item::<String>(from, "name")?,
        kind,
        [None; 2],
        [Pose::identity(); 2],
    );
    nothing.coordinate(&coordinate).map_err(bad_input)
}

fn element(from: Any<'_, '_>) -> PyResult<Element> {
    let (name, kind): (String, String) = (item(from, "name")?, item(from, "kind")?);
    let (bodies, frames) = sides(from)?;
    let effort = match kind.as_str() {
        "spring" => Effort::Spring {
            row: row(from)?,
            stiffness: item(from, "stiffness")?,
            damping: item(from, "damping")?,
            rest: item(from, "rest")?,
            preload: item(from, "preload")?,
        },
        "bushing" => Effort::Bushing {
            stiffness: item(from, "stiffness")?,
            damping: item(from, "damping")?,
            preload: item(from, "preload")?,
        },
        "actuator" => Effort::Actuator {
            row: row(from)?,
            effort: signal(from, &format!("actuator {name}"), false)?,
        },
        _ => return Err(unknown("element", &kind, "spring, bushing, actuator")),
    };
    Ok(Element {
        name,
        bodies,
        frames,
        effort,
    })
}

fn bond(from: Any<'_, '_>) -> PyResult<Bond> {
    let bodies: Option<[usize; 2]> = item(from, "bodies")?;
    Ok(Bond {
        name: item(from, "name")?,
        between: match bodies {
            Some(bodies) => Between::Bodies(bodies),
            None => Between::Groups(item(from, "groups")?),
        },
        law: BondLaw {
            tension_pa: item(from, "tension_pa")?,
            shear_pa: item(from, "shear_pa")?,
            tension_j_per_m2: item(from, "tension_j_per_m2")?,
            shear_j_per_m2: item(from, "shear_j_per_m2")?,
        },
        refinement: item(from, "refinement")?,
    })
}

pub(super) fn scene(from: Any<'_, '_>) -> PyResult<Scene> {
    let bodies: Vec<Bound<'_, PyAny>> = item(from, "bodies")?;
    let mut scene = Scene {
        laws: each(from, "laws", law)?,
        joints: each(from, "joints", joint)?,
        elements: each(from, "elements", element)?,
        bonds: each(from, "bonds", bond)?,
        loads: each(from, "loads", load)?,
        probes: each(from, "probes", probe)?,
        gravity_m_per_s2: vector(from, "gravity_m_per_s2")?,
        ..Scene::default()
    };
    for given in &bodies {
        let index = scene.add_body(body(given)?);
        let contactors: Vec<Bound<'_, PyAny>> = item(given, "contactors")?;
        for contactor in &contactors {
            let named = |fault: PyErr| {
                let name = &scene.bodies[index].name;
                bad_input(format!("body {name}: {}", fault.value(from.py())))
            };
            let shape = shape(&contactor.get_item("shape")?).map_err(named)?;
            scene.add_contactor(index, shape, pose(contactor)?, item(contactor, "group")?);
        }
    }
    Ok(scene)
}

/// Threads of a run that does not say how many.
static DEFAULT_THREADS: AtomicUsize = AtomicUsize::new(1);

fn default_threads() -> usize {
    DEFAULT_THREADS.load(Ordering::Relaxed)
}

/// Set how many threads a run takes that does not say so itself; 0: one for each core.
#[pyfunction]
pub(super) fn set_default_threads(threads: usize) {
    DEFAULT_THREADS.store(threads, Ordering::Relaxed);
}

pub(super) fn settings(from: Any<'_, '_>) -> PyResult<Settings> {
    let solver: String = item(from, "solver")?;
    let stepper: String = item(from, "stepper")?;
    let method: String = item(from, "method")?;
    let stepper = match stepper.as_str() {
        "nonsmooth" => Stepper::Nonsmooth,
        "smooth" => {
            let found = Method::from_name(&method, item(from, "accuracy")?);
            Stepper::Smooth(
                found.ok_or_else(|| unknown("method", &method, &Method::NAMES.join(", ")))?,
            )
        }
        _ => return Err(unknown("stepper", &stepper, "nonsmooth, smooth")),
    };
    Ok(Settings {
        dt_s: item(from, "dt_s")?,
        stepper,
        theta: item(from, "theta")?,
        solver: Solver::from_name(&solver).map_err(bad_input)?,
        tolerance: item(from, "tolerance")?,
        max_iterations: item(from, "max_iterations")?,
        max_factorisations: item(from, "max_factorisations")?,
        contact_tolerance_m: item(from, "contact_tolerance_m")?,
        look_ahead_m: item(from, "look_ahead_m")?,
        overlap_tolerance_m: item(from, "overlap_tolerance_m")?,
        stabilise: item(from, "stabilise")?,
        sleep_speed_m_per_s: item(from, "sleep_speed_m_per_s")?,
        sleep_steps: item(from, "sleep_steps")?,
        threads: match item(from, "threads")? {
            0 => default_threads(),
            threads => threads,
        },
    })
}
