//! Patterns: the vertices of the source and target graphs.

use serde::{Deserialize, Serialize};

use super::{ExprId, OpId, PatId, SymId};

/// A pattern with its name and the conditions on the value as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pattern {
    /// Its form.
    pub kind: PatternKind,
    /// The name it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The value has no user outside the match.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only: bool,
    /// It may match a value that another pattern matches as well.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_alias: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The forms of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternKind {
    /// Any value.
    Wildcard,
    /// A constant; in the target, a new one.
    Const {
        /// What its value must be; any constant when omitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<ExprId>,
        /// Every element equals `value`, whatever the shape.
        #[serde(default, skip_serializing_if = "is_false")]
        splat: bool,
        /// Constraints on its type.
        #[serde(flatten)]
        tensor: TensorFields,
    },
    /// An input or parameter of the model.
    Variable(TensorFields),
    /// The result of an operator.
    Call {
        /// The operator or the choice of operators.
        op: OpId,
        /// The operands.
        args: Vec<PatId>,
        /// Attribute constraints (source) or values (target).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attrs: Vec<Field>,
        /// Every attribute not in `attrs` is that of this call; `..c` in text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<PatId>,
        /// The operands may be matched in any order.
        #[serde(default, skip_serializing_if = "is_false")]
        commutative: bool,
        /// Nested calls of the same operator are matched as one flat call.
        #[serde(default, skip_serializing_if = "is_false")]
        associative: bool,
    },
    /// A tuple of values.
    Tuple(Vec<PatId>),
    /// A field of a tuple, or a result of an operator with several.
    Proj {
        /// The tuple.
        tuple: PatId,
        /// Which field, from 0.
        index: ExprId,
    },
    /// A field repeated: the fields of a tuple, or the outputs of a rule.
    Variadic {
        /// The pattern of one branch.
        field: PatId,
        /// What is instantiated anew for each branch; the rest is shared.
        templates: Vec<Template>,
        /// Bound to the index of the branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<SymId>,
        /// The number of branches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<ExprId>,
        /// The least number of branches to match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_len: Option<u32>,
    },
    /// Instance `index` of `template` in `variadic`.
    Inst {
        /// The variadic pattern, or an instance of a template that is one.
        variadic: PatId,
        /// One of its templates.
        template: PatId,
        /// Which instance, from 0.
        index: ExprId,
    },
    /// The first of several patterns that matches (source only).
    Alt(Vec<PatId>),
    /// Whatever does not match the pattern (source only).
    Not(PatId),
    /// One of two patterns, by a condition (target only).
    Cond {
        /// The condition.
        condition: ExprId,
        /// Taken when it holds.
        then: PatId,
        /// Taken otherwise.
        otherwise: PatId,
    },
    /// The arm of the option that `subject`, an alternative, matched (target only).
    Case {
        /// The alternative.
        subject: PatId,
        /// One for each option.
        arms: Vec<PatId>,
    },
    /// What a registered function makes (target only).
    Native {
        /// Its registered name.
        name: String,
        /// Its operands.
        args: Vec<PatId>,
        /// Its attributes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attrs: Vec<Field>,
    },
}

/// Constraints on the type of a constant or variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorFields {
    /// Its shape, a tuple.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ExprId>,
    /// Its element type, a string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<ExprId>,
    /// Its rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndim: Option<ExprId>,
}

impl TensorFields {
    /// Lists the given fields by name.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, ExprId)> {
        [("shape", self.shape), ("dtype", self.dtype), ("ndim", self.ndim)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// A named attribute and its expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The attribute.
    pub name: String,
    /// Its constraint or value.
    pub value: ExprId,
}

/// A template of a variadic pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Template {
    /// The pattern that is instantiated.
    pub pattern: PatId,
    /// The pattern used for instance 0, so that later ones can refer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<PatId>,
}

/// What stands in operator position. Calls that share it match the same operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpPattern {
    /// Which operators.
    pub choice: OpChoice,
    /// The name of its `op` declaration; none for a plain operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Which operators a call matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpChoice {
    /// One operator.
    Name(String),
    /// Every operator with a trait.
    Trait(String),
    /// One of several operators.
    OneOf(Vec<String>),
}
