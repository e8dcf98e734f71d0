//! A rule as a rewrite pattern.

use std::sync::{Arc, OnceLock};

use tangram_ir::{Context, Module, Op, Point, Value};
use tangram_rewrite::{NoMatch, RewritePattern, Rewriter, Roots};

use super::natives::Natives;
use super::record::{Application, Record, Refusal};
use crate::ast::{ExprKind, PatternKind, Rule};
use crate::check::{check_built, has_errors};
use crate::mapping;
use crate::matching::{Classes, MAX_STEPS, MAX_STEPS_OF_SEVERAL, Match, Solver};
use crate::plan::MatchPlan;
use crate::schema::NnSchema;
use crate::verify;

/// How many matches at one root are tried when rewrites are refused.
const MAX_REFUSED: usize = 16;

/// What rules are compiled with.
#[derive(Clone)]
pub struct Options {
    /// The functions that rules may call.
    pub natives: Arc<Natives>,
    /// Hears what is done.
    pub record: Option<Arc<dyn Record>>,
    /// By how many bytes the result of folding may exceed its operands.
    pub fold_growth: usize,
    /// Whether new operations on constants are evaluated at once.
    pub fold: bool,
    /// What is done where extents of source and target are not known to be equal.
    pub unknown_extents: UnknownExtents,
    /// Whether rewrites are refused of rules that have to [pay](crate::mapping::PAYS) and do not, and
    /// those that copy constants where the driver has a limit on them.
    pub guarded: bool,
}

/// What is done where it does not follow from the operations that a rewrite is right whatever
/// the unknown extents are: that the types of source and target are equal, and that the target is
/// defined wherever the source is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownExtents {
    /// The rewrite is refused, unless the rule holds on all instances that are made to verify it,
    /// with symbolic extents too, and none is refused for its types. The rule is verified when
    /// this is first asked, which takes up to a second.
    #[default]
    Verify,
    /// The rewrite is refused.
    Refuse,
    /// The rewrite is made: the rule is known to be right.
    Accept,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            natives: Arc::default(),
            record: None,
            fold_growth: 1 << 16,
            fold: true,
            unknown_extents: UnknownExtents::default(),
            guarded: true,
        }
    }
}

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The checker found errors, shown here.
    #[error("{0}")]
    Wrong(String),
    /// The target makes an operation that cannot be expressed.
    #[error("rule `{rule}` makes `{operation}`, which the target cannot express")]
    Inexpressible {
        /// The rule.
        rule: String,
        /// The operation.
        operation: String,
    },
    /// The rule calls a function that is not registered.
    #[error("rule `{rule}` calls `{function}`, which is not registered")]
    Native {
        /// The rule.
        rule: String,
        /// The function.
        function: String,
    },
}

/// A rule that is ready to run; drivers run it beside native patterns.
#[derive(Clone)]
pub struct CompiledRule {
    plan: MatchPlan,
    roots: Roots,
    benefit: u16,
    options: Options,
    /// Whether verification finds that the rule may be relied on, once that was asked.
    keeps_extents: Arc<OnceLock<bool>>,
}

impl CompiledRule {
    /// Checks and compiles a rule. `expressible` says of an operation, by its whole name, whether
    /// the result may have it.
    ///
    /// # Errors
    /// A rule that the checker finds wrong, or whose target makes what cannot be expressed.
    pub fn new(
        rule: &Rule,
        context: &Context,
        schema: &NnSchema,
        options: &Options,
        expressible: &dyn Fn(&str) -> bool,
    ) -> Result<Self, CompileError> {
        let (sources, found) = check_built(rule, schema);
        if has_errors(&found) {
            return Err(CompileError::Wrong(sources.render(&found)));
        }
        Self::checked(rule, context, options, expressible)
    }

    /// Compiles a rule that the checker found nothing against.
    ///
    /// # Errors
    /// A rule that calls a function nobody registered, or whose target makes what cannot be
    /// expressed.
    pub fn checked(
        rule: &Rule,
        context: &Context,
        options: &Options,
        expressible: &dyn Fn(&str) -> bool,
    ) -> Result<Self, CompileError> {
        if let Some(function) = unknown_function(rule, &options.natives) {
            let rule = rule.name().to_owned();
            return Err(CompileError::Native { rule, function });
        }
        let compiled = Self::unchecked(rule, context, options);
        let made = compiled.plan.made_operations(context);
        let refused = made.iter().map(|name| context.name_text(*name)).find(|n| !expressible(n));
        match refused {
            Some(name) => Err(CompileError::Inexpressible {
                rule: rule.name().to_owned(),
                operation: name.to_owned(),
            }),
            None => Ok(compiled),
        }
    }

