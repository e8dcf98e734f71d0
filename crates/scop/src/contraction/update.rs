//! Statements that update one element by an expression: `C[i][j] += A[i][k] * B[k][j]`.
//!
//! Operands are the largest parts of the expression that vary with one group of the target's
//! loops: of `alpha * A[i][k] * B[k][j]` they are `alpha * A[i][k]` and `B[k][j]`. A product that
//! is added to something is taken apart all the same, since a compiler may fuse both operations
//! into one: so it does in the source, and so it shall in the copy.

use lang_c::ast::{
    BinaryOperator, BlockItem, Constant, Expression, ExternalDeclaration, FloatFormat, Statement,
    UnaryOperator,
};
use lang_c::driver::{Config, parse_preprocessed};
use lang_c::span::Node;
use tangram_kernel::{Element, Op};
use tangram_polyhedral::contraction::Update;

use crate::c_tokens::{Token, tokens};

/// Expressions that are deeper are left alone: reading them recurses.
const DEPTH: usize = 32;

/// The texts of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operands {
    /// The element that is updated.
    pub(crate) target: String,
    /// Each operand.
    pub(crate) texts: Vec<String>,
}

/// Reads a statement as an update; nothing if it is none, or its values are of several types.
///
/// `loops`: names of the variables of the loops around it, outermost first. `element`: the type
/// of a variable or of an array's elements.
pub(crate) fn update(
    text: &str,
    loops: &[String],
    element: &dyn Fn(&str) -> Option<String>,
) -> Option<(Update, Operands)> {
    let source = format!("void f(void) {{ {text}; }}");
    let parsed = parse_preprocessed(&Config::default(), source.clone()).ok()?;
    let ExternalDeclaration::FunctionDefinition(function) = &parsed.unit.0.first()?.node else {
        return None;
    };
    let Statement::Compound(items) = &function.node.statement.node else { return None };
    let BlockItem::Statement(statement) = &items.first()?.node else { return None };
    let Statement::Expression(Some(expression)) = &statement.node else { return None };
    let Expression::BinaryOperator(assignment) = &expression.node else { return None };
    let (lhs, rhs) = (&assignment.node.lhs, &assignment.node.rhs);
    let of = |node: &Node<Expression>| source.get(node.span.start..node.span.end);
    let target = of(lhs)?.trim().to_owned();
    let name = tokens(&target).find_map(|(_, token)| match token {
        Token::Name(name) => Some(name.to_owned()),
        Token::Other(_) => None,
    })?;
    let element_type = match element(&name)?.as_str() {
        "double" => Element::F64,
        "float" => Element::F32,
        _ => return None,
    };
    let reader = Reader { source: &source, loops, element, ty: element_type };
    let (value, subtracts) = match assignment.node.operator.node {
        BinaryOperator::AssignPlus => (rhs.as_ref(), false),
        BinaryOperator::AssignMinus => (rhs.as_ref(), true),
        BinaryOperator::Assign => added(rhs, &target, &of)?,
        _ => return None,
    };
    let tree = reader.tree(value, DEPTH)?;
    let used = reader.loops_in(&target);
    let mut found = Found { used: &used, update: Vec::new(), operands: Vec::new() };
    found.split(&tree, true);
    let Found { update: ops, operands, .. } = found;
    let (operands, texts) = operands.into_iter().unzip();
    Some((Update { element: element_type, operands, ops, subtracts }, Operands { target, texts }))
}

/// Finds what an assignment adds to its target: `C = C + e`, `C = C - e`, `C = e + C`.
fn added<'a>(
    value: &'a Node<Expression>,
    target: &str,
    of: &dyn Fn(&Node<Expression>) -> Option<&'a str>,
) -> Option<(&'a Node<Expression>, bool)> {
    let Expression::BinaryOperator(sum) = &value.node else { return None };
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let is_target = |node| of(node).is_some_and(|text| plain(text) == plain(target));
    let (lhs, rhs) = (sum.node.lhs.as_ref(), sum.node.rhs.as_ref());
    match sum.node.operator.node {
        BinaryOperator::Plus if is_target(lhs) => Some((rhs, false)),
        BinaryOperator::Plus if is_target(rhs) => Some((lhs, false)),
        BinaryOperator::Minus if is_target(lhs) => Some((rhs, true)),
        _ => None,
    }
}

/// An expression over numbers of one type and integers.
struct Tree {
    kind: Kind,
    /// Loops in it, with those in subscripts.
    loops: Vec<usize>,
    /// Whether its value is of the type of the target; else it is an integer.
    is_number: bool,
}

