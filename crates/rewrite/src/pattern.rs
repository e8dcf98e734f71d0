//! Patterns: what may be rewritten, and how.

use tangram_ir::{Module, Name, Op, OpDef, Traits};

use crate::rewriter::Rewriter;

/// What an operation has to offer: a question to its definition.
#[derive(Clone, Copy)]
pub struct Interface {
    /// A name for messages; two interfaces with one name are the same.
    pub name: &'static str,
    /// Returns whether an operation offers it.
    pub offered: fn(&OpDef) -> bool,
}

impl PartialEq for Interface {
    fn eq(&self, other: &Interface) -> bool {
        self.name == other.name
    }
}

impl Eq for Interface {}

impl std::fmt::Debug for Interface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interface({})", self.name)
    }
}

/// The operations that a pattern may match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// Operations of these names.
    Names(Vec<Name>),
    /// Operations whose definition has all of these traits.
    Traits(Traits),
    /// Operations whose definition offers this.
    Interface(Interface),
    /// Any operation.
    Any,
}

impl Roots {
    /// Returns whether `op` is one of them.
    pub fn accept(&self, module: &Module, op: Op) -> bool {
        match self {
            Roots::Names(names) => names.contains(&module.name(op)),
            Roots::Traits(traits) => module.has_traits(op, *traits),
            Roots::Interface(interface) => module.def(op).is_some_and(interface.offered),
            Roots::Any => true,
        }
    }
}

/// The benefit of a pattern that is never to be tried.
pub const IMPOSSIBLE: u16 = u16::MAX;

/// Why a pattern left an operation alone.
///
/// A reason that costs something to make is made only when [`Rewriter::wants_reasons`] says so;
/// [`Rewriter::no_match`] sees to that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoMatch {
    /// What did not hold, if it was asked for.
    pub reason: Option<String>,
    /// A stable kebab-case name of what stood against the rewrite, where the pattern did match.
    pub refused: Option<&'static str>,
}

impl NoMatch {
    /// No match, without a reason.
    pub const SILENT: NoMatch = NoMatch { reason: None, refused: None };

    /// No match for this reason.
    pub fn because(reason: impl Into<String>) -> NoMatch {
        NoMatch { reason: Some(reason.into()), refused: None }
    }

    /// The pattern did match, but its rewrite is refused, for a kind of reason named `code`.
    pub fn refused(code: &'static str, reason: impl Into<String>) -> NoMatch {
        NoMatch { reason: Some(reason.into()), refused: Some(code) }
    }
}

/// A rewrite of one place.
///
/// A pattern matches first and changes afterwards: when it returns `Err` the module is as it was,
/// when it returns `Ok` something was changed, and all changes went through the rewriter. The
/// root was modified in place, replaced or erased.
///
/// Besides this one there are two shorter forms: [`crate::FnPattern`] for a closure, and
/// [`MatchThenRewrite`] for two functions of which the first cannot change anything.
pub trait RewritePattern: Send + Sync {
    /// The kebab-case name, unique in a set; the same in flags, traces and tests.
    fn name(&self) -> &str;

    /// Groups that it can be switched on or off with.
    fn labels(&self) -> &[String] {
        &[]
    }

    /// The operations that it may match.
    fn roots(&self) -> Roots;

    /// Patterns of greater benefit are tried first; equal ones in the order of the set. One of
    /// [`IMPOSSIBLE`] benefit is never tried. Stays the same once the pattern is in a set.
    fn benefit(&self) -> u16 {
        1
    }

    /// How many operations the longest chain has that is looked at, from the root through
    /// operands; the root counts. When an operation changes, its users up to this far are tried
    /// again at once; what lies farther is found by the last sweep only.
    fn depth(&self) -> u32 {
        1
    }

    /// Returns whether the match goes from the root to other users of its operands.
    fn looks_sideways(&self) -> bool {
        false
    }

