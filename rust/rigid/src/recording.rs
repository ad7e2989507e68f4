//! Running for a while, and what is kept of it.

use crate::body::Inertia;
use crate::bonds::BondMemory;
use crate::energy::Energy;
use crate::error::RigidError;
use crate::probe::{Probe, ProbeKind};
use crate::probing::Gathered;
use crate::report::StepReport;
use crate::table::Table;
use crate::world::World;
use percuss_geometry::Vec3;

/// What a run keeps besides the scene's probes: rows every so many steps, 0 for never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The energy account.
    pub energy_every: u64,
    /// Contacts, iterations and residual of steps.
    pub steps_every: u64,
    /// Pose and velocity of every body present.
    pub bodies_every: u64,
    /// Every active contact, and every point of a bond.
    pub contacts_every: u64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            energy_every: 1,
            steps_every: 1,
            bodies_every: 0,
            contacts_every: 0,
        }
    }
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// One table for each probe of the scene, in its order.
    pub probes: Vec<Table>,
    /// The energy account over time.
    pub energy: Table,
    /// The contact problems over time.
    pub steps: Table,
    /// Bodies over time.
    pub bodies: Table,
    /// Contacts over time; forces are mean forces of the step, on the second body.
    pub contacts: Table,
    /// What the points of bonds remember over time; rows as often as those of contacts.
    pub bonds: Table,
    /// Steps taken.
    pub steps_taken: u64,
    /// Steps whose contact problem stayed above the tolerance.
    pub unmet_steps: u64,
    /// Largest residual of any step.
    pub worst_residual: f64,
    /// Steps in which contacts gave energy.
    pub gain_steps: u64,
    /// Deepest overlap at the middle of any step [m].
    pub deepest_overlap_m: f64,
    /// The same as a share of half the width of the thinner shape, see [`StepReport::overlap_share`].
    pub deepest_overlap_share: f64,
    /// What contacts gave instead of taking [J].
    pub gained_j: f64,
    /// The largest kinetic energy [J].
    pub largest_kinetic_j: f64,
    /// What would lift every body by its own size [J].
    pub lifting_j: f64,
    /// Overlap that is left at the middle of the last step [m].
    pub overlap_left_m: f64,
    /// Largest drift of a joint in the rows of the energy table [m or rad].
    pub worst_drift: f64,
    /// Whether the run was ended before its time by its observer.
    pub interrupted: bool,
}

impl Recording {
    /// Counts a step.
    fn count(&mut self, report: &StepReport, kinetic_j: f64) {
        self.steps_taken += 1;
        self.unmet_steps += u64::from(!report.met);
        self.gain_steps += u64::from(report.gained);
        self.worst_residual = self.worst_residual.max(report.residual);
        self.deepest_overlap_m = self.deepest_overlap_m.max(report.overlap_m);
        self.deepest_overlap_share = self.deepest_overlap_share.max(report.overlap_share);
        self.overlap_left_m = report.overlap_m;
        self.largest_kinetic_j = self.largest_kinetic_j.max(kinetic_j);
    }
}

/// Row of a step, in the order of `STEPS`.
fn step_row(report: &StepReport) -> [f64; 8] {
    [
        report.time_s,
        report.contacts as f64,
        report.iterations as f64,
        report.factorisations as f64,
        report.residual,
        f64::from(u8::from(report.met)),
        report.contact_work_j,
        report.overlap_m,
    ]
}

const STEPS: [&str; 8] = [
    "time_s",
    "contacts",
    "iterations",
    "factorisations",
    "residual",
    "met",
    "contact_work_j",
    "overlap_m",
];
const BODIES: [&str; 15] = [
    "time_s",
    "body",
    "x_m",
    "y_m",
    "z_m",
    "qw",
    "qx",
    "qy",
    "qz",
    "vx_m_per_s",
    "vy_m_per_s",
    "vz_m_per_s",
    "wx_rad_per_s",
    "wy_rad_per_s",
    "wz_rad_per_s",
];
const CONTACTS: [&str; 17] = [
    "time_s",
    "contactor_a",
    "contactor_b",
    "body_a",
    "body_b",
    "law",
    "feature",
    "x_m",
    "y_m",
    "z_m",
    "nx",
    "ny",
    "nz",
    "gap_m",
    "fx_n",
    "fy_n",
    "fz_n",
];

impl World {
    /// Runs for `duration_s`, rounded to whole steps.
    ///
    /// # Errors
    /// As [`World::step`].
    pub fn run(&mut self, duration_s: f64, record: &Record) -> Result<Recording, RigidError> {
        self.run_while(duration_s, record, |_, _| true)
    }

