//! W of rigid bodies: W_ij = sum over the bodies shared by contacts i and j of J_i M^-1 J_j^T.
//!
//! Each contact joins at most two moving bodies through 3x6 Jacobians, u = J_a v_a + J_b v_b, where v is a
//! body's velocity and angular velocity in whatever frame M^-1 is given. Only blocks on or below the diagonal
//! are computed; the others are their transposes, so W is symmetric to the bit. All storage is reused, and no
//! step allocates once the largest problem has been seen.

use pulp::{Arch, NullaryFnOnce};

use crate::block_matrix::{BlockMatrix, Lanes, Vector3};
use crate::error::Error;
use crate::parallel;
use crate::problem::{BlockKind, Problem};

/// Inverse mass of one body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseMass {
    /// 1/m, in 1/kg.
    pub translation_per_kg: f64,
    /// Inverse inertia, symmetric, in 1/(kg m^2).
    pub rotation_per_kg_m2: [Vector3; 3],
}

/// Rows of a 3x6 Jacobian: from a body's six velocities to (normal, tangent 1, tangent 2).
pub type Jacobian = [[f64; 6]; 3];

/// One contact as the stepper knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The moving bodies; `None` for the ground and for bodies whose motion is given.
    pub bodies: [Option<u32>; 2],
    /// Their Jacobians; that of `None` is not read.
    pub jacobians: [Jacobian; 2],
    /// Relative velocity without contact impulses, q, restitution included, in m/s.
    pub free_velocity: Vector3,
    /// Coefficient of friction; the bound of a [`BlockKind::Bounded`] block.
    pub friction: f64,
    /// What the three rows are.
    pub kind: BlockKind,
}

/// What joints make of W. Impulses that keep bodies together act with those of the contacts, so that with G the
/// rows of the joints and G M^-1 G^T = L D L^T
///
/// ```text
/// W_ij = J_i M^-1 J_j^T - Y_i^T Y_j,    Y = D^-1/2 L^-1 G M^-1 J^T
/// ```
///
/// for contacts i and j at bodies that joints connect, near or far.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    /// A number for each body, shared by bodies that joints connect and by no others.
    pub groups: Vec<u32>,
    /// For each contact the parts of `columns` that hold its Y, one for each of its groups.
    pub spans: Vec<[Option<Span>; 2]>,
    /// Rows of all Y.
    pub columns: Vec<Vector3>,
    /// Contacts whose normal joints hold fast: they are left without an impulse.
    pub blocked: Vec<bool>,
}

/// Rows `first..` of a contact's Y in one group; those before are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The group.
    pub group: u32,
    /// Its first row.
    pub first: u32,
    /// Where that row is in [`Joined::columns`].
    pub start: u32,
    /// Where its last row ends.
    pub end: u32,
}

impl Joined {
    /// Subtract Y_i^T Y_j from a block of W.
    fn subtract(&self, i: usize, j: usize, block: &mut [Lanes; 3]) {
        for a in self.spans[i].iter().flatten() {
            for b in self.spans[j]
                .iter()
                .flatten()
                .filter(|b| b.group == a.group)
            {
                let first = a.first.max(b.first);
                let rows =
                    |s: &Span| &self.columns[(s.start + first - s.first) as usize..s.end as usize];
                for (x, y) in rows(a).iter().zip(rows(b)) {
                    for k in 0..3 {
                        for l in 0..3 {
                            block[k][l] -= x[l] * y[k];
                        }
                    }
                }
            }
        }
    }
}

/// Assembles problems, with storage kept from step to step.
#[derive(Debug, Clone, Default)]
pub struct Assembly {
    /// Sides (twice the contact, plus 0 or 1) of each body, grouped by body, ascending.
    starts: Vec<u32>,
    sides: Vec<u32>,
    /// Next free place in each column while W is filled.
    free: Vec<u32>,
    /// Jacobians of all contacts by columns.
    turned: Vec<[Columns; 2]>,
}

/// M^-1 J^T by its three columns.
type Response = [[f64; 6]; 3];

/// A Jacobian by its six columns, so that a column of a block is their sum: three rows at once.
type Columns = [Lanes; 6];

impl Assembly {
    /// Write into `problem` the contact problem of these bodies and contacts.
    ///
    /// # Errors
    /// A body that does not exist, or data refused by [`Problem::new`]; `problem` is then not to be solved.
    pub fn assemble(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        problem: &mut Problem,
    ) -> Result<(), Error> {
        self.assemble_joined(bodies, contacts, None, problem)
    }

