//! Affine expressions, made in an arena and simplified as they are made.
//!
//! An [`AffineExprs`] holds each expression once: equal expressions of one arena have equal
//! handles, and operands come before what uses them, so that every walk is a loop over nodes. The
//! constructors apply the local identities that MLIR's `AffineExpr` applies, in its order, because
//! the text that `mlir-opt` prints depends on them: numbers and symbols go to the right of sums
//! and products, `x * 2 + x * 3` is `x * 5`, `e - (e floordiv q) * q` is `e mod q`, and a sum is
//! divided term by term where one part is a multiple of the divisor.
//!
//! Quotients round down (`floordiv`) or up (`ceildiv`), and `mod` is never negative. Arithmetic on
//! numbers that does not fit in 64 bits leaves the operation as it is.
//!
//! These are affine and keep MLIR's form. Polynomials of named symbols with one form for each value
//! are those of `symbolic/expr`; the sums of `simplify` exist during simplification alone.
//!
//! # Source
//! The rules follow the documentation of MLIR's affine dialect; what is printed is tested against
//! `mlir-opt`.

use rustc_hash::FxHashMap;

/// A handle of an expression of one [`AffineExprs`], or of one map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AffineExpr(pub(crate) u32);

impl AffineExpr {
    /// Its place among the nodes of its arena or map.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What joins two expressions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a * b`; one of the two has no dimensions.
    Mul,
    /// `a floordiv b`: rounded down.
    FloorDiv,
    /// `a ceildiv b`: rounded up.
    CeilDiv,
    /// `a mod b`: at least 0.
    Mod,
}

/// What an expression is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// A dimension, by number.
    Dim(u32),
    /// A symbol, by number: constant while the code around runs.
    Symbol(u32),
    /// A number.
    Constant(i64),
    /// Two expressions that were made before.
    Binary(BinaryOp, AffineExpr, AffineExpr),
}

/// What is known of an expression without a walk.
#[derive(Clone, Copy, Debug)]
struct Summary {
    /// A number that divides every value.
    divisor: u64,
    /// How many nodes its text has, counted each time they occur.
    size: u32,
    /// Whether there are no dimensions in it.
    symbolic: bool,
    /// Whether factors and divisors are numbers.
    pure: bool,
}

/// Up to this many nodes are looked through one by one.
const SCANNED: usize = 16;

/// An arena of affine expressions.
#[derive(Clone, Default, Debug)]
pub struct AffineExprs {
    nodes: Vec<Node>,
    summaries: Vec<Summary>,
    index: FxHashMap<Node, AffineExpr>,
}

impl AffineExprs {
    /// An arena without expressions.
    pub fn new() -> AffineExprs {
        AffineExprs::default()
    }

