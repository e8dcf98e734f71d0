//! Reading functions from isl's notation.

use std::str::FromStr;

use super::affine::Affine;
use super::pieces::{Piece, Pieces};
use super::{Aff, MultiAff, MultiPwAff, PwAff, PwMultiAff, UnionPwMultiAff};
use crate::basic_map::BasicMap;
use crate::parse::token::Tokens;
use crate::parse::{Case, Value, functions};
use crate::relation::intersect_parts;
use crate::relation::subtract_parts;
use crate::{Budget, Error, Space};

fn wrong(column: usize, expected: &'static str, found: &Space) -> Error {
    Error::Syntax { column, expected: expected.into(), found: found.to_string() }
}

/// Makes one function of pieces in one space; where pieces overlap they must agree.
fn gathered(values: &[Value], budget: &Budget) -> Result<Pieces, Error> {
    let Some(first) = values.first() else {
        let found = "}".to_owned();
        return Err(Error::Syntax { column: 1, expected: "a piece".into(), found });
    };
    let mut all: Vec<Piece> = Vec::new();
    for value in values {
        if value.space != first.space {
            return Err(wrong(value.column, "one space", &value.space));
        }
        for (domain, forms) in product(&value.domain, &value.outputs, budget)? {
            let taken: Vec<BasicMap> = all.iter().map(|piece| piece.domain.clone()).collect();
            let one = Pieces::new(
                first.space.clone(),
                vec![Piece { domain: domain.clone(), forms: forms.clone() }],
            );
            if !one.agrees(&all, budget)? {
                return Err(Error::NotSingleValued);
            }
            let free = subtract_parts(&[domain], &taken, budget)?;
            all.extend(free.into_iter().map(|domain| Piece { domain, forms: forms.clone() }));
        }
    }
    Ok(Pieces::new(first.space.clone(), all))
}

/// Chooses one case for each output, in all ways.
fn product(
    domain: &[BasicMap],
    outputs: &[Vec<Case>],
    budget: &Budget,
) -> Result<Vec<(BasicMap, Vec<Affine>)>, Error> {
    let mut chosen: Vec<(BasicMap, Vec<Affine>)> =
        domain.iter().map(|part| (part.clone(), Vec::new())).collect();
    for cases in outputs {
        let mut next = Vec::new();
        for ((part, forms), case) in chosen.iter().flat_map(|c| cases.iter().map(move |k| (c, k))) {
            let forms = [&forms[..], std::slice::from_ref(&case.form)].concat();
            match &case.when {
                None => next.push((part.clone(), forms)),
                Some(when) => {
                    let parts = intersect_parts(
                        std::slice::from_ref(part),
                        std::slice::from_ref(when),
                        budget,
                    )?;
                    next.extend(parts.into_iter().map(|part| (part, forms.clone())));
                }
            }
        }
        chosen = next;
    }
    Ok(chosen)
}

/// Returns the pieces, each in one output without a name.
fn scalar(text: &str, budget: &Budget) -> Result<Pieces, Error> {
    let pieces = gathered(&functions(Tokens::of(text)?, budget)?, budget)?;
    let output = &pieces.space.output;
    if output.dims.len() != 1 || !output.name.is_empty() || output.nested.is_some() {
        return Err(wrong(1, "one output without a name", &pieces.space));
    }
    Ok(pieces)
}

/// Returns the forms of a function that is one piece without conditions.
fn unconditional(pieces: &Pieces) -> Result<Vec<Affine>, Error> {
    match &pieces.all[..] {
        [piece] if piece.domain == BasicMap::universe(pieces.dims()) => Ok(piece.forms.clone()),
        _ => Err(wrong(1, "one piece without conditions", &pieces.space)),
    }
}

impl Aff {
    /// Parses `{ [i] -> [(i + 1)] }`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let pieces = scalar(text, budget)?;
        let form = unconditional(&pieces)?.swap_remove(0);
        Ok(Self { space: pieces.space, form })
    }
}

impl MultiAff {
    /// Parses `{ S[i, j] -> A[(i + j), (j)] }`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let pieces = gathered(&functions(Tokens::of(text)?, budget)?, budget)?;
        let forms = unconditional(&pieces)?;
        Ok(Self { space: pieces.space, forms: forms.into() })
    }
}

impl PwAff {
    /// Parses `{ [i] -> [(i)] : i >= 0; [i] -> [(-i)] : i < 0 }`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::NotSingleValued`] if two pieces give
    /// different values.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        scalar(text, budget).map(Self)
    }
}

impl PwMultiAff {
    /// Parses `{ S[i] -> A[(i), (0)] : i >= 0; S[i] -> A[(-i), (1)] : i < 0 }`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column; [`Error::NotSingleValued`] if two pieces give
    /// different values.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        gathered(&functions(Tokens::of(text)?, budget)?, budget).map(Self)
    }
}

impl MultiPwAff {
    /// Parses `{ S[i] -> A[(i : i >= 0; 0 : i < 0), (1)] }`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let values = functions(Tokens::of(text)?, budget)?;
        let [value] = &values[..] else {
            let whole = gathered(&values, budget)?;
            return Self::from_pw_multi_aff(&PwMultiAff(whole));
        };
        let space = Space { output: crate::Tuple::anonymous(1), ..value.space.clone() };
        let member = |cases: &Vec<Case>| {
            let outputs = vec![cases.clone()];
            let one = Value { space: space.clone(), outputs, ..value.clone() };
            gathered(&[one], budget).map(PwAff)
        };
        let members = value.outputs.iter().map(member).collect::<Result<Vec<_>, _>>()?;
        let domain = crate::Relation::new(
            Space::set(space.params.clone(), space.input.clone().unwrap_or_default()),
            value.domain.clone(),
        );
        Ok(Self::of_members(value.space.clone(), members, domain))
    }
}

impl UnionPwMultiAff {
    /// Parses pieces in any spaces.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        Self::read(Tokens::of(text)?, budget)
    }

    /// Parses pieces, perhaps some that another notation holds.
    pub(super) fn read(tokens: Tokens, budget: &Budget) -> Result<Self, Error> {
        let mut groups: Vec<Vec<Value>> = Vec::new();
        for value in functions(tokens, budget)? {
            match groups.iter_mut().find(|group| group[0].space == value.space) {
                Some(group) => group.push(value),
                None => groups.push(vec![value]),
            }
        }
        let gather = |group: &Vec<Value>| gathered(group, budget).map(PwMultiAff);
        Self::collect(groups.iter().map(gather).collect::<Result<Vec<_>, _>>()?)
    }
}

macro_rules! from_str {
    ($($kind:ident),*) => {$(
        impl FromStr for $kind {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Self::parse(text, &Budget::unlimited())
            }
        }
    )*};
}

from_str!(Aff, MultiAff, PwAff, PwMultiAff, MultiPwAff, UnionPwMultiAff);