    /// Runs for `duration_s` or until `go_on`, asked after every step, says no.
    ///
    /// # Errors
    /// As [`World::step`]; a duration that is not a number of steps.
    pub fn run_while(
        &mut self,
        duration_s: f64,
        record: &Record,
        mut go_on: impl FnMut(&World, &StepReport) -> bool,
    ) -> Result<Recording, RigidError> {
        let steps = (duration_s / self.setup.settings.dt_s).round();
        if !(0.0..=1e15).contains(&steps) {
            return Err(RigidError::Setting {
                key: "duration_s",
                value: duration_s,
                allowed: "finite, >= 0 and at most 1e15 steps",
            });
        }
        let probes = self.setup.scene.probes.clone();
        let mut recording = Recording {
            probes: probes
                .iter()
                .map(|p| Table::new(&p.name, &p.columns(&self.setup.scene)))
                .collect(),
            energy: Table::new("energy", &energy_columns()),
            steps: Table::new("steps", &STEPS),
            bodies: Table::new("bodies", &BODIES),
            contacts: Table::new("contacts", &CONTACTS),
            bonds: Table::new("bond_points", &bond_columns()),
            steps_taken: 0,
            unmet_steps: 0,
            worst_residual: 0.0,
            gain_steps: 0,
            deepest_overlap_m: 0.0,
            deepest_overlap_share: 0.0,
            gained_j: 0.0,
            largest_kinetic_j: self.state.energy.kinetic_j,
            lifting_j: self.lifting_energy(),
            overlap_left_m: 0.0,
            worst_drift: 0.0,
            interrupted: false,
        };
        if self.state.step == 0 {
            self.write_rows(record, &mut recording);
            for (probe, table) in probes.iter().zip(&mut recording.probes) {
                self.write_probe(probe, &Gathered::default(), table);
            }
        }
        let gained_before = self.state.energy.contact_gain_j;
        for _ in 0..steps as u64 {
            for (k, probe) in probes.iter().enumerate() {
                if let ProbeKind::Point { body, point_m } = &probe.kind {
                    self.state.gathered[k].velocity = self.point_velocity(*body, point_m);
                    self.state.gathered[k].turning = self.angular_velocity(*body);
                }
            }
            let report = self.step()?;
            recording.count(&report, self.state.energy.kinetic_j);
            if due(self.state.step, record.steps_every) {
                recording.steps.push(&step_row(&report));
            }
            self.write_rows(record, &mut recording);
            self.read_probes(&probes, &mut recording);
            if !go_on(self, &report) {
                recording.interrupted = true;
                break;
            }
        }
        recording.gained_j = self.state.energy.contact_gain_j - gained_before;
        Ok(recording)
    }

    /// Lets the probes read the step, and write the rows that are due.
    fn read_probes(&mut self, probes: &[Probe], recording: &mut Recording) {
        for (k, probe) in probes.iter().enumerate() {
            let mut gathered = self.state.gathered[k];
            self.gather(probe, &mut gathered);
            if due(self.state.step, probe.every) {
                self.write_probe(probe, &gathered, &mut recording.probes[k]);
                gathered = Gathered {
                    coordinates: gathered.coordinates,
                    ..Gathered::default()
                };
            }
            (gathered.velocity, gathered.turning) = (Vec3::zeros(), Vec3::zeros());
            self.state.gathered[k] = gathered;
        }
    }

    /// What would lift every body by its own size [J].
    fn lifting_energy(&self) -> f64 {
        let mut sizes = vec![0.0_f64; self.state.bodies.len()];
        for contactor in &self.setup.scene.contactors {
            let size = contactor.shape.size();
            if size.is_finite() {
                let body = &mut sizes[contactor.body as usize];
                *body = body.max(size);
            }
        }
        let weight = |inertia: &Inertia| inertia.mass_kg * self.setup.scene.gravity_m_per_s2.norm();
        let lifted = self.setup.inertia.iter().zip(sizes);
        lifted
            .map(|(inertia, size)| inertia.as_ref().map_or(0.0, weight) * size)
            .sum()
    }

    fn write_rows(&self, record: &Record, recording: &mut Recording) {
        let t = self.time_s();
        if due(self.state.step, record.energy_every) {
            recording.worst_drift = recording.worst_drift.max(self.drift());
            let energy = &self.state.energy;
            let mut row = vec![t];
            row.extend(energy.numbers());
            row.push(energy.closing_error_j());
            recording.energy.push(&row);
        }
        if due(self.state.step, record.bodies_every) {
            for body in 0..self.state.bodies.len() {
                if self.state.present[body] {
                    let (pose, state) = (self.pose(body), &self.state.bodies[body]);
                    let (p, q, v, w) = (
                        pose.position,
                        pose.rotation,
                        state.velocity,
                        self.angular_velocity(body),
                    );
                    recording.bodies.push(&[
                        t,
                        body as f64,
                        p.x,
                        p.y,
                        p.z,
                        q.w,
                        q.i,
                        q.j,
                        q.k,
                        v.x,
                        v.y,
                        v.z,
                        w.x,
                        w.y,
                        w.z,
                    ]);
                }
            }
        }
        if due(self.state.step, record.contacts_every) {
            for (point, (bond, area_m2, memory)) in self.bond_points().enumerate() {
                let mut row = vec![t, bond as f64, point as f64, area_m2];
                row.extend(memory.numbers());
                recording.bonds.push(&row);
            }
            for c in &self.state.contacts {
                let f = c.impulse_n_s / self.setup.settings.dt_s;
                let (p, n) = (c.position, c.normal);
                recording.contacts.push(&[
                    t,
                    f64::from(c.a),
                    f64::from(c.b),
                    f64::from(c.bodies[0]),
                    f64::from(c.bodies[1]),
                    f64::from(c.law),
                    f64::from(c.feature),
                    p.x,
                    p.y,
                    p.z,
                    n.x,
                    n.y,
                    n.z,
                    c.gap_m,
                    f.x,
                    f.y,
                    f.z,
                ]);
            }
        }
    }
}

/// Columns of the table of bonds.
fn bond_columns() -> Vec<&'static str> {
    let mut columns = vec!["time_s", "bond", "point", "area_m2"];
    columns.extend(BondMemory::NAMES);
    columns
}

/// Columns of the energy table.
fn energy_columns() -> Vec<&'static str> {
    let mut columns = vec!["time_s"];
    columns.extend(Energy::NAMES);
    columns.push("closing_error_j");
    columns
}

fn due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}
