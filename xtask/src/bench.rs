//! Benchmarks: `bench/AREA` is a Python script with its peers, or a cargo project of its own.
//!
//! Peers that Python installs are named in the folder's requirements; a cargo project finds
//! their interpreter in `TANGRAM_PYTHON`.

use crate::package;
use crate::step::{Failure, Outcome, Steps};
use crate::venv::Venv;
use crate::workspace::{cargo, root, target_directory};
use std::path::Path;

/// Where peers are installed.
const ENVIRONMENT: &str = ".venv-bench";

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Options {
    /// The profile of cargo for what is measured; another than `dist` is built sooner, and slower.
    #[arg(long, default_value = "dist")]
    profile: String,
    /// The folder in `bench/`.
    area: String,
    /// Arguments for the benchmark itself.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs one benchmark: our command is built first, as packages have it.
///
/// # Errors
/// There is no such benchmark, or a step fails.
pub fn run(steps: &mut Steps, options: &Options) -> Outcome {
    let folder = root().join("bench").join(&options.area);
    if folder.join("Cargo.toml").exists() {
        rust(steps, &folder, options)
    } else if folder.join("run.py").exists() {
        python(steps, &folder, options)
    } else {
        let message = format!("no benchmark `{}`; there are: {}", options.area, known().join(", "));
        Err(Failure::new("bench", message))
    }
}

fn rust(steps: &mut Steps, folder: &Path, options: &Options) -> Outcome {
    let mut command = cargo(["run", "--release", "--quiet", "--manifest-path"]);
    command.arg(folder.join("Cargo.toml")).arg("--").args(&options.arguments);
    if let Some(venv) = peers(steps, folder)? {
        command.env("TANGRAM_PYTHON", venv.interpreter());
    }
    steps.show(&format!("bench {}", options.area), command)
}

fn python(steps: &mut Steps, folder: &Path, options: &Options) -> Outcome {
    let venv = match peers(steps, folder)? {
        Some(venv) => venv,
        None => Venv::open(steps, ENVIRONMENT)?,
    };
    let profile = options.profile.as_str();
    let build = ["build", "--profile", profile, "--quiet", "--package", "tangram-cli"];
    steps.run("command", cargo(build))?;
    if measures_package(folder) {
        package::install_wheel(steps, &venv, profile)?;
    }
    let mut command = venv.python();
    command.arg(folder.join("run.py")).args(&options.arguments);
    let built = if profile == "dev" { "debug" } else { profile };
    command.env("TANGRAM_BIN", target_directory().join(built).join("tangram"));
    steps.show(&format!("bench {}", options.area), command)
}

/// Whether a benchmark is of the Python package: its requirements name what builds that.
fn measures_package(folder: &Path) -> bool {
    let wanted = std::fs::read_to_string(folder.join("requirements.txt")).unwrap_or_default();
    wanted.lines().any(|line| line.starts_with("maturin"))
}

/// Installs the packages that a benchmark names, if it does.
fn peers(steps: &mut Steps, folder: &Path) -> Result<Option<Venv>, Failure> {
    let requirements = folder.join("requirements.txt");
    if !requirements.exists() {
        return Ok(None);
    }
    let venv = Venv::open(steps, ENVIRONMENT)?;
    venv.install(steps, &requirements)?;
    Ok(Some(venv))
}

fn known() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("bench")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| ["Cargo.toml", "run.py"].iter().any(|f| entry.path().join(f).exists()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
