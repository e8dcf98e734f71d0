//! The tests: Rust, then documentation, then Python against the installed wheel.

use crate::fuzz;
use crate::package;
use crate::step::{Failure, Outcome, Steps};
use crate::venv::Venv;
use crate::workspace::{Member, cargo, members, root, short, target_directory};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How many Python test processes run at once; the tests are sized for two cores.
const PYTHON_WORKERS: &str = "2";
/// The Python tests of the usual run, and of the long one.
const USUAL: &str = "not long";
const LONG: &str = "long";
/// Seconds after which a Python test is taken to wait for ever: it is ended, and named.
const PYTHON_LIMIT: &str = "300";
/// Seconds after which the usual run of them begins no further test: it took 410 on two cores.
const PYTHON_LIMITS: &str = "2400";
/// How many cases each property test runs in a long run.
const LONG_CASES: &str = "4000";

/// What `cargo xtask test` takes.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Leaves out documentation tests and the Python tests marked `slow`.
    #[arg(long)]
    fast: bool,
    /// Only installs the source distribution outside the tree, and runs the Python tests on that.
    #[arg(long, conflicts_with_all = ["fast", "areas"])]
    from_source: bool,
    /// Crates to test, by folder name (`onnx`, `presburger`), or `python`; all when none is named.
    areas: Vec<String>,
}

/// Runs the tests of the chosen areas.
///
/// # Errors
/// The first step that fails.
pub fn run(steps: &mut Steps, options: &Options) -> Outcome {
    if options.from_source {
        command(steps)?;
        return from_source(steps);
    }
    let members = members().map_err(|error| Failure::new("test", error))?;
    let chosen = choose(&members, &options.areas).map_err(|error| Failure::new("test", error))?;
    let venv = Venv::open(steps, ".venv")?;
    venv.install(steps, &root().join("tests/python/requirements.txt"))?;
    if !chosen.crates.is_empty() {
        rust(steps, &venv, &chosen, &[])?;
        if !options.fast {
            doc_tests(steps, &venv, &chosen)?;
        }
    }
    if chosen.python {
        engines(steps, &venv);
        package::install_wheel(steps, &venv, "dev")?;
        // The Rust tests of the workspace have built the command already; built alone, other
        // features of its dependencies would build everything once more.
        if !chosen.all {
            command(steps)?;
        }
        let marks = if options.fast { "not slow and not long" } else { USUAL };
        python(steps, &venv, marks)?;
    }
    Ok(())
}

/// Runs what is too long for every change: ignored tests, many cases, large models.
///
/// # Errors
/// The first step that fails.
pub fn run_long(steps: &mut Steps) -> Outcome {
    let members = members().map_err(|error| Failure::new("long", error))?;
    let chosen = choose(&members, &[]).map_err(|error| Failure::new("long", error))?;
    let venv = Venv::open(steps, ".venv")?;
    venv.install(steps, &root().join("tests/python/requirements.txt"))?;
    rust(steps, &venv, &chosen, &["--release"])?;
    engines(steps, &venv);
    package::install_wheel(steps, &venv, "dev")?;
    command(steps)?;
    python(steps, &venv, LONG)?;
    package::crates(steps, false)?;
    under_miri(steps)?;
    fuzz::run(steps, &fuzz::Options::long())?;
    from_source(steps)
}

/// Crates with unsafe code, and those of their tests that Miri can run, all where none is named: they
/// start no program, load no library and map no file.
const UNDER_MIRI: [(&str, &[&str]); 2] = [
    ("tangram-egraph", &[]),
    ("tangram-native", &["arena::", "memory::", "processor::", "recycled::", "shared::", "team::"]),
];

/// The queue of the library of threads keeps to the rules of trees alone, and its threads do not end.
const MIRI_FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks";

/// Runs tests under Miri, which looks at each access to memory, where a nightly toolchain has it
/// (`rustup +nightly component add miri`).
fn under_miri(steps: &mut Steps) -> Outcome {
    let miri = |arguments: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).args(arguments).current_dir(root());
        command
    };
    let mut probe = miri(&["--version"]);
    let quiet = probe.stdout(Stdio::null()).stderr(Stdio::null());
    if !quiet.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    for (name, tests) in UNDER_MIRI {
        let mut command = miri(&["test", "--package", name, "--lib", "--"]);
        command.args(tests);
        // Calls of the system go through the C library, which Miri stands in for.
        command.env("MIRIFLAGS", MIRI_FLAGS).env("RUSTFLAGS", "--cfg rustix_use_libc");
        steps.run(&format!("{name} under miri"), command)?;
    }
    Ok(())
}

/// Installs engines whose wheels are not there for every machine: tests that need one say so.
fn engines(steps: &mut Steps, venv: &Venv) {
    let _ = venv.install(steps, &root().join("tests/python/requirements-engines.txt"));
}

/// Runs all Python tests in an environment outside the tree that got the source distribution.
fn from_source(steps: &mut Steps) -> Outcome {
    let outside = std::env::temp_dir().join(format!("tangram-test-{}", std::process::id()));
    let clean = Venv::open_at(steps, outside.clone())?;
    clean.install(steps, &root().join("tests/python/requirements.txt"))?;
    package::install_from_source(steps, &clean)?;
    let outcome = python(steps, &clean, USUAL);
    // What it leaves behind is in the way of nobody.
    let _ = std::fs::remove_dir_all(outside);
    outcome
}

