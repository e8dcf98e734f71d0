//! The last rewrites, to find out what goes round in a circle.

use std::collections::VecDeque;
use std::fmt;

use tangram_ir::{Loc, Module, Name, Op};

/// How many rewrites are remembered.
const LENGTH: usize = 128;

/// One rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Event {
    pattern: u32,
    name: Name,
    loc: Loc,
}

/// The last rewrites, oldest first.
#[derive(Default)]
pub(super) struct History {
    events: VecDeque<Event>,
}

/// One rewrite of a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleStep {
    /// The name of the pattern.
    pub pattern: String,
    /// The name of the operation that it matched.
    pub operation: String,
    /// Where that operation comes from.
    pub loc: Loc,
}

/// Rewrites that follow each other again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The rewrites of one round.
    pub steps: Vec<CycleStep>,
    /// How many rounds in a row were seen at the end; 1 if the last rewrites repeat nothing.
    pub rounds: usize,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            let arrow = if i == 0 { "" } else { " -> " };
            write!(f, "{arrow}`{}` on `{}`", step.pattern, step.operation)?;
        }
        if self.rounds > 1 { write!(f, " -> again") } else { Ok(()) }
    }
}

impl History {
    /// Remembers that `pattern` is about to match `op`; `undo` takes it back.
    pub(super) fn push(&mut self, pattern: u32, name: Name, loc: Loc) {
        if self.events.len() == LENGTH {
            self.events.pop_front();
        }
        self.events.push_back(Event { pattern, name, loc });
    }

    /// The shortest round that ends the history at least twice; else its last few rewrites.
    pub(super) fn cycle(&self, module: &Module, names: &dyn Fn(u32) -> String) -> Option<Cycle> {
        let events: Vec<Event> = self.events.iter().copied().collect();
        let n = events.len();
        let rounds = |period: usize| {
            (period..n).take_while(|i| events[n - 1 - i] == events[n - 1 - (i - period)]).count()
                / period
                + 1
        };
        let period = (1..=n / 2).find(|&period| rounds(period) > 1);
        let shown = period.unwrap_or(n.min(8));
        let step = |event: &Event| CycleStep {
            pattern: names(event.pattern),
            operation: module.context().name_text(event.name).to_owned(),
            loc: event.loc,
        };
        (shown > 0).then(|| Cycle {
            steps: events[n - shown..].iter().map(step).collect(),
            rounds: period.map_or(1, rounds),
        })
    }
}

/// What is needed of an operation before a pattern may erase it.
pub(super) fn identity(module: &Module, op: Op) -> (Name, Loc) {
    (module.name(op), module.loc(op))
}
