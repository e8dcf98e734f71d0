//! Strides: which residue class the values of a dimension lie in.

use crate::matrix::gcd;
use crate::{Aff, Budget, Conjunction, Division, Error, Integer, Relation, Space};

/// All values of a dimension are `offset` modulo `stride`.
#[derive(Debug, Clone)]
pub struct Stride {
    /// The distance of values, at least 1.
    pub stride: Integer,
    /// A function of the inputs; of a set, of the parameters.
    pub offset: Aff,
}

impl Stride {
    /// Returns the points of `space` whose output dimension `dim` keeps to the stride.
    ///
    /// # Errors
    /// [`Error::Row`] if `space` has fewer arguments than the offset.
    pub fn points(&self, space: &Space, dim: usize) -> Result<Relation, Error> {
        let (row, _, _) = self.offset.coefficients();
        let first = space.params.len() + space.inputs();
        let column = 1 + first + dim;
        if row.len() != 1 + first || dim >= space.output.dims.len() {
            return Err(Error::Row { expected: 1 + first, found: row.len() });
        }
        let mut difference = row.iter().map(Integer::neg).collect::<Vec<Integer>>();
        difference.resize(1 + space.dims(), Integer::ZERO);
        difference[column] = Integer::ONE;
        // `x - offset` is the stride times its own quotient.
        let division = Division { numerator: difference.clone(), denominator: self.stride.clone() };
        difference.push(self.stride.neg());
        let part = Conjunction {
            divisions: vec![division],
            equalities: vec![difference],
            inequalities: Vec::new(),
        };
        Relation::from_conjunctions(space.clone(), &[part])
    }
}

/// A congruence `x = row . (1, arguments)` modulo `modulus`; 0 is equality.
struct Congruence {
    modulus: Integer,
    row: Vec<Integer>,
}

impl Relation {
    /// Returns the stride of an output dimension as a function of the inputs.
    ///
    /// Every point keeps to it. It is read from equations with one division after all other
    /// outputs are projected away, and joined over the disjuncts; 1 where there is none, and
    /// where there is no point.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such dimension.
    ///
    /// # Source
    /// isl `isl_set_get_stride_info`, `isl_map_get_range_stride_info`.
    pub fn stride(&self, dim: usize, budget: &Budget) -> Result<Stride, Error> {
        let dims = self.space().output.dims.len();
        if dim >= dims {
            let expected = format!("a tuple with dimension {dim}");
            return Err(Error::Space { expected, found: self.space().to_string() });
        }
        let line = self.project_out(dim + 1..dims, budget)?.project_out(0..dim, budget)?;
        let arguments = self.arguments();
        let count = arguments.params.len() + arguments.output.dims.len();
        let mut joint: Option<Congruence> = None;
        for part in line.conjunctions() {
            let single =
                Self::from_conjunctions(line.space().clone(), std::slice::from_ref(&part))?;
            if single.is_empty(budget)? {
                continue;
            }
            let found = congruence(&part, count);
            joint = Some(match joint {
                Some(known) => known.joined(&found),
                None => found,
            });
        }
        let Some(Congruence { modulus, row }) = joint else {
            let offset = Aff::constant(&arguments, 0, 1)?;
            return Ok(Stride { stride: Integer::ONE, offset });
        };
        // Values without a modulus are equal to the offset, which is any stride.
        let stride = modulus.clone().max(Integer::ONE);
        let mut offset = Aff::constant(&arguments, small(&row[0], &modulus), 1)?;
        for (dim, value) in row[1..].iter().enumerate() {
            let value = small(value, &modulus);
            if !value.is_zero() {
                offset = offset.add(&Aff::coordinate(&arguments, dim)?.scale(value, 1)?)?;
            }
        }
        Ok(Stride { stride, offset })
    }

    /// Returns the stride of each output dimension: the lattice whose translates cover all outputs.
    ///
    /// # Source
    /// isl `isl_map_get_range_lattice_tile`. Divergence: dimensions are taken for themselves.
    pub fn lattice_tile(&self, budget: &Budget) -> Result<Vec<Stride>, Error> {
        (0..self.space().output.dims.len()).map(|dim| self.stride(dim, budget)).collect()
    }
}

fn small(value: &Integer, modulus: &Integer) -> Integer {
    if modulus.is_zero() { value.clone() } else { value.mod_floor(modulus) }
}

impl Congruence {
    /// Returns the strongest congruence that both imply.
    fn joined(&self, other: &Self) -> Self {
        let pairs = self.row.iter().zip(&other.row);
        let both = self.modulus.gcd(&other.modulus);
        let modulus = pairs.fold(both, |modulus, (a, b)| modulus.gcd(&a.sub(b)));
        Self { modulus, row: self.row.clone() }
    }

    /// Returns the one that says more: equality, or the larger modulus.
    fn met(self, other: Self) -> Self {
        let says_more =
            self.modulus.is_zero() || !other.modulus.is_zero() && self.modulus >= other.modulus;
        if says_more { self } else { other }
    }
}

/// Reads the strongest congruence of `x`, the dimension behind `count` others, from the equations.
fn congruence(part: &Conjunction, count: usize) -> Congruence {
    let weakest = Congruence { modulus: Integer::ONE, row: vec![Integer::ZERO; 1 + count] };
    part.equalities.iter().fold(weakest, |best, row| {
        match solved(&row[..=count], &row[1 + count], &gcd(&row[2 + count..])) {
            Some(found) => best.met(found),
            None => best,
        }
    })
}

/// Solves `rest + factor * x = 0` modulo `modulus` for `x`, if the coefficients allow it.
fn solved(rest: &[Integer], factor: &Integer, modulus: &Integer) -> Option<Congruence> {
    let common = factor.gcd(modulus);
    if factor.is_zero() || !rest.iter().all(|value| value.is_multiple_of(&common)) {
        return None;
    }
    let (factor, modulus) = (factor.div_exact(&common), modulus.div_exact(&common));
    // Without a modulus, the factor is 1 or -1 now.
    let inverse = if modulus.is_zero() { factor } else { inverse(&factor, &modulus) };
    let value = |value: &Integer| small(&value.div_exact(&common).mul(&inverse).neg(), &modulus);
    let row = rest.iter().map(value).collect();
    Some(Congruence { modulus, row })
}

/// Returns the inverse of `value`, which has none in common with `modulus`.
fn inverse(value: &Integer, modulus: &Integer) -> Integer {
    let (mut a, mut b) = (value.mod_floor(modulus), modulus.clone());
    let (mut x, mut y) = (Integer::ONE, Integer::ZERO);
    while !b.is_zero() {
        let quotient = a.div_floor(&b);
        (a, b) = (b.clone(), a.sub(&quotient.mul(&b)));
        (x, y) = (y.clone(), x.sub(&quotient.mul(&y)));
    }
    x.mod_floor(modulus)
}
