//! What can go wrong with a schedule tree or a description of accesses.

use thiserror::Error;

use crate::Node;

/// A request that could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation on integer sets failed or ran out of its budget.
    #[error(transparent)]
    Presburger(#[from] tangram_presburger::Error),
    /// A text has the wrong structure.
    #[error("line {line}, column {column}: expected {expected}, found `{found}`")]
    Structure {
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// What could stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A text has a key that means nothing there.
    #[error("line {line}, column {column}: unknown key `{found}`; known keys: {}", known.join(", "))]
    Key {
        /// Line, from 1.
        line: usize,
        /// Column, from 1, in characters.
        column: usize,
        /// The key.
        found: String,
        /// The keys that could stand there.
        known: &'static [&'static str],
    },
    /// A text lacks a key.
    #[error("no key {expected}")]
    MissingKey {
        /// The key, and what it says.
        expected: &'static str,
    },
    /// A set or relation inside a text is not in isl's notation.
    #[error("line {line}, `{key}`: {error}")]
    Notation {
        /// Line of the value, from 1.
        line: usize,
        /// Column in that line, from 1; of the value's start if its parts cannot be told.
        column: usize,
        /// The key that the value belongs to.
        key: String,
        /// What is wrong, with the column inside the value.
        error: tangram_presburger::Error,
    },
    /// The tree breaks a rule of schedule trees.
    #[error("node {}: {fault}", node.index())]
    IllFormed {
        /// The node that is wrong.
        node: Node,
        /// The rule that it breaks.
        fault: Fault,
    },
    /// A statement has an instance that runs several times.
    #[error("an instance of `{statement}` has several points in the schedule")]
    ManyValued {
        /// The statement's name.
        statement: String,
    },
    /// A statement's schedule does not have the form that was asked for.
    #[error("the schedule of `{statement}` is not {expected}")]
    Form {
        /// The statement's name.
        statement: String,
        /// What the form consists of.
        expected: &'static str,
    },
    /// An option of code generation has no meaning for a map.
    #[error(transparent)]
    Option(#[from] OptionFault),
    /// The same, with its place in a text.
    #[error("line {line}, column {column}: {fault}")]
    PlacedOption {
        /// Line of the option, from 1.
        line: usize,
        /// Column of the option, from 1, in characters.
        column: usize,
        /// What is wrong with it.
        fault: OptionFault,
    },
    /// A step of a script was refused.
    #[error("line {line}, column {column}: `{step}`: {error}")]
    Step {
        /// Line of the step, from 1.
        line: usize,
        /// Column of the step, from 1, in characters.
        column: usize,
        /// The step's name.
        step: String,
        /// Why.
        error: Box<Error>,
    },
    /// A loop has no first value, so there is no code.
    #[error(
        "the loop `{iterator}` over {statements} has no first value: intersect the schedule \
             with a set or a context that bounds it"
    )]
    NoFirstValue {
        /// The loop's iterator.
        iterator: String,
        /// The statements in it, by their names.
        statements: String,
    },
    /// A schedule nests deeper than code is generated for.
    #[error("the schedule is deeper than {limit} levels")]
    TooDeep {
        /// The most levels.
        limit: usize,
    },
    /// The tree takes a dependence out of its order.
    #[error("node {}: {violation}", node.index())]
    Illegal {
        /// The node that decides the order.
        node: Node,
        /// What it does.
        violation: Violation,
    },
    /// An operation does not apply to a node.
    #[error("node {}: expected {expected}", node.index())]
    Operand {
        /// The node.
        node: Node,
        /// What the operation needs.
        expected: &'static str,
    },
    /// No affine schedule keeps all pairs in order.
    #[error("no affine schedule carries the dependences that are left")]
    Unschedulable,
}

impl Error {
    /// Returns whether a budget's limit on steps ended the operation, wherever it was.
    pub fn is_limit(&self) -> bool {
        let mut error = self;
        while let Self::Step { error: inner, .. } = error {
            error = inner;
        }
        match error {
            Self::Presburger(error) | Self::Notation { error, .. } => {
                matches!(error, tangram_presburger::Error::Steps { .. })
            }
            _ => false,
        }
    }

