//! Whether a change leaves the machine code of compiled models as it was, function by function.
//!
//! Two commands are built, of this tree and of an earlier commit, and `bench/same-code` compares
//! what they write. The earlier tree is a worktree of git below the target folder; both builds share
//! that folder, so dependencies are built once.

use crate::step::{Failure, Outcome, Steps};
use crate::venv::Venv;
use crate::workspace::{cargo, root, target_directory};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What `cargo xtask same-code` takes.
#[derive(clap::Args)]
pub struct Options {
    /// The commit that this tree is compared with.
    #[arg(long, default_value = "HEAD")]
    base: String,
    /// The profile of cargo for both commands.
    #[arg(long, default_value = "release")]
    profile: String,
    /// Arguments for the comparison itself: `--random 1000`, `--every`; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds both commands and compares what they write.
///
/// # Errors
/// A build fails, code differs in bits, or only one of both writes code.
pub fn run(steps: &mut Steps, options: &Options) -> Outcome {
    let venv = Venv::open(steps, ".venv")?;
    venv.install(steps, &root().join("tests/python/requirements.txt"))?;
    venv.install(steps, &root().join("bench/same-code/requirements.txt"))?;
    let before = before(steps, options)?;
    let after = build(steps, &root(), "after", &options.profile)?;
    let mut command = venv.python();
    command.arg(root().join("bench/same-code/run.py"));
    command.arg("--before").arg(before).arg("--after").arg(after).args(&options.arguments);
    steps.show("same code", command)
}

/// Builds the command of the earlier commit.
fn before(steps: &mut Steps, options: &Options) -> Result<PathBuf, Failure> {
    let tree = folder()?.join("tree");
    let mut checkout = git();
    if tree.exists() {
        checkout.arg("-C").arg(&tree).args(["checkout", "--quiet", "--detach"]);
    } else {
        checkout.args(["worktree", "add", "--quiet", "--detach"]).arg(&tree);
    }
    checkout.arg(commit(&options.base)?);
    steps.run("check out the base", checkout)?;
    build(steps, &tree, "before", &options.profile)
}

/// Builds the command of a tree, and keeps it under a name of its own.
fn build(steps: &mut Steps, tree: &Path, name: &str, profile: &str) -> Result<PathBuf, Failure> {
    let mut command = cargo(["build", "--quiet", "--package", "tangram-cli", "--profile", profile]);
    command.current_dir(tree).env("CARGO_TARGET_DIR", target_directory());
    steps.run(&format!("command {name}"), command)?;
    let built = if profile == "dev" { "debug" } else { profile };
    let built = target_directory().join(built).join(format!("tangram{}", env::consts::EXE_SUFFIX));
    let kept = folder()?.join(name);
    fs::copy(&built, &kept).map_err(|error| failure(&built, &error))?;
    Ok(kept)
}

/// The commit that a name is of.
fn commit(name: &str) -> Result<String, Failure> {
    let failed = |text: String| Failure::new("same code", text);
    let output = git().args(["rev-parse", "--verify", "--end-of-options"]).arg(name).output();
    let output = output.map_err(|error| failed(format!("git: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("no commit `{name}`: name one, such as HEAD~1")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.current_dir(root());
    command
}

/// Where both commands and the earlier tree lie.
fn folder() -> Result<PathBuf, Failure> {
    let folder = target_directory().join("same-code");
    fs::create_dir_all(&folder).map_err(|error| failure(&folder, &error))?;
    Ok(folder)
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new("same code", format!("{}: {error}", path.display()))
}
