//! Affine maps.

use std::sync::Arc;

use crate::expr::{AffineExpr, AffineExprs, BinaryOp, Node, ceil_div, floor_div};

/// The largest size, in nodes, of a result that a composition makes.
const MAX_COMPOSED: u32 = 4096;

/// Expressions of dimensions and symbols: `(d0, d1)[s0] -> (d0 + s0, d1)`.
///
/// Two maps are equal when they have the same numbers of dimensions and symbols and the same
/// results; a clone costs a reference count.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AffineMap(Arc<Body>);

/// Nodes in post-order from the first result to the last, each expression once.
#[derive(PartialEq, Eq, Hash)]
struct Body {
    dims: u32,
    symbols: u32,
    nodes: Box<[Node]>,
    results: Box<[AffineExpr]>,
}

impl AffineMap {
    /// The map of `dims` dimensions and `symbols` symbols to `results`, which are of `exprs`.
    pub fn new(dims: u32, symbols: u32, exprs: &AffineExprs, results: &[AffineExpr]) -> AffineMap {
        let mut order = PostOrder::default();
        let results = results.iter().map(|&result| order.visit(exprs, result)).collect();
        AffineMap(Arc::new(Body { dims, symbols, nodes: order.nodes.into(), results }))
    }

    /// `(d0, d1) -> (d0, d1)`.
    pub fn identity(dims: u32) -> AffineMap {
        let mut exprs = AffineExprs::new();
        let results: Vec<AffineExpr> = (0..dims).map(|i| exprs.dim(i)).collect();
        AffineMap::new(dims, 0, &exprs, &results)
    }

    /// `() -> (5)`.
    pub fn constant(value: i64) -> AffineMap {
        let mut exprs = AffineExprs::new();
        let result = exprs.constant(value);
        AffineMap::new(0, 0, &exprs, &[result])
    }

    /// `()[s0] -> (s0)`.
    pub fn symbol_identity() -> AffineMap {
        let mut exprs = AffineExprs::new();
        let result = exprs.symbol(0);
        AffineMap::new(0, 1, &exprs, &[result])
    }

    /// Returns whether it gives the last dimensions in order: `(d0, d1, d2) -> (d1, d2)`.
    pub fn is_minor_identity(&self) -> bool {
        let (dims, results) = (self.dims(), self.results().len());
        self.symbols() == 0
            && results <= dims
            && (0..results).all(|i| self.as_operand(i) == Some(dims - results + i))
    }

    /// How many dimensions it has.
    pub fn dims(&self) -> usize {
        self.0.dims as usize
    }

    /// How many symbols it has.
    pub fn symbols(&self) -> usize {
        self.0.symbols as usize
    }

    /// How many operands it takes: dimensions, then symbols.
    pub fn inputs(&self) -> usize {
        self.dims() + self.symbols()
    }

    /// The results, for [`AffineMap::node`].
    pub fn results(&self) -> &[AffineExpr] {
        &self.0.results
    }

    /// Every expression that occurs, operands before what uses them.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// What `expr`, which is of this map, is made of.
    pub fn node(&self, expr: AffineExpr) -> Node {
        self.0.nodes[expr.0 as usize]
    }

    /// The number that `expr` of this map is, if it is one.
    pub fn as_constant(&self, expr: AffineExpr) -> Option<i64> {
        match self.node(expr) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The results, if all are numbers.
    pub fn as_constants(&self) -> Option<Vec<i64>> {
        self.results().iter().map(|&result| self.as_constant(result)).collect()
    }

    /// The operand that result `i` is, counted over dimensions and then symbols.
    pub fn as_operand(&self, i: usize) -> Option<usize> {
        match self.node(*self.results().get(i)?) {
            Node::Dim(at) => Some(at as usize),
            Node::Symbol(at) => Some(self.dims() + at as usize),
            _ => None,
        }
    }

    /// Whether every result is the dimension of its place, and there is nothing else.
    pub fn is_identity(&self) -> bool {
        let dims = self.dims();
        let own = |i| self.as_operand(i) == Some(i) && i < dims;
        self.symbols() == 0 && self.results().len() == dims && (0..dims).all(own)
    }

    /// Whether all factors and divisors are numbers.
    pub fn is_pure(&self) -> bool {
        use BinaryOp::{Add, Mul};
        let number = |e| self.as_constant(e).is_some();
        self.nodes().iter().all(|&node| match node {
            Node::Dim(_) | Node::Symbol(_) | Node::Constant(_) | Node::Binary(Add, ..) => true,
            Node::Binary(Mul, a, b) => number(a) || number(b),
            Node::Binary(_, _, by) => number(by),
        })
    }

    /// Which dimensions, and which symbols, occur in the results.
    pub fn used(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut dims, mut symbols) = (vec![false; self.dims()], vec![false; self.symbols()]);
        for &node in self.nodes() {
            let slot = match node {
                Node::Dim(i) => dims.get_mut(i as usize),
                Node::Symbol(i) => symbols.get_mut(i as usize),
                _ => None,
            };
            slot.into_iter().for_each(|slot| *slot = true);
        }
        (dims, symbols)
    }

