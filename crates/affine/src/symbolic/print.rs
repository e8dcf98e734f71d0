//! Text from expressions: positive terms first, each group from the greatest term down.

use std::fmt;

use super::Expr;
use super::expr::Term;
use super::monomial::{Atom, Compound};
use super::parse::{is_name, is_operator_word};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.as_int() {
            return write!(f, "{value}");
        }
        let mut first = true;
        for positive in [true, false] {
            for term in self.terms().iter().filter(|term| (term.coeff > 0) == positive) {
                write_sign(f, positive, first)?;
                write_term(f, term)?;
                first = false;
            }
            if self.constant() != 0 && (self.constant() > 0) == positive {
                write_sign(f, positive, first)?;
                write!(f, "{}", self.constant().unsigned_abs())?;
                first = false;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({self})")
    }
}

fn write_sign(f: &mut fmt::Formatter<'_>, positive: bool, first: bool) -> fmt::Result {
    f.write_str(match (positive, first) {
        (true, true) => "",
        (true, false) => " + ",
        (false, true) => "-",
        (false, false) => " - ",
    })
}

fn write_term(f: &mut fmt::Formatter<'_>, term: &Term) -> fmt::Result {
    let mut separator = "";
    if term.coeff.unsigned_abs() != 1 {
        write!(f, "{}", term.coeff.unsigned_abs())?;
        separator = "*";
    }
    for (atom, power) in &term.monomial.0 {
        f.write_str(separator)?;
        write_atom(f, atom)?;
        if *power > 1 {
            write!(f, "^{power}")?;
        }
        separator = "*";
    }
    Ok(())
}

fn write_atom(f: &mut fmt::Formatter<'_>, atom: &Atom) -> fmt::Result {
    let compound = match atom {
        Atom::Symbol(name) if is_name(name) && !is_operator_word(name) => return f.write_str(name),
        Atom::Symbol(name) => return write!(f, "`{}`", name.replace('`', "``")),
        Atom::Compound(compound) => compound,
    };
    match &**compound {
        Compound::Floor(num, den) => write_fraction(f, "floor", num, den),
        Compound::Trunc(num, den) => write_fraction(f, "trunc", num, den),
        Compound::Min(args) => write_call(f, "min", args),
        Compound::Max(args) => write_call(f, "max", args),
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, name: &str, num: &Expr, den: &Expr) -> fmt::Result {
    write!(f, "{name}(")?;
    if num.is_int() || (num.terms().len() == 1 && num.constant() == 0) {
        write!(f, "{num}/")?;
    } else {
        write!(f, "({num})/")?;
    }
    if den.is_int() || den.as_atom().is_some() {
        write!(f, "{den})")
    } else {
        write!(f, "({den}))")
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, args: &[Expr]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, arg) in args.iter().enumerate() {
        write!(f, "{}{arg}", if index > 0 { ", " } else { "" })?;
    }
    f.write_str(")")
}
