//! Functions and the relations that are their graphs; extrema of relations as functions.

use super::affine::Affine;
use super::pieces::{Piece, Pieces};
use super::{MultiAff, MultiPwAff, PwAff, PwMultiAff};
use crate::basic_map::BasicMap;
use crate::relation::subtract_parts;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

impl Pieces {
    /// Relates each argument to its value where that is an integer point.
    pub fn graph(&self) -> Result<Relation, Error> {
        let (dims, all) = (self.dims(), self.space.dims());
        let identity: Vec<usize> = (0..dims).collect();
        let mut parts = Vec::new();
        for piece in self.all.iter() {
            let mut zero = Vec::new();
            for (output, form) in piece.forms.iter().enumerate() {
                let form = form.place(all, &identity);
                zero.push(form.minus(&Affine::dim(dims + output, all)));
            }
            let Some(graph) = BasicMap::of_forms(all, &zero, &[]) else { continue };
            parts.extend(piece.domain.place(all, &identity).intersect(&graph));
        }
        Ok(Relation::new(self.space.clone(), parts))
    }
}

impl BasicMap {
    /// Writes the last `outs` dimensions as functions of the others, if equations do.
    fn solved(&self, outs: usize) -> Option<Piece> {
        let fixed = self.dims - outs;
        let mut known: Vec<Option<Affine>> = (0..self.dims + self.divs.len())
            .map(|i| (i < fixed).then(|| Affine::dim(i, fixed)))
            .collect();
        let value = |row: &[Integer], skip: usize, known: &[Option<Affine>]| {
            let mut sum = Affine::constant(row[0].clone(), fixed);
            for (col, factor) in row.iter().enumerate().skip(1) {
                if !factor.is_zero() && col != skip {
                    sum = sum.add_mul(factor, known[col - 1].as_ref()?);
                }
            }
            Some(sum)
        };
        let mut progress = true;
        while progress {
            progress = false;
            for (index, div) in self.divs.iter().enumerate() {
                if known[self.dims + index].is_none()
                    && let Some(sum) = value(&div.num, 0, &known)
                {
                    known[self.dims + index] = Some(sum.scaled(&Integer::ONE, &div.den).floor());
                    progress = true;
                }
            }
            for row in self.system.eqs.rows() {
                let mut open = (fixed + 1..=self.dims)
                    .filter(|c| !row[*c].is_zero() && known[*c - 1].is_none());
                if let (Some(col), None) = (open.next(), open.next())
                    && let Some(sum) = value(row, col, &known)
                {
                    let num = Integer::from(-row[col].sign());
                    known[col - 1] = Some(sum.scaled(&num, &row[col].abs()));
                    progress = true;
                }
            }
        }
        let outputs: Option<Vec<Affine>> = known[fixed..self.dims].iter().cloned().collect();
        let forms = outputs?;
        let values: Vec<Affine> =
            (0..fixed).map(|i| Affine::dim(i, fixed)).chain(forms.iter().cloned()).collect();
        let mut domain = self.preimage(&values, fixed)?;
        let mut whole = Vec::new();
        for form in &forms {
            // An output is an integer, so rounding does not change it.
            whole.push(form.floor());
            if form.den != Integer::ONE {
                domain = domain.intersect(&form.modulo(&Integer::ONE).holds(true)?)?;
            }
        }
        Some(Piece { domain, forms: whole })
    }
}

