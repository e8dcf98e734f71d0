//! What a session takes and gives, and the sizes that inputs give to symbols.

use std::fmt;

use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::container;
use tangram_dialects::{dims, dtype};
use tangram_ir::{Context, Module, Type, TypeData, Value};
use tangram_tensor::{DType, Tensor};

use crate::error::InputError;

/// An input or output of a session.
#[derive(Clone, PartialEq, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// What values it has.
    pub kind: Kind,
}

/// What values an input or output has.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A tensor.
    Tensor {
        /// The type of its elements, where the model says one that tensors can have.
        element: Option<DType>,
        /// Its extents, where the rank is known; `None` for one that nothing is known of.
        shape: Option<Vec<Option<Expr>>>,
    },
    /// A sequence.
    Sequence(Box<Kind>),
    /// A value that may be absent.
    Optional(Box<Kind>),
    /// A map.
    Map {
        /// The type of its keys, where the model says one.
        key: Option<DType>,
        /// What its values are.
        value: Box<Kind>,
    },
}

impl Port {
    /// What values `value` has.
    pub(crate) fn of(module: &Module, value: Value, name: String) -> Port {
        Port { name, kind: Kind::of(module.context(), module.value_type(value)) }
    }
}

impl Kind {
    /// What the type says.
    pub(crate) fn of(context: &Context, ty: Type) -> Kind {
        let mut held: Vec<(&str, Option<DType>)> = Vec::new();
        let mut ty = ty;
        while let TypeData::Dialect { name, params } = context.type_data(ty) {
            let key = container::map_types(context, ty).map(|(key, _)| key);
            let inner = params.last().map(|&attr| context.attr_data(attr));
            let Some(tangram_ir::AttrData::Type(inner)) = inner else { break };
            let key = key.and_then(|key| dtype::dtype_of(context, key));
            held.push((context.text(*name), key));
            ty = *inner;
        }
        let element = context.element_type(ty).and_then(|ty| dtype::dtype_of(context, ty));
        let shape = context
            .as_tensor(ty)
            .map(|(dims, _)| dims.iter().map(|&dim| dims::expr(context, dim)).collect::<Vec<_>>());
        let tensor = Kind::Tensor { element, shape };
        held.into_iter().rev().fold(tensor, |kind, (name, key)| match name {
            "nn.sequence" => Kind::Sequence(Box::new(kind)),
            "nn.map" => Kind::Map { key, value: Box::new(kind) },
            _ => Kind::Optional(Box::new(kind)),
        })
    }

    fn noun(&self) -> &'static str {
        match self {
            Kind::Tensor { .. } => "a tensor",
            Kind::Sequence(_) => "a sequence",
            Kind::Optional(_) => "an optional value",
            Kind::Map { .. } => "a map",
        }
    }
}

impl fmt::Display for Kind {
    /// Writes `float32[N, 3]`, `seq(float32[?])`, `optional(...)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Sequence(kind) => write!(f, "seq({kind})"),
            Kind::Optional(kind) => write!(f, "optional({kind})"),
            Kind::Map { key, value } => {
                write!(f, "map({}, {value})", key.map_or("?", DType::name))
            }
            Kind::Tensor { element, shape } => {
                f.write_str(element.map_or("tensor", DType::name))?;
                let Some(shape) = shape else { return Ok(()) };
                let extent = |extent: &Option<Expr>| match extent {
                    Some(extent) if is_named(extent) => extent.to_string(),
                    _ => "?".to_owned(),
                };
                let extents: Vec<String> = shape.iter().map(extent).collect();
                write!(f, "[{}]", extents.join(", "))
            }
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// Whether the model itself has names for the symbols of an extent. Others were given to what it
/// leaves open, and begin with `?`.
pub fn is_named(extent: &Expr) -> bool {
    extent.symbols().iter().all(|symbol| !symbol.starts_with('?'))
}

/// The sizes of the symbols in a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Dims {
    /// By name, sorted.
    values: Vec<(String, i64)>,
}

impl Dims {
    pub(crate) fn find(&self, symbol: &str) -> Option<i64> {
        let at = self.values.binary_search_by(|(name, _)| name.as_str().cmp(symbol)).ok()?;
        Some(self.values[at].1)
    }

    pub(crate) fn eval(&self, expr: &Expr) -> Option<i64> {
        expr.eval(&|symbol| self.find(symbol))
    }

    /// The symbols with their sizes, by name.
    pub(crate) fn into_values(self) -> Vec<(String, i64)> {
        self.values
    }

    fn bind(&mut self, symbol: &str, value: i64) {
        if let Err(at) = self.values.binary_search_by(|(name, _)| name.as_str().cmp(symbol)) {
            self.values.insert(at, (symbol.to_owned(), value));
        }
    }
}

