//! Attribute expressions: integers, booleans, floats, strings and tuples computed from what matched.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ExprId, PatId, SymId};

/// An attribute expression and the name it is bound to, if any.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The name of its `attr` declaration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The forms of an attribute expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExprKind {
    /// An integer constant.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A floating-point constant.
    Float(Real),
    /// A string constant.
    Str(String),
    /// Any value: matches everything, evaluates to nothing.
    Any,
    /// Attribute `attribute` of what `pattern` matched.
    Access {
        /// Whose attribute.
        pattern: PatId,
        /// Its name: an attribute of the operator, or `shape`, `dtype`, `ndim`, `value`, `length`.
        attribute: String,
    },
    /// The value of an index symbol.
    Symbol(SymId),
    /// A unary operation.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// Its operand.
        operand: ExprId,
    },
    /// A binary operation.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// Its left operand.
        lhs: ExprId,
        /// Its right operand.
        rhs: ExprId,
    },
    /// A tuple of fields.
    Tuple(Vec<ExprId>),
    /// Field `index` of `tuple`, counted from 0; out of range it does not evaluate.
    Proj {
        /// The tuple.
        tuple: ExprId,
        /// Which field.
        index: ExprId,
    },
    /// The fields `start`, `start + step`... before `stop`; bounds may be omitted.
    Slice {
        /// The tuple.
        tuple: ExprId,
        /// First field; 0 when omitted.
        start: Option<ExprId>,
        /// One past the last field; the length when omitted.
        stop: Option<ExprId>,
        /// Distance between fields, positive; 1 when omitted.
        step: Option<ExprId>,
    },
    /// The number of fields.
    Len(ExprId),
    /// Whether `value` is a field of `tuple`.
    In {
        /// The value looked for.
        value: ExprId,
        /// Where.
        tuple: ExprId,
    },
    /// The fields in opposite order.
    Reverse(ExprId),
    /// The integers `start`, `start + step`... before `stop`.
    Range {
        /// First integer; 0 when omitted.
        start: Option<ExprId>,
        /// The bound, excluded.
        stop: ExprId,
        /// Distance, not 0; 1 when omitted.
        step: Option<ExprId>,
    },
    /// A tuple of tuples: the i-th holds the i-th field of each operand.
    Zip(Vec<ExprId>),
    /// `body` for each field of `tuple`, bound to `symbol`.
    Map {
        /// Bound to each field in turn.
        symbol: SymId,
        /// The fields.
        tuple: ExprId,
        /// What is computed for each.
        body: ExprId,
    },
    /// `then` if `condition`, else `otherwise`.
    Cond {
        /// The condition.
        condition: ExprId,
        /// Its value when true.
        then: ExprId,
        /// Its value when false.
        otherwise: ExprId,
    },
    /// The arm of the option that `subject`, an alternative, matched.
    Case {
        /// The alternative.
        subject: PatId,
        /// One for each option.
        arms: Vec<ExprId>,
    },
    /// The permutation that takes layout `source` to layout `target`.
    Remap {
        /// A layout string such as `"NCHW"`.
        source: ExprId,
        /// A layout string of the same letters.
        target: ExprId,
    },
    /// The tuple of `body` for `symbol` from 0 to `length` - 1; `var` in the GSL thesis.
    Var {
        /// The index.
        symbol: SymId,
        /// How many, at least 1.
        length: ExprId,
        /// What is computed for each index.
        body: ExprId,
    },
    /// A reduction of `body` for `symbol` from 0 to `length` - 1; `Σ` in the GSL thesis.
    ReduceRange {
        /// The operation.
        op: Reduction,
        /// The index.
        symbol: SymId,
        /// How many, at least 1.
        length: ExprId,
        /// What is reduced.
        body: ExprId,
    },
    /// A reduction of the fields of a tuple.
    ReduceTuple {
        /// The operation.
        op: Reduction,
        /// The fields.
        tuple: ExprId,
    },
    /// A mathematical function.
    Call {
        /// Which.
        function: Function,
        /// Its arguments.
        args: Vec<ExprId>,
    },
    /// A registered function, called by name.
    Native {
        /// Its registered name.
        name: String,
        /// Its arguments.
        args: Vec<NativeArg>,
    },
}

/// An argument of a registered function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NativeArg {
    /// The value that a pattern matched.
    Pattern(PatId),
    /// An attribute value.
    Expr(ExprId),
}

/// A floating-point constant, compared and hashed by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real(u64);

impl Real {
    /// Wraps a number.
    pub fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

/// JSON has no infinities: they are written as strings.
impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.get();
        if value.is_finite() {
            serializer.serialize_f64(value)
        } else {
            serializer.serialize_str(&value.to_string())
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f64),
            Name(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(value) => Ok(Self::new(value)),
            Form::Name(name) => name.parse().map(Self::new).map_err(serde::de::Error::custom),
        }
    }
}

macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$item])* $variant),* }

        impl $name {
            /// Lists every member.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns how it is written in rule files.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Finds the member written as `text`.
            pub fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|member| member.text() == text)
            }
        }
    };
}

spelled! {
    /// Unary operations.
    UnaryOp {
        /// Negation of a number.
        Neg = "-",
        /// Logical negation.
        Not = "!",
    }
}

spelled! {
    /// Binary operations.
    BinaryOp {
        /// Sum, or concatenation of tuples.
        Add = "+",
        /// Difference.
        Sub = "-",
        /// Product.
        Mul = "*",
        /// Quotient, a float.
        Div = "/",
        /// Integer quotient rounded down.
        FloorDiv = "floordiv",
        /// Integer quotient rounded up.
        CeilDiv = "ceildiv",
        /// Remainder with the sign of the divisor.
        Mod = "mod",
        /// The larger.
        Max = "max",
        /// The smaller.
        Min = "min",
        /// Equality.
        Eq = "==",
        /// Inequality.
        Ne = "!=",
        /// Less.
        Lt = "<",
        /// At most.
        Le = "<=",
        /// Greater.
        Gt = ">",
        /// At least.
        Ge = ">=",
        /// Both hold.
        And = "&&",
        /// One holds.
        Or = "||",
    }
}

spelled! {
    /// Reductions; the empty one has no value.
    Reduction {
        /// Sum.
        Sum = "sum",
        /// Product.
        Product = "product",
        /// Largest.
        Max = "max",
        /// Smallest.
        Min = "min",
        /// Arithmetic mean, a float.
        Mean = "mean",
        /// Whether all hold.
        All = "all",
        /// Whether one holds.
        Any = "any",
    }
}

spelled! {
    /// Mathematical functions.
    Function {
        /// Square root.
        Sqrt = "sqrt",
        /// Reciprocal square root.
        Rsqrt = "rsqrt",
        /// Exponential.
        Exp = "exp",
        /// Natural logarithm.
        Log = "log",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Sine.
        Sin = "sin",
        /// Cosine.
        Cos = "cos",
        /// First argument to the power of the second.
        Pow = "pow",
        /// Absolute value.
        Abs = "abs",
        /// Largest integer not above.
        Floor = "floor",
        /// Smallest integer not below.
        Ceil = "ceil",
        /// Nearest integer, ties to even.
        Round = "round",
        /// Conversion to a float.
        Float = "float",
    }
}

impl Function {
    /// Returns how many arguments it takes.
    pub fn arity(self) -> usize {
        if self == Self::Pow { 2 } else { 1 }
    }
}
