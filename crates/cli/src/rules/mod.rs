//! `tangram rules`.

mod domains;

use crate::exit::ExitCode;
use std::path::{Path, PathBuf};

use tangram::gsl::check::{check_rule, has_errors};
use tangram::gsl::schema::NnSchema;
use tangram::gsl::verify::mutate::Fate;
use tangram::gsl::verify::{Effort, Verdict};
use tangram::gsl::{import, text};
use tangram::{Library, ON_REQUEST};

use crate::args::RulesCommand;
use crate::error::{self, Error};
use crate::out;

/// Lists, shows, formats and checks rules.
pub(crate) fn run(command: &RulesCommand) -> Result<ExitCode, Error> {
    match command {
        RulesCommand::List { rules, json } => list(rules, *json),
        RulesCommand::Show { name, rules } => show(name, rules),
        RulesCommand::Fmt { files, check } => format(files, *check),
        RulesCommand::Import { file, output, pairs } => import(file, output.as_deref(), *pairs),
        RulesCommand::Check { files, set: true, json, .. } => check_set(files, *json),
        RulesCommand::Check { files, quick, json, .. } => check(files, *quick, *json),
        RulesCommand::Mutate { files, step, json } => mutate(files, *step, *json),
        RulesCommand::Domains { operations, attempts, json } => {
            domains::show(operations, *attempts, *json)
        }
    }
}

fn load(names: &[String]) -> Result<Library, Error> {
    if names.is_empty() {
        return Ok(Library::shipped()?);
    }
    let mut library = Library::default();
    for name in names {
        library.add(name)?;
    }
    Ok(library)
}

