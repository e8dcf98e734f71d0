//! Tests of passes: the lines `RUN: mlir-opt %s ... | FileCheck %s ...` whose passes are here.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use tangram_passes::{Pipeline, RunOptions, Silent, run};

use crate::folder::{File, Tally, mlir_opt};
use crate::peer;
use crate::round_trip::{print, read};

/// Options that change nothing for us.
const IDLE: &[&str] = &[
    "allow-unregistered-dialect",
    "split-input-file",
    "verify-diagnostics",
    "mlir-disable-threading",
];

/// A line that can be run here.
struct Run {
    /// The options of `mlir-opt`.
    options: Vec<String>,
    pipeline: String,
    generic: bool,
    /// The options of `FileCheck`.
    check: Vec<String>,
}

/// Runs the lines of `file` part by part. What upstream's own output does not pass part by part
/// does not count, nor what `mlir-opt` refuses.
pub(crate) fn file(file: &File) -> Tally {
    let mut tally = Tally::default();
    for run in runs(&file.text) {
        let parts = match run.options.iter().any(|option| option.contains("split-input-file")) {
            true => file.parts(),
            false => vec![file.text.clone()],
        };
        let checked = |part: &String| run.prefixes().any(|prefix| has_checks(part, &prefix));
        let options: Vec<&str> = run.options.iter().map(String::as_str).collect();
        for (i, part) in parts.iter().enumerate().filter(|(_, part)| checked(part)) {
            let theirs = mlir_opt(&options, std::slice::from_ref(part)).remove(0);
            if !theirs.is_ok_and(|theirs| accepts(&run, part, &theirs).is_ok()) {
                continue;
            }
            let outcome = ours(&run, part).and_then(|ours| accepts(&run, part, &ours));
            tally.count(i, outcome.map_err(|reason| format!("{}: {reason}", run.pipeline)));
        }
    }
    tally
}

/// What our passes make of a program.
fn ours(run_line: &Run, source: &str) -> Result<String, String> {
    let pipeline = Pipeline::parse(&run_line.pipeline).map_err(|error| error.to_string())?;
    let mut module = read(source).or_else(|refused| {
        let generic = mlir_opt(&["--mlir-print-op-generic"], &[source.to_owned()]).remove(0);
        read(&generic.map_err(|_| refused)?)
    })?;
    match run(&mut module, &pipeline, &RunOptions::default(), &mut Silent) {
        Ok(_) => Ok(print(&module, run_line.generic)),
        Err(error) => Err(error.to_string()),
    }
}

/// Puts `output` to FileCheck with the lines of `source`.
fn accepts(run: &Run, source: &str, output: &str) -> Result<(), String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("tangram-check-{}-{number}.mlir", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    std::fs::write(&path, source).expect("a folder for temporary files");
    let path_text = path.display().to_string();
    let mut arguments = vec![path_text.as_str(), "--allow-empty", "--dump-input=never"];
    arguments.extend(run.check.iter().map(String::as_str));
    let answer = peer::ask("FileCheck-22", &arguments, output).expect("FileCheck-22");
    drop(std::fs::remove_file(&path));
    answer.map(drop).map_err(|said| {
        let mut lines = said.lines().filter(|line| !line.trim().is_empty());
        let what = lines.next().unwrap_or("").replace(&path_text, "");
        format!("{what} `{}`", lines.next().unwrap_or("").trim())
    })
}

impl Run {
    /// The words that begin lines for FileCheck.
    fn prefixes(&self) -> impl Iterator<Item = String> {
        let named = self.check.iter().filter_map(|option| option.split_once("check-prefix"));
        let named = named.filter_map(|(_, rest)| rest.split_once('='));
        let mut named: Vec<String> =
            named.flat_map(|(_, names)| names.split(',').map(str::to_owned)).collect();
        if named.is_empty() {
            named.push("CHECK".to_owned());
        }
        named.into_iter()
    }
}

