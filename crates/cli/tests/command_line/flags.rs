//! Flags beside flags: each has an effect or is refused.

use std::collections::BTreeMap;
use std::sync::Mutex;

use clap::Arg;

use crate::commands::{flags, leaves, start, written};
use crate::desk::{Desk, Seen};

/// Switches that change nothing here: without a configuration file, of which
/// `tests/python/test_config.py` knows, where editors say what is so anyway, and what starts a
/// browser.
const IDLE: &[&str] = &["--no-config", "--stdio", "--open"];

/// Values with which a flag shows what it does; those of a closed list are in the definition.
const VALUES: &[(&str, &[&str])] = &[
    ("opt --output", &[]),
    ("view --output", &[]),
    ("view --profile", &["profile.json"]),
    ("opt --rules", &["own.gsl", "gelu"]),
    ("opt --disable", &["relu-relu,simplify,remove-identity"]),
    ("opt --only", &["relu-relu"]),
    ("opt --json", &["report.json", "-"]),
    ("opt --trace", &["trace.json", "trace.html"]),
    ("opt --steps", &["0"]),
    ("opt --max-seconds", &["0"]),
    ("opt --max-rewrites", &["0"]),
    ("opt --max-nodes", &["0", "30"]),
    ("opt --cost", &["cost.json"]),
    ("opt --explain", &[""]),
    ("opt --fold-limit", &["0"]),
    ("opt --opset", &["20", "12"]),
    ("opt --explain-rule", &["gelu"]),
    ("opt --at", &["no-such-node"]),
    ("opt --shape", &["no-such-input=1"]),
    ("opt --data", &["no-such-input=none.npy"]),
    ("opt --runs", &["2"]),
    ("opt --measure", &["1"]),
    ("opt --measurements", &["times.jsonl"]),
    ("opt --tolerance", &["0"]),
    ("opt --keep", &["no-such-name"]),
    ("scop --machine", &["scalar", "avx512"]),
    ("opt --jobs", &["1"]),
    ("opt --max-memory", &["1G"]),
    ("--max-memory", &["8G"]),
    ("--max-seconds", &["600"]),
    ("opt --table", &["table.csv"]),
    ("--input-shape", &["no-such-input:1"]),
    ("--dim", &["no-such-name=1", "no-such-name=1..9"]),
    ("--inputs", &["no-such-value"]),
    ("--outputs", &["no-such-value"]),
    ("diff --limit", &["0"]),
    ("check --runs", &["1"]),
    ("check --seed", &["7"]),
    ("check --shape", &["no-such-input=1"]),
    ("check --data", &["no-such-input=none.npy"]),
    ("check --tolerance", &["0"]),
    ("run --input", &["no-such-input=none.npy"]),
    ("run --seed", &["7"]),
    ("run --shape", &["no-such-input=1"]),
    ("run --output", &["written.npz"]),
    ("run --report", &["page.html"]),
    ("run --runs", &["2"]),
    ("run --threads", &["2"]),
    ("run --machine", &["scalar"]),
    ("bench --input", &["no-such-input=none.npy"]),
    ("bench --seed", &["7"]),
    ("bench --shape", &["no-such-input=1"]),
    ("bench --runs", &["2"]),
    ("bench --threads", &["2"]),
    ("bench --python", &["no-such-python"]),
    ("bench --machine", &["scalar"]),
    ("compile --machine", &["scalar"]),
    ("man --output", &["pages"]),
    ("compile --print-after", &["fuse"]),
    ("compile --stop-after", &["fuse"]),
    ("compile --report", &["page.html"]),
    ("show --around", &["no-such-value"]),
    ("show --limit", &["1"]),
    ("rules show --rules", &["own.gsl"]),
    ("rules mutate --step", &["1000"]),
    ("rules domains --attempts", &["20"]),
    ("--max-steps", &["1"]),
    ("codegen --index", &["short"]),
    ("schedule --steps", &["find band; tile 4 4"]),
    ("schedule --respecting", &["{ S[i, j] -> S[i + 1, j] }"]),
    ("schedule --max-coefficient", &["0", "1"]),
    ("egraph --from", &["graph.json"]),
    ("egraph --rules", &["sums.rules"]),
    ("egraph --iterations", &["0"]),
    ("egraph --nodes", &["1"]),
    ("egraph --seconds", &["0"]),
    ("egraph --bytes", &["1"]),
    ("scop --include", &["headers", "nowhere"]),
    ("scop --define", &["n=5"]),
    ("scop --undefine", &["__GNUC__"]),
    ("scop --set", &["n=3"]),
    ("scop --tile", &["5,6,7", "diamond,8"]),
    ("rewrite --rules", &["own.gsl"]),
    ("rewrite --passes", &["cse"]),
    ("rewrite --pass-pipeline", &["builtin.module(func.func(cse))"]),
    ("rewrite --print-after", &["canonicalize", "all"]),
    ("--output", &["written.txt"]),
];

