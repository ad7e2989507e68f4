//! Where the energy of a run went.

use crate::system::model::Model;

/// Energies relative to the base, J. What was there at the start plus what the base put in is what is left as motion
/// and in springs plus what dampers and contacts took; the difference is the error of the integrator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnergyAccount {
    /// Kinetic and elastic energy at the start.
    pub initial_j: f64,
    /// Put in by the base.
    pub base_j: f64,
    /// Kinetic energy at the end.
    pub kinetic_j: f64,
    /// Energy of the springs at the end, those of closed contacts included.
    pub elastic_j: f64,
    /// Lost in dampers.
    pub damped_j: f64,
    /// Lost in each spring with a law, in the order of the springs: work of yielding and friction.
    pub hysteretic_j: Vec<f64>,
    /// Lost in each contact.
    pub contact_j: Vec<f64>,
    /// Initial and base energy less all the others.
    pub closing_error_j: f64,
    /// Closing error over the largest energy of the account.
    pub closing_error: f64,
}

impl EnergyAccount {
    /// Close the account. `contact_work` is what the contacts took, `stored` what their springs still hold;
    /// `element_work` what springs with a law and nonlinear dampers took, `element_stored` what they held at the
    /// start and hold now.
    #[allow(clippy::too_many_arguments, reason = "the entries of the account")]
    pub(crate) fn close(
        model: &Model,
        damped: f64,
        base: f64,
        contact_work: &[f64],
        stored: &[f64],
        element_work: &[f64],
        element_stored: &[[f64; 2]],
        u: &[f64],
        v: &[f64],
    ) -> Self {
        let mut damped = damped;
        let mut hysteretic_j = Vec::new();
        for (element, (work, [start, end])) in model
            .elements
            .iter()
            .zip(element_work.iter().zip(element_stored))
        {
            if element.law.is_damper() {
                damped += work;
            } else {
                hysteretic_j.push(work - (end - start));
            }
        }
        let held = |at: usize| element_stored.iter().map(|stored| stored[at]).sum::<f64>();
        let mut account = Self {
            initial_j: model.kinetic(&model.v0) + model.elastic(&model.u0) + held(0),
            base_j: base,
            kinetic_j: model.kinetic(v),
            elastic_j: model.elastic(u) + stored.iter().sum::<f64>() + held(1),
            damped_j: damped,
            hysteretic_j,
            contact_j: contact_work
                .iter()
                .zip(stored)
                .map(|(work, stored)| work - stored)
                .collect(),
            closing_error_j: 0.0,
            closing_error: 0.0,
        };
        let hysteretic = account.hysteretic_j.iter().sum::<f64>();
        let spent = account.kinetic_j
            + account.elastic_j
            + damped
            + account.contact_j.iter().sum::<f64>()
            + hysteretic;
        account.closing_error_j = account.initial_j + base - spent;
        let largest = [
            account.initial_j,
            base.abs(),
            account.kinetic_j,
            account.elastic_j,
            damped,
            hysteretic,
        ]
        .into_iter()
        .fold(f64::MIN_POSITIVE, f64::max);
        account.closing_error = account.closing_error_j / largest;
        account
    }
}
