//! A law with its numbers put in: the forms that the laws of the table share.

use super::bouc_wen::BoucWenForm;
use super::menegotto_pinto::MenegottoPintoForm;
use super::one_sided::OneSided;
use super::past::{FLOWING, Past};
use super::power_damper::Power;
use super::slider::Slider;

/// What a spring answers to an elongation and a rate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Response {
    /// Force beside the linear part, N.
    pub force: f64,
    /// Its slope in the elongation at the end of the path, N/m.
    pub by_elongation: f64,
    /// Its slope in the rate, N s/m.
    pub by_rate: f64,
}

/// Where a branch ends: at the rise through zero of a plane in elongation, rate, one and the flowing variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watch {
    /// What happens there; the form knows what it means.
    pub event: i8,
    /// Factors of elongation, rate, one and the first flowing variable.
    pub plane: [f64; 4],
}

/// What a form must answer.
pub(super) trait Restoring {
    /// Force and slopes when the elongation goes straight from the past to `e`, arriving at `rate`.
    fn respond(&self, past: &Past, e: f64, rate: f64) -> Response;

    /// Make that the past.
    fn advance(&self, past: &mut Past, e: f64, rate: f64);

    /// Both at once: the force there, and the past made new.
    #[inline]
    fn take(&self, past: &mut Past, e: f64, rate: f64) -> f64 {
        let force = self.respond(past, e, rate).force;
        self.advance(past, e, rate);
        force
    }

    /// Energy that unloading gives back, J.
    fn stored(&self, past: &Past, e: f64) -> f64;

    /// Slope and offset of the force on the branch of the past; None for a form that is not piecewise linear.
    fn line(&self, _: &Past) -> Option<(f64, f64)> {
        None
    }

    /// The branch of a spring at the start of a run, at `e` and `rate`.
    fn enter(&self, past: &mut Past, e: f64, rate: f64);

    /// Force on the branch of the past, continued smoothly beyond its end.
    fn continued_force(&self, past: &Past, z: [f64; FLOWING], e: f64, rate: f64) -> f64;

    /// Rates of the flowing variables on the branch of the past.
    fn flow(&self, _: &Past, _: [f64; FLOWING], _: f64) -> [f64; FLOWING] {
        [0.0; FLOWING]
    }

    /// Ends of the branch of the past.
    fn watches(&self, past: &Past) -> [Option<Watch>; 3];

    /// Go over to the next branch.
    fn happen(&self, past: &mut Past, event: i8, e: f64);
}

/// The forms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// No force beside the linear one.
    Nothing,
    Slider(Slider),
    OneSided(OneSided),
    BoucWen(BoucWenForm),
    MenegottoPinto(MenegottoPintoForm),
    Power(Power),
}

/// A law of the table with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hysteresis {
    pub(super) linear: f64,
    pub(super) initial: f64,
    pub(super) yield_elongation: f64,
    pub(super) yield_force: f64,
    pub(super) form: Form,
}

macro_rules! each {
    ($self:ident, $form:ident => $body:expr, $nothing:expr) => {
        match &$self.form {
            Form::Nothing => $nothing,
            Form::Slider($form) => $body,
            Form::OneSided($form) => $body,
            Form::BoucWen($form) => $body,
            Form::MenegottoPinto($form) => $body,
            Form::Power($form) => $body,
        }
    };
}

impl Hysteresis {
    /// Stiffness of the linear part, N/m.
    pub fn linear(&self) -> f64 {
        self.linear
    }

    /// Stiffness before anything yields, N/m: the largest there is. Damping in proportion to stiffness uses it.
    pub fn initial(&self) -> f64 {
        self.initial
    }

    /// Elongation at which the spring yields, m; infinite for one that does not.
    pub fn yield_elongation(&self) -> f64 {
        self.yield_elongation
    }

    /// Force at which the spring yields, N; infinite for one that does not.
    pub fn yield_force(&self) -> f64 {
        self.yield_force
    }

    /// A spring without a past, brought straight to an elongation.
    pub fn begin(&self, e: f64, rate: f64) -> Past {
        let mut past = Past::default();
        self.advance(&mut past, e, rate);
        each!(self, form => form.enter(&mut past, e, rate), ());
        past
    }

    /// Force and slopes when the elongation goes straight from the past to `e`, arriving at `rate`.
    #[inline]
    pub fn respond(&self, past: &Past, e: f64, rate: f64) -> Response {
        each!(self, form => form.respond(past, e, rate), Response::default())
    }

    /// Make that the past.
    #[inline]
    pub fn advance(&self, past: &mut Past, e: f64, rate: f64) {
        each!(self, form => form.advance(past, e, rate), ());
    }

    /// Both at once: the force there, and the past made new.
    #[inline]
    pub fn take(&self, past: &mut Past, e: f64, rate: f64) -> f64 {
        each!(self, form => form.take(past, e, rate), 0.0)
    }

    /// Forces along a path of elongations from rest, linear part and all: a static test of the spring.
    pub fn forces_along(&self, elongations: &[f64]) -> Vec<f64> {
        let mut past = Past::default();
        elongations
            .iter()
            .map(|&e| self.linear * e + self.take(&mut past, e, 0.0))
            .collect()
    }

    /// Energy beside that of the linear part which unloading gives back, J.
    pub fn stored(&self, past: &Past, e: f64) -> f64 {
        each!(self, form => form.stored(past, e), 0.0)
    }

    /// Slope and offset of the force on the branch of the past; None for a law that is not piecewise linear.
    pub fn line(&self, past: &Past) -> Option<(f64, f64)> {
        each!(self, form => form.line(past), Some((0.0, 0.0)))
    }

    /// Whether every branch is a straight line.
    pub fn is_piecewise_linear(&self) -> bool {
        matches!(
            self.form,
            Form::Nothing | Form::Slider(_) | Form::OneSided(_)
        )
    }

    /// Whether the force hangs on the past.
    pub fn remembers(&self) -> bool {
        !matches!(
            self.form,
            Form::Nothing | Form::OneSided(_) | Form::Power(_)
        )
    }

    /// Whether variables flow within a branch.
    pub fn flows(&self) -> bool {
        matches!(self.form, Form::BoucWen(_))
    }

    /// Whether energy is lost to the rate, as in a damper.
    pub fn is_damper(&self) -> bool {
        matches!(self.form, Form::Power(_))
    }

    /// Elastic stiffness and largest elastic elongation of a spring whose force beside the linear part is that of an
    /// elastic spring in series with a slider.
    pub fn slider(&self) -> Option<(f64, f64)> {
        match &self.form {
            Form::Slider(slider) => Some((slider.stiffness, slider.reach)),
            _ => None,
        }
    }

    /// Force on the branch of the past, continued smoothly beyond its end.
    pub fn continued_force(&self, past: &Past, z: [f64; FLOWING], e: f64, rate: f64) -> f64 {
        each!(self, form => form.continued_force(past, z, e, rate), 0.0)
    }

    /// Rates of the flowing variables on the branch of the past.
    pub fn flow(&self, past: &Past, z: [f64; FLOWING], rate: f64) -> [f64; FLOWING] {
        each!(self, form => form.flow(past, z, rate), [0.0; FLOWING])
    }

    /// Ends of the branch of the past.
    pub fn watches(&self, past: &Past) -> impl Iterator<Item = Watch> + use<> {
        let watches = each!(self, form => form.watches(past), [None; 3]);
        watches.into_iter().flatten()
    }

    /// Go over to the next branch at the elongation `e`.
    pub fn happen(&self, past: &mut Past, event: i8, e: f64) {
        each!(self, form => form.happen(past, event, e), ());
    }
}
