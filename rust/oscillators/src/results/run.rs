//! What a run leaves behind.

use crate::system::model::Model;
use crate::{EnergyAccount, ImpactEvent};

/// Largest sizes over a whole run, not only at the output times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Peaks {
    /// Displacement relative to the base of each mass, m.
    pub displacement_m: Vec<f64>,
    /// Velocity relative to the base of each mass, m/s.
    pub velocity_m_s: Vec<f64>,
    /// Absolute acceleration of each mass, m/s^2 (impulses of the rigid law left out).
    pub acceleration_m_s2: Vec<f64>,
    /// Force of each contact, N.
    pub force_n: Vec<f64>,
    /// Smallest gap of each contact, m; negative where the masses overlapped.
    pub smallest_gap_m: Vec<f64>,
    /// Elongation of each spring with a law, then of each nonlinear damper, m.
    pub drift_m: Vec<f64>,
}

impl Peaks {
    pub(crate) fn new(model: &Model) -> Self {
        let (n, contacts) = (model.masses(), model.contacts());
        Self {
            displacement_m: vec![0.0; n],
            velocity_m_s: vec![0.0; n],
            acceleration_m_s2: vec![0.0; n],
            force_n: vec![0.0; contacts],
            smallest_gap_m: vec![f64::INFINITY; contacts],
            drift_m: vec![0.0; model.elements()],
        }
    }
}

/// Raise each peak to the size of its value.
pub(crate) fn raise(peaks: &mut [f64], values: &[f64]) {
    for (peak, value) in peaks.iter_mut().zip(values) {
        *peak = peak.max(value.abs());
    }
}

/// Histories, impacts, peaks and energies of one run. Histories are row by row: one row an output time, one column a
/// mass (or a contact).
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Number of masses.
    pub masses: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Output times, s.
    pub times_s: Vec<f64>,
    /// Displacements relative to the base, m.
    pub displacement_m: Vec<f64>,
    /// Velocities relative to the base, m/s.
    pub velocity_m_s: Vec<f64>,
    /// Absolute accelerations, m/s^2.
    pub acceleration_m_s2: Vec<f64>,
    /// Contact forces, N, positive when they push.
    pub force_n: Vec<f64>,
    /// Gaps, m, negative where the masses overlap.
    pub gap_m: Vec<f64>,
    /// Springs with a law and nonlinear dampers.
    pub elements: usize,
    /// Their forces, N, positive when they pull.
    pub element_force_n: Vec<f64>,
    /// Elongation that each would keep if it were unloaded along its initial stiffness at the end, m.
    pub residual_m: Vec<f64>,
    /// Impacts in order of their start.
    pub impacts: Vec<ImpactEvent>,
    /// Peaks.
    pub peaks: Peaks,
    /// Energy account.
    pub energy: EnergyAccount,
    /// Steps taken.
    pub steps: u64,
}

impl Run {
    pub(crate) fn new(model: &Model, times_s: &[f64]) -> Self {
        let (n, contacts, rows) = (model.masses(), model.contacts(), times_s.len());
        Self {
            masses: n,
            contacts,
            times_s: times_s.to_vec(),
            displacement_m: Vec::with_capacity(rows * n),
            velocity_m_s: Vec::with_capacity(rows * n),
            acceleration_m_s2: Vec::with_capacity(rows * n),
            force_n: Vec::with_capacity(rows * contacts),
            gap_m: Vec::with_capacity(rows * contacts),
            elements: model.elements(),
            element_force_n: Vec::with_capacity(rows * model.elements()),
            residual_m: Vec::new(),
            impacts: Vec::new(),
            peaks: Peaks::new(model),
            energy: EnergyAccount::default(),
            steps: 0,
        }
    }

    /// How many output times have been recorded.
    pub(crate) fn recorded(&self) -> usize {
        self.displacement_m.len() / self.masses
    }

    /// Append a row; `acceleration` is absolute, `element_forces` are those beside the linear parts.
    pub(crate) fn record(
        &mut self,
        model: &Model,
        u: &[f64],
        v: &[f64],
        acceleration: &[f64],
        forces: &[f64],
        element_forces: &[f64],
    ) {
        self.displacement_m.extend_from_slice(u);
        self.velocity_m_s.extend_from_slice(v);
        self.acceleration_m_s2.extend_from_slice(acceleration);
        self.force_n.extend_from_slice(forces);
        self.gap_m.extend(
            model
                .contacts
                .iter()
                .map(|contact| contact.gap - contact.pair.difference(u)),
        );
        let elements = model.elements.iter().zip(element_forces);
        self.element_force_n.extend(
            elements
                .map(|(element, force)| element.law.linear() * element.pair.difference(u) + force),
        );
    }

    /// Note what each spring with a law would keep, from its force beside the linear part at the end.
    pub(crate) fn note_residuals(&mut self, model: &Model, u: &[f64], element_forces: &[f64]) {
        let elements = model.elements.iter().zip(element_forces);
        self.residual_m = elements
            .map(|(element, force)| {
                let e = element.pair.difference(u);
                let law = &element.law;
                if law.remembers() {
                    e - (law.linear() * e + force) / law.initial()
                } else {
                    0.0
                }
            })
            .collect();
    }
}