    /// The operations that a rewrite may make. Conversion prefers patterns whose operations are
    /// legal, or become so in few steps.
    fn generated(&self) -> &[Name] {
        &[]
    }

    /// Says that the pattern may match what it made itself, and that this ends. Conversion
    /// refuses such a match of a pattern that does not say so.
    fn has_bounded_recursion(&self) -> bool {
        false
    }

    /// Completes the pattern before it goes into a set; [`crate::PatternSet::add`] and [`create`]
    /// call it. Benefit, labels and the like may be computed here.
    fn initialize(&mut self) {}

    /// Rewrites at `op`, or leaves everything as it is.
    ///
    /// # Errors
    /// [`NoMatch`] if nothing was changed.
    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch>;
}

/// Completes `pattern` and boxes it, ready for a list of patterns of several types and for
/// [`crate::PatternSet::extend`].
pub fn create<P: RewritePattern + 'static>(mut pattern: P) -> Box<dyn RewritePattern> {
    pattern.initialize();
    Box::new(pattern)
}

/// A pattern in two steps: the first looks and cannot change anything, the second rewrites and
/// cannot fail. [`Split`] makes a [`RewritePattern`] of it.
pub trait MatchThenRewrite: Send + Sync {
    /// What the match found out.
    type Found;

    /// The kebab-case name, unique in a set.
    fn name(&self) -> &str;

    /// As [`RewritePattern::labels`].
    fn labels(&self) -> &[String] {
        &[]
    }

    /// The operations that it may match.
    fn roots(&self) -> Roots;

    /// As [`RewritePattern::benefit`].
    fn benefit(&self) -> u16 {
        1
    }

    /// As [`RewritePattern::depth`].
    fn depth(&self) -> u32 {
        1
    }

    /// As [`RewritePattern::looks_sideways`].
    fn looks_sideways(&self) -> bool {
        false
    }

    /// As [`RewritePattern::generated`].
    fn generated(&self) -> &[Name] {
        &[]
    }

    /// As [`RewritePattern::has_bounded_recursion`].
    fn has_bounded_recursion(&self) -> bool {
        false
    }

    /// As [`RewritePattern::initialize`].
    fn initialize(&mut self) {}

    /// Looks at `op`.
    ///
    /// # Errors
    /// [`NoMatch`] if it is not to be rewritten.
    fn matches(&self, module: &Module, op: Op) -> Result<Self::Found, NoMatch>;

    /// Says why `op`, which does not match, does not. It is asked only where reasons are of use
    /// ([`Rewriter::wants_reasons`]) and [`MatchThenRewrite::matches`] gave none, so it may cost
    /// something.
    fn reason(&self, module: &Module, op: Op) -> Option<String> {
        let _ = (module, op);
        None
    }

    /// Rewrites at `op`.
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op, found: Self::Found);
}

/// A pattern made of a [`MatchThenRewrite`].
pub struct Split<P>(pub P);

impl<P: MatchThenRewrite> RewritePattern for Split<P> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn labels(&self) -> &[String] {
        self.0.labels()
    }

    fn roots(&self) -> Roots {
        self.0.roots()
    }

    fn benefit(&self) -> u16 {
        self.0.benefit()
    }

    fn depth(&self) -> u32 {
        self.0.depth()
    }

    fn looks_sideways(&self) -> bool {
        self.0.looks_sideways()
    }

    fn generated(&self) -> &[Name] {
        self.0.generated()
    }

    fn has_bounded_recursion(&self) -> bool {
        self.0.has_bounded_recursion()
    }

    fn initialize(&mut self) {
        self.0.initialize();
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        let module = rewriter.module();
        let found = self.0.matches(module, op).map_err(|why| {
            let wanted = why.reason.is_none() && rewriter.wants_reasons();
            let reason = if wanted { self.0.reason(module, op) } else { why.reason };
            NoMatch { reason, refused: why.refused }
        })?;
        self.0.rewrite(rewriter, op, found);
        Ok(())
    }
}