/// Flags whose effect needs an input that this test has not: each with the reason.
const QUIET: &[(&str, &str)] = &[
    ("opt --max-memory", "shows where evaluation needs more only"),
    ("check --max-memory", "shows where evaluation needs more only"),
    ("check --max-seconds", "shows where evaluation takes longer only"),
    ("run --max-memory", "shows where evaluation needs more only"),
    ("run --max-seconds", "shows where evaluation takes longer only"),
    ("calc --allow-files", "differs where a program uses files only"),
    ("codegen --vectorize", "puts its hint on inner loops only, beside --parallel on outer ones"),
    ("egraph --scheduler", "differs where rules match very often only"),
    ("egraph simplify --cost", "differs where small terms are deep only"),
    ("egraph extract --seconds", "ends a search that this graph does not need"),
    ("opt --rules", "differ where a model has what they match only"),
    ("opt --measure", "shows where several rewritings of a model differ only"),
    ("opt --measurements", "shows where something was measured, or is to be, only"),
    ("opt --runtime", "shows where several rewritings of a model differ only"),
    ("opt --objective", "shows where several rewritings of a model differ only"),
    ("opt --no-config", "differs where there is a configuration file only"),
    ("compile --no-config", "differs where there is a configuration file only"),
    ("opt --max-nodes", "ends a search that this model does not need"),
    ("opt --fold-limit", "shows where a model has constants to fold only"),
    ("opt --check", "tells by its exit code beside --quiet"),
    ("rewrite --split-input-file", "differs where the input has lines of dashes only"),
    ("rewrite --check-patterns", "says something where a pattern breaks its contract only"),
    ("rewrite --no-verify", "says something where a pass breaks the program only"),
    ("rewrite --debug-only", "shows the driver that the pipeline happens to use"),
    ("rules show --rules", "differ where the rule is in them only"),
    ("schedule --algorithm", "differs where loops could have several orders only"),
    ("schedule --inner-parallel", "differs where skewing makes inner loops parallel only"),
    ("diff --limit", "differs where models do only"),
    ("run --runs", "shows in the time only"),
    ("run --threads", "shows in the time only: the results are the same bits"),
    ("run --seed", "shows in numbers that look like times"),
    ("run --machine", "changes code, not results"),
    ("run --interpret", "changes what computes, not results"),
    ("run --no-rules", "differs where a rule fires only"),
    ("run --exact", "differs where a rule that rounds fires only"),
    ("compile --machine", "differs where a model has what is computed only"),
    ("compile --verify-each", "says something where a pass breaks the program only"),
    ("compile --no-rules", "differs where a rule fires only"),
    ("compile --exact", "differs where a rule that rounds fires only"),
    ("check --runs", "shows where sizes are open only"),
    ("check --seed", "shows where models differ only"),
    ("check --exact", "shows in the tolerance only"),
    ("check --tolerance", "shows in the tolerance only"),
    ("opt --tolerance", "shows in the tolerance only"),
    ("opt --runs", "shows where sizes are open only"),
    ("opt --inline-functions", "shows where a model has functions only"),
    ("show --inline-functions", "shows where a model has functions only"),
    ("bench --seed", "shows in times only"),
    ("bench --machine", "shows in times only"),
    ("bench --interpret", "shows in times only"),
    ("bench --no-rules", "shows in times only"),
    ("bench --exact", "shows in times only"),
    ("run --inline-functions", "shows where a model has functions only"),
    ("compile --inline-functions", "shows where a model has functions only"),
    ("show --weights", "differ where a model has long ones only"),
    ("scop --include", "shows where a header is looked for only"),
    ("scop --parallel", "shows where a loop that runs in parallel is written only"),
    ("opt --no-library", "shows where a rule of the library fires, which --exact may forbid"),
    ("opt --external-data", "differs where a model has large weights only"),
    ("opt --exact", "differs where a model has what rounds otherwise only"),
    ("scop --machine", "differs where loops are tiled or jammed only"),
    ("scop --undefine", "changes statements that not every --print tells of"),
    ("scop --fuse", "shows where loops could be fused only"),
];

fn values(command: &str, arg: &Arg) -> Vec<Vec<String>> {
    let flag = written(arg);
    if !arg.get_action().takes_values() {
        return if IDLE.contains(&flag.as_str()) { Vec::new() } else { vec![vec![flag]] };
    }
    let closed: Vec<String> =
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let top = command.split(' ').next().unwrap_or_default();
    let keys = [
        format!("{command} --{}", arg.get_id().as_str().replace('_', "-")),
        format!("{top} --{}", arg.get_id().as_str().replace('_', "-")),
        format!("--{}", arg.get_id().as_str().replace('_', "-")),
    ];
    let listed = keys.iter().find_map(|key| VALUES.iter().find(|(name, _)| name == key));
    let all = match (closed.is_empty(), listed) {
        (false, _) => closed,
        (true, Some((_, values))) => values.iter().map(|value| (*value).to_owned()).collect(),
        (true, None) => panic!("`{command} {flag}` is new: give it values in `VALUES`"),
    };
    let words = |value: String| match (arg.is_require_equals_set(), flag.starts_with("--")) {
        (true, _) if value.is_empty() => vec![flag.clone()],
        (true, _) => vec![format!("{flag}={value}")],
        (false, true) => vec![flag.clone(), value],
        (false, false) => vec![format!("{flag}{value}")],
    };
    all.into_iter().map(words).collect()
}