    /// Forgets all expressions, and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.summaries.clear();
        self.index.clear();
    }

    /// What `expr` is made of.
    pub fn node(&self, expr: AffineExpr) -> Node {
        self.nodes[expr.0 as usize]
    }

    /// Dimension number `i`.
    pub fn dim(&mut self, i: u32) -> AffineExpr {
        self.intern(Node::Dim(i))
    }

    /// Symbol number `i`.
    pub fn symbol(&mut self, i: u32) -> AffineExpr {
        self.intern(Node::Symbol(i))
    }

    /// A number.
    pub fn constant(&mut self, value: i64) -> AffineExpr {
        self.intern(Node::Constant(value))
    }

    /// The number that `expr` is, if it is one.
    pub fn as_constant(&self, expr: AffineExpr) -> Option<i64> {
        match self.node(expr) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Whether no dimension occurs in `expr`.
    pub fn is_symbolic(&self, expr: AffineExpr) -> bool {
        self.summary(expr).symbolic
    }

    /// Whether all factors and divisors in `expr` are numbers, as Presburger arithmetic wants it.
    pub fn is_pure(&self, expr: AffineExpr) -> bool {
        self.summary(expr).pure
    }

    /// A number that divides every value of `expr`; 0 for the number 0.
    pub fn known_divisor(&self, expr: AffineExpr) -> u64 {
        self.summary(expr).divisor
    }

    /// How many nodes the text of `expr` has; saturates.
    pub fn size(&self, expr: AffineExpr) -> u32 {
        self.summary(expr).size
    }

    /// `a op b`. A product of two dimensions and a division by one are made as asked for, too:
    /// readers refuse them.
    pub fn binary(&mut self, op: BinaryOp, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        match op {
            BinaryOp::Add => self.add(a, b),
            BinaryOp::Mul => self.mul(a, b),
            BinaryOp::FloorDiv => self.floor_div(a, b),
            BinaryOp::CeilDiv => self.ceil_div(a, b),
            BinaryOp::Mod => self.modulo(a, b),
        }
    }

    /// `a + b`.
    pub fn add(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        let (a, b) = self.numbers_last(a, b);
        // A sum on the left is looked into along its right operands: what stands left of them is
        // added again to what the sum with `b` becomes.
        let (mut left_of, mut at) = (Vec::new(), a);
        loop {
            let ordered = self.numbers_last(at, b);
            let sum = match ordered == (at, b) {
                true => self.simplified_sum(at, b),
                // Not at the top, where they are in order.
                false => Some(self.add(ordered.0, ordered.1)),
            };
            if let Some(mut sum) = sum {
                while let Some(left) = left_of.pop() {
                    sum = self.add(left, sum);
                }
                return sum;
            }
            match self.node(at) {
                Node::Binary(BinaryOp::Add, left, right) if self.may_become_mod(b) => {
                    left_of.push(left);
                    at = right;
                }
                _ => break,
            }
        }
        self.intern(Node::Binary(BinaryOp::Add, a, b))
    }

    /// `a - b`.
    pub fn sub(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        let b = self.neg(b);
        self.add(a, b)
    }

    /// `-a`.
    pub fn neg(&mut self, a: AffineExpr) -> AffineExpr {
        let minus = self.constant(-1);
        self.mul(a, minus)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        use BinaryOp::Mul;
        let (mut a, mut b) = (a, b);
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return match x.checked_mul(y) {
                Some(product) => self.constant(product),
                None => self.intern(Node::Binary(Mul, a, b)),
            };
        }
        if !self.is_symbolic(b) || self.as_constant(a).is_some() {
            (a, b) = (b, a);
            if !self.is_symbolic(b) {
                return self.intern(Node::Binary(Mul, b, a));
            }
        }
        if let (Node::Symbol(i), Node::Symbol(j)) = (self.node(a), self.node(b))
            && i > j
        {
            (a, b) = (b, a);
        }
        match self.as_constant(b) {
            Some(1) => return a,
            Some(0) => return b,
            _ => {}
        }
        if let Node::Binary(Mul, x, factor) = self.node(a)
            && let Some(p) = self.as_constant(factor)
        {
            match self.as_constant(b) {
                Some(q) => {
                    if let Some(product) = p.checked_mul(q) {
                        let product = self.constant(product);
                        return self.mul(x, product);
                    }
                }
                None => {
                    let inner = self.mul(x, b);
                    return self.mul(inner, factor);
                }
            }
        }
        self.intern(Node::Binary(Mul, a, b))
    }

    /// `a floordiv b`.
    pub fn floor_div(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        enum Task {
            Divide(AffineExpr),
            Add,
        }
        let Some(by) = self.as_constant(b).filter(|&by| by != 0) else {
            return self.intern(Node::Binary(BinaryOp::FloorDiv, a, b));
        };
        let (mut tasks, mut done) = (vec![Task::Divide(a)], Vec::new());
        while let Some(task) = tasks.pop() {
            match task {
                Task::Divide(e) => match self.node(e) {
                    Node::Binary(BinaryOp::Add, left, right)
                        if by != 1 && (self.divides(by, left) || self.divides(by, right)) =>
                    {
                        tasks.extend([Task::Add, Task::Divide(right), Task::Divide(left)]);
                    }
                    _ => done.push(self.quotient(BinaryOp::FloorDiv, e, by, floor_div)),
                },
                Task::Add => {
                    if let (Some(right), Some(left)) = (done.pop(), done.pop()) {
                        done.push(self.add(left, right));
                    }
                }
            }
        }
        done.pop().unwrap_or(a)
    }

    /// `a ceildiv b`.
    pub fn ceil_div(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        match self.as_constant(b).filter(|&by| by != 0) {
            Some(by) => self.quotient(BinaryOp::CeilDiv, a, by, ceil_div),
            None => self.intern(Node::Binary(BinaryOp::CeilDiv, a, b)),
        }
    }

    /// `a mod b`.
    pub fn modulo(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        let Some(by) = self.as_constant(b).filter(|&by| by >= 1) else {
            return self.intern(Node::Binary(BinaryOp::Mod, a, b));
        };
        let mut a = a;
        loop {
            if let Some(value) = self.as_constant(a) {
                return self.constant(value.rem_euclid(by));
            }
            if self.divides(by, a) {
                return self.constant(0);
            }
            a = match self.node(a) {
                Node::Binary(BinaryOp::Add, left, right) if self.divides(by, left) => right,
                Node::Binary(BinaryOp::Add, left, right) if self.divides(by, right) => left,
                Node::Binary(BinaryOp::Mod, left, inner)
                    if self.as_constant(inner).is_some_and(|inner| inner >= 1)
                        && self.divides(by, inner) =>
                {
                    left
                }
                _ => return self.intern(Node::Binary(BinaryOp::Mod, a, b)),
            };
        }
    }
}

