//! What a user installs: the wheel, the source distribution, and environments that hold them.
//!
//! Tests run against an installed wheel, never against the source tree: what the wheel lacks, the
//! tests lack. The long run builds the wheel from the source distribution, unpacked elsewhere.

use crate::step::{Failure, Outcome, Steps};
use crate::venv::Venv;
use crate::workspace::{cargo, root, target_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// The wheel is for here and now, so nothing is compressed.
const BUILD: [&str; 4] = ["--compression-method=stored", "--auditwheel=skip", "--quiet", "--out"];

/// Crates that are not published: developers' commands, and what the wheel is built of.
const UNPUBLISHED: [&str; 2] = ["xtask", "tangram-python"];

/// What `cargo xtask package` takes.
#[derive(clap::Args)]
pub struct Options {
    /// A target to build the wheel for, through zig: `aarch64-unknown-linux-gnu`. Once for each; this
    /// machine if none is named.
    #[arg(long)]
    target: Vec<String>,
    /// Builds each crate from its package, as a registry's users do.
    #[arg(long)]
    verify: bool,
}

/// Makes everything that is published, in `target/packages` and `target/package`: wheels for each
/// target, the source distribution, and a package of each crate, in the order of their dependencies, with
/// `SHA256SUMS` beside them.
///
/// # Errors
/// The first build that fails.
pub fn all(steps: &mut Steps, options: &Options) -> Outcome {
    let venv = Venv::open(steps, ".venv")?;
    venv.install(steps, &root().join("tests/python/requirements.txt"))?;
    let folder = fresh("packages")?;
    let maturin = |words: &[&str]| {
        let mut command = venv.python();
        command.args(["-m", "maturin"]).args(words).arg("--out").arg(&folder);
        command
    };
    if options.target.is_empty() {
        steps.run("wheel", maturin(&["build", "--profile", "dist"]))?;
    } else {
        venv.install(steps, &root().join("packaging/requirements.txt"))?;
    }
    for target in &options.target {
        let zig = ["build", "--profile", "dist", "--zig", "--compatibility", "manylinux_2_17"];
        let mut command = maturin(&zig);
        steps.run(&format!("wheel for {target}"), {
            command.args(["--target", target]);
            command
        })?;
    }
    steps.run("source distribution", maturin(&["sdist"]))?;
    crates(steps, options.verify)?;
    let mut sums = venv.python();
    sums.arg(root().join("packaging/checksums.py")).arg(&folder);
    steps.run("checksums", {
        sums.arg(target_directory().join("package"));
        sums
    })
}

/// Packages each crate; `verify` builds them as well.
///
/// # Errors
/// A crate lacks a file or cannot be built from its package.
pub fn crates(steps: &mut Steps, verify: bool) -> Outcome {
    let mut package = cargo(["package", "--workspace", "--allow-dirty", "--quiet"]);
    package.args(UNPUBLISHED.iter().flat_map(|name| ["--exclude", name]));
    package.args(if verify { &[][..] } else { &["--no-verify"] });
    steps.run("crates", package)
}

/// Builds the wheel under a profile of cargo and installs it into `venv` as a user would, in place
/// of an earlier one.
///
/// # Errors
/// The build or the installation fails.
pub fn install_wheel(steps: &mut Steps, venv: &Venv, profile: &str) -> Outcome {
    let folder = fresh("test-wheel")?;
    let mut maturin = venv.python();
    maturin.args(["-m", "maturin", "build", "--profile", profile, "--interpreter"]);
    maturin.arg(venv.interpreter()).args(BUILD).arg(&folder);
    steps.run("python wheel", maturin)?;
    install(steps, venv, &only_file(&folder, "whl")?)
}

/// Builds the source distribution, and from it, unpacked outside the tree, the wheel in `venv`.
///
/// # Errors
/// A build or the installation fails.
pub fn install_from_source(steps: &mut Steps, venv: &Venv) -> Outcome {
    let folder = fresh("test-sdist")?;
    let mut sdist = venv.python();
    sdist.args(["-m", "maturin", "sdist", "--out"]).arg(&folder);
    steps.run("python source distribution", sdist)?;
    let archive = only_file(&folder, "gz")?;
    let mut pip = venv.python();
    pip.args(["-m", "pip", "install", "--force-reinstall", "--no-deps", "--quiet"]);
    // What is not of this workspace is built already.
    pip.env("CARGO_TARGET_DIR", target_directory()).env("MATURIN_PEP517_ARGS", "--profile=dev");
    pip.arg("--disable-pip-version-check").arg(archive);
    steps.run("install from source distribution", pip)
}

fn install(steps: &mut Steps, venv: &Venv, wheel: &Path) -> Outcome {
    let mut pip = venv.python();
    pip.args(["-m", "pip", "install", "--force-reinstall", "--no-deps", "--quiet"]);
    pip.arg("--disable-pip-version-check").arg(wheel);
    steps.run("install wheel", pip)
}

/// An empty folder of this name among what is built.
fn fresh(name: &str) -> Result<PathBuf, Failure> {
    let folder = target_directory().join(name);
    let failed = |error: std::io::Error| Failure::new(name, error.to_string());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    Ok(folder)
}

/// The only file with this ending in `folder`.
fn only_file(folder: &Path, ending: &str) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = entries.filter(|path| path.extension().is_some_and(|end| end == ending));
    match (found.next(), found.next()) {
        (Some(file), None) => Ok(file),
        _ => {
            let shown = folder.strip_prefix(root()).unwrap_or(folder).display();
            Err(Failure::new("python wheel", format!("{shown}: expected one file .{ending}")))
        }
    }
}