fn is_quiet(command: &str, arg: &Arg) -> bool {
    let top = command.split(' ').next().unwrap_or_default();
    let id = arg.get_id().as_str().replace('_', "-");
    QUIET
        .iter()
        .any(|(name, _)| *name == format!("{command} --{id}") || *name == format!("{top} --{id}"))
}

/// Says what is wrong with a flag beside what `before` shows.
fn judge(flag: &str, all: &[Seen], before: &Seen, quiet: bool) -> Option<String> {
    for seen in all {
        if !matches!(seen.code, Some(0..=3)) || seen.stderr.contains("panicked") {
            return Some(format!("ends with {:?}: {}", seen.code, seen.stderr));
        }
        if seen.code == Some(2) && (seen.stderr.trim().is_empty() || !seen.files.is_empty()) {
            return Some(format!("fails and has written {:?}: {}", seen.files, seen.stderr));
        }
    }
    let refused = |seen: &Seen| seen.code == Some(2) && seen.stderr.contains(flag);
    let shows = all.iter().any(|seen| seen != before);
    (!shows && !quiet && !all.iter().all(refused)).then(|| "is ignored in silence".to_owned())
}

/// Tries each flag of a command beside each of `modes`, which are flags themselves.
fn faults(
    desk: &Desk,
    command: &str,
    args: &[Arg],
    base: &[&str],
    mode: Option<(&Arg, &[String])>,
    is_tried: &mut dyn FnMut() -> bool,
) -> Vec<String> {
    let with = |more: &[&[String]]| -> Vec<String> {
        let own = more.iter().flat_map(|words| words.iter().cloned());
        base.iter().map(|word| (*word).to_owned()).chain(own).collect()
    };
    let seen = |words: &[String]| desk.seen(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let chosen: &[String] = mode.map_or(&[], |(_, words)| words);
    let before = seen(&with(&[chosen]));
    if before.code == Some(2) {
        // The other flag asks for something itself: it is tried as one.
        return Vec::new();
    }
    let mut found = Vec::new();
    for arg in args.iter().filter(|arg| mode.is_none_or(|(own, _)| own.get_id() != arg.get_id())) {
        let flag = written(arg);
        if base.contains(&flag.as_str())
            || arg.get_short().is_some_and(|s| base.contains(&format!("-{s}").as_str()))
        {
            continue;
        }
        if !is_tried() {
            continue;
        }
        let all: Vec<Seen> =
            values(command, arg).iter().map(|words| seen(&with(&[chosen, words]))).collect();
        if all.is_empty() {
            continue;
        }
        if let Some(fault) = judge(&flag, &all, &before, is_quiet(command, arg)) {
            found.push(format!("{command} {} {flag}: {fault}", chosen.join(" ")));
        }
    }
    found
}

/// Lists the flags that change the kind of a run: switches and closed lists; or all.
fn modes(command: &str, args: &[Arg], all: bool) -> Vec<(Arg, Vec<String>)> {
    let closed = |arg: &&Arg| {
        all || !arg.get_action().takes_values() || !arg.get_possible_values().is_empty()
    };
    let each = |arg: &Arg| -> Vec<_> {
        values(command, arg).into_iter().map(|words| (arg.clone(), words)).collect()
    };
    args.iter().filter(closed).flat_map(each).collect()
}

/// Of so many pairs of a switch and a flag one is tried, where not all are.
const SAMPLE: usize = 5;

/// Tries each flag alone, and pairs of flags: all, or some of those of a switch and a flag.
fn walk(all: bool) {
    let faults: Mutex<BTreeMap<String, Vec<String>>> = Mutex::default();
    std::thread::scope(|scope| {
        let leaves = leaves();
        let half = leaves.len() / 2;
        let (first, second) = leaves.split_at(half);
        for part in [first.to_vec(), second.to_vec()] {
            let faults = &faults;
            scope.spawn(move || {
                for (names, definition) in part {
                    let (desk, command) = (Desk::new(), names.join(" "));
                    let (args, base) = (flags(&definition), start(&names));
                    let mut own = self::faults(&desk, &command, &args, base, None, &mut || true);
                    let mut pairs = 0;
                    let mut is_tried = || {
                        pairs += 1;
                        all || pairs % SAMPLE == 0
                    };
                    for (arg, words) in modes(&command, &args, all) {
                        let mode = Some((&arg, &words[..]));
                        own.extend(self::faults(&desk, &command, &args, base, mode, &mut is_tried));
                    }
                    faults.lock().expect("no panic").insert(command, own);
                }
            });
        }
    });
    let found: Vec<String> =
        faults.into_inner().expect("no panic").into_values().flatten().collect();
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_flag_is_ignored_alone_or_beside_a_switch() {
    walk(false);
}

#[test]
#[ignore = "all pairs of flags take minutes"]
fn no_flag_is_ignored_beside_any_other() {
    walk(true);
}
