//! Sets of patterns: collected, then frozen into an index by the name of the root.

use std::time::Duration;

use rustc_hash::FxHashMap;
use tangram_ir::{Module, Name, Op};

use crate::discriminator::{Admitted, Covered, Discriminator, cover};
use crate::fn_pattern::Labelled;
use crate::pattern::{IMPOSSIBLE, RewritePattern, Roots, create};

/// Patterns in the order in which they were added.
#[derive(Default)]
pub struct PatternSet {
    patterns: Vec<Box<dyn RewritePattern>>,
    discriminators: Vec<Box<dyn Discriminator>>,
}

impl PatternSet {
    /// An empty set.
    pub fn new() -> PatternSet {
        PatternSet::default()
    }

    /// Completes a pattern with [`RewritePattern::initialize`] and adds it.
    ///
    /// [`PatternSet::extend`] adds patterns that are boxed already.
    pub fn add(&mut self, pattern: impl RewritePattern + 'static) {
        self.patterns.push(create(pattern));
    }

    /// Adds what tells which of some patterns of the set may match. Patterns are known by their
    /// names; what is not in the set does no harm.
    pub fn add_discriminator(&mut self, discriminator: impl Discriminator + 'static) {
        self.discriminators.push(Box::new(discriminator));
    }

    /// As [`PatternSet::add`]; `label` switches the pattern on and off, besides its own labels.
    pub fn add_with_label(&mut self, label: &str, pattern: impl RewritePattern + 'static) {
        self.extend_with_labels(&[label], [create(pattern)]);
    }

    /// As [`PatternSet::add_with_label`] for several patterns, which may be of several types:
    /// [`create`] completes and boxes each.
    ///
    /// ```
    /// use tangram_rewrite::{FnPattern, NoMatch, PatternSet, Roots, create};
    ///
    /// let idle = |name: &str| create(FnPattern::new(name, Roots::Any, |_, _| Err(NoMatch::SILENT)));
    /// let mut set = PatternSet::new();
    /// set.extend_with_labels(&["arithmetic", "slow"], [idle("one"), idle("two")]);
    /// assert!(set.freeze_filtered(&["slow"], &[]).is_empty());
    /// ```
    pub fn extend_with_labels(
        &mut self,
        labels: &[&str],
        patterns: impl IntoIterator<Item = Box<dyn RewritePattern>>,
    ) {
        let patterns = patterns.into_iter().map(|pattern| Labelled::new(pattern, labels).boxed());
        self.patterns.extend(patterns);
    }

    /// Adds all patterns of `other`, which is empty then.
    pub fn append(&mut self, other: &mut PatternSet) {
        self.patterns.append(&mut other.patterns);
        self.discriminators.append(&mut other.discriminators);
    }

    /// Drops all patterns.
    pub fn clear(&mut self) {
        self.patterns.clear();
        self.discriminators.clear();
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns whether `word` is the name or a label of a pattern of the set.
    pub fn names(&self, word: &str) -> bool {
        self.patterns.iter().any(|pattern| answers_to(&**pattern, word))
    }

    /// The patterns, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &dyn RewritePattern> {
        self.patterns.iter().map(|pattern| &**pattern)
    }

    /// The first of `words` that names no pattern, by name or label.
    pub fn first_unknown<'w, S: AsRef<str>>(&self, words: &'w [S]) -> Option<&'w str> {
        let known = |word: &str| self.patterns.iter().any(|p| answers_to(&**p, word));
        words.iter().map(AsRef::as_ref).find(|word| !known(word))
    }

    /// Freezes the set with all its patterns.
    pub fn freeze(self) -> FrozenPatternSet {
        FrozenPatternSet::new(self.patterns, self.discriminators)
    }

    /// Freezes the set without the patterns that a word of `disable` names, by name or label, and
    /// with only those that a word of `only` names, if it is not empty. Disabling wins.
    pub fn freeze_filtered<S: AsRef<str>>(mut self, disable: &[S], only: &[S]) -> FrozenPatternSet {
        let listed = |pattern: &dyn RewritePattern, words: &[S]| {
            words.iter().any(|word| answers_to(pattern, word.as_ref()))
        };
        let keeps = |pattern: &dyn RewritePattern| {
            !listed(pattern, disable) && (only.is_empty() || listed(pattern, only))
        };
        self.patterns.retain(|pattern| keeps(&**pattern));
        self.freeze()
    }
}

/// Adds patterns as they are: [`create`] has completed those that need it.
impl Extend<Box<dyn RewritePattern>> for PatternSet {
    fn extend<I: IntoIterator<Item = Box<dyn RewritePattern>>>(&mut self, patterns: I) {
        self.patterns.extend(patterns);
    }
}

fn answers_to(pattern: &dyn RewritePattern, word: &str) -> bool {
    pattern.name() == word || pattern.labels().iter().any(|label| label == word)
}

