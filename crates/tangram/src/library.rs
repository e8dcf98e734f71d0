//! Rules: those that are shipped, and those that a user names.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use tangram_dialects::defined;
use tangram_gsl::analysis::{Finding, analyse};
use tangram_gsl::ast::{ExprKind, OpChoice, PatternKind, Rule};
use tangram_gsl::check::{check_rule, has_errors};
use tangram_gsl::definition::{self, Definition, is_definition};
use tangram_gsl::diagnostic::{Diagnostic, Severity, Sources};
use tangram_gsl::rules::{
    self, CompileError, CompiledRule, NativeAttribute, NativeBuilder, Natives,
};
use tangram_gsl::schema::{NnSchema, operation_name};
use tangram_gsl::text::{self, LocatedRule};
use tangram_gsl::verify::mutate::{self, Judgement, Mutant};
use tangram_gsl::verify::{self, Doubt, Effort, Verdict};
use tangram_ir::Context;

use crate::natives::natives;
use crate::optimise::{OptimiseError, Options, Strategy, is_named};

/// The shipped rule files, by topic.
pub const SHIPPED: &[(&str, &str)] = &[
    ("simplify", include_str!("../rules/simplify.gsl")),
    ("fuse", include_str!("../rules/fuse.gsl")),
    ("recognise", include_str!("../rules/recognise.gsl")),
    ("slices", include_str!("../rules/slices.gsl")),
    ("takes", include_str!("../rules/takes.gsl")),
    ("linear", include_str!("../rules/linear.gsl")),
    ("compose", include_str!("../rules/compose.gsl")),
    ("branches", include_str!("../rules/branches.gsl")),
    ("paths", include_str!("../rules/paths.gsl")),
    ("merge", include_str!("../rules/merge.gsl")),
    ("parallel", include_str!("../rules/parallel.gsl")),
    ("algebra", include_str!("../rules/algebra.gsl")),
    ("lower", include_str!("../rules/lower.gsl")),
];

/// The shipped files of rules that are all on request: none of them is applied unless options
/// name it. Which files these are, a test knows.
const ON_REQUEST_FILES: &[&str] = &["parallel", "algebra", "lower"];

/// Why rules could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// A file could not be read.
    #[error("cannot read rules from `{path}`: {source}")]
    Read {
        /// What was asked for.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// There is no such file, and nothing that is shipped has the name.
    #[error(
        "`{name}` is no rule file and no folder, and no shipped topic ({topics}), rule or label; \
         `tangram rules list` names all"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The shipped topics.
        topics: String,
    },
    /// The file or folder is there, and no rule is in it.
    #[error("`{name}` has no rules: a folder holds them in files that end in `.gsl`")]
    Empty {
        /// What was asked for.
        name: String,
    },
    /// The text is wrong; `rendered` shows where and why.
    #[error("{rendered}")]
    Wrong {
        /// The diagnostics with their source lines.
        rendered: String,
    },
}

/// Rules with the texts that they were read from.
#[derive(Default)]
pub struct Library {
    /// The texts, for messages.
    pub sources: Sources,
    /// The rules, in order.
    pub rules: Vec<LocatedRule>,
    /// The texts that are shipped: a test checks their rules, so that no start has to.
    shipped: FxHashSet<u32>,
    /// Names of the rules that were asked for: these are applied even where they are on request.
    asked: FxHashSet<String>,
    /// Functions of a caller that conditions may name, beside those that are shipped.
    functions: BTreeMap<String, NativeAttribute>,
    /// Functions of a caller that targets may name.
    builders: BTreeMap<String, NativeBuilder>,
}

/// Which rules are compiled, and for what.
pub(crate) struct Selection<'a> {
    /// Whether a rule is of use.
    pub(crate) wanted: &'a dyn Fn(&Rule) -> bool,
    /// Whether the result may have an operation.
    pub(crate) expressible: &'a dyn Fn(&str) -> bool,
    /// By how many bytes a folded result may outgrow its operands, if not by the usual number.
    pub(crate) fold_growth: Option<usize>,
}

