//! Spaces: named parameters and the tuples of a set or relation.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::Error;

/// A tuple of dimensions; names of dimensions are for printing only.
///
/// A wrapped relation `[A[i] -> B[j]]` is a tuple over the dimensions of both sides. A set of
/// parameters alone, `[n] -> { : n > 0 }`, has the tuple [`Tuple::params`]; it equals the tuple `[]`
/// where one space is concerned, and unions keep the two apart, as isl does.
#[derive(Debug, Clone, Default)]
pub struct Tuple {
    /// The tuple's name, empty where it has none.
    pub name: String,
    /// One name per dimension, those of nested tuples included.
    pub dims: Vec<String>,
    /// The two sides of a wrapped relation; their dimensions make up `dims`.
    pub nested: Option<Arc<(Tuple, Tuple)>>,
}

/// The name of the tuple of a set of parameters, which no text can name.
const PARAMS: &str = ":";

impl PartialEq for Tuple {
    fn eq(&self, other: &Self) -> bool {
        self.shown_name() == other.shown_name()
            && self.dims.len() == other.dims.len()
            && self.nested == other.nested
    }
}

impl Eq for Tuple {}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &self.dims)
    }
}

impl Tuple {
    /// Makes a tuple of named dimensions; an empty `name` is none.
    pub fn new(name: impl Into<String>, dims: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let dims = dims.into_iter().map(Into::into).collect();
        Self { name: name.into(), dims, nested: None }
    }

    /// Makes the tuple of a set of parameters alone.
    pub fn params() -> Self {
        Self::new(PARAMS, Vec::<String>::new())
    }

    /// Returns whether this is the tuple of a set of parameters alone.
    pub fn is_params(&self) -> bool {
        self.name == PARAMS
    }

    /// The tuple where a space needs one with brackets: `[]` for that of parameters.
    pub(crate) fn bracketed(self) -> Self {
        if self.is_params() { Self::default() } else { self }
    }

    /// The name to show; a set of parameters alone has none, as `[]` has.
    pub fn shown_name(&self) -> &str {
        if self.is_params() { "" } else { &self.name }
    }

    /// Names a dimension of the tuple in a message.
    pub(crate) fn described(&self, dim: usize) -> String {
        let name = self.dims.get(dim).map_or("", String::as_str);
        match self.shown_name() {
            "" => format!("dimension {dim} (`{name}`)"),
            tuple => format!("dimension {dim} (`{name}`) of `{tuple}`"),
        }
    }

    /// Makes a nameless tuple of `len` dimensions.
    pub fn anonymous(len: usize) -> Self {
        Self::new("", (0..len).map(|i| format!("i{i}")))
    }

    /// Wraps a pair of tuples, `[left -> right]`.
    pub fn wrapping(left: Self, right: Self) -> Self {
        let (left, right) = (left.bracketed(), right.bracketed());
        let dims = left.dims.iter().chain(&right.dims).cloned().collect();
        Self { name: String::new(), dims, nested: Some(Arc::new((left, right))) }
    }

    /// Returns the two sides of a wrapped relation, with the names of `dims`.
    pub fn sides(&self) -> Option<(Self, Self)> {
        let (left, right) = &**self.nested.as_ref()?;
        let (a, b) = self.dims.split_at(left.dims.len());
        Some((left.renamed(a), right.renamed(b)))
    }

    pub(crate) fn renamed(&self, dims: &[String]) -> Self {
        let mut result = Self { dims: dims.to_vec(), ..self.clone() };
        result.nested = result.sides_shape(dims);
        result
    }

    fn sides_shape(&self, dims: &[String]) -> Option<Arc<(Self, Self)>> {
        let (left, right) = &**self.nested.as_ref()?;
        let (a, b) = dims.split_at(left.dims.len());
        Some(Arc::new((left.renamed(a), right.renamed(b))))
    }

    /// Writes the tuple with `names` in place of its dimensions.
    pub(crate) fn write(&self, f: &mut impl fmt::Write, names: &[String]) -> fmt::Result {
        if self.is_params() {
            return f.write_str(PARAMS);
        }
        write!(f, "{}[", self.name)?;
        match self.nested.as_deref() {
            Some((left, right)) => {
                let (a, b) = names.split_at(left.dims.len());
                left.write(f, a)?;
                f.write_str(" -> ")?;
                right.write(f, b)?;
            }
            None => f.write_str(&names.join(", "))?,
        }
        f.write_str("]")
    }
}

/// Parameters, the input tuple of a relation, and the output tuple.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Space {
    /// Names of the parameters, in the order of their columns.
    pub params: Vec<String>,
    /// The input tuple; a set has none.
    pub input: Option<Tuple>,
    /// The output tuple, or the tuple of the set.
    pub output: Tuple,
}

impl Space {
    /// Makes the space of a set.
    pub fn set(params: Vec<String>, tuple: Tuple) -> Self {
        Self { params, input: None, output: tuple }
    }

    /// Makes the space of a relation.
    pub fn map(params: Vec<String>, input: Tuple, output: Tuple) -> Self {
        Self { params, input: Some(input.bracketed()), output: output.bracketed() }
    }

    /// Returns whether the space has no input tuple.
    pub fn is_set(&self) -> bool {
        self.input.is_none()
    }

    /// Returns whether the space is that of sets of parameters alone, `{ : n > 0 }`.
    pub fn is_params(&self) -> bool {
        self.is_set() && self.output.is_params()
    }

    pub(crate) fn inputs(&self) -> usize {
        self.input.as_ref().map_or(0, |tuple| tuple.dims.len())
    }

    pub(crate) fn dims(&self) -> usize {
        self.params.len() + self.inputs() + self.output.dims.len()
    }

    /// Returns whether the tuples agree; parameters may differ.
    pub fn same_tuples(&self, other: &Self) -> bool {
        self.input == other.input && self.output == other.output
    }

    pub(crate) fn mismatch(&self, found: &Self) -> Error {
        Error::Space { expected: self.to_string(), found: found.to_string() }
    }

    /// Returns the parameters of both, those of `self` first.
    pub(crate) fn joint_params(&self, other: &Self) -> Vec<String> {
        joint(&self.params, &other.params)
    }

    /// Names parameters, inputs and outputs so that no two are the same.
    pub(crate) fn distinct_names(&self) -> Vec<String> {
        let dims = self.input.iter().flat_map(|t| &t.dims).chain(&self.output.dims);
        let mut names: Vec<String> = self.params.clone();
        let mut taken: HashSet<String> = names.iter().cloned().collect();
        for dim in dims {
            let mut name = dim.clone();
            while !taken.insert(name.clone()) {
                name.push('\'');
            }
            names.push(name);
        }
        names
    }

    /// Writes the tuples with `names` for parameters, inputs and outputs.
    pub(crate) fn write(&self, f: &mut impl fmt::Write, names: &[String]) -> fmt::Result {
        let (inputs, outputs) = names[self.params.len()..].split_at(self.inputs());
        if let Some(input) = &self.input {
            input.write(f, inputs)?;
            f.write_str(" -> ")?;
        }
        self.output.write(f, outputs)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &self.distinct_names())
    }
}

/// Returns the names of both, those of `params` first.
pub(crate) fn joint(params: &[String], others: &[String]) -> Vec<String> {
    let mut all = params.to_vec();
    // Few names are compared faster than they are hashed.
    if params.len() * others.len() <= 256 {
        all.extend(others.iter().filter(|name| !params.contains(name)).cloned());
    } else {
        let known: HashSet<&String> = params.iter().collect();
        all.extend(others.iter().filter(|name| !known.contains(name)).cloned());
    }
    all
}
