//! Pattern variables and what they are bound to.

use crate::{Id, Symbol};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A pattern variable: `?x`, or a numbered one, `?#3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(Name);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    Symbol(Symbol),
    Number(u32),
}

/// A string is no variable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VarParseError {
    /// The leading `?` is missing.
    #[error("pattern variable `{0}` has to start with a question mark")]
    MissingQuestionMark(String),
    /// No number follows `?#`.
    #[error("expected a number after `?#` in pattern variable `{0}`")]
    BadNumber(String),
}

impl Var {
    /// Makes the numbered variable `?#number`.
    pub fn from_u32(number: u32) -> Self {
        Var(Name::Number(number))
    }

    /// Returns the number of a numbered variable.
    pub fn as_u32(&self) -> Option<u32> {
        match self.0 {
            Name::Symbol(_) => None,
            Name::Number(number) => Some(number),
        }
    }
}

impl FromStr for Var {
    type Err = VarParseError;

    fn from_str(string: &str) -> Result<Self, VarParseError> {
        match string.strip_prefix('?') {
            None | Some("") => Err(VarParseError::MissingQuestionMark(string.into())),
            Some(name) => match name.strip_prefix('#') {
                None => Ok(Var(Name::Symbol(string.into()))),
                Some(number) => {
                    let bad = |_| VarParseError::BadNumber(string.into());
                    number.parse().map(Var::from_u32).map_err(bad)
                }
            },
        }
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Name::Symbol(symbol) => f.write_str(symbol.as_str()),
            Name::Number(number) => write!(f, "?#{number}"),
        }
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<u32> for Var {
    fn from(number: u32) -> Self {
        Var::from_u32(number)
    }
}

impl From<Symbol> for Var {
    fn from(symbol: Symbol) -> Self {
        Var(Name::Symbol(symbol))
    }
}

/// A substitution: variables and the classes they stand for.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subst {
    pairs: SmallVec<[(Var, Id); 3]>,
}

impl Subst {
    /// Makes an empty substitution with room for `capacity` variables.
    pub fn with_capacity(capacity: usize) -> Self {
        Subst { pairs: SmallVec::with_capacity(capacity) }
    }

    /// Binds `var`, and returns what it was bound to before.
    pub fn insert(&mut self, var: Var, id: Id) -> Option<Id> {
        for pair in &mut self.pairs {
            if pair.0 == var {
                return Some(std::mem::replace(&mut pair.1, id));
            }
        }
        self.pairs.push((var, id));
        None
    }

    /// Returns what `var` is bound to.
    #[inline]
    pub fn get(&self, var: Var) -> Option<&Id> {
        let pair = self.pairs.iter().find(|pair| pair.0 == var);
        pair.map(|(_, id)| id)
    }

    /// Returns what `var` is bound to, which was at `place` in another substitution.
    ///
    /// # Panics
    /// If it is not bound.
    #[inline]
    pub(crate) fn at(&self, var: Var, place: &mut usize) -> Id {
        if let Some(&(known, id)) = self.pairs.get(*place)
            && known == var
        {
            return id;
        }
        *place = self.pairs.iter().position(|pair| pair.0 == var).unwrap_or(0);
        self[var]
    }

    /// Tells whether it binds these variables to these ids, in this order, and no others.
    #[inline]
    pub(crate) fn is(&self, vars: &[Var], ids: &[u32]) -> bool {
        let same =
            |((pair, var), id): ((&(Var, Id), &Var), &u32)| pair.0 == *var && pair.1.0 == *id;
        self.pairs.len() == vars.len() && self.pairs.iter().zip(vars).zip(ids).all(same)
    }

    /// Binds a variable that is not bound yet.
    pub(crate) fn push(&mut self, var: Var, id: Id) {
        self.pairs.push((var, id));
    }
}

impl std::ops::Index<Var> for Subst {
    type Output = Id;

    fn index(&self, var: Var) -> &Id {
        match self.get(var) {
            Some(id) => id,
            None => panic!("variable {var} is not bound in {self:?}"),
        }
    }
}

impl fmt::Debug for Subst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.pairs.iter().copied()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_round_trip() {
        for good in ["?a", "?abc 123", "?#17"] {
            assert_eq!(good.parse::<Var>().unwrap().to_string(), good);
        }
        assert_eq!("?#17".parse::<Var>().unwrap().as_u32(), Some(17));
        let missing = |s: &str| VarParseError::MissingQuestionMark(s.into());
        assert_eq!("a".parse::<Var>(), Err(missing("a")));
        assert_eq!("?".parse::<Var>(), Err(missing("?")));
        let number = VarParseError::BadNumber("?#x".into());
        assert_eq!("?#x".parse::<Var>(), Err(number));
    }
}
