//! Springs with a law and nonlinear dampers: forces on their branches, work, and the ends of branches.

use super::{ElementState, Layout, Located};
use crate::system::model::{Element, Model};

/// First step with a curved law, in parts of the shortest period.
const FIRST_STEP: f64 = 1e-3;

/// The elements as a run begins.
pub(super) fn at_start(model: &Model) -> Vec<ElementState> {
    let begin = |element: &Element| {
        let (e, rate) = (
            element.pair.difference(&model.u0),
            element.pair.difference(&model.v0),
        );
        let past = element.law.begin(e, rate);
        ElementState {
            past,
            work: 0.0,
            stored_at_start: element.law.stored(&past, e),
        }
    };
    model.elements.iter().map(begin).collect()
}

/// Flowing variables of an element in the state of the contact method.
fn flowing(element: &Element, state: &ElementState, layout: Layout, y: &[f64]) -> [f64; 2] {
    element.flowing.map_or(state.past.flowing(), |place| {
        let at = layout.flowing + place;
        [y[at], y[at + 1]]
    })
}

/// Force of an element beside its linear part.
pub(super) fn force(element: &Element, state: &ElementState, layout: Layout, y: &[f64]) -> f64 {
    let n = layout.flowing / 2;
    let (e, rate) = (
        element.pair.difference(&y[..n]),
        element.pair.difference(&y[n..2 * n]),
    );
    let z = flowing(element, state, layout, y);
    element.law.continued_force(&state.past, z, e, rate)
}

/// Rates of the flowing variables of an element.
pub(super) fn flow(
    element: &Element,
    state: &ElementState,
    layout: Layout,
    y: &[f64],
    dy: &mut [f64],
) {
    if let Some(place) = element.flowing {
        let at = layout.flowing + place;
        let n = layout.flowing / 2;
        let rate = element.pair.difference(&y[n..2 * n]);
        let z = flowing(element, state, layout, y);
        dy[at..at + 2].copy_from_slice(&element.law.flow(&state.past, z, rate));
    }
}

/// Value of a plane that ends a branch.
pub(super) fn plane_at(
    element: &Element,
    state: &ElementState,
    [a, b, c, d]: [f64; 4],
    layout: Layout,
    y: &[f64],
) -> f64 {
    let n = layout.flowing / 2;
    let (e, rate) = (
        element.pair.difference(&y[..n]),
        element.pair.difference(&y[n..2 * n]),
    );
    a * e + b * rate + c + d * flowing(element, state, layout, y)[0]
}

impl Located<'_> {
    /// Make ready for laws that are not piecewise linear.
    pub(super) fn begin_elements(&mut self) {
        let elements = &self.model.elements;
        self.curved = elements.iter().any(|e| !e.law.is_piecewise_linear());
        if self.curved {
            let fastest = self.model.largest_frequency_squared(|_| 0.0).sqrt();
            self.next_step = FIRST_STEP / fastest.max(1.0 / self.duration);
        }
        for (drift, element) in self.run.peaks.drift_m.iter_mut().zip(elements) {
            *drift = element.pair.difference(&self.model.u0).abs();
        }
    }

    /// Rounding of the elongation of an element.
    pub(super) fn element_noise(&self, element: usize) -> f64 {
        let pair = self.model.elements[element].pair;
        let at = |i: usize| self.u.get(i).map_or(0.0, |u| u.abs());
        4.0 * f64::EPSILON * (at(pair.left) + at(pair.right)) + f64::MIN_POSITIVE
    }

    /// Forces of the elements beside their linear parts in the current state.
    pub(super) fn find_element_forces(&mut self) {
        for ((force, element), state) in self
            .element_forces
            .iter_mut()
            .zip(&self.model.elements)
            .zip(&self.elements)
        {
            let (e, rate) = (
                element.pair.difference(&self.u),
                element.pair.difference(&self.v),
            );
            let past = &state.past;
            *force = element.law.continued_force(past, past.flowing(), e, rate);
        }
    }

    /// Energy the elements held at the start and hold now, J.
    pub(super) fn elements_stored(&self) -> Vec<[f64; 2]> {
        let states = self.elements.iter().zip(&self.model.elements);
        states
            .map(|(state, element)| {
                let e = element.pair.difference(&self.u);
                [state.stored_at_start, element.law.stored(&state.past, e)]
            })
            .collect()
    }

    /// Fly on to `advance` and count the work of the elements: that of a line between two elongations.
    pub(super) fn work_of_lines(&mut self, advance: f64) {
        let elements = &self.model.elements;
        for (element, state) in elements.iter().zip(&mut self.elements) {
            let (slope, offset) = element.law.line(&state.past).unwrap_or_default();
            let e = element.pair.difference(&self.u);
            state.work -= (0.5 * slope * e + offset) * e;
        }
        self.flight
            .at(advance, &mut self.u, &mut self.v, &mut self.sample[2]);
        for (element, state) in elements.iter().zip(&mut self.elements) {
            let (slope, offset) = element.law.line(&state.past).unwrap_or_default();
            let e = element.pair.difference(&self.u);
            state.work += (0.5 * slope * e + offset) * e;
        }
    }

    /// An element goes over to its next branch in the current state.
    pub(super) fn yield_at(&mut self, index: usize, event: i8) {
        let element = &self.model.elements[index];
        let e = element.pair.difference(&self.u);
        element.law.happen(&mut self.elements[index].past, event, e);
    }
}