/// The functions that conditions, attributes and targets of `rule` call by name.
fn calls(rule: &Rule) -> impl Iterator<Item = &str> {
    let in_exprs = rule.exprs().filter_map(|(_, expr)| match &expr.kind {
        ExprKind::Native { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let in_patterns = rule.patterns().filter_map(|(_, pattern)| match &pattern.kind {
        PatternKind::Native { name, .. } => Some(name.as_str()),
        _ => None,
    });
    in_exprs.chain(in_patterns)
}

fn is_defined(natives: &Natives, name: &str) -> bool {
    natives.has_attribute(name) || natives.builder(name).is_some()
}

/// An operator of `rule` that is no operation of `context`.
fn foreign(rule: &Rule, context: &Context) -> Option<String> {
    let unknown = |name: &&String| context.def(context.name(&operation_name(name))).is_none();
    let found = rule.ops().find_map(|(_, op)| match &op.choice {
        OpChoice::Name(name) => Some(name).filter(unknown),
        OpChoice::OneOf(names) => names.iter().find(unknown),
        OpChoice::Trait(_) => None,
    });
    found.cloned()
}

/// Rules that are ready to be applied.
#[derive(Default)]
pub(crate) struct Compiled {
    pub(crate) rules: Vec<CompiledRule>,
    /// Rules that make an operation which cannot be expressed, each with that operation.
    pub(crate) left_out: Vec<(String, String)>,
}

impl Default for Selection<'_> {
    fn default() -> Self {
        Self { wanted: &|_| true, expressible: &|_| true, fold_growth: None }
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({} rules)", self.rules.len())
    }
}

impl Library {
    /// The shipped rules.
    ///
    /// # Errors
    /// [`RulesError::Wrong`] if a shipped file is wrong, which a test rules out.
    pub fn shipped() -> Result<Library, RulesError> {
        let mut library = Library::default();
        for (name, text) in SHIPPED {
            library.add_shipped(name, text)?;
        }
        Ok(library)
    }

    /// The shipped rules that matter under `options`: where they name no rule and no label, those
    /// that are applied without being asked for. Reading the others would take its time for
    /// nothing.
    ///
    /// # Errors
    /// As [`Library::shipped`].
    pub fn shipped_for(options: &Options) -> Result<Library, RulesError> {
        let saturate = options.strategy == Strategy::Saturate;
        let several = saturate || options.choosing.is_some();
        if several || !options.only.is_empty() || !options.disable.is_empty() {
            return Library::shipped();
        }
        let mut library = Library::default();
        for (name, text) in SHIPPED.iter().filter(|(name, _)| !ON_REQUEST_FILES.contains(name)) {
            library.add_shipped(name, text)?;
        }
        Ok(library)
    }

    /// Adds the rules of a file, of every `.gsl` file of a folder, or of what is shipped: those of
    /// a topic, of a label, or the one of this name. All of them count as asked for.
    ///
    /// # Errors
    /// [`RulesError`]: there is no such thing, it cannot be read, or it is wrong.
    pub fn add(&mut self, name: &str) -> Result<(), RulesError> {
        let (path, known) = (Path::new(name), self.rules.len());
        if path.is_dir() {
            self.add_folder(path)?;
        } else if path.exists() {
            self.add_text(name, &read(path)?, path.parent())?;
        } else {
            return self.add_named(name);
        }
        match self.rules.len() == known {
            true => Err(RulesError::Empty { name: name.to_owned() }),
            false => Ok(()),
        }
    }

    /// Adds the shipped rules of a topic or a label, or the one of this name, where they are not
    /// among the rules already.
    fn add_named(&mut self, name: &str) -> Result<(), RulesError> {
        let mut found = false;
        for (topic, text) in SHIPPED {
            let known = self.rules.len();
            self.add_shipped(topic, text)?;
            for located in self.rules.split_off(known) {
                let rule = &located.rule;
                if *topic == name || is_named(rule, name) {
                    found = true;
                    self.asked.insert(rule.name().to_owned());
                    if self.rules.iter().all(|other| other.rule.name() != rule.name()) {
                        self.rules.push(located);
                    }
                }
            }
        }
        if found {
            return Ok(());
        }
        let topics = SHIPPED.iter().map(|(topic, _)| *topic).collect::<Vec<_>>().join(", ");
        Err(RulesError::Unknown { name: name.to_owned(), topics })
    }

    /// The rules of files that were read, with the texts that their places are in.
    pub fn of(rules: Vec<LocatedRule>, sources: Sources) -> Library {
        Library { rules, sources, ..Library::default() }
    }

    /// Lets rules call `function` by `name`, as in `where native name(x)`.
    ///
    /// Verification does not see what it does, and says so of rules that call it.
    pub fn define(&mut self, name: &str, function: NativeAttribute) {
        self.functions.insert(name.to_owned(), function);
    }

    /// Lets targets of rules make values by `function`, as in `native name(w)`.
    ///
    /// As [`Library::define`]: verification does not see what it makes.
    pub fn define_builder(&mut self, name: &str, function: NativeBuilder) {
        self.builders.insert(name.to_owned(), function);
    }

    /// The functions that rules may call.
    fn natives(&self) -> Arc<Natives> {
        let mut all = Natives::clone(&natives());
        for (name, function) in &self.functions {
            all.add_attribute(name, Arc::clone(function));
        }
        for (name, function) in &self.builders {
            all.add_builder(name, Arc::clone(function));
        }
        self.definitions().for_each(|definition| _ = all.add_definition(definition));
        Arc::new(all)
    }

    /// What rules with the label `definition` say of operators.
    fn definitions(&self) -> impl Iterator<Item = Definition> + '_ {
        self.rules.iter().filter_map(|located| Definition::new(&located.rule))
    }

    /// Makes the operators that rules define known to `context`: before a model is imported into it,
    /// so that their results have types.
    pub fn define_in(&self, context: &Context) {
        self.definitions().for_each(|definition| definition.define_in(context));
    }

    /// Whether rules define an operator among `operators` that `context` does not know.
    pub(crate) fn defines_any(&self, operators: &[&str], context: &Context) -> bool {
        let is_new = |name: &str| {
            context.def(context.name(name)).is_none_or(|def| !defined::is_defined(def))
        };
        let mut all = self.definitions();
        all.any(|one| operators.contains(&one.operator()) && is_new(one.operator()))
    }

    /// A context that knows the operators which rules define.
    pub fn context(&self) -> Arc<Context> {
        let context = tangram_dialects::context();
        self.define_in(&context);
        context
    }

    /// Whether a rule of this name was asked for by [`Library::add`].
    pub(crate) fn is_asked(&self, name: &str) -> bool {
        self.asked.contains(name)
    }

    /// Whether a rule has this label.
    pub(crate) fn has_label(&self, label: &str) -> bool {
        self.rules.iter().any(|one| one.rule.labels().iter().any(|other| other == label))
    }

    /// Checks and compiles the rules that `selection` wants.
    pub(crate) fn compile(
        &self,
        context: &Context,
        selection: &Selection<'_>,
    ) -> Result<Compiled, OptimiseError> {
        let mut settings = rules::Options { natives: self.natives(), ..rules::Options::default() };
        settings.fold_growth = selection.fold_growth.unwrap_or(settings.fold_growth);
        let schema = LazyCell::new(|| NnSchema::new(context));
        self.define_in(context);
        let mut compiled = Compiled::default();
        let wanted = |rule: &Rule| !is_definition(rule) && (selection.wanted)(rule);
        for located in self.rules.iter().filter(|located| wanted(&located.rule)) {
            let found = match self.shipped.contains(&located.spans.name.file) {
                true => Vec::new(),
                false => check_rule(located, &*schema),
            };
            if has_errors(&found) {
                return Err(OptimiseError::Rules(self.sources.render(&found)));
            }
            let mut unknown =
                calls(&located.rule).filter(|name| !is_defined(&settings.natives, name));
            if let Some(name) = unknown.next() {
                let rule = located.rule.name();
                return Err(OptimiseError::Rules(format!(
                    "rule `{rule}` calls `native {name}`, which nobody has defined: \
                     `gsl.attr.Call` takes a function of Python, `Library::define` one of Rust"
                )));
            }
            let rule =
                CompiledRule::checked(&located.rule, context, &settings, selection.expressible);
            match rule {
                Ok(rule) => compiled.rules.push(rule),
                Err(CompileError::Inexpressible { rule, operation }) => {
                    compiled.left_out.push((rule, operation));
                }
                Err(other) => return Err(OptimiseError::Rules(other.to_string())),
            }
        }
        Ok(compiled)
    }

    /// Checks the rules against the operations; what is found, as it would be shown, or nothing.
    pub fn check(&self) -> String {
        self.sources.render(&self.findings())
    }

    /// Checks the rules against the operations; why some cannot be used, as it would be shown, or
    /// nothing.
    pub fn errors(&self) -> String {
        let mut found = self.findings();
        found.retain(|finding| finding.severity == Severity::Error);
        self.sources.render(&found)
    }

    fn findings(&self) -> Vec<Diagnostic> {
        let schema = NnSchema::new(&self.context());
        self.rules.iter().flat_map(|rule| check_rule(rule, &schema)).collect()
    }

    /// Verifies each rule by exact evaluation of many small instances.
    ///
    /// Takes up to a second for each; see [`tangram_gsl::verify`]. Definitions are what others are
    /// verified by, and have no verdict.
    pub fn verify(&self, effort: &Effort) -> Vec<(String, Verdict)> {
        let (seen, natives) = (natives(), self.natives());
        let verdict = |located: &LocatedRule| {
            let name = located.rule.name().to_owned();
            if let Some(unseen) = calls(&located.rule).find(|name| !is_defined(&seen, name)) {
                let why = format!(
                    "unverified: it calls `native {unseen}`, a function that verification does \
                     not see"
                );
                return (name, Verdict::Unknown { doubt: Doubt::Thin, why });
            }
            let context = self.context();
            if let Some(operator) = foreign(&located.rule, &context) {
                let why = format!(
                    "unverified: nobody defines `{operator}`, so that it is matched and made, and \
                     what it computes is not seen"
                );
                return (name, Verdict::Unknown { doubt: Doubt::Thin, why });
            }
            let verdict = verify::verify(&located.rule, &context, &natives, effort);
            let verdict = verdict.unwrap_or_else(|e| Verdict::Unknown {
                doubt: Doubt::NeverMatches,
                why: e.to_string(),
            });
            (name, verdict)
        };
        let rules = self.rules.iter().filter(|located| !is_definition(&located.rule));
        rules.map(verdict).collect()
    }

    /// Verifies every `step`th mutant of each rule; see [`tangram_gsl::verify::mutate`].
    ///
    /// Takes up to a second for each mutant, and several for one that holds.
    pub fn mutate(&self, effort: &Effort, step: usize) -> Vec<(String, Mutant, Judgement)> {
        let (context, natives) = (self.context(), self.natives());
        let of_rule = |located: &LocatedRule| {
            let name = located.rule.name().to_owned();
            let all = mutate::mutants(&located.rule).into_iter().step_by(step.max(1));
            all.map(|mutant| {
                let judgement = mutate::judge(&mutant, &context, &natives, effort);
                (name.clone(), mutant, judgement)
            })
            .collect::<Vec<_>>()
        };
        self.rules.iter().flat_map(of_rule).collect()
    }

    /// The rules of this name alone, and what defines operators.
    pub fn named(&self, name: &str) -> Library {
        let of_name = self.rules.iter().filter(|located| located.rule.name() == name);
        let others = self.rules.iter().filter(|located| located.rule.name() != name);
        let rules = of_name.chain(others.filter(|located| is_definition(&located.rule)));
        Library { rules: rules.cloned().collect(), ..Library::default() }
    }

    fn add_shipped(&mut self, topic: &str, text: &str) -> Result<(), RulesError> {
        let known = self.rules.len();
        self.read_text(&format!("{topic}.gsl"), text, None)?;
        self.shipped.extend(self.rules[known..].iter().map(|located| located.spans.name.file));
        Ok(())
    }

    /// Finds out what the rules do to each other when they are applied together: which overlap,
    /// which never get a turn, which loop.
    ///
    /// Takes some tens of milliseconds for each; see [`tangram_gsl::analysis`].
    ///
    /// # Errors
    /// [`RulesError::Wrong`] for a rule that cannot be compiled.
    pub fn analyse(&self) -> Result<Vec<Finding>, RulesError> {
        let (context, natives) = (self.context(), self.natives());
        let options = rules::Options { natives: natives.clone(), ..rules::Options::default() };
        let compile = |located: &LocatedRule| {
            CompiledRule::checked(&located.rule, &context, &options, &|_| true)
                .map_err(|error| RulesError::Wrong { rendered: error.to_string() })
        };
        let rules = self.rules.iter().filter(|located| !is_definition(&located.rule));
        let rules = rules.map(compile).collect::<Result<Vec<_>, _>>()?;
        Ok(analyse(&rules, &context, &natives, 0))
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), RulesError> {
        let failed = |source| RulesError::Read { path: folder.to_owned(), source };
        let mut files = Vec::new();
        for path in tangram_files::entries(folder).map_err(failed)? {
            if path.extension().is_some_and(|ext| ext == "gsl") {
                files.push(path);
            }
        }
        files.sort();
        for path in files {
            let text = read(&path)?;
            self.add_text(&path.to_string_lossy(), &text, Some(folder))?;
        }
        Ok(())
    }

    /// Adds the rules written in `text`; files that it names with `use` are looked for in
    /// `folder`. They count as asked for.
    ///
    /// # Errors
    /// [`RulesError::Wrong`]: the text, or one that it uses, is wrong.
    pub fn add_text(
        &mut self,
        name: &str,
        text: &str,
        folder: Option<&Path>,
    ) -> Result<(), RulesError> {
        let known = self.rules.len();
        self.read_text(name, text, folder)?;
        self.asked.extend(self.rules[known..].iter().map(|rule| rule.rule.name().to_owned()));
        Ok(())
    }

    fn read_text(
        &mut self,
        name: &str,
        text: &str,
        folder: Option<&Path>,
    ) -> Result<(), RulesError> {
        let mut loader = Folder { folder: folder.map(Path::to_owned) };
        let file = text::load(name, text, &mut loader, &mut self.sources);
        if file.has_errors() {
            return Err(RulesError::Wrong { rendered: self.sources.render(&file.diagnostics) });
        }
        let both = definition::conflicts(self.rules.iter().chain(&file.rules), &self.sources);
        if has_errors(&both) {
            return Err(RulesError::Wrong { rendered: self.sources.render(&both) });
        }
        self.rules.extend(file.rules);
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, RulesError> {
    std::fs::read_to_string(path)
        .map_err(|source| RulesError::Read { path: path.to_owned(), source })
}

/// Reads the files that rule files name.
struct Folder {
    folder: Option<PathBuf>,
}

impl text::Loader for Folder {
    fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let beside = Path::new(from).parent().filter(|p| !p.as_os_str().is_empty());
        let folder = beside.map(Path::to_owned).or_else(|| self.folder.clone());
        let folder = folder.ok_or("this text cannot use other files")?;
        let file = folder.join(path);
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        Ok((file.to_string_lossy().into_owned(), text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_request_are_those_whose_rules_all_are() {
        for (name, text) in SHIPPED {
            let mut library = Library::default();
            library.add_shipped(name, text).expect("a right file");
            let on_request =
                |located: &LocatedRule| located.rule.labels().iter().any(|l| l == "on-request");
            let count = library.rules.iter().filter(|located| on_request(located)).count();
            let expected = if ON_REQUEST_FILES.contains(name) { library.rules.len() } else { 0 };
            assert_eq!(count, expected, "{name}");
        }
    }

    #[test]
    fn what_is_asked_for_by_name_is_there_once() {
        let asked = |names: &[&str]| {
            let mut library = Library::shipped_for(&Options::default()).expect("shipped rules");
            let before = library.rules.len();
            for name in names {
                library.add(name).expect("a known name");
            }
            (library.rules.len() - before, library.asked.len())
        };
        assert_eq!(asked(&["parallel-conv2d", "parallel-conv2d"]), (1, 1));
        assert_eq!(asked(&["gelu"]), (0, 1));
        let (added, all) = asked(&["parallel"]);
        assert!(added > 5 && added == all);
        assert_eq!(asked(&["parallel-conv2d", "parallel"]), (added, all));
        let error = Library::default().add("paralel").expect_err("no such name");
        assert!(error.to_string().starts_with("`paralel` is no rule file"));
    }

    #[test]
    fn options_that_name_rules_get_them_all() {
        let count = |options: &Options| {
            Library::shipped_for(options).expect("the shipped rules").rules.len()
        };
        let all = Library::shipped().expect("the shipped rules").rules.len();
        let only = Options { only: vec!["lower".to_owned()], ..Options::default() };
        let disable = Options { disable: vec!["x".to_owned()], ..Options::default() };
        let saturate = Options { strategy: Strategy::Saturate, ..Options::default() };
        assert_eq!((count(&only), count(&disable), count(&saturate)), (all, all, all));
        assert!(count(&Options::default()) < all);
    }
}