/// Patterns that are ready to be applied: greatest benefit first, indexed by root. Threads may
/// share it.
pub struct FrozenPatternSet {
    patterns: Vec<Box<dyn RewritePattern>>,
    by_name: FxHashMap<Name, Box<[u32]>>,
    /// Those whose root is no name: all that is tried on names not in the index.
    any: Box<[u32]>,
    /// By pattern: what its root has to be.
    roots: Box<[Roots]>,
    discriminators: Box<[Box<dyn Discriminator>]>,
    /// By pattern: the discriminator that knows it.
    covered: Box<[Covered]>,
    depth: u32,
    sideways: bool,
}

impl FrozenPatternSet {
    fn new(
        mut patterns: Vec<Box<dyn RewritePattern>>,
        discriminators: Vec<Box<dyn Discriminator>>,
    ) -> FrozenPatternSet {
        patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.benefit()));
        let roots: Vec<Roots> = patterns.iter().map(|pattern| pattern.roots()).collect();
        let mut by_name: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
        for root in &roots {
            if let Roots::Names(names) = root {
                by_name.extend(names.iter().map(|&name| (name, Vec::new())));
            }
        }
        let mut any = Vec::new();
        for (i, root) in (0u32..).zip(&roots) {
            if patterns[i as usize].benefit() == IMPOSSIBLE {
                continue;
            }
            match root {
                Roots::Any | Roots::Traits(_) | Roots::Interface(_) => {
                    any.push(i);
                    by_name.values_mut().for_each(|list| list.push(i));
                }
                Roots::Names(names) => names.iter().for_each(|name| {
                    let list = by_name.entry(*name).or_default();
                    // A pattern may name one root twice.
                    if list.last() != Some(&i) {
                        list.push(i);
                    }
                }),
            }
        }
        FrozenPatternSet {
            depth: patterns.iter().map(|pattern| pattern.depth()).max().unwrap_or(1).max(1),
            sideways: patterns.iter().any(|pattern| pattern.looks_sideways()),
            by_name: by_name.into_iter().map(|(name, list)| (name, list.into())).collect(),
            any: any.into(),
            roots: roots.into(),
            covered: cover(&patterns, &discriminators),
            discriminators: discriminators.into(),
            patterns,
        }
    }

    /// The patterns as a set to which more can be added, or from which some can be left out.
    pub fn thaw(self) -> PatternSet {
        let discriminators = self.discriminators.into_vec();
        PatternSet { patterns: self.patterns, discriminators }
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.patterns.len()
    }

    /// Returns whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Pattern number `i`, in the order in which they are tried.
    pub fn pattern(&self, i: u32) -> &dyn RewritePattern {
        &*self.patterns[i as usize]
    }

    /// The patterns, in the order in which they are tried.
    pub fn iter(&self) -> impl Iterator<Item = &dyn RewritePattern> {
        self.patterns.iter().map(|pattern| &**pattern)
    }

    /// The numbers of the patterns that may be tried on operations named `name`, in order; see
    /// [`FrozenPatternSet::accepts`].
    pub fn candidates(&self, name: Name) -> &[u32] {
        self.by_name.get(&name).unwrap_or(&self.any)
    }

    /// The names that patterns name as their roots, each with its candidates.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (Name, &[u32])> {
        self.by_name.iter().map(|(&name, candidates)| (name, &**candidates))
    }

    /// The candidates of all other names.
    pub(crate) fn candidates_of_any(&self) -> &[u32] {
        &self.any
    }

    /// Returns whether `op`, for whose name pattern `i` is a candidate, has the traits and the
    /// interface that the pattern asks for.
    pub fn accepts(&self, i: u32, module: &Module, op: Op) -> bool {
        match &self.roots[i as usize] {
            Roots::Names(_) | Roots::Any => true,
            root => root.accept(module, op),
        }
    }

    /// Makes `admitted` ready for another operation.
    pub(crate) fn reset(&self, admitted: &mut Admitted) {
        admitted.reset(self.discriminators.len());
    }

    /// Returns whether no discriminator rules out that pattern `i` matches at `op`.
    pub(crate) fn admits(&self, i: u32, module: &Module, op: Op, admitted: &mut Admitted) -> bool {
        admitted.has(&self.discriminators, self.covered[i as usize], (module, op))
    }

    /// How many operations the longest chain of a pattern has, the root counted.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns whether some pattern goes from the root to other users of its operands.
    pub fn looks_sideways(&self) -> bool {
        self.sideways
    }
}

/// What became of one pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternReport {
    /// Its name.
    pub name: String,
    /// How often it was tried.
    pub attempts: u64,
    /// How often it rewrote.
    pub hits: u64,
    /// The time that all attempts took.
    pub time: Duration,
    /// How many operations it made.
    pub added: u64,
    /// How many operations it erased itself; what became dead by it is not counted.
    pub removed: u64,
    /// Why it last left an operation alone, if reasons were asked for.
    pub last_failure: Option<String>,
}
