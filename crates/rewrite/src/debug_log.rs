//! What a driver does, as text: the output of `--debug-only`.
//!
//! A [`DebugLog`] is a listener; give it to a driver, alone or beside another one by
//! [`crate::Both`]. Operations are named with their handle, which stays the same during a run.
//!
//! ```text
//! //===-------------------------------------------===//
//! Processing operation : 'cf.cond_br'(0x11) {
//!   "cf.cond_br"(%arg0)[^bb2, ^bb2] : (i1) -> ()
//!
//!   * Pattern known-condition : 'cf.cond_br -> ()' {
//!     ** Match Failure : the condition is not constant
//!   } -> failure : pattern failed to match
//!
//!   * Pattern simplify-cond : 'cf.cond_br -> ()' {
//!     ** Insert  : 'cf.br'(0x1b)
//!     ** Replace : 'cf.cond_br'(0x11)
//!   } -> success : pattern applied successfully
//! } -> success : pattern matched
//! //===-------------------------------------------===//
//! ```

use std::fmt::Write;

use tangram_ir::{Module, Op, Value, text};

use crate::listener::{Listener, Outcome};
use crate::pattern::{NoMatch, RewritePattern};

/// Which driver is listened to: the words differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugKind {
    /// `--debug-only=greedy-rewriter`.
    Greedy,
    /// `--debug-only=walk-rewriter`.
    Walk,
    /// `--debug-only=dialect-conversion`.
    Conversion,
}

impl DebugKind {
    /// The kind of this name on the command line.
    pub fn of_flag(flag: &str) -> Option<DebugKind> {
        match flag {
            "greedy-rewriter" => Some(DebugKind::Greedy),
            "walk-rewriter" => Some(DebugKind::Walk),
            "dialect-conversion" => Some(DebugKind::Conversion),
            _ => None,
        }
    }
}

const LINE: &str = "//===-------------------------------------------===//";

/// Writes what it hears.
pub struct DebugLog<'a> {
    out: &'a mut dyn Write,
    kind: DebugKind,
    /// How many braces are open.
    depth: usize,
    /// Whether the last line was empty.
    spaced: bool,
}

impl<'a> DebugLog<'a> {
    /// A log to `out`. What `out` refuses is lost.
    pub fn new(out: &'a mut dyn Write, kind: DebugKind) -> DebugLog<'a> {
        DebugLog { out, kind, depth: 0, spaced: false }
    }

    fn line(&mut self, text: &str) {
        self.spaced = text.is_empty();
        let _ = match text {
            "" => writeln!(self.out),
            _ => writeln!(self.out, "{:1$}{text}", "", self.depth * 2),
        };
    }

    /// An empty line, unless there is one.
    fn space(&mut self) {
        if !self.spaced {
            self.line("");
        }
    }

    fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 1;
    }

    fn close(&mut self, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(&format!("}} -> {text}"));
    }

    fn change(&mut self, what: &str, module: &Module, op: Op) {
        if self.kind != DebugKind::Walk {
            self.line(&format!("** {what:<8}: {}", named(module, op)));
        }
    }

    /// The operation itself, where it is short enough to be of use.
    fn show(&mut self, module: &Module, op: Op) {
        if !module.regions(op).is_empty() {
            return;
        }
        let mut shown = String::new();
        if text::print_op(&mut shown, module, op, text::Options::elided()).is_ok() {
            self.line(&shown);
            self.space();
        }
    }
}

fn named(module: &Module, op: Op) -> String {
    format!("'{}'({:#x})", module.name_text(op), op.as_u32())
}

impl Listener for DebugLog<'_> {
    fn inserted(&mut self, module: &Module, op: Op) {
        self.change("Insert", module, op);
    }

    fn modified(&mut self, module: &Module, op: Op) {
        self.change("Modified", module, op);
    }

    fn replaced(&mut self, module: &Module, op: Op, _: &[Value]) {
        self.change("Replace", module, op);
    }

    fn erased(&mut self, module: &Module, op: Op) {
        self.change("Erase", module, op);
    }

    fn visit_begin(&mut self, module: &Module, op: Op) {
        match self.kind {
            DebugKind::Walk => {
                let mut shown = String::new();
                let outline = text::Options { regions: false, ..text::Options::elided() };
                let _ = text::print_op(&mut shown, module, op, outline);
                self.line(&format!("Visiting op: {shown}"));
            }
            DebugKind::Greedy => {
                self.line(LINE);
                self.open(&format!("Processing operation : {}", named(module, op)));
                self.show(module, op);
            }
            DebugKind::Conversion => {
                if self.depth == 0 {
                    self.line(LINE);
                }
                self.open(&format!("Legalizing operation : {}", named(module, op)));
                self.show(module, op);
            }
        }
    }

    fn visit_end(&mut self, _: &Module, outcome: Outcome) {
        if self.kind == DebugKind::Walk {
            if outcome == Outcome::Rewritten {
                self.line("\tOp matched and rewritten");
            }
            return;
        }
        let words = match (outcome, self.kind) {
            (Outcome::Folded, DebugKind::Conversion) => "SUCCESS : operation was folded",
            (Outcome::Erased, _) => "success : operation is trivially dead",
            (Outcome::Folded, _) => "success : operation was folded",
            (Outcome::Merged, _) => "success : operation was replaced by an equal one",
            (Outcome::Rewritten, DebugKind::Conversion) => "SUCCESS",
            (Outcome::Rewritten, _) => "success : pattern matched",
            (Outcome::Legal, _) => "SUCCESS : operation marked legal by the target",
            (Outcome::Illegal, _) => "FAILURE : no matched legalization pattern",
            (Outcome::Unchanged, _) => "failure : pattern failed to match",
        };
        self.close(words);
        if self.depth == 0 {
            self.line(LINE);
        }
    }

    fn fold_begin(&mut self, _: &Module, _: Op) {
        self.space();
        self.open("* Fold");
    }

    fn fold_end(&mut self, _: &Module, outcome: Result<(), &'static str>) {
        match outcome {
            Ok(()) => self.close("SUCCESS : operation was folded"),
            Err(why) => self.close(&format!("FAILURE : {why}")),
        }
    }

    fn pattern_begin(&mut self, module: &Module, pattern: &dyn RewritePattern, op: Op) {
        if self.kind == DebugKind::Walk {
            return;
        }
        let made: Vec<&str> =
            pattern.generated().iter().map(|&name| module.context().name_text(name)).collect();
        self.space();
        let (root, made) = (module.name_text(op), made.join(", "));
        self.open(&format!("* Pattern {} : '{root} -> ({made})'", pattern.name()));
    }

    fn pattern_end(&mut self, _: &Module, _: &dyn RewritePattern, outcome: &Result<(), NoMatch>) {
        if self.kind == DebugKind::Walk {
            return;
        }
        let (success, failure, why) = match self.kind {
            DebugKind::Conversion => ("SUCCESS", "FAILURE", "Failure"),
            _ => ("success", "failure", "Match Failure"),
        };
        match outcome {
            Ok(()) => self.close(&format!("{success} : pattern applied successfully")),
            Err(NoMatch { reason, .. }) => {
                if let Some(reason) = reason {
                    self.line(&format!("** {why} : {reason}"));
                }
                self.close(&format!("{failure} : pattern failed to match"));
            }
        }
    }

    fn wants_reasons(&self) -> bool {
        self.kind != DebugKind::Walk
    }
}
