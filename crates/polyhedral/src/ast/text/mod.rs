//! Generated code as C.

pub(super) mod cuda;
mod expression;
mod loop_names;
mod split;
mod threads;
mod widths;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};
use std::rc::Rc;

use super::{Ast, AstNode, AstNodeKind, Expr, ExprKind};
use expression::Strength;
pub use split::SplitLoop;
use widths::Known;
pub use widths::ParamType;

/// How C is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CStyle {
    /// The type of loop iterators.
    pub index: String,
    /// What the names of iterators start with; the number of the dimension follows, and
    /// `_` where a parameter has that name.
    pub iterator: String,
    /// Iterators with names of their own, by the dimension, as
    /// [`Ast::carried_dimensions`] finds them.
    pub names: BTreeMap<u32, String>,
    /// Parameters that are written in another way, such as with a cast.
    pub params: HashMap<String, String>,
    /// The types of parameters, as they are written: what may overflow in them is computed in 64
    /// bits. Without any, nothing is known to be too narrow; one that is missing has 64 bits of
    /// values, and no type of so many.
    pub types: HashMap<String, ParamType>,
    /// What stands before `floord`, `min` and `max`, where these names mean something else.
    pub prefix: String,
    /// How often the text is indented to begin with.
    pub depth: usize,
    /// One indentation.
    pub indent: String,
    /// Whether outermost coincident loops get an OpenMP pragma.
    pub parallel: bool,
    /// Instances from which on such a loop runs on several threads; 0 if all do.
    pub threads_from: u64,
    /// When loops around statements run on several threads, as C, for statements whose calls stand for
    /// many instances: empty if always.
    pub shared_where: HashMap<String, String>,
    /// Whether innermost coincident loops get a hint to vectorise.
    pub vectorize: bool,
    /// The hint: a line in front of the loop.
    pub hint: String,
    /// Variables that each statement writes and of which each thread needs its own.
    pub private: HashMap<String, Vec<String>>,
    /// Loops of the code that run iterations `first0` up to `last0`, exclusive, counted from 0 and
    /// with the number of the dimension: variables that whoever writes the rest declares.
    pub split: Vec<SplitLoop>,
}

impl Default for CStyle {
    fn default() -> Self {
        Self {
            index: "int64_t".into(),
            iterator: "c".into(),
            names: BTreeMap::new(),
            params: HashMap::new(),
            types: HashMap::new(),
            prefix: String::new(),
            depth: 0,
            indent: "  ".into(),
            parallel: false,
            threads_from: 0,
            shared_where: HashMap::new(),
            vectorize: false,
            hint: "#pragma omp simd".into(),
            private: HashMap::new(),
            split: Vec::new(),
        }
    }
}

/// Writes the statements of generated code.
pub trait Statements {
    /// Writes an instance: the name of its statement and the text of its arguments.
    fn instance(&self, name: &str, arguments: &[String]) -> String;

    /// Returns whether arguments of a statement must be of a type of 64 bits, as more is computed with
    /// them.
    fn needs_wide(&self, _name: &str) -> bool {
        false
    }

    /// Says what to keep in local variables during a loop over `iterator` whose iterations
    /// depend on each other; `lines` are the instances in its body. Nothing by default.
    fn kept(&self, _iterator: &str, _lines: &[String]) -> Option<Kept> {
        None
    }
}

impl<F: Fn(&str, &[String]) -> String> Statements for F {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        self(name, arguments)
    }
}

/// A loop whose body uses local variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Declarations in front of the loop; they run only if it has an iteration.
    pub before: Vec<String>,
    /// The body.
    pub body: Vec<String>,
    /// What follows the loop.
    pub after: Vec<String>,
}

/// The definitions that the generated text uses: rounding down, least and greatest.
///
/// Operands are evaluated several times; no step leaves the type for operands that fit.
pub const MACROS: &str = "\
#define floord(n, d) ((n) / (d) - ((n) % (d) < 0))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
";

impl fmt::Display for Ast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_c(&CStyle::default()))
    }
}

/// What is left to write.
enum Piece {
    /// A node at a depth, what is around it, and what is known there.
    Node(AstNode, usize, Around, Rc<Known>),
    Text(String),
}

/// The loops around a piece of code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Loops,
    /// Loops of which one runs on several threads.
    Threads,
}

impl Ast {
    /// Writes loops, conditions and calls as C statements.
    ///
    /// The text uses `floord`, `min` and `max`, see [`Self::macros`], and calls
    /// statements by their names.
    pub fn to_c(&self, style: &CStyle) -> String {
        let call = |name: &str, arguments: &[String]| format!("{name}({});", arguments.join(", "));
        self.to_c_with(style, &call)
    }

