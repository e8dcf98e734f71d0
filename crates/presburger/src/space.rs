//! Spaces: named parameters and the tuples of a set or relation.

use std::fmt;

use crate::Error;

/// A tuple of dimensions; names of dimensions are for printing only.
#[derive(Debug, Clone, Default)]
pub struct Tuple {
    /// The tuple's name, empty where it has none.
    pub name: String,
    /// One name per dimension.
    pub dims: Vec<String>,
}

impl PartialEq for Tuple {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.dims.len() == other.dims.len()
    }
}

impl Eq for Tuple {}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.name, self.dims.join(", "))
    }
}

/// Parameters, the input tuple of a relation, and the output tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Names of the parameters, in the order of their columns.
    pub params: Vec<String>,
    /// The input tuple; a set has none.
    pub input: Option<Tuple>,
    /// The output tuple, or the tuple of the set.
    pub output: Tuple,
}

impl Space {
    pub(crate) fn inputs(&self) -> usize {
        self.input.as_ref().map_or(0, |tuple| tuple.dims.len())
    }

    pub(crate) fn dims(&self) -> usize {
        self.params.len() + self.inputs() + self.output.dims.len()
    }

    /// Says whether the tuples agree; parameters may differ.
    pub fn same_tuples(&self, other: &Self) -> bool {
        self.input == other.input && self.output == other.output
    }

    pub(crate) fn mismatch(&self, found: &Self) -> Error {
        Error::Space { expected: self.to_string(), found: found.to_string() }
    }

    /// Returns the parameters of both, those of `self` first.
    pub(crate) fn joint_params(&self, other: &Self) -> Vec<String> {
        let mut params = self.params.clone();
        for name in &other.params {
            if !params.contains(name) {
                params.push(name.clone());
            }
        }
        params
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "{input} -> ")?;
        }
        write!(f, "{}", self.output)
    }
}
