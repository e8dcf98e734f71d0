//! The choice among the patterns for an operation.

use std::time::Instant;

use rustc_hash::FxHashMap;
use tangram_ir::{Name, Op};

use crate::discriminator::Admitted;
use crate::greedy::Breach;
use crate::pattern::{IMPOSSIBLE, NoMatch, RewritePattern};
use crate::rewriter::Rewriter;
use crate::set::{FrozenPatternSet, PatternReport};

/// Says what becomes of an attempt; see [`PatternApplicator::match_and_rewrite_if`].
pub trait Attempts {
    /// Returns whether `pattern` may be tried on `op`.
    fn may_apply(&mut self, pattern: &dyn RewritePattern, op: Op) -> bool {
        let _ = (pattern, op);
        true
    }

    /// `pattern` did not match.
    fn failed(&mut self, pattern: &dyn RewritePattern, why: &NoMatch) {
        let _ = (pattern, why);
    }

    /// `pattern` rewrote; says whether that counts. If not, the next pattern is tried.
    fn succeeded(&mut self, rewriter: &mut Rewriter<'_>, pattern: &dyn RewritePattern) -> bool {
        let _ = (rewriter, pattern);
        true
    }

    /// A pattern broke its contract. Where it changed something and said that it did not match, no
    /// other one is tried.
    fn broke(&mut self, breach: Breach) {
        let _ = breach;
    }
}

/// Lets everything happen.
struct Permit;

impl Attempts for Permit {}

/// Applies the patterns of a set to operations, as a cost model orders them.
///
/// A cost model gives each pattern a final benefit; patterns of greater benefit are tried first,
/// equal ones in the order of the set, those of [`IMPOSSIBLE`] benefit never. Without one it is
/// the benefit that the pattern states.
pub struct PatternApplicator<'a> {
    set: &'a FrozenPatternSet,
    /// The benefit of each pattern, where a cost model was applied.
    benefits: Option<Box<[u16]>>,
    /// The candidates for a name, in the order of the cost model.
    orders: FxHashMap<Name, Box<[u32]>>,
    reports: Vec<PatternReport>,
    admitted: Admitted,
}

impl<'a> PatternApplicator<'a> {
    /// Applies `set` in its own order.
    pub fn new(set: &'a FrozenPatternSet) -> PatternApplicator<'a> {
        let report = |pattern: &dyn RewritePattern| PatternReport {
            name: pattern.name().to_owned(),
            ..PatternReport::default()
        };
        let reports = set.iter().map(report).collect();
        PatternApplicator {
            set,
            benefits: None,
            orders: FxHashMap::default(),
            reports,
            admitted: Admitted::default(),
        }
    }

    /// The patterns.
    pub fn set(&self) -> &'a FrozenPatternSet {
        self.set
    }

    /// Orders the patterns by the benefit that `model` gives each.
    pub fn apply_cost_model(&mut self, model: impl FnMut(&dyn RewritePattern) -> u16) {
        self.benefits = Some(self.set.iter().map(model).collect());
        self.orders.clear();
    }

    /// Orders the patterns by the benefit that each states.
    pub fn apply_default_cost_model(&mut self) {
        self.benefits = None;
        self.orders.clear();
    }

    /// Every pattern that may be tried on operations named `name`, in order.
    pub fn candidates(&mut self, name: Name) -> &[u32] {
        let set = self.set;
        let Some(benefits) = &self.benefits else { return set.candidates(name) };
        self.orders.entry(name).or_insert_with(|| {
            let benefit = |i: &u32| benefits[*i as usize];
            let mut order: Vec<u32> = set.candidates(name).to_vec();
            order.retain(|i| benefit(i) != IMPOSSIBLE);
            order.sort_by_key(|i| std::cmp::Reverse(benefit(i)));
            order.into()
        })
    }

    /// What became of each pattern so far.
    pub fn reports(&self) -> &[PatternReport] {
        &self.reports
    }

    /// What became of each pattern.
    pub fn into_reports(self) -> Vec<PatternReport> {
        self.reports
    }

    /// Tries the patterns for `op` until one rewrites; its number is returned.
    ///
    /// # Errors
    /// [`NoMatch`] if none did.
    pub fn match_and_rewrite(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
    ) -> Result<u32, NoMatch> {
        self.match_and_rewrite_if(rewriter, op, &mut Permit)
    }

    /// As [`PatternApplicator::match_and_rewrite`]; `attempts` may refuse a pattern before it is
    /// tried, and veto a rewrite after it, which it has to take back itself.
    ///
    /// # Errors
    /// [`NoMatch`] if no pattern rewrote for good; also if one changed something and said that it
    /// did not match: `attempts` hears of that.
    pub fn match_and_rewrite_if(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        attempts: &mut dyn Attempts,
    ) -> Result<u32, NoMatch> {
        let name = rewriter.module().name(op);
        let count = self.candidates(name).len();
        let mut start = (count > 0).then(Instant::now);
        // Whoever wants reasons gets one from each pattern.
        let discriminate = !rewriter.wants_reasons();
        self.set.reset(&mut self.admitted);
        for k in 0..count {
            let i = self.candidates(name)[k];
            let pattern = self.set.pattern(i);
            if !self.set.accepts(i, rewriter.module(), op) || !attempts.may_apply(pattern, op) {
                continue;
            }
            if discriminate && !self.set.admits(i, rewriter.module(), op, &mut self.admitted) {
                continue;
            }
            let before = (rewriter.changes(), rewriter.unfinished());
            let outcome = rewriter.attempt(pattern, op);
            let changed = rewriter.changes() != before.0;
            if let Some(breach) = judge(pattern, &outcome, changed) {
                attempts.broke(breach);
            }
            if rewriter.unfinished() > before.1 {
                attempts.broke(Breach::UnfinishedModification(pattern.name().to_owned()));
            }
            let now = Instant::now();
            let report = &mut self.reports[i as usize];
            report.attempts += 1;
            report.hits += u64::from(changed || outcome.is_ok());
            report.time += start.map_or_else(Default::default, |start| now - start);
            start = Some(now);
            match outcome {
                Ok(()) => {
                    if attempts.succeeded(rewriter, pattern) {
                        return Ok(i);
                    }
                }
                Err(why) => {
                    attempts.failed(pattern, &why);
                    if changed {
                        return Err(why);
                    }
                    if why.reason.is_some() {
                        report.last_failure = why.reason;
                    }
                }
            }
        }
        Err(NoMatch::SILENT)
    }
}

/// What `pattern` did wrong, by whether it says that it rewrote and whether anything is changed.
fn judge(
    pattern: &dyn RewritePattern,
    outcome: &Result<(), NoMatch>,
    changed: bool,
) -> Option<Breach> {
    let name = || pattern.name().to_owned();
    match outcome {
        Ok(()) if !changed => Some(Breach::SuccessWithoutChange(name())),
        Err(_) if changed => Some(Breach::ChangeWithoutSuccess(name())),
        _ => None,
    }
}
