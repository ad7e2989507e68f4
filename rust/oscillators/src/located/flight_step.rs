//! One step without compliant contact.

use super::{Event, Located, MOST_IDLE_EVENTS, Phase};
use crate::system::base_motion::Stretch;

/// Share of the run skipped without looking for events when rounding keeps one at the same instant.
const IDLE_STEP: f64 = 1e-13;

impl Located<'_> {
    /// Fly to the first event or as far as the series reaches; returns the time passed.
    pub(super) fn flight_step(&mut self, stretch: &Stretch<'_>, longest: f64) -> f64 {
        let mut advance = self
            .flight
            .expand(self.model, stretch, self.t, &self.u, &self.v, longest);
        let mut first: Option<(usize, Event)> = None;
        let idle = self.idle_events > MOST_IDLE_EVENTS;
        if idle {
            advance = advance.min(IDLE_STEP * self.duration);
        }
        for contact in (0..self.contacts.len()).filter(|_| !idle) {
            let element = &self.model.contacts[contact];
            for (event, [a, b, c]) in self.watches(contact) {
                // Indentation is the difference of the displacements less the gap.
                let plane = [a, b, c - a * element.gap];
                let noise = a.abs() * self.noise(contact) + f64::MIN_POSITIVE;
                if let Some(tau) = self.flight.first_rise(element.pair, plane, advance, noise) {
                    (advance, first) = (tau, Some((contact, event)));
                }
            }
        }
        let mut element_event = None;
        for (index, element) in self.model.elements.iter().enumerate() {
            if idle {
                break;
            }
            for watch in element.law.watches(&self.elements[index].past) {
                let [a, b, c, _] = watch.plane;
                let noise = a.abs() * self.element_noise(index) + f64::MIN_POSITIVE;
                let rise = self
                    .flight
                    .first_rise(element.pair, [a, b, c], advance, noise);
                if let Some(tau) = rise {
                    (advance, first) = (tau, None);
                    element_event = Some((index, watch.event));
                }
            }
        }
        for i in 0..self.flight.held().len() {
            if let Some(tau) = self.flight.first_pull(i, advance) {
                (advance, first) = (tau, Some((self.flight.held()[i], Event::LetGo)));
                element_event = None;
            }
        }

        let to_end = self.t + advance >= self.duration;
        for index in self.times_due(advance, to_end) {
            let tau = (self.run.times_s[index] - self.t).clamp(0.0, advance);
            let [u, v, a] = &mut self.sample;
            self.flight.at(tau, u, v, a);
            self.forces.fill(0.0);
            for (i, &contact) in self.flight.held().iter().enumerate() {
                self.forces[contact] = self.flight.reaction(i, tau);
            }
            for (element, force) in self.element_forces.iter_mut().enumerate() {
                *force = self.flight.element_force(self.model, element, u);
            }
            let (forces, element_forces) = (&self.forces, &self.element_forces);
            self.run.record(self.model, u, v, a, forces, element_forces);
        }
        let (damped, base) = self.flight.energies(self.model, advance);
        self.damped += damped;
        self.base += base;
        self.flight
            .raise_peaks(self.model, advance, &mut self.run.peaks);
        self.work_of_lines(advance);
        if let Some((element, event)) = element_event {
            self.yield_at(element, event);
        }
        if let Some((contact, event)) = first {
            debug_assert!(!matches!(
                self.contacts[contact].phase,
                Phase::Pressing { .. }
            ));
            self.happen(contact, event, self.t + advance);
        }
        advance
    }
}
