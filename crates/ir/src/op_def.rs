//! What an operation is: data and functions, declared in one place for each operation.

use std::fmt;

use smallvec::SmallVec;

use crate::attributes::Attr;
use crate::branch::Branch;
use crate::context::{Context, Name};
use crate::diagnostic::Diagnostic;
use crate::fold::FoldFn;
use crate::implied::ImplyFn;
use crate::module::{Module, Op, Value};
use crate::types::Type;

bitflags::bitflags! {
    /// Properties of an operation that passes and patterns ask for.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Traits: u32 {
        /// Has no effect but its results, and no result depends on anything but operands,
        /// attributes and regions.
        const PURE = 1;
        /// The first two operands may be exchanged.
        const COMMUTATIVE = 1 << 1;
        /// Applies one scalar function to each element.
        const ELEMENTWISE = 1 << 2;
        /// Operands are broadcast as NumPy does.
        const BROADCASTING = 1 << 3;
        /// Ends its block.
        const TERMINATOR = 1 << 4;
        /// Has the value of its attribute as its only result.
        const CONSTANT_LIKE = 1 << 5;
        /// Regions use no value defined outside.
        const ISOLATED = 1 << 6;
        /// `f(f(x)) = f(x)`.
        const IDEMPOTENT = 1 << 7;
        /// `f(f(x)) = x`.
        const INVOLUTION = 1 << 8;
        /// `(a ∘ b) ∘ c = a ∘ (b ∘ c)` in exact arithmetic.
        const ASSOCIATIVE = 1 << 9;
        /// Defines a symbol.
        const SYMBOL = 1 << 10;
        /// Holds symbols.
        const SYMBOL_TABLE = 1 << 11;
        /// Its regions have no terminator.
        const NO_TERMINATOR = 1 << 12;
        /// Each region has one block.
        const SINGLE_BLOCK = 1 << 13;
        /// Gives other results at each run: never folded, never merged.
        const RANDOM = 1 << 14;
        /// Operands and results have one type.
        const SAME_TYPE = 1 << 15;
        /// Has the effects of the operations in its regions and no others.
        const RECURSIVE_EFFECTS = 1 << 16;
        /// Undefined for some operands (a division by zero), so that it must not run where it
        /// did not run before. It may be dropped or merged if it is also pure.
        const MAY_TRAP = 1 << 17;
        /// All variadic operands have one length, and all variadic results.
        const SAME_SIZES = 1 << 18;
        /// Reads and writes those of its operands that are buffers; without any it has no effect
        /// of its own.
        const WRITES_BUFFERS = 1 << 19;
        /// Its results may be anything where an operand may be: MLIR's and LLVM's poison.
        const PROPAGATES_POISON = 1 << 20;
    }
}

/// How many values an operand or result stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// One or none. An absent operand in the middle is written as a value of type `none`.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug)]
pub struct OperandDef {
    /// Its name, as in signatures.
    pub name: &'static str,
    /// How many values it stands for.
    pub arity: Arity,
    /// Shape and meaning, for the reference documentation.
    pub doc: &'static str,
}

/// A result of an operation.
#[derive(Clone, Copy, Debug)]
pub struct ResultDef {
    /// Its name, as in signatures.
    pub name: &'static str,
    /// How many values it stands for.
    pub arity: Arity,
    /// Shape and meaning, for the reference documentation.
    pub doc: &'static str,
}

/// The kind of value that an attribute takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrKind {
    /// An integer (`i64`).
    Int,
    /// A list of integers.
    Ints,
    /// A list of integers, or one of a few texts in place of it.
    IntsOr(&'static [&'static str]),
    /// A number.
    Float,
    /// A list of numbers.
    Floats,
    /// `true` or `false`.
    Bool,
    /// A text.
    Str,
    /// A list of texts.
    Strs,
    /// One of a few texts.
    Enum(&'static [&'static str]),
    /// An element type.
    DType,
    /// A constant tensor: numbers, or a list of texts in row-major order.
    Tensor,
    /// A type.
    Type,
    /// Anything.
    Any,
}

impl fmt::Display for AttrKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = match self {
            AttrKind::IntsOr(names) => {
                return write!(f, "integers, or one of `{}`", names.join("`, `"));
            }
            AttrKind::Enum(names) => return write!(f, "one of `{}`", names.join("`, `")),
            AttrKind::Int => "integer",
            AttrKind::Ints => "integers",
            AttrKind::Float => "number",
            AttrKind::Floats => "numbers",
            AttrKind::Bool => "boolean",
            AttrKind::Str => "text",
            AttrKind::Strs => "texts",
            AttrKind::DType => "element type",
            AttrKind::Tensor => "tensor",
            AttrKind::Type => "type",
            AttrKind::Any => "any attribute",
        };
        f.write_str(plain)
    }
}

