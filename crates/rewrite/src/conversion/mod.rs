//! The dialect conversion driver: makes a program of what a target allows.
//!
//! Operations are taken from the outside in. One that the target does not call legal is given to
//! the patterns for it, cheapest way first: a pattern that makes legal operations before one whose
//! operations have to be converted again. What a pattern makes has to become legal in turn, or
//! its changes are taken back from an undo journal ([`Journal`]) and the next one is tried. When
//! the whole conversion fails, the module is as it was before.
//!
//! What stands in the regions of the root is made legal, the root itself is not: it is what the
//! conversion is started on, and whoever started it goes on with it. Where MLIR's conversions take
//! the operation that they are given as well, start on the one around it.
//!
//! A pattern that would be applied to what it made itself, directly or through others, is refused
//! unless it declares that this ends ([`RewritePattern::has_bounded_recursion`]); one that does is
//! stopped at a depth of [`MAX_DEPTH`].

mod casts;
mod cost;
mod legalize;
mod pattern;
mod target;
mod types;

use std::sync::Arc;

use tangram_ir::{Context, Diagnostic, Module, Op};

pub use casts::reconcile_casts;
pub use legalize::MAX_DEPTH;
pub use pattern::{Adaptor, ConversionPattern};
pub use target::{ConversionTarget, Legality};
pub use types::{TypeConversion, TypeConverter, Types};

use self::cost::PatternOrder;
use crate::greedy::Breach;
use crate::journal::Journal;
use crate::listener::Listener;
#[cfg(doc)]
use crate::pattern::RewritePattern;
use crate::set::{FrozenPatternSet, PatternReport, PatternSet};

/// How much has to become legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// What the target calls illegal; what it says nothing about may stay.
    #[default]
    Partial,
    /// Everything.
    Full,
    /// Nothing is changed; the report says what could become legal.
    Analysis,
}

/// When operations are folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Folding {
    /// Never.
    Never,
    /// Before patterns are tried.
    #[default]
    BeforePatterns,
    /// Where no pattern applies.
    AfterPatterns,
}

/// How to convert.
#[derive(Clone, Copy, Default)]
pub struct ConversionConfig<'a> {
    /// How much has to become legal.
    pub mode: Mode,
    /// When operations are folded.
    pub folding: Folding,
    /// What casts that are left become; without it they stay.
    pub types: Option<&'a TypeConverter>,
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ConversionReport {
    /// Each pattern, in the order of the set.
    pub patterns: Vec<PatternReport>,
    /// How many operations were replaced or changed, those that patterns made counted.
    pub converted: u64,
    /// How many operations were folded.
    pub folded: u64,
    /// How many attempts were taken back.
    pub undone: u64,
    /// Partial: the operations that stayed although they are not known to be legal. Analysis: the
    /// operations that are legal or could become so.
    pub operations: Vec<Op>,
    /// Patterns that broke their contract, each once. What one changed that said that it did not
    /// match is taken back.
    pub breaches: Vec<Breach>,
}

/// A target and patterns made ready for one operation after the other: the order in which the
/// patterns are tried is found once.
pub struct Conversion {
    target: ConversionTarget,
    set: FrozenPatternSet,
    types: Option<Arc<TypeConverter>>,
    plan: PatternOrder,
}

impl Conversion {
    /// A partial conversion to `target` by the patterns of `set`.
    pub fn new(context: &Context, target: ConversionTarget, set: FrozenPatternSet) -> Conversion {
        let plan = PatternOrder::new(context, &target, &set);
        Conversion { target, set, types: None, plan }
    }

    /// Makes of casts that are left what `types` says.
    #[must_use]
    pub fn with_types(mut self, types: Arc<TypeConverter>) -> Conversion {
        self.types = Some(types);
        self
    }

    /// The same with the patterns that `choose` leaves of the set.
    ///
    /// # Errors
    /// Those of `choose`.
    pub fn with_patterns<E>(
        self,
        context: &Context,
        choose: impl FnOnce(PatternSet) -> Result<FrozenPatternSet, E>,
    ) -> Result<Conversion, E> {
        let set = choose(self.set.thaw())?;
        let plan = PatternOrder::new(context, &self.target, &set);
        Ok(Conversion { set, plan, ..self })
    }

    /// Converts what stands below `root`, in a module of the context that this was made for.
    ///
    /// # Errors
    /// As [`convert`].
    pub fn run(
        &self,
        module: &mut Module,
        root: Op,
        listener: &mut dyn Listener,
    ) -> Result<ConversionReport, Vec<Diagnostic>> {
        let config = ConversionConfig { types: self.types.as_deref(), ..Default::default() };
        follow(module, root, (&self.target, &self.set, &self.plan), &config, listener)
    }
}

/// Converts what stands below `root` to `target` by the patterns of `set`.
///
/// # Errors
/// What could not be made legal, or cast; the module is as it was before.
pub fn convert(
    module: &mut Module,
    root: Op,
    target: &ConversionTarget,
    set: &FrozenPatternSet,
    config: &ConversionConfig<'_>,
    listener: &mut dyn Listener,
) -> Result<ConversionReport, Vec<Diagnostic>> {
    let plan = PatternOrder::new(module.context(), target, set);
    follow(module, root, (target, set, &plan), config, listener)
}

fn follow(
    module: &mut Module,
    root: Op,
    how: (&ConversionTarget, &FrozenPatternSet, &PatternOrder),
    config: &ConversionConfig<'_>,
    listener: &mut dyn Listener,
) -> Result<ConversionReport, Vec<Diagnostic>> {
    let mut journal = Journal::new();
    let start = journal.mark();
    let result = legalize::Legalizer::new(module, root, how, config, &mut journal, listener).run();
    if result.is_err() || config.mode == Mode::Analysis {
        journal.undo(module, start);
    } else {
        journal.commit(module);
    }
    result
}
