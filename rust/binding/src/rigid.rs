//! Rigid bodies: a scene as `percuss.scene` describes it in, tables of numbers out.
//!
//! A scene is a dict of plain values, SI, bodies and laws named by index; each of its parts has a function here
//! that reads it. Whatever names a kind (shape, role, motion, probe) says so under the key `kind`.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use percuss_rigid::{
    Body, ContactLaw, Effort, Element, Formula, Friction, ImpactLaw, Imposed, Joint, JointKind,
    Limit, Load, Mass, MassProperties, Mat3, Method, Motion, Pose, Probe, ProbeKind, Record,
    Recording, Role, Row, Scene, Settings, Settle, Shape, Signal, Snapshot, Solver, Stepper, Table,
    Target, Vec3, World,
};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::bad_input;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;

/// Ctrl-C is answered after this many steps.
const STEPS_BETWEEN_SIGNALS: u64 = 64;

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

fn shape(from: Any<'_, '_>) -> PyResult<Shape> {
    let number = |key: &str| item::<f64>(from, key);
    let points = |key: &str| -> PyResult<Vec<Vec3>> {
        let list: Vec<[f64; 3]> = item(from, key)?;
        Ok(list.into_iter().map(Vec3::from).collect())
    };
    let kind: String = item(from, "kind")?;
    match kind.as_str() {
        "sphere" => Shape::sphere(number("radius_m")?),
        "box" => {
            let [x, y, z] = item(from, "size_m")?;
            Shape::cuboid(x, y, z)
        }
        "cylinder" => Shape::cylinder(number("radius_m")?, number("height_m")?),
        "capsule" => Shape::capsule(number("radius_m")?, number("length_m")?),
        "cone" => Shape::cone(number("radius_m")?, number("height_m")?),
        "polyhedron" => Shape::polyhedron(&points("vertices_m")?),
        "half-space" => Ok(Shape::half_space()),
        "ring" => Shape::ring(
            number("inner_radius_m")?,
            number("outer_radius_m")?,
            number("height_m")?,
        ),
        "mesh" => Shape::mesh(
            points("vertices_m")?,
            &item::<Vec<[u32; 3]>>(from, "triangles")?,
        ),
        "height-field" => {
            let heights: Vec<Vec<f64>> = item(from, "heights_m")?;
            let columns = heights.first().map_or(0, Vec::len);
            Shape::height_field(
                columns,
                heights.len(),
                item(from, "spacing_m")?,
                &heights.concat(),
            )
        }
        _ => {
            let known = "sphere, box, cylinder, capsule, cone, polyhedron, half-space, ring, mesh, height-field";
            return Err(unknown("shape", &kind, known));
        }
    }
    .map_err(bad_input)
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

fn scene(from: Any<'_, '_>) -> PyResult<Scene> {
    let bodies: Vec<Bound<'_, PyAny>> = item(from, "bodies")?;
    let mut scene = Scene {
        laws: each(from, "laws", law)?,
        joints: each(from, "joints", joint)?,
        elements: each(from, "elements", element)?,
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

fn settings(from: Any<'_, '_>) -> PyResult<Settings> {
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
        overlap_tolerance_m: item(from, "overlap_tolerance_m")?,
        stabilise: item(from, "stabilise")?,
    })
}

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
    ] {
        dict.set_item(table.name.clone(), columns(py, table)?)?;
    }
    dict.set_item("steps_taken", recording.steps_taken)?;
    dict.set_item("unmet_steps", recording.unmet_steps)?;
    dict.set_item("worst_residual", recording.worst_residual)?;
    dict.set_item("gain_steps", recording.gain_steps)?;
    dict.set_item("deepest_overlap_m", recording.deepest_overlap_m)?;
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
        let world = World::new(self::scene(scene)?, self::settings(settings)?);
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
        for (name, value) in [
            ("kinetic_j", energy.kinetic_j),
            ("potential_j", energy.potential_j),
            ("elastic_j", energy.elastic_j),
            ("impact_dissipation_j", energy.impact_dissipation_j),
            ("friction_dissipation_j", energy.friction_dissipation_j),
            ("damping_dissipation_j", energy.damping_dissipation_j),
            ("external_work_j", energy.external_work_j),
            ("motion_work_j", energy.motion_work_j),
            ("stabilisation_work_j", energy.stabilisation_work_j),
            ("scheme_j", energy.scheme_j),
            ("brought_in_j", energy.brought_in_j),
            ("contact_gain_j", energy.contact_gain_j),
            ("closing_error_j", energy.closing_error_j()),
        ] {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// What the contacts under each law did: impact and friction dissipation (J), normal and friction impulse (N s).
    fn pair_work(&self) -> Vec<[f64; 4]> {
        self.world
            .pair_work()
            .iter()
            .map(|work| {
                [
                    work.impact_dissipation_j,
                    work.friction_dissipation_j,
                    work.normal_impulse_n_s,
                    work.friction_impulse_n_s,
                ]
            })
            .collect()
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
    module.add_function(wrap_pyfunction!(joint_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(smooth_methods, module)?)?;
    module.add_function(wrap_pyfunction!(formula_values, module)?)?;
    module.add_function(wrap_pyfunction!(contact_impact_laws, module)?)
}
