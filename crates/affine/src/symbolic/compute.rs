//! Computing expressions in any arithmetic. Depth of recursion: `MAX_DEPTH`.

use super::Expr;
use super::expr::Term;
use super::monomial::{Atom, Compound};

/// A function of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The quotient, rounded down.
    FloorDiv,
    /// The quotient, rounded towards zero.
    TruncDiv,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// What expressions are computed with: operations of a program, texts, numbers of another kind.
pub trait Arithmetic {
    /// What stands for a number.
    type Value: Clone;

    /// A constant.
    fn constant(&mut self, value: i64) -> Self::Value;

    /// The value of a symbol, if it has one.
    fn symbol(&mut self, name: &str) -> Option<Self::Value>;

    /// A function of two values.
    fn binary(&mut self, operation: Operation, a: Self::Value, b: Self::Value) -> Self::Value;
}

impl Expr {
    /// Computes the expression; `None` where a symbol has no value.
    ///
    /// ```
    /// use tangram_affine::symbolic::{Arithmetic, Expr, Operation};
    ///
    /// /// Counts operations.
    /// struct Count(usize);
    ///
    /// impl Arithmetic for Count {
    ///     type Value = ();
    ///     fn constant(&mut self, _: i64) {}
    ///     fn symbol(&mut self, _: &str) -> Option<()> {
    ///         Some(())
    ///     }
    ///     fn binary(&mut self, _: Operation, _: (), _: ()) {
    ///         self.0 += 1;
    ///     }
    /// }
    ///
    /// let mut count = Count(0);
    /// "2*n + 3".parse::<Expr>().unwrap().compute(&mut count);
    /// assert_eq!(count.0, 2);
    /// ```
    pub fn compute<A: Arithmetic>(&self, with: &mut A) -> Option<A::Value> {
        let mut sum = None;
        for term in self.terms() {
            let value = product(term, with)?;
            sum = Some(match sum {
                None => value,
                Some(sum) => with.binary(Operation::Add, sum, value),
            });
        }
        match (sum, self.constant()) {
            (None, constant) => Some(with.constant(constant)),
            (Some(sum), 0) => Some(sum),
            (Some(sum), constant) => {
                let constant = with.constant(constant);
                Some(with.binary(Operation::Add, sum, constant))
            }
        }
    }
}

fn product<A: Arithmetic>(term: &Term, with: &mut A) -> Option<A::Value> {
    let mut product = (term.coeff != 1).then(|| with.constant(term.coeff));
    for (atom, power) in &term.monomial.0 {
        let factor = value(atom, with)?;
        for _ in 0..*power {
            product = Some(match product {
                None => factor.clone(),
                Some(product) => with.binary(Operation::Mul, product, factor.clone()),
            });
        }
    }
    Some(product.unwrap_or_else(|| with.constant(1)))
}

fn value<A: Arithmetic>(atom: &Atom, with: &mut A) -> Option<A::Value> {
    let compound = match atom {
        Atom::Symbol(name) => return with.symbol(name),
        Atom::Compound(compound) => compound,
    };
    let operation = match &**compound {
        Compound::Floor(..) => Operation::FloorDiv,
        Compound::Trunc(..) => Operation::TruncDiv,
        Compound::Min(_) => Operation::Min,
        Compound::Max(_) => Operation::Max,
    };
    let mut values = compound.children().into_iter();
    let first = values.next()?.compute(with)?;
    values.try_fold(first, |left, right| {
        let right = right.compute(with)?;
        Some(with.binary(operation, left, right))
    })
}