    /// The same where joints connect some of the bodies.
    ///
    /// # Errors
    /// As [`Assembly::assemble`].
    pub fn assemble_joined(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        joined: Option<&Joined>,
        problem: &mut Problem,
    ) -> Result<(), Error> {
        self.group(bodies.len(), contacts, joined)?;
        let matrix = &mut problem.matrix;
        matrix.diagonal.clear();
        matrix.rows.clear();
        matrix.starts.clear();
        matrix.starts.push(0);
        for (index, contact) in contacts.iter().enumerate() {
            self.push_neighbours(index, contact, joined, &mut matrix.rows);
            matrix.starts.push(matrix.rows.len() as u32);
        }
        self.fill(bodies, contacts, joined, matrix);
        problem.free_velocity.clear();
        problem
            .free_velocity
            .extend(contacts.iter().map(|contact| contact.free_velocity));
        problem.friction.clear();
        problem
            .friction
            .extend(contacts.iter().map(|contact| contact.friction));
        problem.kinds.clear();
        problem
            .kinds
            .extend(contacts.iter().map(|contact| contact.kind));
        if let Some(joined) = joined {
            for (q, blocked) in problem.free_velocity.iter_mut().zip(&joined.blocked) {
                if *blocked {
                    *q = [0.0; 3];
                }
            }
        }
        problem.prepare()
    }

    /// Compute the blocks, compiled for the processor at hand.
    fn fill(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        joined: Option<&Joined>,
        matrix: &mut BlockMatrix,
    ) {
        struct Fill<'a>(
            &'a mut Assembly,
            &'a [InverseMass],
            &'a [Contact],
            Option<&'a Joined>,
            &'a mut BlockMatrix,
        );
        impl NullaryFnOnce for Fill<'_> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                self.0.fill_here(self.1, self.2, self.3, self.4);
            }
        }
        Arch::new().dispatch(Fill(self, bodies, contacts, joined, matrix));
    }

    #[inline(always)]
    fn fill_here(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        joined: Option<&Joined>,
        matrix: &mut BlockMatrix,
    ) {
        // Every place is written below: what is there from the step before need not be cleared.
        matrix
            .blocks
            .resize(matrix.rows.len(), [Lanes::default(); 3]);
        self.free.clear();
        self.free
            .extend_from_slice(&matrix.starts[..contacts.len()]);
        self.turned.clear();
        let turned =
            |contact: &Contact| [0, 1].map(|side: usize| columns(&contact.jacobians[side]));
        self.turned.extend(contacts.iter().map(turned));
        for (j, contact) in contacts.iter().enumerate() {
            let responses: [Option<Response>; 2] = std::array::from_fn(|side| {
                contact.bodies[side]
                    .map(|body| response(&bodies[body as usize], &contact.jacobians[side]))
            });
            let block = |i: usize| {
                let of = (&contacts[i].bodies, &self.turned[i]);
                coupling(of, &contact.bodies, &responses)
            };
            let mut own = block(j);
            let free = joined.filter(|joined| !joined.blocked[j]);
            if let Some(joined) = free {
                joined.subtract(j, j, &mut own);
            }
            matrix.diagonal.push(own.map(|column| *column));
            // Columns are visited in order, so each row's place in the mirrored column is the next free one.
            for entry in self.free[j] as usize..matrix.starts[j + 1] as usize {
                let i = matrix.rows[entry] as usize;
                let mut block = block(i);
                match joined {
                    Some(joined) if joined.blocked[i] || joined.blocked[j] => {
                        block = [Lanes::default(); 3];
                    }
                    Some(joined) => joined.subtract(i, j, &mut block),
                    None => {}
                }
                matrix.blocks[entry] = block;
                let mirror = self.free[i] as usize;
                self.free[i] += 1;
                matrix.blocks[mirror] =
                    std::array::from_fn(|k| [block[0][k], block[1][k], block[2][k]].into());
            }
        }
    }

    /// List the contacts of each body, or of each group of joined bodies.
    fn group(
        &mut self,
        bodies: usize,
        contacts: &[Contact],
        joined: Option<&Joined>,
    ) -> Result<(), Error> {
        self.starts.clear();
        self.starts.resize(bodies + 2, 0);
        for (index, contact) in contacts.iter().enumerate() {
            for body in contact.bodies.into_iter().flatten() {
                if body as usize >= bodies {
                    return Err(Error::Index {
                        name: "body",
                        contact: index,
                        index: body as usize,
                        count: bodies,
                    });
                }
                self.starts[group_of(body, joined) + 2] += 1;
            }
        }
        for body in 0..bodies {
            self.starts[body + 2] += self.starts[body + 1];
        }
        // starts[body + 1] now runs from the first to the last place of the body while it is filled.
        self.sides.clear();
        self.sides.resize(self.starts[bodies + 1] as usize, 0);
        for (index, contact) in contacts.iter().enumerate() {
            for body in contact.bodies.into_iter().flatten() {
                let place = &mut self.starts[group_of(body, joined) + 1];
                self.sides[*place as usize] = index as u32;
                *place += 1;
            }
        }
        Ok(())
    }

    fn contacts_of(&self, body: Option<u32>, joined: Option<&Joined>) -> &[u32] {
        body.map_or(&[], |body| {
            let group = group_of(body, joined);
            &self.sides[self.starts[group] as usize..self.starts[group + 1] as usize]
        })
    }

    /// The other contacts of the two bodies, ascending and once each: a merge of two ascending lists.
    fn push_neighbours(
        &self,
        index: usize,
        contact: &Contact,
        joined: Option<&Joined>,
        rows: &mut Vec<u32>,
    ) {
        let [mut a, mut b] = contact.bodies.map(|body| self.contacts_of(body, joined));
        loop {
            let next = match (a.first(), b.first()) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) => x,
                (None, Some(&y)) => y,
                (None, None) => return,
            };
            while a.first() == Some(&next) {
                a = &a[1..];
            }
            while b.first() == Some(&next) {
                b = &b[1..];
            }
            if next as usize != index {
                rows.push(next);
            }
        }
    }
}