    /// Returns line and column, from 1, of what is wrong in the text that was read.
    ///
    /// `nodes` are the places of the nodes of a tree, as [`crate::ScheduleTree::parse_with_places`]
    /// gives them.
    pub fn place(&self, nodes: &[(usize, usize)]) -> Option<(usize, usize)> {
        match self {
            Self::Structure { line, column, .. }
            | Self::Key { line, column, .. }
            | Self::Step { line, column, .. }
            | Self::PlacedOption { line, column, .. }
            | Self::Notation { line, column, .. } => Some((*line, *column)),
            Self::IllFormed { node, .. }
            | Self::Illegal { node, .. }
            | Self::Operand { node, .. } => nodes.get(node.index()).copied(),
            _ => None,
        }
    }

    /// Moves the place in a text to that in a larger one, in which it starts at a line and column.
    pub(crate) fn moved(mut self, first_line: usize, first_column: usize) -> Self {
        if let Self::Structure { line, column, .. }
        | Self::Key { line, column, .. }
        | Self::Notation { line, column, .. } = &mut self
        {
            *column += if *line == 1 { first_column - 1 } else { 0 };
            *line += first_line - 1;
        }
        self
    }

    /// Returns the message without the place that [`Self::place`] gives.
    pub fn without_place(&self) -> String {
        match self {
            Self::Structure { expected, found, .. } => {
                format!("expected {expected}, found `{found}`")
            }
            Self::Key { found, known, .. } => {
                format!("unknown key `{found}`; known keys: {}", known.join(", "))
            }
            Self::Notation { key, error, .. } => match error {
                tangram_presburger::Error::Syntax { expected, found, .. } => {
                    format!("`{key}`: expected {expected}, found `{found}`")
                }
                error => format!("`{key}`: {error}"),
            },
            Self::Step { step, error, .. } => format!("`{step}`: {}", error.without_place()),
            Self::PlacedOption { fault, .. } => fault.to_string(),
            Self::IllFormed { fault, .. } => fault.to_string(),
            Self::Illegal { violation, .. } => violation.to_string(),
            Self::Operand { expected, .. } => format!("expected {expected}"),
            error => error.to_string(),
        }
    }
}

/// How a node breaks the order of dependent instances.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// An instance runs before one that it depends on.
    #[error("member {member} runs an instance before one that it depends on")]
    Backwards {
        /// Position in the band; 0 for the child of a sequence.
        member: usize,
    },
    /// Interchanging members would run an instance before one that it depends on.
    #[error("the band is not permutable: member {member} carries a dependence backwards")]
    Permutable {
        /// Position in the band.
        member: usize,
    },
    /// A parallel loop takes instances apart that depend on each other.
    #[error("member {member} is not coincident: it carries a dependence")]
    Coincident {
        /// Position in the band.
        member: usize,
    },
    /// Children of a set depend on each other.
    #[error("children of a set depend on each other")]
    Unordered,
    /// Instances run at the same time though one depends on the other.
    #[error("instances run at the same time though one depends on the other")]
    Together,
    /// A pair of instances leads from one unit to another, and they do not meet in between.
    #[error(
        "a dependence leads from one unit of `{unit}` to another: map both ends alike, or put a \
         barrier between them"
    )]
    AcrossUnits {
        /// The parameter that stands for the units.
        unit: String,
    },
    /// A statement is mapped to no unit though others are: each unit would run it.
    #[error(
        "`{statement}` is mapped to no unit of `{unit}`, so that all of them run it: map it, too"
    )]
    OnEveryUnit {
        /// The statement's name.
        statement: String,
        /// The parameter that stands for the units.
        unit: String,
    },
}

