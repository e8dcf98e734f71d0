//! The tree of a rule file as it is written: names unresolved, sugar kept, every node with its span.

use crate::ast::{BinaryOp, Exactness, UnaryOp};
use crate::diagnostic::Span;

/// A word and where it stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Use(UseItem),
    Rule(RuleItem),
}

#[derive(Clone, Debug)]
pub(crate) struct UseItem {
    pub span: Span,
    pub path: Name,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RuleItem {
    pub span: Span,
    pub doc: Vec<String>,
    pub name: Name,
    pub labels: Vec<Name>,
    pub benefit: Option<u32>,
    pub priority: Option<i32>,
    pub alias: bool,
    pub exactness: Option<Exactness>,
    pub tolerance: Option<f64>,
    pub statements: Vec<Statement>,
    /// A statement could not be read.
    pub broken: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StatementKind {
    Let(Name, Pat),
    Attr(Name, Exp),
    Op(Name, Choice),
    Index(Vec<Name>),
    Match(Vec<Pat>),
    Where(Vec<Exp>),
    Rewrite(Vec<Pat>),
}

#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Trait(Name),
    OneOf(Vec<Name>),
}

/// A pattern as written; `depth` counts the levels below it.
#[derive(Clone, Debug)]
pub(crate) struct Pat {
    pub kind: Box<PatSyntax>,
    pub span: Span,
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum PatSyntax {
    Wildcard,
    /// A number: a constant whose elements all equal it.
    Literal(Exp),
    Const {
        value: Option<Exp>,
        splat: bool,
        attrs: Vec<Attr>,
    },
    Variable(Vec<Attr>),
    Name(Name),
    Call {
        op: Name,
        args: Vec<Pat>,
        attrs: Vec<Attr>,
    },
    Tuple(Vec<Pat>),
    Proj(Pat, Exp),
    Inst(Inst),
    Variadic(VariadicSyntax),
    Alt(Vec<Pat>),
    Not(Pat),
    If(Exp, Pat, Pat),
    Case(Name, Vec<(Name, Pat)>),
    Native {
        name: Name,
        args: Vec<Pat>,
        attrs: Vec<Attr>,
    },
    Binary(BinaryOp, Pat, Pat),
    Neg(Pat),
    Modified(Vec<Modifier>, Pat),
    As(Pat, Name),
}

#[derive(Clone, Debug)]
pub(crate) struct VariadicSyntax {
    pub field: Pat,
    pub templates: Option<Vec<(Name, Option<Name>)>>,
    pub index: Option<Name>,
    pub length: Option<Exp>,
    pub min: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modifier {
    Only,
    Alias,
    Commutative,
    Associative,
}

impl Modifier {
    pub const ALL: [Self; 4] = [Self::Only, Self::Alias, Self::Commutative, Self::Associative];