enum Kind {
    Text(String),
    Neg(Box<Tree>),
    Binary(Op, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match &self.kind {
            Kind::Text(text) => text.clone(),
            Kind::Neg(inner) => format!("-{}", inner.atom()),
            Kind::Binary(op, a, b) => {
                let sign = match op {
                    Op::Sub => '-',
                    Op::Mul => '*',
                    Op::Div => '/',
                    Op::Add | Op::Neg | Op::Operand(_) => '+',
                };
                format!("{} {sign} {}", a.atom(), b.atom())
            }
        }
    }

    fn atom(&self) -> String {
        match &self.kind {
            Kind::Text(text) => text.clone(),
            _ => format!("({})", self.text()),
        }
    }

    /// Whether a compiler may fuse this with a sum that takes it.
    fn is_product(&self) -> bool {
        match &self.kind {
            Kind::Neg(inner) => inner.is_product(),
            Kind::Binary(op, ..) => *op == Op::Mul,
            Kind::Text(_) => false,
        }
    }
}

struct Reader<'a> {
    source: &'a str,
    loops: &'a [String],
    element: &'a dyn Fn(&str) -> Option<String>,
    ty: Element,
}

impl Reader<'_> {
    fn loops_in(&self, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = tokens(text)
            .filter_map(|(_, token)| match token {
                Token::Name(name) => self.loops.iter().position(|own| own == name),
                Token::Other(_) => None,
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether values of a type are numbers of the target's type, or integers.
    fn is_number(&self, element: &str) -> Option<bool> {
        let words: Vec<&str> = element.split_whitespace().filter(|word| *word != "const").collect();
        match words[..] {
            [word] if word == self.ty.c_type() => Some(true),
            ["int" | "long" | "short" | "char"] => Some(false),
            ["long", "int" | "long"] | ["long", "long", "int"] => Some(false),
            _ => None,
        }
    }

    fn tree(&self, node: &Node<Expression>, depth: usize) -> Option<Tree> {
        let depth = depth.checked_sub(1)?;
        let text = self.source.get(node.span.start..node.span.end)?;
        let leaf = |is_number| {
            let (kind, loops) = (Kind::Text(text.trim().to_owned()), self.loops_in(text));
            Some(Tree { kind, loops, is_number })
        };
        match &node.node {
            Expression::Identifier(id) if self.loops.contains(&id.node.name) => leaf(false),
            Expression::Identifier(id) => leaf(self.is_number(&(self.element)(&id.node.name)?)?),
            Expression::Constant(constant) => match &constant.node {
                Constant::Integer(_) => leaf(false),
                Constant::Float(float) => match (&float.suffix.format, self.ty) {
                    (FloatFormat::Float, Element::F32) | (FloatFormat::Double, Element::F64) => {
                        leaf(true)
                    }
                    _ => None,
                },
                Constant::Character(_) => None,
            },
            Expression::UnaryOperator(unary) => {
                let inner = self.tree(&unary.node.operand, depth)?;
                match unary.node.operator.node {
                    UnaryOperator::Plus => Some(inner),
                    UnaryOperator::Minus => Some(Tree {
                        loops: inner.loops.clone(),
                        is_number: inner.is_number,
                        kind: Kind::Neg(Box::new(inner)),
                    }),
                    _ => None,
                }
            }
            Expression::BinaryOperator(binary) => {
                let op = match binary.node.operator.node {
                    BinaryOperator::Index => {
                        return leaf(self.is_number(&(self.element)(&base(node)?)?)?);
                    }
                    BinaryOperator::Plus => Op::Add,
                    BinaryOperator::Minus => Op::Sub,
                    BinaryOperator::Multiply => Op::Mul,
                    BinaryOperator::Divide => Op::Div,
                    _ => return None,
                };
                let a = self.tree(&binary.node.lhs, depth)?;
                let b = self.tree(&binary.node.rhs, depth)?;
                let mut loops = [a.loops.clone(), b.loops.clone()].concat();
                loops.sort_unstable();
                loops.dedup();
                let is_number = a.is_number || b.is_number;
                Some(Tree { kind: Kind::Binary(op, Box::new(a), Box::new(b)), loops, is_number })
            }
            _ => None,
        }
    }
}

/// The name of the array of an element.
fn base(node: &Node<Expression>) -> Option<String> {
    let mut node = node;
    loop {
        match &node.node {
            Expression::Identifier(id) => return Some(id.node.name.clone()),
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                node = b.node.lhs.as_ref();
            }
            _ => return None,
        }
    }
}

/// Operands and operations as they are found.
struct Found<'a> {
    /// Loops of the target.
    used: &'a [usize],
    update: Vec<Op>,
    operands: Vec<(Vec<usize>, String)>,
}