impl Relation {
    /// Reads a relation, each input of which has one output, as a function.
    ///
    /// A set is a function of the parameters.
    ///
    /// # Errors
    /// [`Error::NotSingleValued`] if an input has two outputs.
    pub fn to_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        if !self.is_single_valued(budget)? {
            return Err(Error::NotSingleValued);
        }
        self.functional(budget)
    }

    /// As [`Self::to_pw_multi_aff`], for what is known to be single-valued.
    fn functional(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        let outs = self.space().output.dims.len();
        let mut all: Vec<Piece> = Vec::new();
        for part in self.parts.iter() {
            let pieces = match part.solved(outs) {
                Some(piece) => vec![piece],
                None => part.extremal_pieces(outs, 1, budget)?,
            };
            for piece in pieces {
                let taken: Vec<BasicMap> = all.iter().map(|piece| piece.domain.clone()).collect();
                for domain in subtract_parts(&[piece.domain], &taken, budget)? {
                    if !domain.is_empty(budget)? {
                        all.push(Piece { domain, forms: piece.forms.clone() });
                    }
                }
            }
        }
        Ok(PwMultiAff(Pieces::new(self.space().clone(), all)))
    }

    /// Reads a relation whose only disjunct is given by equations, without conditions on its
    /// inputs.
    ///
    /// # Errors
    /// [`Error::NotSingleValued`] if it is not of this kind.
    pub fn to_multi_aff(&self, budget: &Budget) -> Result<MultiAff, Error> {
        let function = self.to_pw_multi_aff(budget)?;
        let pieces = function.pieces();
        match &pieces[..] {
            [(domain, value)] if domain.complement(budget)?.is_empty(budget)? => Ok(value.clone()),
            _ => Err(Error::NotSingleValued),
        }
    }

    /// Returns the lexicographically least output of each input as a function.
    ///
    /// Inputs whose outputs have no least one have no value.
    pub fn lexmin_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        self.lexmin(budget)?.functional(budget)?.coalesce(budget)
    }

    /// Returns the lexicographically greatest output of each input as a function.
    pub fn lexmax_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        self.lexmax(budget)?.functional(budget)?.coalesce(budget)
    }

    /// As [`Self::lexmin_pw_multi_aff`], where every input that has outputs has a least one.
    ///
    /// # Errors
    /// [`Error::NoOptimum`] if the outputs of some input go down without bound.
    pub fn total_lexmin_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        self.total_lexmin(budget)?.functional(budget)?.coalesce(budget)
    }

    /// As [`Self::lexmax_pw_multi_aff`], where every input that has outputs has a greatest one.
    ///
    /// # Errors
    /// [`Error::NoOptimum`] if the outputs of some input go up without bound.
    pub fn total_lexmax_pw_multi_aff(&self, budget: &Budget) -> Result<PwMultiAff, Error> {
        self.total_lexmax(budget)?.functional(budget)?.coalesce(budget)
    }

    /// Returns the least value of one output dimension, a function of the inputs; of a set,
    /// of the parameters.
    ///
    /// Arguments for which it has no lower bound have no value, nor have those without
    /// outputs: compare the domains to tell.
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such dimension.
    pub fn dim_min(&self, dim: usize, budget: &Budget) -> Result<PwAff, Error> {
        self.only(dim, budget)?.lexmin_pw_multi_aff(budget).map(|function| PwAff(function.0))
    }

    /// Returns the greatest value of one output dimension; see [`Self::dim_min`].
    ///
    /// # Errors
    /// [`Error::Space`] if there is no such dimension.
    pub fn dim_max(&self, dim: usize, budget: &Budget) -> Result<PwAff, Error> {
        self.only(dim, budget)?.lexmax_pw_multi_aff(budget).map(|function| PwAff(function.0))
    }

    /// As [`Self::dim_min`], where every input that has outputs has a least value.
    ///
    /// # Errors
    /// As [`Self::dim_min`], and [`Error::NoOptimum`] if some input has no least value.
    pub fn total_dim_min(&self, dim: usize, budget: &Budget) -> Result<PwAff, Error> {
        let only = self.only(dim, budget)?;
        only.total_lexmin_pw_multi_aff(budget).map(|function| PwAff(function.0))
    }

    /// As [`Self::dim_max`], where every input that has outputs has a greatest value.
    ///
    /// # Errors
    /// As [`Self::dim_max`], and [`Error::NoOptimum`] if some input has no greatest value.
    pub fn total_dim_max(&self, dim: usize, budget: &Budget) -> Result<PwAff, Error> {
        let only = self.only(dim, budget)?;
        only.total_lexmax_pw_multi_aff(budget).map(|function| PwAff(function.0))
    }

    /// Projects all other output dimensions away.
    fn only(&self, dim: usize, budget: &Budget) -> Result<Self, Error> {
        let dims = self.space().output.dims.len();
        if dim >= dims {
            let expected = format!("a tuple with dimension {dim}");
            return Err(Error::Space { expected, found: self.space().to_string() });
        }
        self.project_out(dim + 1..dims, budget)?.project_out(0..dim, budget)
    }

    /// Returns the least value of each output dimension for itself.
    pub fn min_multi_pw_aff(&self, budget: &Budget) -> Result<MultiPwAff, Error> {
        let dims = 0..self.space().output.dims.len();
        let members = dims.map(|dim| self.dim_min(dim, budget)).collect::<Result<_, _>>()?;
        self.gathered(members, budget)
    }

    /// Returns the greatest value of each output dimension for itself.
    pub fn max_multi_pw_aff(&self, budget: &Budget) -> Result<MultiPwAff, Error> {
        let dims = 0..self.space().output.dims.len();
        let members = dims.map(|dim| self.dim_max(dim, budget)).collect::<Result<_, _>>()?;
        self.gathered(members, budget)
    }

    fn gathered(&self, members: Vec<PwAff>, budget: &Budget) -> Result<MultiPwAff, Error> {
        let domain = if self.is_set() { self.params(budget)? } else { self.domain(budget)? };
        Ok(MultiPwAff::of_members(self.space().clone(), members, domain))
    }

    /// Returns the arguments that `function` sends into this set, as a set.
    ///
    /// # Errors
    /// [`Error::Space`] unless this is a set of outputs of `function`.
    pub fn preimage(&self, function: &PwMultiAff, budget: &Budget) -> Result<Self, Error> {
        let fits = Some(&self.space().output) == Some(&function.space().output);
        if !self.is_set() || !fits {
            return Err(self.space().mismatch(function.space()));
        }
        // The set as a function without outputs: only its domain matters.
        let pieces = self.parts.iter().map(|part| Piece { domain: part.clone(), forms: vec![] });
        let space =
            Space::map(self.space().params.clone(), self.space().output.clone(), Tuple::default());
        let marked = Pieces::new(space, pieces.collect());
        Ok(marked.pullback(&function.0, budget)?.domain())
    }

    /// Relates `x` to `z` where this relation relates `function(x)` to `z`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `function` are the inputs of this relation.
    pub fn preimage_domain(&self, function: &PwMultiAff, budget: &Budget) -> Result<Self, Error> {
        function.to_relation()?.apply_range(self, budget)
    }

    /// Relates `x` to `z` where this relation relates `x` to `function(z)`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the outputs of `function` are the outputs of this relation.
    pub fn preimage_range(&self, function: &PwMultiAff, budget: &Budget) -> Result<Self, Error> {
        self.apply_range(&function.to_relation()?.inverse()?, budget)
    }
}