#[inline(always)]
fn group_of(body: u32, joined: Option<&Joined>) -> usize {
    joined.map_or(body, |joined| joined.groups[body as usize]) as usize
}

/// M^-1 J^T.
#[inline(always)]
pub fn response(mass: &InverseMass, jacobian: &Jacobian) -> Response {
    let (m, inertia) = (mass.translation_per_kg, &mass.rotation_per_kg_m2);
    jacobian.map(|row| {
        let turn =
            |k: usize| inertia[k][0] * row[3] + inertia[k][1] * row[4] + inertia[k][2] * row[5];
        [
            m * row[0],
            m * row[1],
            m * row[2],
            turn(0),
            turn(1),
            turn(2),
        ]
    })
}

#[inline(always)]
fn columns(jacobian: &Jacobian) -> Columns {
    std::array::from_fn(|k| [jacobian[0][k], jacobian[1][k], jacobian[2][k]].into())
}

/// W_ij = sum of J_i (M^-1 J_j^T) over shared bodies: contact i by its bodies and Jacobians, j by its bodies and responses.
#[inline(always)]
fn coupling(
    (bodies, turned): (&[Option<u32>; 2], &[Columns; 2]),
    others: &[Option<u32>; 2],
    responses: &[Option<Response>; 2],
) -> [Lanes; 3] {
    let mut block = [Lanes::default(); 3];
    for (body, response) in others.iter().zip(responses) {
        let (Some(body), Some(response)) = (body, response) else {
            continue;
        };
        for (other, turned) in bodies.iter().zip(turned) {
            if *other != Some(*body) {
                continue;
            }
            let [a, b] = [0, 3].map(|k| [turned[k], turned[k + 1], turned[k + 2]]);
            for (column, given) in block.iter_mut().zip(response) {
                let shifts = Lanes::product(&a, &[given[0], given[1], given[2]]);
                let turns = Lanes::product(&b, &[given[3], given[4], given[5]]);
                *column = column.each(&shifts.each(&turns, |x, y| x + y), |sum, x| sum + x);
            }
        }
    }
    block
}

/// Add to the velocities of the bodies what the impulses `r` give them: v += M^-1 J^T r.
pub fn apply_impulses(
    bodies: &[InverseMass],
    contacts: &[Contact],
    r: &[Vector3],
    velocities: &mut [[f64; 6]],
) {
    let give = |k: usize| {
        let (contact, r) = (&contacts[k], &r[k]);
        [0, 1].map(|side| -> [f64; 6] {
            let Some(body) = contact.bodies[side] else {
                return [0.0; 6];
            };
            let response = response(&bodies[body as usize], &contact.jacobians[side]);
            std::array::from_fn(|k| {
                response[0][k] * r[0] + response[1][k] * r[1] + response[2][k] * r[2]
            })
        })
    };
    // Where there are many, what each gives is computed by all threads. It is added in the order of the contacts.
    let mut given = Vec::new();
    if contacts.len() >= parallel::MUCH {
        parallel::fill(&mut given, contacts.len(), give);
    }
    for (k, contact) in contacts.iter().enumerate() {
        if r[k] == [0.0; 3] {
            continue;
        }
        let given = given.get(k).copied().unwrap_or_else(|| give(k));
        for (body, given) in contact.bodies.iter().zip(&given) {
            if let Some(body) = body {
                let velocity = &mut velocities[*body as usize];
                *velocity = std::array::from_fn(|k| velocity[k] + given[k]);
            }
        }
    }
}
