//! From the poses of the bodies to the contact points of all pairs that see each other.

use crate::aabb::Aabb;
use crate::broad_phase::{BroadPhase, overlap};
use crate::contact::ContactPoint;
use crate::contact_workspace::Workspace;
use crate::error::GeometryError;
use crate::pairs::contact_points;
use crate::pose::{Frame, Pose};
use crate::shape::Shape;
use crate::visibility::Visibility;
use rayon::prelude::*;
use std::ops::Range;

/// A shape on a body: what other contactors can touch. A body may carry several.
#[derive(Debug, Clone, PartialEq)]
pub struct Contactor {
    /// Index of the body it is fixed to.
    pub body: u32,
    /// Its shape.
    pub shape: Shape,
    /// Its place in the body's frame.
    pub pose: Pose,
    /// Its collision group.
    pub group: u16,
}

/// The contact points of two contactors.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifold {
    /// Index of contactor A, from which the normals point.
    pub a: u32,
    /// Index of contactor B > A.
    pub b: u32,
    /// Which of [`Detector::points`] are theirs.
    pub points: Range<u32>,
}

impl Manifold {
    /// Stands where one is to be written.
    const NONE: Self = Self {
        a: 0,
        b: 0,
        points: 0..0,
    };
}

/// Pairs that a thread takes at a time.
const PIECE: usize = 64;

/// What was found for some of the pairs.
#[derive(Default)]
struct Piece {
    /// How many pairs have boxes that overlap.
    tested: usize,
    work: Workspace,
    manifolds: Vec<Manifold>,
    points: Vec<ContactPoint>,
}

/// Finds all contact points of a scene, step after step.
///
/// ```
/// use percuss_geometry::*;
/// let ball = Contactor { body: 0, shape: Shape::sphere(0.5)?, pose: Pose::identity(), group: 0 };
/// let ground = Contactor { body: 1, shape: Shape::half_space(), pose: Pose::identity(), group: 1 };
/// let mut detector = Detector::new(vec![ball, ground], &[false, true], Visibility::new(&[(0, 1)])?, 0.01)?;
/// detector.update(&[Pose::translation(0.0, 0.0, 0.505), Pose::identity()])?;
/// assert!((detector.points()[0].gap - 0.005).abs() < 1e-15);
/// # Ok::<(), GeometryError>(())
/// ```
pub struct Detector {
    contactors: Vec<Contactor>,
    local: Vec<Frame>,
    fixed: Vec<bool>,
    absent: Vec<bool>,
    visibility: Visibility,
    margin_m: f64,
    bodies: Vec<Frame>,
    frames: Vec<Frame>,
    boxes: Vec<Aabb>,
    broad: BroadPhase,
    tested: usize,
    pieces: Vec<Piece>,
    manifolds: Vec<Manifold>,
    points: Vec<ContactPoint>,
}

impl Detector {
    /// A detector for the given contactors. `fixed[b]` tells that body `b` never moves: two fixed
    /// bodies never meet. Points with a gap up to `margin_m` are reported.
    pub fn new(
        contactors: Vec<Contactor>,
        fixed: &[bool],
        visibility: Visibility,
        margin_m: f64,
    ) -> Result<Self, GeometryError> {
        if !margin_m.is_finite() || margin_m < 0.0 {
            return Err(GeometryError::Margin { value: margin_m });
        }
        for (i, c) in contactors.iter().enumerate() {
            if c.body as usize >= fixed.len() {
                return Err(GeometryError::Body {
                    contactor: i,
                    body: c.body,
                    bodies: fixed.len(),
                });
            }
            c.pose.checked(&format!("pose of contactor {i}"))?;
        }
        let local = contactors.iter().map(|c| c.pose.frame()).collect();
        Ok(Self {
            frames: Vec::with_capacity(contactors.len()),
            boxes: Vec::with_capacity(contactors.len()),
            contactors,
            local,
            fixed: fixed.to_vec(),
            absent: vec![false; fixed.len()],
            visibility,
            margin_m,
            bodies: Vec::new(),
            broad: BroadPhase::default(),
            tested: 0,
            pieces: vec![Piece::default()],
            manifolds: Vec::new(),
            points: Vec::new(),
        })
    }

    /// Takes a body out of the scene or puts it back: an absent body touches nothing.
    pub fn set_present(&mut self, body: u32, present: bool) -> Result<(), GeometryError> {
        let bodies = self.fixed.len();
        let absent = self
            .absent
            .get_mut(body as usize)
            .ok_or(GeometryError::NoBody { body, bodies })?;
        if *absent == present {
            *absent = !present;
            self.broad.forget();
        }
        Ok(())
    }

    /// Finds the contact points for the given poses of the bodies.
    pub fn update(&mut self, poses: &[Pose]) -> Result<(), GeometryError> {
        self.update_on(poses, false)
    }

