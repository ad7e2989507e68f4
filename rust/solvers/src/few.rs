//! The few contacts that a sweep without W has moved by much, in batches of their own, swept again and again.
//!
//! Why is told in `focus`. They are packed anew after each sweep: the batches that they come from hold mostly contacts at rest.

use crate::batches::Packer;
use crate::block_matrix::Lanes;
use crate::four::{self, Four, Task, WIDTH, Wide, gathered, scattered};
use crate::ground::{Ground, Moving};
use crate::swept::{Motion, Swept};

/// The place of a contact that a batch does not have.
const NOWHERE: u32 = u32::MAX;

/// These contacts, with storage kept from sweep to sweep.
#[derive(Debug, Clone, Default)]
pub(crate) struct Few {
    packer: Packer,
    swept: Vec<Swept>,
    /// Where the contacts of each batch are among all.
    places: Vec<[u32; WIDTH]>,
    /// Batches that still move.
    left: Vec<u32>,
}

impl Few {
    /// Sweep the contacts that move until none does by a step whose square is above a limit, or so many times.
    pub(crate) fn sweep(
        &mut self,
        ground: &Ground,
        moving: &[Moving],
        limits: (f64, usize),
        (r, v): (&mut [Lanes], &mut [Motion]),
    ) {
        self.pack(ground, moving);
        four::on_registers(Passes {
            few: self,
            ground,
            limits,
            r,
            v,
        });
    }

    /// Put them into batches, in the order of the sweeps.
    pub(crate) fn pack(&mut self, ground: &Ground, moving: &[Moving]) {
        let Self {
            packer,
            swept,
            places,
            left,
        } = self;
        packer.begin(ground.inertias.len());
        swept.clear();
        places.clear();
        let still = ground.slabs.place(0, None);
        for &Moving { batch, lanes } in moving {
            let from = &ground.swept[batch as usize];
            for k in (0..WIDTH).filter(|k| lanes >> k & 1 == 1) {
                let bodies = from.places(k).into_iter().filter(|&body| body != still);
                let class = from.batch.class;
                let to = packer.put(class, bodies.map(|body| body as usize)) as usize;
                if to == swept.len() {
                    let mut empty = packer.batches[to];
                    empty.count = 0;
                    swept.push(Swept::new(empty, still));
                    places.push([NOWHERE; WIDTH]);
                }
                places[to][swept[to].batch.count as usize] = from.batch.first + k as u32;
                swept[to].copy(from, k);
            }
        }
        left.clear();
        left.extend(0..swept.len() as u32);
    }

    /// The passes over what is packed.
    #[inline(always)]
    pub(crate) fn pass<W: Wide>(
        &mut self,
        with: W,
        ground: &Ground,
        (limit, passes): (f64, usize),
        (r, v): (&mut [Lanes], &mut [Motion]),
    ) {
        let (none, limit) = ([0.0; WIDTH], Four::all(with, limit));
        for _ in 0..passes {
            // Not by `retain`: what it calls would not be compiled for the registers.
            let mut kept = 0;
            for at in 0..self.left.len() {
                let batch = self.left[at];
                let (swept, places) = (&self.swept[batch as usize], &self.places[batch as usize]);
                let of = |k: usize| r.get(places[k] as usize).map_or(&none, Lanes::four);
                let [n, t, s, _] = gathered(with, [of(0), of(1), of(2), of(3)]);
                let inertias = (&ground.inertias[..], 0);
                let (new, change) = swept.step(
                    with,
                    &[n, t, s],
                    v,
                    inertias,
                    #[inline(always)]
                    |place| r[place as usize][0],
                );
                let Some(change) = change else { continue };
                let found = scattered(&new);
                for k in 0..WIDTH {
                    if let Some(r) = r.get_mut(places[k] as usize) {
                        *r = Lanes::of_four(found[k].numbers());
                    }
                }
                let square = swept.trace(with) * four::dot(&change, &change);
                if limit.below(square).any() {
                    self.left[kept] = batch;
                    kept += 1;
                }
            }
            self.left.truncate(kept);
        }
    }
}

/// [`Few::pass`], compiled for the processor at hand.
struct Passes<'a> {
    few: &'a mut Few,
    ground: &'a Ground,
    limits: (f64, usize),
    r: &'a mut [Lanes],
    v: &'a mut [Motion],
}

impl Task for Passes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Wide>(self, with: W) {
        let limits = self.limits;
        self.few.pass(with, self.ground, limits, (self.r, self.v));
    }
}