/// What it means that an attribute of an operation is absent. The values are attributes as text:
/// `true`, `0 : i32`, `#arith.fastmath<none>`.
#[derive(Clone, Copy, Debug)]
pub enum Absence {
    /// Nothing else says it.
    Plain,
    /// The same as this value, which is never held: reading drops it. The generic form prints it.
    Means(&'static str),
    /// It is never absent: reading adds this value. The text of the operation shows it unless this
    /// says that it means nothing.
    Becomes(&'static str, HidesFn),
    /// The same as this value, which the text of the operation leaves out; the generic form tells
    /// them apart.
    Hides(&'static str),
    /// As [`Absence::Hides`], of any value that this says.
    HidesIf(HidesFn),
}

/// Says whether the text of an operation leaves out an attribute of this value.
pub type HidesFn = fn(&Module, Op, Attr) -> bool;

/// An attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: AttrKind,
    /// Whether it has to be there. One that is not required has a meaning when it is absent,
    /// which `doc` states.
    pub required: bool,
    /// Units, order, meaning.
    pub doc: &'static str,
    /// What its absence means to the reader and the printer.
    pub absence: Absence,
}

impl AttrDef {
    /// An attribute that has to be there.
    pub const fn required(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
        AttrDef { name, kind, required: true, doc, absence: Absence::Plain }
    }

    /// An attribute that may be absent.
    pub const fn optional(name: &'static str, kind: AttrKind, doc: &'static str) -> AttrDef {
        AttrDef { name, kind, required: false, doc, absence: Absence::Plain }
    }

    /// This attribute, whose absence has this meaning.
    pub const fn absent(self, absence: Absence) -> AttrDef {
        AttrDef { absence, ..self }
    }
}

/// Why types could not be inferred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// No registered dialect defines the operation of this name.
    #[error("`{0}` is no registered operation")]
    Unregistered(String),
    /// The operation of this name is defined without type inference.
    #[error("`{0}` does not infer its types")]
    NotInferable(String),
    /// The operation does not accept its operands or attributes: what it expected and found.
    #[error("{0}")]
    Mismatch(String),
}

impl InferError {
    /// A mismatch of operands or attributes, with what was expected and found.
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self::Mismatch(message.into())
    }
}

/// What inference finds out about the results of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inferred {
    /// The type of each result.
    pub types: SmallVec<[Type; 1]>,
    /// For each result whose elements are known although it is no constant: an array attribute
    /// with one entry for each element in row-major order: an integer, a string (a symbolic
    /// expression in normal form) or `unit` for an unknown one. Empty if nothing is known.
    pub contents: SmallVec<[Option<Attr>; 1]>,
}

/// What inference may look at.
#[derive(Clone, Copy)]
pub struct InferCx<'a> {
    /// The module that owns the operands.
    pub module: &'a Module,
    /// The operation.
    pub name: Name,
    /// Its definition.
    pub def: &'static OpDef,
    /// Its operands.
    pub operands: &'a [Value],
    /// Its attribute dictionary.
    pub attrs: Attr,
    /// How many results are wanted, where the attributes do not say.
    pub result_count: Option<usize>,
}

impl<'a> InferCx<'a> {
    /// The context.
    pub fn context(&self) -> &'a Context {
        self.module.context()
    }

    /// The attribute `name`.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.context().entry_named(self.attrs, name)
    }

    /// The type of operand `i`; `None` if it is absent.
    pub fn operand_type(&self, i: usize) -> Option<Type> {
        self.operands.get(i).map(|&value| self.module.value_type(value))
    }
}

/// Infers result types and contents from operands and attributes.
pub type InferFn = fn(&InferCx<'_>) -> Result<Inferred, InferError>;

/// Says what the arguments of the regions of an operation are, as far as its operands say, and what
/// its results are, as far as the regions yield it. What is not known is left out.
pub type FlowFn = fn(&Module, Op) -> Vec<(Value, Type)>;

/// Checks what the declaration cannot say.
pub type VerifyFn = fn(&Module, Op) -> Result<(), Diagnostic>;

/// Says what the first result of an operation is called in text; `None` for a number.
pub type NameFn = fn(&Module, Op) -> Option<String>;

/// The definition of an operation.
#[derive(Debug)]
pub struct OpDef {
    /// `dialect.operation`.
    pub name: &'static str,
    /// One line: what it computes.
    pub summary: &'static str,
    /// Operands in order; a variadic one takes what the others leave.
    pub operands: &'static [OperandDef],
    /// Results in order.
    pub results: &'static [ResultDef],
    /// Attributes; others are allowed and carried along.
    pub attrs: &'static [AttrDef],
    /// How many regions it has; `None` for any number.
    pub regions: Option<u32>,
    /// Its properties.
    pub traits: Traits,
    /// Infers the results.
    pub infer: Option<InferFn>,
    /// Infers what goes into its regions and comes out of them.
    pub flow: Option<FlowFn>,
    /// Checks more.
    pub verify: Option<VerifyFn>,
    /// Says what it gives, where that is known.
    pub fold: Option<FoldFn>,
    /// How a terminator passes operands on.
    pub branch: Branch,
    /// How its text looks; the generic form only where absent. See the module `assembly`.
    pub assembly: Option<&'static str>,
    /// What its region holds where its text does not show that.
    pub implies: Option<ImplyFn>,
    /// What its results are called in text, one name for each of `results`; numbers where absent.
    pub result_names: &'static [&'static str],
    /// What its first result is called where that depends on more than the definition.
    pub names: Option<NameFn>,
    /// The dialect whose name need not be written in its regions.
    pub default_dialect: &'static str,
}

impl OpDef {
    /// A definition with no operands, results, attributes, regions, traits or functions, to be
    /// completed with the struct update syntax.
    pub const fn new(name: &'static str, summary: &'static str) -> OpDef {
        OpDef {
            name,
            summary,
            operands: &[],
            results: &[],
            attrs: &[],
            regions: Some(0),
            traits: Traits::empty(),
            infer: None,
            flow: None,
            verify: None,
            fold: None,
            branch: Branch::None,
            assembly: None,
            implies: None,
            result_names: &[],
            names: None,
            default_dialect: "",
        }
    }

    /// This definition, with its text.
    pub const fn text(self, assembly: &'static str) -> OpDef {
        OpDef { assembly: Some(assembly), ..self }
    }

    /// This definition, with names for its results.
    pub const fn named(self, result_names: &'static [&'static str]) -> OpDef {
        OpDef { result_names, ..self }
    }

    /// The definition of attribute `name`.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|attr| attr.name == name)
    }
}
