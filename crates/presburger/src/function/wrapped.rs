//! Restrictions by one side of a wrapped pair.

use super::affine::Affine;
use super::pieces::{Piece, Pieces};
use super::{PwMultiAff, UnionPwMultiAff};
use crate::{Budget, Error, Relation, Space, Tuple, Union};

/// A side of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

impl Half {
    /// Returns the tuple of this side and where its dimensions begin.
    fn of(self, pair: &Tuple) -> Option<(Tuple, usize)> {
        let (first, second) = pair.sides()?;
        let shift = first.dims.len();
        Some(match self {
            Self::First => (first, 0),
            Self::Second => (second, shift),
        })
    }
}

impl UnionPwMultiAff {
    /// Keeps the values at wrapped pairs whose first half is in `sets`; others go.
    pub fn intersect_domain_wrapped_domain(
        &self,
        sets: &Union,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_half(sets, Half::First, budget)
    }

    /// Keeps the values at wrapped pairs whose second half is in `sets`; others go.
    pub fn intersect_domain_wrapped_range(
        &self,
        sets: &Union,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_half(sets, Half::Second, budget)
    }

    fn intersect_half(&self, sets: &Union, half: Half, budget: &Budget) -> Result<Self, Error> {
        let mut all = Vec::new();
        for function in self.functions() {
            let Some(input) = &function.space().input else { continue };
            let Some((side, at)) = half.of(input) else { continue };
            let Some(set) = sets.get(&Space::set(Vec::new(), side)) else { continue };
            let p = set.space().params.len();
            let to: Vec<usize> =
                (0..p).chain((p..set.space().dims()).map(|dim| at + dim)).collect();
            let pairs = set.moved(Space::set(set.space().params.clone(), input.clone()), &to);
            all.push(function.intersect_domain(&pairs, budget)?);
        }
        Self::collect(all)
    }

    /// Returns `[x -> y] -> self([inner(x) -> y])` for all functions whose tuples fit.
    pub fn preimage_domain_wrapped_domain(
        &self,
        inner: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut all = Vec::new();
        for outer in self.functions() {
            let Some((first, second)) = outer.space().input.as_ref().and_then(Tuple::sides) else {
                continue;
            };
            for inner in inner.functions().filter(|inner| inner.space().output == first) {
                let name = outer.space().input.as_ref().map_or("", |input| &input.name);
                all.push(outer.pullback(&beside(inner, &second, name), budget)?);
            }
        }
        Self::collect(all)
    }
}

/// Makes `[x -> y] -> [inner(x) -> y]`, with a name for both pairs.
fn beside(inner: &PwMultiAff, second: &Tuple, name: &str) -> PwMultiAff {
    let space = inner.space();
    let pair = |first: &Tuple| {
        let name = name.to_owned();
        Tuple { name, ..Tuple::wrapping(first.clone(), second.clone()) }
    };
    let input = pair(&space.input.clone().unwrap_or_default());
    let own = space.params.len() + space.inputs();
    let dims = own + second.dims.len();
    let to: Vec<usize> = (0..own).collect();
    let placed = |piece: &Piece| {
        let mut forms: Vec<Affine> = piece.forms.iter().map(|form| form.place(dims, &to)).collect();
        forms.extend((own..dims).map(|dim| Affine::dim(dim, dims)));
        Piece { domain: piece.domain.place(dims, &to), forms }
    };
    let all = inner.0.all.iter().map(placed).collect();
    let space = Space::map(space.params.clone(), input, pair(&space.output));
    PwMultiAff(Pieces::new(space, all))
}

impl Relation {
    /// Keeps the pairs of `self` whose inputs from `ins` on and outputs from `outs` on are those
    /// of `factor`.
    fn intersect_at(
        &self,
        factor: &Self,
        ins: usize,
        outs: usize,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let space = Space { params: factor.space().params.clone(), ..self.space().clone() };
        let p = space.params.len();
        let to: Vec<usize> = (0..p)
            .chain((0..factor.space().inputs()).map(|i| p + ins + i))
            .chain((0..factor.space().output.dims.len()).map(|i| p + space.inputs() + outs + i))
            .collect();
        self.intersect(&factor.moved(space.clone(), &to), budget)
    }
}

impl Union {
    /// Keeps `[x -> y] -> z` where `factors` relates `x` to `z`.
    pub fn intersect_domain_factor_domain(
        &self,
        factors: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_factor(factors, true, Half::First, budget)
    }

    /// Keeps `[x -> y] -> z` where `factors` relates `y` to `z`.
    pub fn intersect_domain_factor_range(
        &self,
        factors: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_factor(factors, true, Half::Second, budget)
    }

    /// Keeps `x -> [y -> z]` where `factors` relates `x` to `y`.
    pub fn intersect_range_factor_domain(
        &self,
        factors: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_factor(factors, false, Half::First, budget)
    }

    /// Keeps `x -> [y -> z]` where `factors` relates `x` to `z`.
    pub fn intersect_range_factor_range(
        &self,
        factors: &Self,
        budget: &Budget,
    ) -> Result<Self, Error> {
        self.intersect_factor(factors, false, Half::Second, budget)
    }

    fn intersect_factor(
        &self,
        factors: &Self,
        domain: bool,
        half: Half,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut all = Vec::new();
        for piece in self.relations() {
            let Some(input) = &piece.space().input else { continue };
            let output = &piece.space().output;
            let Some((side, at)) = half.of(if domain { input } else { output }) else { continue };
            let (space, ins, outs) = match domain {
                true => (Space::map(Vec::new(), side, output.clone()), at, 0),
                false => (Space::map(Vec::new(), input.clone(), side), 0, at),
            };
            if let Some(factor) = factors.get(&space) {
                all.push(piece.intersect_at(factor, ins, outs, budget)?);
            }
        }
        Self::collect(all)
    }
}