/// Finds the sizes of symbols in the extents of inputs; every extent that is declared is compared,
/// and every range that `context` assumes.
///
/// # Errors
/// [`InputError`]: which input has another kind, element type, rank or extent.
pub(crate) fn bind(
    context: &Context,
    ports: &[Port],
    values: &[Datum],
) -> Result<Dims, InputError> {
    let mut sizes = Dims::default();
    let mut origins: Vec<(&str, &str)> = Vec::new();
    let declared = || ports.iter().zip(values).filter_map(|(port, value)| extents(port, value));
    for (port, value) in ports.iter().zip(values) {
        check_kind(&port.name, &port.kind, value)?;
    }
    for (port, _, expr, extent) in declared().flatten() {
        let Some(symbol) = expr.as_symbol() else { continue };
        if sizes.find(symbol).is_none() {
            sizes.bind(symbol, extent as i64);
            origins.push((symbol, &port.name));
        }
    }
    for (port, dimension, expr, found) in declared().flatten() {
        let Some(expected) = sizes.eval(expr).filter(|&expected| expected != found as i64) else {
            continue;
        };
        let origin = origins.iter().find(|(symbol, _)| Some(*symbol) == expr.as_symbol());
        let because = match origin {
            _ if expr.is_int() => String::new(),
            Some((symbol, input)) => format!(", which is `{symbol}` of input `{input}`"),
            None => format!(", which is `{expr}`"),
        };
        let name = port.name.clone();
        return Err(InputError::Extent { name, dimension, expected, found, because });
    }
    for (symbol, input) in origins {
        let Some((least, greatest)) = dims::range(context, symbol) else { continue };
        if let Some(found) = sizes.find(symbol).filter(|n| !(least..=greatest).contains(n)) {
            let (name, symbol) = (input.to_owned(), symbol.to_owned());
            return Err(InputError::Range { name, symbol, least, greatest, found });
        }
    }
    Ok(sizes)
}

type Declared<'a> = (&'a Port, usize, &'a Expr, usize);

/// The declared extents of a tensor, with those that it has.
fn extents<'a>(port: &'a Port, value: &'a Datum) -> Option<impl Iterator<Item = Declared<'a>>> {
    let (Kind::Tensor { shape: Some(shape), .. }, Datum::Tensor(tensor)) = (&port.kind, value)
    else {
        return None;
    };
    let pairs = shape.iter().zip(tensor.shape()).enumerate();
    Some(pairs.filter_map(move |(i, (expr, &n))| Some((port, i, expr.as_ref()?, n))))
}

fn check_kind(name: &str, kind: &Kind, value: &Datum) -> Result<(), InputError> {
    let wrong = |found| {
        let (name, expected) = (name.to_owned(), kind.noun());
        Err(InputError::Kind { name, expected, found })
    };
    match (kind, value) {
        (Kind::Tensor { element, shape }, Datum::Tensor(tensor)) => {
            check_tensor(name, *element, shape.as_deref(), tensor)
        }
        (Kind::Sequence(kind), Datum::Sequence(items)) => {
            items.iter().try_for_each(|item| check_kind(name, kind, item))
        }
        (Kind::Map { key, value }, Datum::Map { keys, values }) => {
            check_tensor(name, *key, None, keys)?;
            let element = match &**value {
                Kind::Tensor { element, .. } => *element,
                _ => None,
            };
            check_tensor(name, element, None, values)
        }
        (Kind::Optional(_), Datum::Optional(None) | Datum::None) => Ok(()),
        (Kind::Optional(kind), Datum::Optional(Some(held))) => check_kind(name, kind, held),
        // Who gives an optional value need not wrap it.
        (Kind::Optional(kind), plain) => check_kind(name, kind, plain),
        (_, Datum::Tensor(_)) => wrong("a tensor"),
        (_, Datum::Sequence(_)) => wrong("a sequence"),
        (_, Datum::Map { .. }) => wrong("a map"),
        (_, Datum::Optional(_) | Datum::None) => wrong("nothing"),
    }
}

fn check_tensor(
    name: &str,
    element: Option<DType>,
    shape: Option<&[Option<Expr>]>,
    tensor: &Tensor,
) -> Result<(), InputError> {
    let name = || name.to_owned();
    if let Some(expected) = element.filter(|&expected| expected != tensor.dtype()) {
        return Err(InputError::Element { name: name(), expected, found: tensor.dtype() });
    }
    match shape {
        Some(shape) if shape.len() != tensor.rank() => Err(InputError::Rank {
            name: name(),
            expected: shape.len(),
            found: tensor.rank(),
            shape: tensor.shape().to_vec(),
        }),
        _ => Ok(()),
    }
}