/// A rule of schedule trees that a node breaks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The root is a node of another kind.
    #[error("the root must be a domain or an extension")]
    Root,
    /// A domain node stands below the root.
    #[error("a domain can only be the root")]
    InnerDomain,
    /// A leaf has children.
    #[error("a leaf has no children")]
    LeafWithChildren,
    /// A node that needs one child has none or several.
    #[error("expected one child, found {found}")]
    Children {
        /// The number of children.
        found: usize,
    },
    /// A sequence or set has no children.
    #[error("a sequence or set needs at least one child")]
    NoChildren,
    /// A child of a sequence or set is not a filter.
    #[error("children of a sequence or set must be filters")]
    NotFilter,
    /// A band has no members.
    #[error("a band needs at least one member")]
    NoMembers,
    /// A band member does not have one dimension.
    #[error("member {member} must map instances to one dimension")]
    MemberSpace {
        /// Position in the band.
        member: usize,
    },
    /// A band member gives an instance several values.
    #[error("member {member} gives an instance more than one value")]
    MemberManyValued {
        /// Position in the band.
        member: usize,
    },
    /// A band member gives an instance that reaches the band no value.
    #[error("member {member} gives no value to some instances that reach the band")]
    MemberPartial {
        /// Position in the band.
        member: usize,
    },
    /// Context, guard or extension are not over the outer schedule dimensions.
    #[error("expected {expected} outer schedule dimensions, found {found}")]
    OuterDimensions {
        /// Members of all bands above.
        expected: usize,
        /// Dimensions of the set or of the extension's inputs.
        found: usize,
    },
    /// A set stands where a relation belongs, or the other way round.
    #[error("expected {expected}")]
    Shape {
        /// What the node holds.
        expected: &'static str,
    },
    /// Instances that the domain has do not reach the node that should run them.
    #[error("instances of the domain are filtered out on their way here")]
    Lost,
    /// A contraction is not a function.
    #[error("a contraction gives each expanded instance one instance")]
    ContractionManyValued,
    /// Expansion and contraction do not belong together.
    #[error("the expansion is not part of the inverse of the contraction")]
    ExpansionMismatch,
    /// An instance that reaches the node has no expansion.
    #[error("some instances that reach the node have no expansion")]
    ExpansionPartial,
    /// A parameter is used outside the subtree of the context that introduces it.
    #[error("parameter `{name}` is not known here: a domain or context above must introduce it")]
    Parameter {
        /// The parameter.
        name: String,
    },
    /// An option of a band has no meaning.
    #[error(transparent)]
    Option(#[from] OptionFault),
    /// A mark has no name.
    #[error("a mark needs a name")]
    NamelessMark,
}

/// Why an option of code generation would have no effect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OptionFault {
    /// Nothing has the name.
    #[error("there is no option `{name}` here; options are {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names that could stand there.
        known: &'static [&'static str],
    },
    /// A part of the option is for a dimension that is not there.
    #[error(
        "`{option}` is for no {what}: there {} {count}, counted from 0",
        if *count == 1 { "is" } else { "are" }
    )]
    Absent {
        /// The option's name.
        name: String,
        /// The part that is for none.
        option: String,
        /// How many dimensions there are.
        count: usize,
        /// What they are called.
        what: &'static str,
    },
    /// The option is for points that the map does not have; code is generated without it.
    #[error("`{option}` has no effect: the points of the map are `{expected}`")]
    Elsewhere {
        /// The option's name.
        name: String,
        /// The option as it stands.
        option: String,
        /// The points of the map.
        expected: String,
    },
    /// The option does not have the shape of those with its name.
    #[error("`{option}`: expected {expected}")]
    Form {
        /// The option's name.
        name: String,
        /// The option as it stands.
        option: String,
        /// What it could be.
        expected: String,
    },
}

impl OptionFault {
    /// Returns the byte offset of the option in the text that it was read from.
    pub fn place_in(&self, text: &str) -> Option<usize> {
        let (Self::Unknown { name, .. }
        | Self::Absent { name, .. }
        | Self::Elsewhere { name, .. }
        | Self::Form { name, .. }) = self;
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let whole = |at: &usize| {
            let (before, after) = (&text[..*at], &text[*at + name.len()..]);
            !before.ends_with(part) && after.trim_start().starts_with('[')
        };
        match name.is_empty() {
            true => None,
            false => text.match_indices(name.as_str()).map(|(at, _)| at).find(whole),
        }
    }
}
