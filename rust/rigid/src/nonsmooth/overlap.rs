//! How deep bodies overlap.

use super::contact::Touch;
use super::middle::Middle;
use percuss_geometry::{Detector, Vec3};

/// The deepest overlap of some contacts, and as a share of the half width of the smaller body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Overlap {
    pub depth_m: f64,
    pub share: f64,
}

impl Overlap {
    /// The deeper of two, each measure by itself.
    pub fn deeper(self, other: Self) -> Self {
        Self {
            depth_m: self.depth_m.max(other.depth_m),
            share: self.share.max(other.share),
        }
    }
}

/// Widths of the bodies of a step.
pub(super) struct Widths<'a> {
    detector: &'a Detector,
    middle: &'a Middle,
}

impl<'a> Widths<'a> {
    pub fn new(detector: &'a Detector, middle: &'a Middle) -> Self {
        Self { detector, middle }
    }

    /// The deepest overlap of the contacts.
    pub fn deepest(&self, touches: &[Touch]) -> Overlap {
        let mut deepest = Overlap::default();
        // Contacts of a pair follow each other, most with one normal.
        let (mut pair, mut width) = (None, f64::INFINITY);
        for contact in touches.iter().map(|touch| &touch.contact) {
            if contact.gap_m < 0.0 {
                let this = Some((contact.a, contact.b, contact.normal));
                if pair != this {
                    let of = |contactor: u32| self.half(contactor, &contact.normal);
                    (pair, width) = (this, of(contact.a).min(of(contact.b)));
                }
                deepest = deepest.deeper(Overlap {
                    depth_m: -contact.gap_m,
                    share: -contact.gap_m / width,
                });
            }
        }
        deepest
    }

    /// Half the width of a contactor along a direction.
    fn half(&self, contactor: u32, normal: &Vec3) -> f64 {
        let contactor = &self.detector.contactors()[contactor as usize];
        let pose = &self.middle.poses[contactor.body as usize];
        let turned = pose.rotation * contactor.pose.rotation;
        contactor.shape.half_width(&(turned.inverse() * normal))
    }
}