    /// The same, if `parallel` on the threads of the rayon pool at hand: the same points in the same order.
    pub fn update_on(&mut self, poses: &[Pose], parallel: bool) -> Result<(), GeometryError> {
        if poses.len() != self.fixed.len() {
            return Err(GeometryError::Poses {
                poses: poses.len(),
                bodies: self.fixed.len(),
            });
        }
        if parallel {
            let frames = poses.par_iter().with_min_len(PIECE).map(Pose::frame);
            frames.collect_into_vec(&mut self.bodies);
        } else {
            self.bodies.clear();
            self.bodies.extend(poses.iter().map(Pose::frame));
        }
        // A sum is finite only if all its parts are (or they are huge, which is looked into).
        let finite = |frame: &Frame| (frame.position.sum() + frame.axes.sum()).is_finite();
        let all_finite = if parallel {
            let frames = self.bodies.par_iter().with_min_len(PIECE);
            frames.all(finite)
        } else {
            self.bodies.iter().all(finite)
        };
        if !all_finite {
            for (i, pose) in poses.iter().enumerate() {
                pose.checked(&format!("pose of body {i}"))?;
            }
        }
        self.frames.clear();
        self.boxes.clear();
        let reach = 0.5 * self.margin_m;
        let placed = |(c, local): (&Contactor, &Frame)| {
            let frame = self.bodies[c.body as usize].compose(local);
            (frame, c.shape.bounds(&frame).grown(reach))
        };
        if parallel {
            let all = self
                .contactors
                .par_iter()
                .zip(&self.local)
                .with_min_len(PIECE);
            all.map(placed)
                .unzip_into_vecs(&mut self.frames, &mut self.boxes);
        } else {
            let all = self.contactors.iter().zip(&self.local).map(placed);
            for (frame, bounds) in all {
                self.frames.push(frame);
                self.boxes.push(bounds);
            }
        }
        let (contactors, visibility) = (&self.contactors, &self.visibility);
        let (fixed, absent) = (&self.fixed, &self.absent);
        let may_meet = |i: u32, j: u32| {
            let (a, b) = (&contactors[i as usize], &contactors[j as usize]);
            a.body != b.body
                && !absent[a.body as usize]
                && !absent[b.body as usize]
                && visibility.sees(a.group, b.group)
                && !(fixed[a.body as usize] && fixed[b.body as usize])
        };
        let candidates = self.broad.candidates(&self.boxes, may_meet, parallel);
        let near = |pair: &(u32, u32)| overlap(&self.boxes, pair);
        let least = if parallel { PIECE } else { usize::MAX };
        let count = candidates.len().div_ceil(least).max(1);
        self.pieces
            .resize_with(count.max(self.pieces.len()), Piece::default);
        let (contactors, frames, margin_m) = (&self.contactors, &self.frames, self.margin_m);
        let find = |pairs: &[(u32, u32)], piece: &mut Piece| {
            piece.tested = 0;
            piece.points.clear();
            piece.manifolds.clear();
            for &(a, b) in pairs.iter().filter(|pair| near(pair)) {
                piece.tested += 1;
                let first = piece.points.len() as u32;
                let (i, j) = (a as usize, b as usize);
                contact_points(
                    (&contactors[i].shape, &frames[i]),
                    (&contactors[j].shape, &frames[j]),
                    margin_m,
                    &mut piece.work,
                    &mut piece.points,
                );
                let last = piece.points.len() as u32;
                if last > first {
                    let points = first..last;
                    piece.manifolds.push(Manifold { a, b, points });
                }
            }
        };
        let pieces = &mut self.pieces[..count];
        if let [piece] = pieces {
            find(candidates, piece);
        } else {
            let shared = candidates.par_chunks(PIECE).zip(&mut *pieces);
            shared.for_each(|(pairs, piece)| find(pairs, piece));
        }
        self.tested = pieces.iter().map(|piece| piece.tested).sum();
        self.put_together(count);
        Ok(())
    }

    /// The points of all pieces in their order, each put to its place by the thread that has found it.
    fn put_together(&mut self, count: usize) {
        let pieces = &mut self.pieces[..count];
        if let [piece] = pieces {
            std::mem::swap(&mut self.points, &mut piece.points);
            std::mem::swap(&mut self.manifolds, &mut piece.manifolds);
            return;
        }
        let (mut points, mut manifolds) = (0, 0);
        let starts = pieces.iter().map(|piece| {
            let start = points;
            points += piece.points.len();
            manifolds += piece.manifolds.len();
            start
        });
        let starts: Vec<usize> = starts.collect();
        self.points.resize(points, ContactPoint::NONE);
        self.manifolds.resize(manifolds, Manifold::NONE);
        let (mut points, mut manifolds) = (&mut self.points[..], &mut self.manifolds[..]);
        let places = pieces.iter().zip(starts).map(|(piece, start)| {
            let (own, rest) = std::mem::take(&mut points).split_at_mut(piece.points.len());
            points = rest;
            let (listed, rest) = std::mem::take(&mut manifolds).split_at_mut(piece.manifolds.len());
            manifolds = rest;
            (piece, start as u32, own, listed)
        });
        let places: Vec<_> = places.collect();
        places
            .into_par_iter()
            .for_each(|(piece, start, points, manifolds)| {
                points.copy_from_slice(&piece.points);
                for (listed, m) in manifolds.iter_mut().zip(&piece.manifolds) {
                    let points = m.points.start + start..m.points.end + start;
                    *listed = Manifold { points, ..*m };
                }
            });
    }

    /// The pairs in contact or near it, in rising order of (a, b).
    pub fn manifolds(&self) -> &[Manifold] {
        &self.manifolds
    }

    /// The points of all manifolds, in their order.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points
    }

    /// The contactors, in the order given.
    pub fn contactors(&self) -> &[Contactor] {
        &self.contactors
    }

    /// Where the contactors stood at the last update.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Number of pairs whose boxes overlapped at the last update.
    pub fn tested_pairs(&self) -> usize {
        self.tested
    }
}