impl Found<'_> {
    /// Loops of the target in a part.
    fn own(&self, tree: &Tree) -> Vec<usize> {
        tree.loops.iter().copied().filter(|at| self.used.contains(at)).collect()
    }

    /// Whether all of a part varies with loops of one group: of any two operands, the loops of
    /// one are among those of the other.
    fn is_one(&self, tree: &Tree) -> bool {
        let mut sets = Vec::new();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            match &tree.kind {
                Kind::Text(_) => sets.push(self.own(tree)),
                Kind::Neg(inner) => open.push(inner),
                Kind::Binary(_, a, b) => open.extend([a.as_ref(), b.as_ref()]),
            }
        }
        sets.sort_by_key(Vec::len);
        sets.windows(2).all(|pair| pair[0].iter().all(|at| pair[1].contains(at)))
    }

    /// Takes an expression apart; `is_added`: whether a sum takes its value.
    fn split(&mut self, tree: &Tree, is_added: bool) {
        let whole = self.is_one(tree) && !(is_added && tree.is_product());
        match &tree.kind {
            Kind::Neg(inner) if !whole && inner.is_number => {
                self.split(inner, is_added);
                self.update.push(Op::Neg);
            }
            Kind::Binary(op, a, b) if !whole && tree.is_number => {
                let sums = matches!(op, Op::Add | Op::Sub);
                self.split(a, sums);
                self.split(b, sums);
                self.update.push(*op);
            }
            _ => {
                let operand = (tree.loops.clone(), tree.text());
                let known = self.operands.iter().position(|own| *own == operand);
                let at = known.unwrap_or_else(|| {
                    self.operands.push(operand);
                    self.operands.len() - 1
                });
                self.update.push(Op::Operand(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Vec<String>, Vec<Op>, bool)> {
        let loops = ["i", "j", "k"].map(str::to_owned);
        let element = |name: &str| match name {
            "n" => Some("int".to_owned()),
            "f" => Some("float".to_owned()),
            "x" => None,
            _ => Some("double".to_owned()),
        };
        let (update, operands) = update(text, &loops, &element)?;
        Some((operands.texts, update.ops, update.subtracts))
    }

    #[test]
    fn operands_are_as_large_as_can_be() {
        let product = vec![Op::Operand(0), Op::Operand(1), Op::Mul];
        let texts = |all: [&str; 2]| all.map(str::to_owned).to_vec();
        for (text, operands, subtracts) in [
            ("C[i][j] += A[i][k] * B[k][j]", ["A[i][k]", "B[k][j]"], false),
            ("C[i][j] -= alpha * A[i][k] * B[k][j]", ["alpha * A[i][k]", "B[k][j]"], true),
            ("C[i][j] = C[i][j] + A[i][k] * (B[k][j] + 1.0)", ["A[i][k]", "B[k][j] + 1.0"], false),
            ("C[i][j] = n * A[i][k] * B[k][j] + C[i][j]", ["n * A[i][k]", "B[k][j]"], false),
        ] {
            assert_eq!(read(text), Some((texts(operands), product.clone(), subtracts)), "{text}");
        }
    }

    #[test]
    fn what_a_compiler_may_fuse_stays_in_sight() {
        let (texts, ops, _) =
            read("C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k]").expect("one");
        assert_eq!(texts, ["A[j][k] * alpha", "B[i][k]", "B[j][k] * alpha", "A[i][k]"]);
        let [a, b, c, d] = [0, 1, 2, 3].map(Op::Operand);
        assert_eq!(ops, [a, b, Op::Mul, c, d, Op::Mul, Op::Add]);
        // `alpha * A[i][k]` and the sum may become one operation.
        let (texts, ops, _) = read("C[i][j] += alpha * A[i][k] + B[k][j]").expect("one");
        assert_eq!(texts, ["alpha", "A[i][k]", "B[k][j]"]);
        assert_eq!(ops, [a, b, Op::Mul, c, Op::Add]);
    }

    #[test]
    fn values_of_other_types_are_left_alone() {
        for text in [
            "C[i][j] += A[i][k] * f",
            "C[i][j] += A[i][k] * 0.5f * B[k][j]",
            "C[i][j] += A[i][k] * x",
            "C[i][j] += sqrt(A[i][k]) * B[k][j]",
            "C[i][j] += (float)A[i][k] * B[k][j]",
            "C[i][j] *= A[i][k] * B[k][j]",
            "C[i][j] = A[i][k] * B[k][j]",
            "C[i][j] = C[j][i] + A[i][k] * B[k][j]",
            "n += i * j",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