    /// Writes C as [`Self::to_c`] does, with `statements` in the place of calls: a function
    /// of the name of a statement and the text of its arguments, or more.
    pub fn to_c_with(&self, style: &CStyle, statements: &dyn Statements) -> String {
        Writer::new(self, style, statements).all()
    }

    /// Returns the definitions that the text of [`Self::to_c`] may use.
    pub fn macros() -> &'static str {
        MACROS
    }

    /// Writes an expression.
    pub fn text(&self, expr: Expr) -> String {
        let none = |_: &str, _: &[String]| String::new();
        Writer::new(self, &CStyle::default(), &none).text(expr)
    }

    /// Names the iterator of the loop over a dimension of the schedule, as the text does.
    pub fn iterator(&self, dimension: u32) -> String {
        let none = |_: &str, _: &[String]| String::new();
        Writer::new(self, &CStyle::default(), &none).iterator(dimension)
    }
}

struct Writer<'a> {
    ast: &'a Ast,
    style: &'a CStyle,
    statements: &'a dyn Statements,
    /// What is known of values where the text is written.
    known: RefCell<Rc<Known>>,
    /// Whether a value may not fit into 64 bits.
    exceeds: Cell<bool>,
    /// Whether a value may not fit into 32 bits.
    exceeds_int: Cell<bool>,
}

impl<'a> Writer<'a> {
    fn new(ast: &'a Ast, style: &'a CStyle, statements: &'a dyn Statements) -> Self {
        let known = RefCell::new(Rc::new(Known::of(ast, style)));
        let (exceeds, exceeds_int) = (Cell::new(false), Cell::new(false));
        Self { ast, style, statements, known, exceeds, exceeds_int }
    }
}

