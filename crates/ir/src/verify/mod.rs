//! The verifier: says whether a module keeps the rules of the IR and of its operations.
//!
//! - Against the definition of an operation: number of operands, results and regions, attributes
//!   and their kinds, types, its own check ([`definition`]).
//! - Of every operation: where terminators and successors may stand ([`structure`]).
//! - Between operations: values are used where they are available, symbols have one definition,
//!   and, in debug builds, lists of uses are right ([`links`]).
//!
//! An operation that is not registered may do what it likes as long as the second and third kind
//! of rule hold.

mod attributes;
mod definition;
mod links;
mod structure;
mod types;

pub use types::compatible as compatible_types;

use crate::diagnostic::Diagnostic;
use crate::dominance::Dominance;
use crate::module::{Module, Op};
use crate::nesting::Nesting;
use crate::walk::{Order, walk};

/// Checks the whole module.
///
/// # Errors
/// Everything that is wrong, in the order of the operations.
pub fn verify(module: &Module) -> Result<(), Vec<Diagnostic>> {
    verify_op(module, module.root())
}

/// Checks `root` and what its regions hold.
///
/// # Errors
/// Everything that is wrong, in the order of the operations.
pub fn verify_op(module: &Module, root: Op) -> Result<(), Vec<Diagnostic>> {
    let mut check = Check { module, errors: Vec::new() };
    let ops = walk(module, root, Order::Pre);
    let dominance = Dominance::new(module, root);
    let nesting = Nesting::new(module, root);
    for &op in &ops {
        check.structure(op);
        check.definition(op);
        check.availability(op, root, (&dominance, &nesting));
        check.symbols(op);
    }
    if cfg!(debug_assertions) {
        check.uses(&ops);
    }
    if check.errors.is_empty() { Ok(()) } else { Err(check.errors) }
}

/// What is checked, and what was wrong with it.
struct Check<'a> {
    module: &'a Module,
    errors: Vec<Diagnostic>,
}

impl Check<'_> {
    /// Notes that something is wrong with `op`.
    fn error(&mut self, op: Op, code: &'static str, message: impl std::fmt::Display) {
        let message = format!("`{}`: {message}", self.module.name_text(op));
        self.errors.push(Diagnostic::error(code, self.module.loc(op), message));
    }

    /// How `op` is called in a message: its name and result number.
    fn name(&self, op: Op) -> String {
        format!("`{}`", self.module.name_text(op))
    }
}