/// Steps of the constructors.
impl AffineExprs {
    /// Numbers go to the right of a sum, symbols to the right of dimensions; of two dimensions or
    /// two symbols the one with the lower number comes first.
    fn numbers_last(&self, a: AffineExpr, b: AffineExpr) -> (AffineExpr, AffineExpr) {
        let number = |e| self.as_constant(e).is_some();
        let swap = match (self.node(a), self.node(b)) {
            (Node::Dim(i), Node::Dim(j)) | (Node::Symbol(i), Node::Symbol(j)) => i > j,
            _ => number(a) && !number(b) || self.is_symbolic(a) && !self.is_symbolic(b),
        };
        if swap { (b, a) } else { (a, b) }
    }

    /// What `a + b` becomes, if it is anything but that sum.
    fn simplified_sum(&mut self, a: AffineExpr, b: AffineExpr) -> Option<AffineExpr> {
        let number = self.as_constant(b);
        if let Some(q) = number {
            if q == 0 {
                return Some(a);
            }
            if let Some(p) = self.as_constant(a) {
                return Some(self.constant(p.checked_add(q)?));
            }
            if let Some((x, p)) = self.sum_with_number(a) {
                let sum = self.constant(p.checked_add(q)?);
                return Some(self.add(x, sum));
            }
        }
        let ((x, p), (y, q)) = (self.term(a), self.term(b));
        if x == y {
            let factor = self.constant(p.checked_add(q)?);
            return Some(self.mul(x, factor));
        }
        if let (Some((x, p)), None) = (self.sum_with_number(a), number) {
            let (sum, number) = (self.add(x, b), self.constant(p));
            return Some(self.add(sum, number));
        }
        let q = self.minus_quotient_times(b, a)?;
        Some(self.modulo(a, q))
    }

    /// Whether `b` is `(_ floordiv q) * -q`, of which a term may make a remainder.
    fn may_become_mod(&self, b: AffineExpr) -> bool {
        let Node::Binary(BinaryOp::Mul, left, _) = self.node(b) else { return false };
        matches!(self.node(left), Node::Binary(BinaryOp::FloorDiv, ..))
    }

    /// The `q` for which `b` is `(e floordiv q) * -q`.
    fn minus_quotient_times(&self, b: AffineExpr, e: AffineExpr) -> Option<AffineExpr> {
        let Node::Binary(BinaryOp::Mul, left, factor) = self.node(b) else { return None };
        let factor = self.as_constant(factor)?;
        if factor == -1
            && let Node::Binary(BinaryOp::Mul, quotient, q) = self.node(left)
            && let Node::Binary(BinaryOp::FloorDiv, of, by) = self.node(quotient)
        {
            return (of == e && by == q).then_some(q);
        }
        let Node::Binary(BinaryOp::FloorDiv, of, by) = self.node(left) else { return None };
        let q = self.as_constant(by)?;
        (of == e && q > 0 && q.checked_neg() == Some(factor)).then_some(by)
    }

    /// `a` as an expression and its constant factor.
    fn term(&self, a: AffineExpr) -> (AffineExpr, i64) {
        if let Node::Binary(BinaryOp::Mul, x, factor) = self.node(a)
            && let Some(p) = self.as_constant(factor)
        {
            return (x, p);
        }
        (a, 1)
    }

