//! What the checker knows of operators. Dialects plug in here.

use std::collections::BTreeMap;

/// Looks up operators, so that rules can be checked before any graph exists.
pub trait Schema {
    /// Returns the definition of an operator.
    fn operator(&self, name: &str) -> Option<&OpSchema>;

    /// Lists every operator, for hints and for operator traits.
    fn operators(&self) -> Box<dyn Iterator<Item = &OpSchema> + '_>;
}

/// The definition of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpSchema {
    /// Whether it is an operator of the caller's, which other operations define.
    pub is_defined: bool,
    /// Its name.
    pub name: String,
    /// Its operands in order.
    pub operands: Vec<OperandSchema>,
    /// How many results it has.
    pub results: Results,
    /// Its attributes.
    pub attributes: Vec<AttrSchema>,
    /// Its traits, such as `element_wise`, `broadcasting`, `commutative`.
    pub traits: Vec<String>,
}

/// An operand of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandSchema {
    /// Its name.
    pub name: String,
    /// How often it occurs.
    pub count: OperandCount,
}

/// How often an operand occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandCount {
    /// Once.
    One,
    /// Once or not at all.
    Optional,
    /// Any number of times.
    Variadic,
}

/// How many results an operator has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// Always as many.
    Fixed(usize),
    /// It depends on operands and attributes.
    Variadic,
}

impl Default for Results {
    fn default() -> Self {
        Self::Fixed(1)
    }
}

/// An attribute of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttrSchema {
    /// Its name.
    pub name: String,
    /// What values it has.
    pub kind: AttrKind,
    /// A target must give it.
    pub required: bool,
}

/// The kinds of attribute values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// An integer or symbolic dimension.
    Int,
    /// A float.
    Float,
    /// A truth value.
    Bool,
    /// A string.
    Str,
    /// A tuple.
    Tuple,
    /// A tuple, or a string in place of one.
    TupleOrStr,
    /// Several of these.
    Any,
}

impl OpSchema {
    /// Returns the least and the greatest number of operands; no greatest if one is variadic.
    pub fn arity(&self) -> (usize, Option<usize>) {
        let count = |kind| self.operands.iter().filter(|o| o.count == kind).count();
        let least = count(OperandCount::One);
        let bounded = count(OperandCount::Variadic) == 0;
        (least, bounded.then_some(self.operands.len()))
    }

    /// Returns the definition of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&AttrSchema> {
        self.attributes.iter().find(|attr| attr.name == name)
    }
}

/// A schema held in a table.
#[derive(Clone, Debug, Default)]
pub struct TableSchema {
    table: BTreeMap<String, OpSchema>,
}

impl TableSchema {
    /// Adds an operator.
    pub fn add(&mut self, op: OpSchema) -> &mut Self {
        self.table.insert(op.name.clone(), op);
        self
    }

    /// Adds an operator written as `conv2d(data, weight, bias?) {strides: tuple, axis!: int} [t]`.
    ///
    /// `?` marks an optional operand, `...` a variadic one, `!` a required attribute, `-> 2` or
    /// `-> ...` the number of results, brackets the traits. Returns false if `line` is not of
    /// that form.
    pub fn declare(&mut self, line: &str) -> bool {
        let Some(op) = parse_declaration(line) else { return false };
        self.add(op);
        true
    }
}

impl Schema for TableSchema {
    fn operator(&self, name: &str) -> Option<&OpSchema> {
        self.table.get(name)
    }

    fn operators(&self) -> Box<dyn Iterator<Item = &OpSchema> + '_> {
        Box::new(self.table.values())
    }
}

fn parse_declaration(line: &str) -> Option<OpSchema> {
    let (name, rest) = line.split_once('(')?;
    let (operands, rest) = rest.split_once(')')?;
    let mut op = OpSchema { name: name.trim().to_owned(), ..OpSchema::default() };
    op.operands = words(operands).map(operand).collect();
    if let Some((_, inner)) = rest.split_once('{') {
        op.attributes = words(inner.split_once('}')?.0).map(attribute).collect::<Option<_>>()?;
    }
    if let Some((_, inner)) = rest.split_once('[') {
        op.traits = words(inner.split_once(']')?.0).map(str::to_owned).collect();
    }
    if let Some((_, count)) = rest.split_once("->") {
        let count = count.split_whitespace().next()?;
        op.results = match count {
            "..." => Results::Variadic,
            _ => Results::Fixed(count.parse().ok()?),
        };
    }
    Some(op)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn operand(word: &str) -> OperandSchema {
    let (name, count) = if let Some(name) = word.strip_suffix('?') {
        (name, OperandCount::Optional)
    } else if let Some(name) = word.strip_suffix("...") {
        (name, OperandCount::Variadic)
    } else {
        (word, OperandCount::One)
    };
    OperandSchema { name: name.to_owned(), count }
}

fn attribute(word: &str) -> Option<AttrSchema> {
    let (name, kind) = word.split_once(':')?;
    let kind = match kind.trim() {
        "int" => AttrKind::Int,
        "float" => AttrKind::Float,
        "bool" => AttrKind::Bool,
        "str" => AttrKind::Str,
        "tuple" => AttrKind::Tuple,
        "tuple or str" => AttrKind::TupleOrStr,
        "any" => AttrKind::Any,
        _ => return None,
    };
    let required = name.ends_with('!');
    Some(AttrSchema { name: name.trim_end_matches('!').to_owned(), kind, required })
}