    pub fn text(self) -> &'static str {
        match self {
            Self::Only => "only",
            Self::Alias => "alias",
            Self::Commutative => "commutative",
            Self::Associative => "associative",
        }
    }
}

/// An instance of a template: `src[w, i]`; of a template that is variadic itself one of its own:
/// `src[u, i][a, j]`.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub variadic: Name,
    /// Which template, and which instance of it, outermost first.
    pub steps: Vec<(Name, Exp)>,
}

impl Inst {
    fn depth_below(&self) -> usize {
        deepest(self.steps.iter().map(|(_, index)| index))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Attr {
    /// `strides = e`
    Field(Name, Exp),
    /// `c.{strides, padding}`
    Copy(Name, Vec<Name>),
    /// `..c`
    Rest(Name),
}

/// An attribute expression as written.
#[derive(Clone, Debug)]
pub(crate) struct Exp {
    pub kind: Box<ExpSyntax>,
    pub span: Span,
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpSyntax {
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(String),
    Any,
    Name(Name),
    Access(Exp, Name),
    Inst(Inst),
    Unary(UnaryOp, Exp),
    Binary(BinaryOp, Exp, Exp),
    In(Exp, Exp),
    Tuple(Vec<Exp>),
    /// `[e for i < n]`
    Comprehension(Exp),
    /// `e for i < n`, inside brackets or a reduction.
    Generator(Exp, Name, Over),
    Proj(Exp, Exp),
    Slice(Exp, [Option<Exp>; 3]),
    Call(Name, Vec<Exp>),
    If(Exp, Exp, Exp),
    Case(Name, Vec<(Name, Exp)>),
    Native(Name, Vec<Exp>),
}

#[derive(Clone, Debug)]
pub(crate) enum Over {
    Below(Exp),
    Fields(Exp),
}

impl Pat {
    pub fn new(kind: PatSyntax, span: Span) -> Self {
        let depth = 1 + kind.depth_below();
        Self { kind: Box::new(kind), span, depth }
    }
}

impl Exp {
    pub fn new(kind: ExpSyntax, span: Span) -> Self {
        let depth = 1 + kind.depth_below();
        Self { kind: Box::new(kind), span, depth }
    }
}

fn deepest<'e>(exps: impl IntoIterator<Item = &'e Exp>) -> usize {
    exps.into_iter().map(|e| e.depth).max().unwrap_or(0)
}

fn deepest_pat<'p>(pats: impl IntoIterator<Item = &'p Pat>) -> usize {
    pats.into_iter().map(|p| p.depth).max().unwrap_or(0)
}

fn deepest_attr(attrs: &[Attr]) -> usize {
    let depth = |attr: &Attr| if let Attr::Field(_, e) = attr { e.depth } else { 0 };
    attrs.iter().map(depth).max().unwrap_or(0)
}

impl PatSyntax {
    fn depth_below(&self) -> usize {
        match self {
            Self::Wildcard | Self::Name(_) => 0,
            Self::Literal(e) => e.depth,
            Self::Const { value, attrs, .. } => deepest(value).max(deepest_attr(attrs)),
            Self::Variable(attrs) => deepest_attr(attrs),
            Self::Call { args, attrs, .. } | Self::Native { args, attrs, .. } => {
                deepest_pat(args).max(deepest_attr(attrs))
            }
            Self::Tuple(pats) | Self::Alt(pats) => deepest_pat(pats),
            Self::Proj(p, e) => p.depth.max(e.depth),
            Self::Inst(inst) => inst.depth_below(),
            Self::Variadic(v) => v.field.depth.max(deepest(&v.length)),
            Self::Not(p) | Self::Neg(p) | Self::Modified(_, p) | Self::As(p, _) => p.depth,
            Self::If(c, a, b) => c.depth.max(a.depth).max(b.depth),
            Self::Case(_, arms) => deepest_pat(arms.iter().map(|(_, p)| p)),
            Self::Binary(_, a, b) => a.depth.max(b.depth),
        }
    }
}

impl ExpSyntax {
    fn depth_below(&self) -> usize {
        match self {
            Self::Int(_) | Self::Float(_) | Self::Bool(_) | Self::Str(_) | Self::Any => 0,
            Self::Name(_) => 0,
            Self::Access(e, _) | Self::Unary(_, e) | Self::Comprehension(e) => e.depth,
            Self::Inst(inst) => inst.depth_below(),
            Self::Binary(_, a, b) | Self::In(a, b) | Self::Proj(a, b) => a.depth.max(b.depth),
            Self::Generator(e, _, Over::Below(n) | Over::Fields(n)) => e.depth.max(n.depth),
            Self::Tuple(es) | Self::Call(_, es) | Self::Native(_, es) => deepest(es),
            Self::Slice(e, bounds) => e.depth.max(deepest(bounds.iter().flatten())),
            Self::If(c, a, b) => c.depth.max(a.depth).max(b.depth),
            Self::Case(_, arms) => deepest(arms.iter().map(|(_, e)| e)),
        }
    }
}