    /// `(x, p)` where `a` is `x + p`.
    fn sum_with_number(&self, a: AffineExpr) -> Option<(AffineExpr, i64)> {
        match self.node(a) {
            Node::Binary(BinaryOp::Add, x, p) => Some((x, self.as_constant(p)?)),
            _ => None,
        }
    }

    fn divides(&self, by: i64, e: AffineExpr) -> bool {
        self.known_divisor(e).is_multiple_of(by.unsigned_abs())
    }

    /// `a / by`, where `by` is not 0.
    fn quotient(
        &mut self,
        op: BinaryOp,
        a: AffineExpr,
        by: i64,
        divide: fn(i64, i64) -> Option<i64>,
    ) -> AffineExpr {
        if let Some(value) = self.as_constant(a).and_then(|value| divide(value, by)) {
            return self.constant(value);
        }
        if by == 1 {
            return a;
        }
        if let Node::Binary(BinaryOp::Mul, x, factor) = self.node(a)
            && let Some(p) = self.as_constant(factor)
            && p.checked_rem(by) == Some(0)
        {
            let factor = self.constant(p / by);
            return self.mul(x, factor);
        }
        let by = self.constant(by);
        self.intern(Node::Binary(op, a, by))
    }

    fn summary(&self, expr: AffineExpr) -> Summary {
        self.summaries[expr.0 as usize]
    }

    /// The expression made of `node`, as it is.
    pub(crate) fn intern(&mut self, node: Node) -> AffineExpr {
        let scanned = self.nodes.len() <= SCANNED;
        let known = match scanned {
            true => self.nodes.iter().position(|&n| n == node).map(|at| AffineExpr(at as u32)),
            false => self.index.get(&node).copied(),
        };
        if let Some(known) = known {
            return known;
        }
        let expr = AffineExpr(self.nodes.len() as u32);
        self.summaries.push(self.summarise(node));
        self.nodes.push(node);
        if self.nodes.len() == SCANNED + 1 {
            let each = self.nodes.iter().enumerate();
            self.index.extend(each.map(|(at, &node)| (node, AffineExpr(at as u32))));
        } else if self.nodes.len() > SCANNED + 1 {
            self.index.insert(node, expr);
        }
        expr
    }

    fn summarise(&self, node: Node) -> Summary {
        use BinaryOp::{Add, CeilDiv, FloorDiv, Mod, Mul};
        let leaf = |divisor, symbolic| Summary { divisor, size: 1, symbolic, pure: true };
        let (op, a, b) = match node {
            Node::Dim(_) => return leaf(1, false),
            Node::Symbol(_) => return leaf(1, true),
            Node::Constant(value) => return leaf(value.unsigned_abs(), true),
            Node::Binary(op, a, b) => (op, a, b),
        };
        let (x, y) = (self.summary(a), self.summary(b));
        let number = self.as_constant(b);
        let divisor = match op {
            Add | Mod => num_integer::gcd(x.divisor, y.divisor),
            // A product too large to be told is a multiple of each factor still.
            Mul => x.divisor.checked_mul(y.divisor).unwrap_or(x.divisor.max(y.divisor)),
            FloorDiv | CeilDiv => match number.map(i64::unsigned_abs) {
                Some(by) if by != 0 && x.divisor.is_multiple_of(by) => x.divisor / by,
                _ => 1,
            },
        };
        let pure = x.pure
            && y.pure
            && match op {
                Add => true,
                Mul => number.is_some() || self.as_constant(a).is_some(),
                FloorDiv | CeilDiv | Mod => number.is_some(),
            };
        let size = x.size.saturating_add(y.size).saturating_add(1);
        Summary { divisor, size, symbolic: x.symbolic && y.symbolic, pure }
    }
}

/// `a / b` rounded down; `None` for a division by 0, or what does not fit.
pub(crate) fn floor_div(a: i64, b: i64) -> Option<i64> {
    let (q, r) = (a.checked_div(b)?, a.checked_rem(b)?);
    Some(if r != 0 && (r < 0) != (b < 0) { q - 1 } else { q })
}

/// `a / b` rounded up; `None` for a division by 0, or what does not fit.
pub(crate) fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let (q, r) = (a.checked_div(b)?, a.checked_rem(b)?);
    Some(if r != 0 && (r < 0) == (b < 0) { q + 1 } else { q })
}