impl Writer<'_> {
    /// Writes all code.
    fn all(&self) -> String {
        let mut text = String::new();
        let known = self.known.borrow().clone();
        let first = self.ast.root();
        let mut open: Vec<Piece> = first
            .map(|root| Piece::Node(root, self.style.depth, Around::Nothing, known))
            .into_iter()
            .collect();
        while let Some(piece) = open.pop() {
            match piece {
                Piece::Text(part) => text.push_str(&part),
                Piece::Node(node, depth, around, known) => {
                    let mut parts = self.with_known(known, || self.pieces(node, depth, around));
                    parts.reverse();
                    open.extend(parts);
                }
            }
        }
        text
    }

    fn pieces(&self, node: AstNode, depth: usize, around: Around) -> Vec<Piece> {
        let style = self.style;
        let indent = style.indent.repeat(depth);
        match self.ast.node(node) {
            AstNodeKind::For { iterator, lower, upper, step, coincident, body } => {
                let mut head = String::new();
                // Threads that start and end for one innermost loop cost more than they save.
                let worthwhile = match around {
                    Around::Nothing => true,
                    Around::Loops => !self.innermost(*body),
                    Around::Threads => false,
                };
                let outer = *coincident && style.parallel && worthwhile && upper.is_some();
                let condition = match style.threads_from {
                    _ if !outer => None,
                    0 => Some(String::new()),
                    _ => self.has_work(node),
                };
                let outer = condition.is_some();
                let hinted = !outer
                    && *coincident
                    && style.vectorize
                    && self.innermost(*body)
                    && (style.parallel || !self.is_least(*upper));
                let private = if *coincident { self.private(*body) } else { Vec::new() };
                if outer {
                    let _ = write!(head, "{indent}#pragma omp parallel for");
                    if let Some(condition) = condition.filter(|condition| !condition.is_empty()) {
                        let _ = write!(head, " if ({condition})");
                    }
                    if !private.is_empty() {
                        let _ = write!(head, " private({})", private.join(", "));
                    }
                    // Iterations of different length are shared out as they end.
                    let even = !self.ast.bounds_use(*body, *iterator);
                    head.push_str(if even { "\n" } else { " schedule(dynamic)\n" });
                } else if hinted && private.is_empty() {
                    let _ = writeln!(head, "{indent}{}", style.hint);
                }
                if let Some(upper) = upper.filter(|_| outer || hinted) {
                    self.note_count((*lower, upper), *step);
                }
                let (name, index) = (self.iterator(*iterator), &style.index);
                let inner = self.in_loop(node);
                let split =
                    upper.and_then(|upper| self.split_head(*iterator, (*lower, upper), *step));
                if let Some(split) = split {
                    let _ = write!(head, "{indent}{split}");
                    let mut parts = vec![Piece::Text(head)];
                    parts.extend(self.braced(*body, depth, Around::Loops, inner));
                    parts.push(Piece::Text("\n".into()));
                    return self.trim(parts);
                }
                let kept = || self.with_known(inner.clone(), || self.kept(&name, *body));
                if let Some(upper) = upper.filter(|_| !coincident)
                    && let Some(kept) = kept()
                {
                    let text = self.with_kept((&name, *lower, upper, *step), &kept, depth);
                    return vec![Piece::Text(text)];
                }
                let lower = self.text(*lower);
                let test = upper.map_or("1".into(), |upper| format!("{name} {}", self.end(upper)));
                let _ = write!(
                    head,
                    "{indent}for ({index} {name} = {lower}; {test}; {name} += {step})"
                );
                let mut parts = vec![Piece::Text(head)];
                let threads = outer || around == Around::Threads;
                let inside = if threads { Around::Threads } else { Around::Loops };
                parts.extend(self.braced(*body, depth, inside, inner));
                parts.push(Piece::Text("\n".into()));
                self.trim(parts)
            }
            AstNodeKind::If { .. } => {
                let mut parts = self.choice(node, depth, around);
                parts.push(Piece::Text("\n".into()));
                self.trim(parts)
            }
            AstNodeKind::Block(list) => {
                let known = || self.known.borrow().clone();
                list.iter().map(|part| Piece::Node(*part, depth, around, known())).collect()
            }
            AstNodeKind::Mark { name, body } => {
                let name = tangram_target::comment(name);
                let head = format!("{indent}/* {name} */\n");
                let known = self.known.borrow().clone();
                vec![Piece::Text(head), Piece::Node(*body, depth, around, known)]
            }
            AstNodeKind::Call { statement, arguments } => {
                let text = self.instance(statement, arguments);
                let lines = text.lines().map(|line| format!("{indent}{line}\n"));
                vec![Piece::Text(lines.collect())]
            }
        }
    }

    /// Says whether a loop ends at the least of several values: gcc warns that it ignores a hint
    /// there, and checks by itself.
    fn is_least(&self, upper: Option<Expr>) -> bool {
        upper.is_some_and(|upper| self.text(upper).contains("min("))
    }

    fn instance(&self, statement: &str, arguments: &[Expr]) -> String {
        let wide = self.statements.needs_wide(statement);
        let arguments: Vec<String> = arguments
            .iter()
            .map(|a| if wide { self.wide_text(*a) } else { self.text(*a) })
            .collect();
        self.statements.instance(statement, &arguments)
    }

    /// Asks what a loop keeps in local variables, if its body is nothing but instances.
    fn kept(&self, iterator: &str, body: AstNode) -> Option<Kept> {
        let mut lines = Vec::new();
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            match self.ast.node(node) {
                AstNodeKind::Block(parts) => open.extend(parts.iter().rev()),
                AstNodeKind::Call { statement, arguments } => {
                    lines.push(self.instance(statement, arguments));
                }
                _ => return None,
            }
        }
        self.statements.kept(iterator, &lines)
    }

    /// Writes a loop with local variables around it.
    fn with_kept(
        &self,
        (name, lower, upper, step): (&str, Expr, Expr, i128),
        kept: &Kept,
        depth: usize,
    ) -> String {
        let indents = [0, 1, 2].map(|more| self.style.indent.repeat(depth + more));
        let [outer, middle, inner] = &indents;
        let (first, end) = (self.operand(lower, Strength::Sum), self.end(upper));
        let head = match (self.ast.expr(lower), self.ast.expr(upper)) {
            (ExprKind::Int(lower), ExprKind::Int(upper)) if lower <= upper => String::new(),
            _ => format!("if ({first} {end}) "),
        };
        let mut text = format!("{outer}{head}{{\n");
        for line in &kept.before {
            let _ = writeln!(text, "{middle}{line}");
        }
        let (index, lower) = (&self.style.index, self.text(lower));
        let (open, close) = if kept.body.len() > 1 { (" {", true) } else { ("", false) };
        let _ = writeln!(
            text,
            "{middle}for ({index} {name} = {lower}; {name} {end}; {name} += {step}){open}"
        );
        for line in &kept.body {
            let _ = writeln!(text, "{inner}{line}");
        }
        if close {
            let _ = writeln!(text, "{middle}}}");
        }
        for line in &kept.after {
            let _ = writeln!(text, "{middle}{line}");
        }
        let _ = writeln!(text, "{outer}}}");
        text
    }

    /// Writes where a loop ends: `<= n - 1` as `< n`.
    fn end(&self, upper: Expr) -> String {
        if let ExprKind::Sub(a, b) = self.ast.expr(upper)
            && let ExprKind::Int(size) = self.ast.expr(*b)
        {
            let left = self.operand(*a, Strength::Sum);
            return match size - 1 {
                0 => format!("< {left}"),
                more if self.is_narrow_below(*a, more) => format!("< {left} - {more}"),
                more => format!("< {left} - {more}LL"),
            };
        }
        format!("<= {}", self.operand(upper, Strength::Sum))
    }

    /// Writes a body; several statements get braces.
    fn braced(&self, body: AstNode, depth: usize, around: Around, known: Rc<Known>) -> Vec<Piece> {
        let inner = Piece::Node(body, depth + 1, around, known);
        match self.unmarked(body) {
            AstNodeKind::Block(_) => vec![
                Piece::Text(" {\n".into()),
                inner,
                Piece::Text(format!("{}}}", self.style.indent.repeat(depth))),
            ],
            _ => vec![Piece::Text("\n".into()), inner],
        }
    }

    /// What stands under marks, which are comments in C.
    fn unmarked(&self, mut node: AstNode) -> &AstNodeKind {
        while let AstNodeKind::Mark { body, .. } = self.ast.node(node) {
            node = *body;
        }
        self.ast.node(node)
    }

    /// Writes a condition and, in lines of the same depth, those that stand behind its `else`.
    fn choice(&self, mut node: AstNode, depth: usize, around: Around) -> Vec<Piece> {
        let indent = self.style.indent.repeat(depth);
        let (mut parts, mut before) = (Vec::new(), indent.clone());
        let mut known = self.known.borrow().clone();
        while let AstNodeKind::If { condition, then, otherwise } = self.ast.node(node) {
            let [holds, fails] = [true, false].map(|holds| {
                self.with_known(known.clone(), || self.where_holds(*condition, holds))
            });
            let condition = self.with_known(known.clone(), || self.text(*condition));
            parts.push(Piece::Text(format!("{before}if ({condition})")));
            let open_if = otherwise.is_some() && self.takes_else(*then);
            if open_if {
                parts.push(Piece::Text(" {\n".into()));
                parts.push(Piece::Node(*then, depth + 1, around, holds));
                parts.push(Piece::Text(format!("{indent}}}")));
            } else {
                parts.extend(self.braced(*then, depth, around, holds));
            }
            let Some(other) = otherwise else { break };
            let braces = matches!(self.unmarked(*then), AstNodeKind::Block(_)) || open_if;
            before = if braces { " else ".into() } else { format!("{indent}else ") };
            (node, known) = (*other, fails);
            if !matches!(self.ast.node(node), AstNodeKind::If { .. }) {
                parts.push(Piece::Text(before.trim_end().into()));
                parts.extend(self.braced(node, depth, around, known));
                break;
            }
        }
        parts
    }

    /// Whether an `else` behind this text, which has no braces around it, belonged to it.
    fn takes_else(&self, mut node: AstNode) -> bool {
        loop {
            match self.unmarked(node) {
                AstNodeKind::If { .. } => return true,
                // Its local variables are inside an `if` of their own.
                AstNodeKind::For { iterator, coincident: false, body, .. }
                    if self.kept(&self.iterator(*iterator), *body).is_some() =>
                {
                    return true;
                }
                AstNodeKind::For { body, .. } => node = *body,
                _ => return false,
            }
        }
    }

    /// A body without braces ends its own line already.
    fn trim(&self, mut parts: Vec<Piece>) -> Vec<Piece> {
        let ended = parts.len() >= 2 && matches!(parts[parts.len() - 2], Piece::Node(..));
        if ended {
            parts.pop();
        }
        parts
    }

    /// Lists variables of which each thread needs its own where the body of a loop runs.
    fn private(&self, body: AstNode) -> Vec<&str> {
        let mut found = Vec::new();
        if self.style.private.is_empty() {
            return found;
        }
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            if let AstNodeKind::Call { statement, .. } = self.ast.node(node) {
                let names = self.style.private.get(statement).into_iter().flatten();
                found.extend(names.map(String::as_str));
            }
            open.extend(self.ast.children(node));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn innermost(&self, body: AstNode) -> bool {
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            if matches!(self.ast.node(node), AstNodeKind::For { .. }) {
                return false;
            }
            open.extend(self.ast.children(node));
        }
        true
    }
}