    /// The results at a point: the dimensions, then the symbols.
    ///
    /// `None` where an operand is missing, a divisor is not above 0, or a number does not fit.
    pub fn evaluate(&self, operands: &[i64]) -> Option<Vec<i64>> {
        let mut values: Vec<i64> = Vec::with_capacity(self.nodes().len());
        for &node in self.nodes() {
            values.push(match node {
                Node::Dim(i) => *operands.get(i as usize)?,
                Node::Symbol(i) => *operands.get(self.dims() + i as usize)?,
                Node::Constant(value) => value,
                Node::Binary(op, a, b) => apply(op, values[a.0 as usize], values[b.0 as usize])?,
            });
        }
        Some(self.results().iter().map(|result| values[result.0 as usize]).collect())
    }

    /// The results in `exprs`, with these in the place of dimensions and symbols; what is missing
    /// stays a dimension or symbol.
    pub fn substitute(
        &self,
        exprs: &mut AffineExprs,
        dims: &[AffineExpr],
        symbols: &[AffineExpr],
    ) -> Vec<AffineExpr> {
        let made = self.substitute_all(exprs, dims, symbols);
        self.results().iter().map(|result| made[result.index()]).collect()
    }

    /// Every node of this map as an expression of `exprs`, in the order of the nodes.
    pub fn copy(&self, exprs: &mut AffineExprs) -> Vec<AffineExpr> {
        self.substitute_all(exprs, &[], &[])
    }

    fn substitute_all(
        &self,
        exprs: &mut AffineExprs,
        dims: &[AffineExpr],
        symbols: &[AffineExpr],
    ) -> Vec<AffineExpr> {
        let mut made: Vec<AffineExpr> = Vec::with_capacity(self.nodes().len());
        for &node in self.nodes() {
            let put = |list: &[AffineExpr], i: u32| list.get(i as usize).copied();
            let expr = match node {
                Node::Dim(i) => put(dims, i).unwrap_or_else(|| exprs.dim(i)),
                Node::Symbol(i) => put(symbols, i).unwrap_or_else(|| exprs.symbol(i)),
                Node::Constant(value) => exprs.constant(value),
                Node::Binary(op, a, b) => exprs.binary(op, made[a.0 as usize], made[b.0 as usize]),
            };
            made.push(expr);
        }
        made
    }

    /// The map that first does `inner`, whose results are this map's dimensions. Its symbols are
    /// this map's and then those of `inner`.
    ///
    /// `None` if the numbers do not fit, or an expression becomes very large.
    pub fn compose(&self, inner: &AffineMap) -> Option<AffineMap> {
        if inner.results().len() != self.dims() {
            return None;
        }
        let mut exprs = AffineExprs::new();
        let own: Vec<AffineExpr> = (0..self.0.symbols).map(|i| exprs.symbol(i)).collect();
        let symbols = self.0.symbols.checked_add(inner.0.symbols)?;
        let shifted: Vec<AffineExpr> = (self.0.symbols..symbols).map(|i| exprs.symbol(i)).collect();
        let dims = inner.substitute(&mut exprs, &[], &shifted);
        let results = self.substitute(&mut exprs, &dims, &own);
        let small = results.iter().all(|&result| exprs.size(result) <= MAX_COMPOSED);
        small.then(|| AffineMap::new(inner.0.dims, symbols, &exprs, &results))
    }
}

/// `a op b`, with the meaning that the affine dialect gives it.
fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::FloorDiv if b > 0 => floor_div(a, b),
        BinaryOp::CeilDiv if b > 0 => ceil_div(a, b),
        BinaryOp::Mod if b > 0 => a.checked_rem_euclid(b),
        _ => None,
    }
}

/// The nodes that some expressions need, numbered as a walk leaves them.
#[derive(Default)]
struct PostOrder {
    nodes: Vec<Node>,
    numbers: Vec<Option<AffineExpr>>,
    stack: Vec<AffineExpr>,
}

impl PostOrder {
    fn visit(&mut self, exprs: &AffineExprs, root: AffineExpr) -> AffineExpr {
        self.stack.push(root);
        while let Some(&expr) = self.stack.last() {
            if self.number(expr).is_some() {
                self.stack.pop();
                continue;
            }
            let node = match exprs.node(expr) {
                Node::Binary(op, a, b) => match (self.number(a), self.number(b)) {
                    (Some(a), Some(b)) => Node::Binary(op, a, b),
                    (None, _) => {
                        self.stack.push(a);
                        continue;
                    }
                    (Some(_), None) => {
                        self.stack.push(b);
                        continue;
                    }
                },
                leaf => leaf,
            };
            self.stack.pop();
            let at = expr.0 as usize;
            if self.numbers.len() <= at {
                self.numbers.resize(at + 1, None);
            }
            self.numbers[at] = Some(AffineExpr(self.nodes.len() as u32));
            self.nodes.push(node);
        }
        self.number(root).unwrap_or(root)
    }

    fn number(&self, expr: AffineExpr) -> Option<AffineExpr> {
        self.numbers.get(expr.0 as usize).copied().flatten()
    }
}