    /// Compiles a rule that is known to be right.
    pub fn unchecked(rule: &Rule, context: &Context, options: &Options) -> Self {
        let plan = MatchPlan::new(rule, context);
        let declared = rule.benefit().map_or(plan.call_count() as i64, i64::from);
        // Priority counts for more than any usual benefit.
        let benefit = declared + 1000 * i64::from(rule.priority());
        let benefit = benefit.clamp(0, i64::from(u16::MAX)) as u16;
        let roots = plan.roots();
        let keeps_extents = Arc::default();
        Self { plan, roots, benefit, options: options.clone(), keeps_extents }
    }

    /// The same rule with another way where extents are unknown.
    pub(crate) fn with_unknown_extents(&self, unknown_extents: UnknownExtents) -> Self {
        let options = Options { unknown_extents, ..self.options.clone() };
        Self { options, ..self.clone() }
    }

    /// Whether verification finds that the rule may be relied on where extents are unknown.
    fn keeps_extents(&self) -> bool {
        let verified = || verify::keeps_extents(self.rule(), &self.options.natives);
        self.options.unknown_extents == UnknownExtents::Verify
            && *self.keeps_extents.get_or_init(verified)
    }

    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        self.plan.rule()
    }

    /// Returns its plan.
    pub fn plan(&self) -> &MatchPlan {
        &self.plan
    }

    /// Returns a search for the matches at `root`, one after the other.
    pub fn matches<'a>(&'a self, module: &'a Module, root: Op) -> Solver<'a> {
        Solver::new(&self.plan, module, &self.options.natives, root)
    }

    /// Returns the first match at `root`.
    pub fn find(&self, module: &Module, root: Op) -> Option<Match> {
        let admitted = self.plan.prefix().admits(&self.plan, module, root);
        admitted.then(|| self.matches(module, root).next_match())?
    }

    /// Rewrites at `op` as a pattern does, unless `refuses` gives a reason against a match.
    ///
    /// # Errors
    /// Why nothing was rewritten.
    pub fn match_and_rewrite_unless(
        &self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        refuses: impl Fn(&Module, &Match) -> Option<NoMatch>,
    ) -> Result<(), NoMatch> {
        let silent = !rewriter.wants_reasons();
        if silent && !self.plan.prefix().admits(&self.plan, rewriter.module(), op) {
            return Err(NoMatch::SILENT);
        }
        let mut refused = None;
        for skip in 0..MAX_REFUSED {
            let (found, exhausted) = self.first_matches(rewriter.module(), op, skip);
            let Some(found) = found else {
                if exhausted && refused.is_none() {
                    return Err(self.cut_off());
                }
                break;
            };
            if let Some(refusal) = refuses(rewriter.module(), &found) {
                return Err(refusal);
            }
            match self.apply(rewriter, op, &found) {
                Ok(()) => return Ok(()),
                Err(diagnostic) => {
                    refused.get_or_insert(diagnostic);
                }
            }
        }
        if let Some(diagnostic) = refused {
            let (code, reason) = (diagnostic.code, diagnostic.message.clone());
            if let Some(record) = &self.options.record {
                let rule = self.rule().name().to_owned();
                record.refused(Refusal { rule, root: op, diagnostic });
            }
            // A target that is what was matched leaves nothing to refuse.
            return Err(match code {
                mapping::NO_CHANGE => NoMatch::because(reason),
                code => NoMatch::refused(code, reason),
            });
        }
        if silent {
            return Err(NoMatch::SILENT);
        }
        match self.explain(rewriter.module(), op) {
            Some(reason) => Err(NoMatch::because(reason)),
            None => Err(NoMatch::SILENT),
        }
    }

    /// Says why there is no match at `root`: the pattern that failed after most was matched.
    pub fn explain(&self, module: &Module, root: Op) -> Option<String> {
        let mut solver = self.matches(module, root).with_reasons(true);
        while solver.next_match().is_some() {}
        solver.miss().map(|miss| miss.describe(&self.plan, module))
    }

    /// Applies one match.
    ///
    /// # Errors
    /// Why it was refused; the module is as it was then.
    pub fn apply(
        &self,
        rewriter: &mut Rewriter<'_>,
        root: Op,
        found: &Match,
    ) -> Result<(), tangram_ir::Diagnostic> {
        rewriter.matched(found.ops());
        let keeps_extents = || self.keeps_extents();
        let settings = self.settings(usize::MAX, &keeps_extents);
        let made = mapping::apply(&self.plan, &settings, rewriter, root, found)?;
        if let Some(record) = &self.options.record {
            record.applied(Application {
                rule: self.rule().name().to_owned(),
                root,
                matched: found.ops().to_vec(),
                made,
            });
        }
        Ok(())
    }

    /// Returns a search for the matches at `root` modulo equality: a pattern may match any member
    /// of the class of a value.
    pub fn matches_among<'a>(
        &'a self,
        module: &'a Module,
        classes: &'a dyn Classes,
        root: Op,
    ) -> Solver<'a> {
        self.matches(module, root).with_classes(classes)
    }

    /// Builds the target of a match at `point` and leaves the source as it is. Results of more
    /// than `fold_limit` bytes are not folded.
    ///
    /// Returns what stands for the outputs of the match, and the new operations, operands first.
    ///
    /// # Errors
    /// Why this is refused: the target would be ill-typed, or is what was matched. The module is
    /// as it was then.
    pub fn instantiate(
        &self,
        rewriter: &mut Rewriter<'_>,
        (root, point): (Op, Point),
        found: &Match,
        fold_limit: usize,
    ) -> Result<(Vec<Value>, Vec<Op>), tangram_ir::Diagnostic> {
        let keeps_extents = || self.keeps_extents();
        let settings = self.settings(fold_limit, &keeps_extents);
        mapping::instantiate(&self.plan, &settings, rewriter, (root, point), found)
    }

    fn settings<'a>(
        &'a self,
        fold_limit: usize,
        keeps_extents: &'a dyn Fn() -> bool,
    ) -> mapping::Settings<'a> {
        let fold_growth = self.options.fold.then_some(self.options.fold_growth);
        let natives = &*self.options.natives;
        let trusted = self.options.unknown_extents == UnknownExtents::Accept;
        let guarded = self.options.guarded;
        mapping::Settings { natives, fold_growth, fold_limit, trusted, guarded, keeps_extents }
    }

    /// Lists the first matches at a root: the second and later ones are for when one is refused.
    /// Beside it, whether the search was cut off.
    fn first_matches(&self, module: &Module, root: Op, skip: usize) -> (Option<Match>, bool) {
        let mut solver = self.matches(module, root);
        let skipped = (0..skip).all(|_| solver.next_match().is_some());
        let found = skipped.then(|| solver.next_match()).flatten();
        let exhausted = solver.is_exhausted();
        (found, exhausted)
    }

    fn cut_off(&self) -> NoMatch {
        let steps = match self.rule().sources().len() {
            0 | 1 => MAX_STEPS,
            _ => MAX_STEPS_OF_SEVERAL,
        };
        NoMatch::refused("budget", format!("the search ended after {steps} steps without a match"))
    }
}

/// Finds a function that a rule calls and nobody registered.
fn unknown_function(rule: &Rule, natives: &Natives) -> Option<String> {
    let in_exprs = rule.exprs().filter_map(|(_, expr)| match &expr.kind {
        ExprKind::Native { name, .. } if !natives.has_attribute(name) => Some(name),
        _ => None,
    });
    let in_patterns = rule.patterns().filter_map(|(_, pattern)| match &pattern.kind {
        PatternKind::Native { name, .. } if natives.builder(name).is_none() => Some(name),
        _ => None,
    });
    in_exprs.chain(in_patterns).next().cloned()
}

impl RewritePattern for CompiledRule {
    fn name(&self) -> &str {
        self.rule().name()
    }

    fn labels(&self) -> &[String] {
        self.rule().labels()
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.plan.depth()).unwrap_or(u32::MAX)
    }

    fn looks_sideways(&self) -> bool {
        self.plan.looks_sideways()
    }

    fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
        self.match_and_rewrite_unless(rewriter, op, |_, _| None)
    }
}