/// The crates to test, and whether the Python tests are among it.
#[derive(Debug, PartialEq, Eq)]
struct Chosen {
    /// All of the workspace, so that one `--workspace` says it.
    all: bool,
    crates: Vec<Member>,
    python: bool,
}

fn choose(members: &[Member], areas: &[String]) -> Result<Chosen, String> {
    if areas.is_empty() {
        return Ok(Chosen { all: true, crates: members.to_vec(), python: true });
    }
    let mut chosen = Chosen { all: false, crates: Vec::new(), python: false };
    for area in areas {
        if area == "python" {
            chosen.python = true;
            continue;
        }
        let named = |m: &&Member| m.name == *area || short(&m.name) == area;
        let Some(member) = members.iter().find(named) else {
            let known: Vec<&str> = members.iter().map(|m| short(&m.name)).collect();
            return Err(format!("no area `{area}`; there are: {}", known.join(", ")));
        };
        chosen.crates.push(member.clone());
    }
    Ok(chosen)
}

/// Names the chosen crates to cargo.
fn selection(chosen: &Chosen, keep: impl Fn(&Member) -> bool) -> Vec<String> {
    if chosen.all {
        return vec!["--workspace".into()];
    }
    let kept = chosen.crates.iter().filter(|member| keep(member));
    kept.flat_map(|member| ["--package".to_owned(), member.name.clone()]).collect()
}

/// Runs unit and integration tests; a non-empty `profile` makes it the long run.
fn rust(steps: &mut Steps, venv: &Venv, chosen: &Chosen, profile: &[&str]) -> Outcome {
    let long = !profile.is_empty();
    let mut command = if has_nextest() {
        let mut command = cargo(["nextest", "run", "--no-tests=pass", "--no-fail-fast"]);
        command.args(if long { &["--profile", "long", "--run-ignored", "all"][..] } else { &[] });
        command
    } else {
        cargo(["test", "--all-targets", "--no-fail-fast"])
    };
    command.args(profile).args(selection(chosen, |_| true));
    if long {
        command.env("PROPTEST_CASES", LONG_CASES);
        if !has_nextest() {
            command.args(["--", "--include-ignored"]);
        }
    }
    command.env("TANGRAM_PYTHON", venv.interpreter());
    fetch_isl();
    steps.run("rust tests", command)
}

/// Brings isl's test data; without a network the tests that need it say so.
fn fetch_isl() {
    let mut fetch = cargo(["fetch", "--quiet", "--manifest-path"]);
    fetch.arg(root().join("tests/peers/isl/Cargo.toml"));
    let _ = fetch.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

fn doc_tests(steps: &mut Steps, venv: &Venv, chosen: &Chosen) -> Outcome {
    let selected = selection(chosen, |member| member.documented);
    if selected.is_empty() {
        return Ok(());
    }
    let mut command = cargo(["test", "--doc"]);
    command.args(selected).env("TANGRAM_PYTHON", venv.interpreter());
    steps.run("doc tests", command)
}

/// Builds the command that the Python tests call.
fn command(steps: &mut Steps) -> Outcome {
    steps.run("command", cargo(["build", "--quiet", "--package", "tangram-cli"]))
}

fn python(steps: &mut Steps, venv: &Venv, marks: &str) -> Outcome {
    let mut pytest = venv.python();
    pytest.args(["-m", "pytest", "tests/python", "-q", "-n", PYTHON_WORKERS]);
    pytest.args(["--dist", "worksteal", "-m", marks]);
    if marks != LONG {
        // A thread ends the process: a test that waits in native code hears no signal.
        pytest.args(["--timeout", PYTHON_LIMIT, "--timeout-method", "thread"]);
        // What fails for its time says where that went.
        pytest.args(["--session-timeout", PYTHON_LIMITS, "--durations", "20"]);
    }
    pytest.env("TANGRAM_PYTHON", venv.interpreter()).env("TANGRAM_BIN", debug_command());
    steps.run("python tests", pytest)
}

fn debug_command() -> PathBuf {
    target_directory().join("debug").join("tangram")
}

fn has_nextest() -> bool {
    let mut probe: Command = cargo(["nextest", "--version"]);
    let quiet = probe.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, documented: bool) -> Member {
        Member { name: name.into(), documented, inside: vec![], outside: vec![] }
    }

    fn areas(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn areas_are_folder_names_or_python() {
        let members =
            [member("tangram-onnx", true), member("tangram", true), member("xtask", false)];
        let chosen = choose(&members, &areas(&["onnx", "xtask"])).expect("both exist");
        assert_eq!(
            selection(&chosen, |_| true),
            ["--package", "tangram-onnx", "--package", "xtask"]
        );
        assert_eq!(selection(&chosen, |m| m.documented), ["--package", "tangram-onnx"]);
        assert!(!chosen.python);
        let python = choose(&members, &areas(&["python"])).expect("python is an area");
        assert!(python.python && python.crates.is_empty());
    }

    #[test]
    fn an_unknown_area_names_those_that_exist() {
        let error = choose(&[member("tangram-ir", true)], &areas(&["irr"])).expect_err("no such");
        assert_eq!(error, "no area `irr`; there are: ir");
    }
}