fn list(names: &[String], json: bool) -> Result<ExitCode, Error> {
    let library = load(names)?;
    if json {
        let rules: Vec<_> = library
            .rules
            .iter()
            .map(|rule| {
                let rule = &rule.rule;
                serde_json::json!({
                    "name": rule.name(), "labels": rule.labels(), "benefit": rule.benefit(),
                    "doc": rule.doc(),
                })
            })
            .collect();
        out::print(format!("{}\n", serde_json::Value::Array(rules)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = column_width(library.rules.iter().map(|rule| rule.rule.name()));
    for rule in &library.rules {
        let rule = &rule.rule;
        let summary = rule.doc().lines().next().unwrap_or_default();
        let labels = rule.labels().join(", ");
        out::print(format!("{:width$}  [{labels}]  {summary}\n", rule.name()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How wide the column of names is. A longer name stands out of it, so that one such name does not
/// move the rest of every line out of sight; nor can more be asked of `format!`, whose widths have
/// 16 bits.
fn column_width<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    const WIDEST: usize = 60;
    names.map(str::len).max().unwrap_or(0).min(WIDEST)
}

fn show(name: &str, names: &[String]) -> Result<ExitCode, Error> {
    let mut library = Library::shipped()?;
    for name in names {
        library.add(name)?;
    }
    match library.rules.iter().find(|rule| rule.rule.name() == name) {
        Some(rule) => {
            out::print(text::print(&rule.rule))?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let hint = "`tangram rules list` names all rules";
            Err(Error::Usage(format!("there is no rule `{name}`; {hint}")))
        }
    }
}

/// The rule files among `paths`, folders opened.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut out = Vec::new();
    for path in paths {
        if !path.is_dir() {
            out.push(path.clone());
            continue;
        }
        let before = out.len();
        for path in tangram_files::entries(path).map_err(error::io(path))? {
            if path.extension().is_some_and(|extension| extension == "gsl") {
                out.push(path);
            }
        }
        if out.len() == before {
            let path = path.display();
            return Err(Error::Usage(format!("{path}: no file in the folder ends in `.gsl`")));
        }
    }
    out.sort();
    Ok(out)
}

fn format(paths: &[PathBuf], check: bool) -> Result<ExitCode, Error> {
    let mut changed = false;
    for path in files(paths)? {
        let old = std::fs::read_to_string(&path).map_err(error::io(&path))?;
        let new = text::format(&path.to_string_lossy(), &old).map_err(Error::Diagnostics)?;
        if new == old {
            continue;
        }
        changed = true;
        if check {
            out::print(format!("{} is not in canonical form\n", path.display()))?;
        } else {
            out::write(&path, &new)?;
        }
    }
    Ok(if check && changed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Writes the rules of a collection as text, and says what is left out.
fn import(file: &Path, output: Option<&Path>, pairs: bool) -> Result<ExitCode, Error> {
    let bytes = std::fs::read(file).map_err(error::io(file))?;
    let imported = match std::str::from_utf8(&bytes) {
        Ok(list) if list.contains("=>") => import::tensat(list, pairs),
        _ if pairs => {
            let why = "`--pairs` has no effect on what is no list of terms with `=>`";
            return Err(Error::Usage(format!("{}: {why}", file.display())));
        }
        _ => import::taso(&bytes),
    };
    let imported = imported.map_err(|e| Error::Usage(format!("{}: {e}", file.display())))?;
    match output {
        Some(path) => {
            out::write(path, &imported.text)?;
            let (rules, left_out) = (imported.rules, imported.left_out.len());
            out::print(format!("{rules} rules imported, {left_out} left out\n"))?;
        }
        None => out::print(imported.text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks rules against the operations, then verifies those in which nothing was found.
fn check(names: &[String], quick: bool, json: bool) -> Result<ExitCode, Error> {
    let (mut faulty, mut count, mut verdicts) = (0, 0, Vec::new());
    let libraries: Vec<Library> = match names {
        [] => vec![Library::shipped()?],
        names => {
            names.iter().map(|name| load(std::slice::from_ref(name))).collect::<Result<_, _>>()?
        }
    };
    for mut library in libraries {
        count += library.rules.len();
        let found = library.check();
        if !found.is_empty() {
            // JSON has standard output for itself.
            if json {
                out::say(found)
            } else {
                out::print(found)?
            }
            let before = library.rules.len();
            let schema = NnSchema::new(&library.context());
            library.rules.retain(|rule| !has_errors(&check_rule(rule, &schema)));
            faulty += before - library.rules.len();
        }
        if !quick {
            verdicts.extend(library.verify(&Effort::default()));
        }
    }
    let wrong = verdicts.iter().filter(|(_, verdict)| verdict.is_wrong()).count();
    if json {
        out::print(format!("{}\n", verdicts_json(&verdicts)))?;
    } else {
        for (name, verdict) in &verdicts {
            out::print(format!("{name}: {verdict}\n"))?;
        }
        let rules = if count == 1 { "rule" } else { "rules" };
        out::print(format!("{count} {rules}: {}\n", summary(&verdicts, faulty)))?;
    }
    Ok(if wrong + faulty > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// How many rules came to which end.
fn summary(verdicts: &[(String, Verdict)], faulty: usize) -> String {
    let (mut hold, mut conditional, mut promise, mut wrong, mut unknown) = (0, 0, 0, 0, 0);
    let mut finite = 0;
    for (_, verdict) in verdicts {
        match verdict {
            Verdict::Holds(_) => hold += 1,
            Verdict::HoldsIf { .. } => conditional += 1,
            Verdict::HoldsAs { finite: true, .. } => finite += 1,
            Verdict::HoldsAs { .. } => promise += 1,
            Verdict::Wrong { .. } => wrong += 1,
            _ => unknown += 1,
        }
    }
    let ends = [
        (hold, "hold"),
        (conditional, "hold only under a further condition"),
        (finite, "right up to infinities"),
        (promise, "hold only as they promise less"),
        (wrong, "wrong"),
        (unknown, "not decided"),
        (faulty, "not well formed"),
    ];
    let told = ends.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let told = told.collect::<Vec<_>>().join(", ");
    if told.is_empty() { "nothing found".to_owned() } else { told }
}

/// Says what the rules of a set do to each other.
fn check_set(names: &[String], json: bool) -> Result<ExitCode, Error> {
    let mut library = load(names)?;
    if names.is_empty() {
        let on_request = |label: &String| label == ON_REQUEST;
        library.rules.retain(|rule| !rule.rule.labels().iter().any(on_request));
    }
    let findings = library.analyse()?;
    let defects = findings.iter().filter(|finding| finding.is_defect()).count();
    if json {
        let list = findings.iter().map(|finding| {
            serde_json::json!({ "defect": finding.is_defect(), "finding": finding.to_string() })
        });
        out::print(format!("{}\n", serde_json::Value::Array(list.collect())))?;
    } else {
        for finding in &findings {
            out::print(format!("{finding}\n"))?;
        }
        let overlaps = findings.len() - defects;
        let count = library.rules.len();
        out::print(format!("{count} rules as a set: {defects} defects, {overlaps} overlaps\n"))?;
    }
    Ok(if defects > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn verdicts_json(verdicts: &[(String, Verdict)]) -> serde_json::Value {
    verdicts.iter().map(|(name, verdict)| tangram::verdict_json(name, verdict)).collect()
}

/// Counts what verification says of mutants, and lists those it misses or cannot decide.
fn mutate(names: &[String], step: usize, json: bool) -> Result<ExitCode, Error> {
    let found = load(names)?.mutate(&Effort::default(), step);
    let missed = found.iter().any(|(.., judgement)| judgement.fate == Fate::Missed);
    let code = if missed { ExitCode::from(1) } else { ExitCode::SUCCESS };
    if json {
        let list = found.iter().map(|(rule, mutant, judgement)| {
            serde_json::json!({
                "rule": rule, "change": mutant.change, "text": text::print(&mutant.rule),
                "fate": judgement.fate.name(), "reason": judgement.reason,
            })
        });
        out::print(format!("{}\n", serde_json::Value::Array(list.collect())))?;
        return Ok(code);
    }
    for (rule, mutant, judgement) in &found {
        if !matches!(judgement.fate, Fate::Refuted | Fate::Malformed) {
            let (fate, reason) = (judgement.fate.name(), &judgement.reason);
            out::print(format!("{rule}: {fate}: {} ({reason})\n", mutant.change))?;
        }
    }
    out::print(score(&found.iter().map(|(.., judgement)| judgement.fate).collect::<Vec<_>>()))?;
    Ok(code)
}

/// How many mutants came to which end, and how many of those that differ were refuted.
fn score(fates: &[Fate]) -> String {
    const ENDS: [(Fate, &str); 7] = [
        (Fate::Refuted, "refuted"),
        (Fate::Missed, "missed"),
        (Fate::Equal, "equal as far as a longer search sees"),
        (Fate::Refused, "refused where types differ, else the same"),
        (Fate::Inert, "without a program that they change"),
        (Fate::Unknown, "not decided"),
        (Fate::Malformed, "no rules"),
    ];
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count();
    let ends: Vec<String> =
        ENDS.iter().map(|(fate, words)| format!("{} {words}", count(*fate))).collect();
    let (refuted, wrong) = (count(Fate::Refuted), count(Fate::Refuted) + count(Fate::Missed));
    let share = if wrong == 0 { 100.0 } else { 100.0 * refuted as f64 / wrong as f64 };
    let all = fates.len();
    format!(
        "{all} mutants: {}\nscore: {share:.1} % of those that were seen to differ\n",
        ends.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_can_be_listed() {
        let long = "a".repeat(66_000);
        let width = column_width([long.as_str(), "b"].into_iter());
        let lines = ["b", long.as_str()].map(|name| format!("{name:width$}|"));
        assert_eq!(lines, [format!("b{}|", " ".repeat(59)), format!("{long}|")]);
        assert_eq!(column_width(["ab", "c"].into_iter()), 2);
        assert_eq!(column_width(std::iter::empty()), 0);
    }
}
