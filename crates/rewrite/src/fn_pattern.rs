//! Patterns made of closures, and patterns with more labels.

use tangram_ir::{Name, Op};

use crate::pattern::{NoMatch, RewritePattern, Roots};
use crate::rewriter::Rewriter;

type Rewrite = Box<dyn Fn(&mut Rewriter<'_>, Op) -> Result<(), NoMatch> + Send + Sync>;

/// A pattern whose rewrite is a closure.
///
/// ```
/// use tangram_ir::Context;
/// use tangram_rewrite::{FnPattern, Roots};
///
/// let context = Context::new();
/// let roots = Roots::Names(vec![context.name("t.neg")]);
/// let pattern = FnPattern::new("erase-neg", roots, |rewriter, op| {
///     if !rewriter.module().is_unused(op) {
///         return Err(rewriter.no_match(|| "the result is used".to_owned()));
///     }
///     rewriter.erase(op);
///     Ok(())
/// })
/// .with_benefit(2);
/// ```
pub struct FnPattern {
    name: String,
    labels: Vec<String>,
    roots: Roots,
    benefit: u16,
    depth: u32,
    generated: Vec<Name>,
    bounded: bool,
    rewrite: Rewrite,
}

impl FnPattern {
    /// A pattern of benefit 1 that looks at the root only.
    pub fn new(
        name: impl Into<String>,
        roots: Roots,
        rewrite: impl Fn(&mut Rewriter<'_>, Op) -> Result<(), NoMatch> + Send + Sync + 'static,
    ) -> FnPattern {
        FnPattern {
            name: name.into(),
            labels: Vec::new(),
            roots,
            benefit: 1,
            depth: 1,
            generated: Vec::new(),
            bounded: false,
            rewrite: Box::new(rewrite),
        }
    }

    /// Sets the benefit; see [`RewritePattern::benefit`].
    #[must_use]
    pub fn with_benefit(mut self, benefit: u16) -> FnPattern {
        self.benefit = benefit;
        self
    }

    /// Sets how far it looks; see [`RewritePattern::depth`].
    #[must_use]
    pub fn with_depth(mut self, depth: u32) -> FnPattern {
        self.depth = depth;
        self
    }

    /// Adds a label.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> FnPattern {
        self.labels.push(label.into());
        self
    }

    /// Names the operations that it makes; see [`RewritePattern::generated`].
    #[must_use]
    pub fn with_generated(mut self, names: impl IntoIterator<Item = Name>) -> FnPattern {
        self.generated.extend(names);
        self
    }

    /// Declares that its recursion ends; see [`RewritePattern::has_bounded_recursion`].
    #[must_use]
    pub fn with_bounded_recursion(mut self) -> FnPattern {
        self.bounded = true;
        self
    }
}

impl RewritePattern for FnPattern {
    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn generated(&self) -> &[Name] {
        &self.generated
    }

    fn has_bounded_recursion(&self) -> bool {
        self.bounded
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        (self.rewrite)(rewriter, op)
    }
}

/// A pattern with labels besides its own.
pub(crate) struct Labelled {
    inner: Box<dyn RewritePattern>,
    labels: Vec<String>,
}

impl Labelled {
    pub(crate) fn new(inner: Box<dyn RewritePattern>, labels: &[&str]) -> Labelled {
        let more = labels.iter().map(|&label| label.to_owned());
        let labels = inner.labels().iter().cloned().chain(more).collect();
        Labelled { inner, labels }
    }

    pub(crate) fn boxed(self) -> Box<dyn RewritePattern> {
        Box::new(self)
    }
}

impl RewritePattern for Labelled {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn roots(&self) -> Roots {
        self.inner.roots()
    }

    fn benefit(&self) -> u16 {
        self.inner.benefit()
    }

    fn depth(&self) -> u32 {
        self.inner.depth()
    }

    fn looks_sideways(&self) -> bool {
        self.inner.looks_sideways()
    }

    fn generated(&self) -> &[Name] {
        self.inner.generated()
    }

    fn has_bounded_recursion(&self) -> bool {
        self.inner.has_bounded_recursion()
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        self.inner.match_and_rewrite(rewriter, op)
    }
}
