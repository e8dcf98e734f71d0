//! C from expressions. Depth of recursion: `MAX_DEPTH`.

use super::Expr;
use super::expr::Term;
use super::monomial::{Atom, Compound};

/// What the text of [`Expr::to_c`] calls, for the head of a C file. A division by 0 gives 0 there.
pub const C_FUNCTIONS: &str = "\
static inline int64_t floor_of(int64_t a, int64_t b) { return b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0; }
static inline int64_t trunc_of(int64_t a, int64_t b) { return b ? a / b : 0; }
static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }
";

impl Expr {
    /// Writes the expression in C, over 64-bit integers; `symbol` says what a symbol is there.
    ///
    /// The text calls functions of [`C_FUNCTIONS`]. It is one operand: a sum is in parentheses.
    pub fn to_c(&self, symbol: &dyn Fn(&str) -> String) -> String {
        if let Some(value) = self.as_int() {
            return value.to_string();
        }
        let mut parts: Vec<String> =
            self.terms().iter().map(|term| product(term, symbol)).collect();
        if self.constant() != 0 {
            parts.push(self.constant().to_string());
        }
        match &parts[..] {
            [one] => one.clone(),
            _ => format!("({})", parts.join(" + ")),
        }
    }
}

impl Expr {
    /// Writes a bound in C, a `double`: no intermediate value of [`Expr::to_c`] has a greater
    /// magnitude. `symbol` says what the magnitude of a symbol is there, a `double`, too.
    ///
    /// Where the bound is below 2^63, the integers do not overflow.
    pub fn to_c_bound(&self, symbol: &dyn Fn(&str) -> String) -> String {
        let mut parts = vec![format!("{:.1}", self.constant().unsigned_abs() as f64)];
        parts.extend(self.terms().iter().map(|term| bound_of_product(term, symbol)));
        format!("({})", parts.join(" + "))
    }
}

fn bound_of_product(term: &Term, symbol: &dyn Fn(&str) -> String) -> String {
    let mut factors = vec![format!("{:.1}", term.coeff.unsigned_abs() as f64)];
    for (atom, power) in &term.monomial.0 {
        let text = bound_of_operand(atom, symbol);
        factors.extend((0..*power).map(|_| text.clone()));
    }
    factors.join(" * ")
}

fn bound_of_operand(atom: &Atom, symbol: &dyn Fn(&str) -> String) -> String {
    let compound = match atom {
        Atom::Symbol(name) => return symbol(name),
        Atom::Compound(compound) => compound,
    };
    let bounds: Vec<String> =
        compound.children().into_iter().map(|child| child.to_c_bound(symbol)).collect();
    match &**compound {
        // The dividend is an intermediate value as well, so its bound is not divided.
        Compound::Floor(..) | Compound::Trunc(..) => format!("({} + 1.0)", bounds[0]),
        Compound::Min(_) | Compound::Max(_) => format!("({})", bounds.join(" + ")),
    }
}

fn product(term: &Term, symbol: &dyn Fn(&str) -> String) -> String {
    let mut factors = Vec::new();
    if term.coeff != 1 {
        factors.push(term.coeff.to_string());
    }
    for (atom, power) in &term.monomial.0 {
        let text = operand(atom, symbol);
        factors.extend((0..*power).map(|_| text.clone()));
    }
    factors.join(" * ")
}

fn operand(atom: &Atom, symbol: &dyn Fn(&str) -> String) -> String {
    let compound = match atom {
        Atom::Symbol(name) => return symbol(name),
        Atom::Compound(compound) => compound,
    };
    let name = match &**compound {
        Compound::Floor(..) => "floor_of",
        Compound::Trunc(..) => "trunc_of",
        Compound::Min(_) => "min_of",
        Compound::Max(_) => "max_of",
    };
    let mut texts = compound.children().into_iter().map(|child| child.to_c(symbol));
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |left, right| format!("{name}({left}, {right})"))
}