/// Returns whether FileCheck finds something to check in `part`.
fn has_checks(part: &str, prefix: &str) -> bool {
    part.lines().filter(|line| line.contains("//")).any(|line| {
        let rest = line.split_once(prefix).map(|(_, rest)| rest);
        rest.is_some_and(|rest| {
            let word = rest.trim_start_matches(|c: char| c == '-' || c.is_ascii_uppercase());
            word.starts_with(':')
        })
    })
}

/// The lines of a test that run passes which are here, and nothing else.
fn runs(text: &str) -> Vec<Run> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let Some((_, command)) = line.split_once("// RUN:").or_else(|| line.split_once("//RUN:"))
        else {
            continue;
        };
        let mut whole = open.take().unwrap_or_default();
        whole += command.trim();
        match whole.strip_suffix('\\') {
            Some(more) => open = Some(format!("{more} ")),
            None => lines.push(whole),
        }
    }
    lines.iter().filter_map(|line| command(line)).collect()
}

fn command(line: &str) -> Option<Run> {
    let (left, right) = line.split_once('|')?;
    if right.contains('|') || left.contains('>') {
        return None;
    }
    let mut left = words(left).into_iter();
    (left.next()? == "mlir-opt").then_some(())?;
    let mut right = words(right).into_iter();
    (right.next()? == "FileCheck").then_some(())?;
    let check = right.filter(|word| word != "%s" && !word.contains("%s")).collect();
    let mut run = Run { options: Vec::new(), pipeline: String::new(), generic: false, check };
    let mut passes = Vec::new();
    let mut all: Vec<String> = left.filter(|word| word != "%s").collect();
    // `-pass-pipeline TEXT` is `-pass-pipeline=TEXT`.
    if let Some(at) = all.iter().position(|word| word.trim_start_matches('-') == "pass-pipeline") {
        let text = (at + 1 < all.len()).then(|| all.remove(at + 1))?;
        all[at] += &format!("={text}");
    }
    for word in all {
        let bare = word.trim_start_matches('-');
        let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
        match name {
            "pass-pipeline" => run.pipeline = value.to_owned(),
            "mlir-print-op-generic" => run.generic = true,
            _ if IDLE.contains(&name) => {}
            _ => passes.push(if value.is_empty() {
                name.into()
            } else {
                format!("{name}{{{value}}}")
            }),
        }
        if name != "split-input-file" && name != "verify-diagnostics" {
            run.options.push(word.clone());
        }
        if name == "split-input-file" {
            run.options.push("--split-input-file".into());
        }
    }
    if run.pipeline.is_empty() {
        run.pipeline = format!("builtin.module({})", passes.join(","));
    } else if !passes.is_empty() {
        return None;
    }
    is_ours(&run.pipeline).then_some(run)
}

/// Returns whether a pipeline names at least one pass, and only passes that are here.
fn is_ours(pipeline: &str) -> bool {
    let mut depth = 0usize;
    let mut names = vec![String::new()];
    for c in pipeline.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // What comes before is the name of an operation.
            '(' => names.last_mut().expect("never empty").clear(),
            ',' | ')' => names.push(String::new()),
            c => names.last_mut().expect("never empty").push(c),
        }
    }
    let passes: Vec<&str> =
        names.iter().map(|name| name.trim()).filter(|n| !n.is_empty()).collect();
    let here = |name: &&str| tangram_passes::PASSES.iter().any(|pass| *pass.name == **name);
    !passes.is_empty() && passes.iter().all(here)
}

/// The words of a command, as a shell takes them.
fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut inside, mut quote) = (false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                if !inside {
                    out.push(String::new());
                }
                inside = true;
            }
            (None, c) if c.is_whitespace() => inside = false,
            _ => {
                if !inside {
                    out.push(String::new());
                }
                inside = true;
                if let Some(word) = out.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    out
}
