//! Fuzzing: the targets of `fuzz/`, which is a cargo project of its own, under libFuzzer.

use crate::step::{Failure, Outcome, Steps};
use crate::workspace::{cargo, root};
use std::path::Path;
use std::process::{Command, Stdio};

/// The targets, and the folders whose files they start from.
const TARGETS: &[(&str, &[&str])] = &[
    ("calc", &["fuzz/seeds/calc"]),
    ("egraph_files", &[]),
    ("mlir_passes", &[]),
    ("mlir_text", &["crates/ir/tests/mlir", "crates/dialects/tests/programs"]),
    ("models", &[]),
    ("onnx", &["examples/models"]),
    ("rules_text", &["rules"]),
    ("rules_verified", &[]),
    ("schedule_tree", &["fuzz/seeds/schedule_tree"]),
    ("scop", &["examples/kernels"]),
    ("sets_operations", &[]),
    ("sets_text", &["fuzz/seeds/sets_text"]),
];

/// What `cargo xtask fuzz` takes.
#[derive(clap::Args)]
pub struct Options {
    /// How long each target runs.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// The files in `fuzz/targets` to run; all if none is named.
    targets: Vec<String>,
}

impl Options {
    /// Every target for a long run.
    pub fn long() -> Options {
        Options { minutes: 20, targets: Vec::new() }
    }
}

/// Runs targets one after the other; an input that fails ends the run.
///
/// # Errors
/// There is no such target, `cargo-fuzz` cannot be installed, or an input fails.
pub fn run(steps: &mut Steps, options: &Options) -> Outcome {
    let chosen = choose(&options.targets).map_err(|error| Failure::new("fuzz", error))?;
    if !has_cargo_fuzz() {
        steps.run("install cargo-fuzz", cargo(["install", "--locked", "cargo-fuzz"]))?;
    }
    for (name, seeds) in chosen {
        steps.show(&format!("fuzz {name}"), command(name, seeds, options.minutes)?)?;
    }
    Ok(())
}

fn choose(names: &[String]) -> Result<Vec<(&'static str, &'static [&'static str])>, String> {
    if names.is_empty() {
        return Ok(TARGETS.to_vec());
    }
    let find = |name: &String| {
        TARGETS.iter().find(|(target, _)| target == name).copied().ok_or_else(|| {
            let known: Vec<&str> = TARGETS.iter().map(|(target, _)| *target).collect();
            format!("no target `{name}`; there are: {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn command(name: &str, seeds: &[&str], minutes: u32) -> Result<Command, Failure> {
    // What is found lands in the first folder.
    let corpus = Path::new("fuzz/corpus").join(name);
    std::fs::create_dir_all(root().join(&corpus))
        .map_err(|e| Failure::new("fuzz", e.to_string()))?;
    // The code is safe Rust: assertions and libFuzzer's own limits find what there is to find.
    let mut command = cargo(["fuzz", "run", "--sanitizer", "none", name]);
    command.arg(corpus).args(seeds).arg("--").args([
        format!("-max_total_time={}", 60 * minutes),
        "-timeout=30".to_owned(),
        "-rss_limit_mb=4096".to_owned(),
        "-max_len=4096".to_owned(),
        // Bytes that are choices have no shape that short inputs would show first.
        "-len_control=0".to_owned(),
        "-print_final_stats=1".to_owned(),
    ]);
    Ok(command)
}

fn has_cargo_fuzz() -> bool {
    let mut probe = cargo(["fuzz", "--version"]);
    let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{TARGETS, choose};
    use crate::workspace::root;

    #[test]
    fn every_target_is_listed_and_every_folder_there() {
        let mut files: Vec<String> = std::fs::read_dir(root().join("fuzz/targets"))
            .expect("the folder is there")
            .map(|e| e.expect("an entry").path().file_stem().unwrap().to_string_lossy().into())
            .collect();
        files.sort();
        let listed: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        assert_eq!(files, listed);
        for seeds in TARGETS.iter().flat_map(|(_, seeds)| *seeds) {
            assert!(root().join(seeds).is_dir(), "{seeds}");
        }
        assert!(choose(&["nothing".to_owned()]).is_err());
    }
}
