//! The test programs of the `egg` crate, built against this one by renaming the dependency.
//!
//! Nothing of them is here: the programs are compiled where the package registry put them. A
//! scratch package in the target directory names them as its tests.

use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROGRAMS: [&str; 5] = ["datalog", "lambda", "math", "prop", "simple"];

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.env_remove("CARGO_TARGET_DIR");
    cargo
}

/// Returns the platform that tests run on; packages of others may not be there.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output()?.stdout;
    let version = String::from_utf8(version)?;
    let mut lines = version.lines();
    let host = lines.find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc names no host")?.to_owned())
}

/// Asks cargo for the manifests of egg and of the workspace.
fn locate() -> Result<Option<(PathBuf, PathBuf)>> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version=1", "--offline"]);
    metadata.args(["--filter-platform", &host()?, "--manifest-path"]);
    let output = metadata.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).output()?;
    if !output.status.success() {
        return Ok(None);
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let egg = packages.iter().find(|package| package["name"] == "egg");
    let manifest = egg.and_then(|package| package["manifest_path"].as_str());
    let root = metadata["workspace_root"].as_str().ok_or("no workspace root")?;
    Ok(manifest.map(|manifest| (manifest.into(), root.into())))
}

/// The line for a manifest on the page for those who come from egg, with the folder of this crate.
fn line_of_the_page() -> Result<String> {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/egg-migration.md");
    const FOLDER: &str = "\"../tangram/crates/egraph\"";
    let page = std::fs::read_to_string(PAGE)?;
    let line = page.lines().find(|line| line.starts_with("egg = {") && line.contains(FOLDER));
    let line = line.ok_or("the page gives no line for a manifest")?;
    Ok(line.replace(FOLDER, &format!("{:?}", env!("CARGO_MANIFEST_DIR"))))
}

fn write_package(dir: &Path, egg: &Path, workspace: &Path) -> Result<()> {
    let tests = egg.parent().ok_or("egg has no folder")?.join("tests");
    let mut manifest = format!(
        "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2018\"\n\
         autotests = false\n[workspace]\n[lib]\npath = \"lib.rs\"\n\
         [features]\nlp = [\"egg/lp\"]\ntest-explanations = [\"egg/test-explanations\"]\n\
         [profile.dev]\nopt-level = 0\ndebug = false\n\
         [dependencies]\n{}\n\
         ordered-float = \"3\"\nrustc-hash = \"2\"\n\
         env_logger = {{ version = \"0.9\", default-features = false }}\n",
        line_of_the_page()?,
    );
    for name in PROGRAMS {
        let path = tests.join(name).with_extension("rs");
        manifest += &format!("[[test]]\nname = \"{name}\"\npath = {path:?}\n");
    }
    manifest += "[[test]]\nname = \"counts\"\npath = \"counts.rs\"\n";
    let tests = tests.to_str().ok_or("the path of egg is no text")?;
    let counts = include_str!("egg_counts/template.rs").replace("EGG_TESTS", tests);
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("counts.rs"), counts)?;
    std::fs::write(dir.join("Cargo.toml"), manifest)?;
    std::fs::write(dir.join("lib.rs"), "")?;
    std::fs::copy(workspace.join("Cargo.lock"), dir.join("Cargo.lock"))?;
    Ok(())
}

/// Runs the programs and returns how many tests passed.
fn run(dir: &Path, extra: &[&str]) -> Result<usize> {
    let mut test = cargo();
    test.args(["test", "--offline", "--quiet"]).args(extra).current_dir(dir);
    let output = test.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{extra:?}\n{text}\n{errors}");
    let passed = text.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let counts = passed.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    Ok(counts.sum())
}

#[test]
fn eggs_own_programs_pass() -> Result<()> {
    let Some((egg, workspace)) = locate()? else {
        println!("skipped: needs egg");
        return Ok(());
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("egg-conformance");
    write_package(&dir, &egg, &workspace)?;
    // 27 in math, 11 in lambda without optimisation, 3 in prop, 2 in datalog, 1 in simple; the
    // two of `counts` bring those of math and lambda with them.
    let plain = run(&dir, &["--features", "lp"])?;
    let explained = run(&dir, &["--features", "lp,test-explanations"])?;
    assert_eq!((plain, explained), (44 + 2 + 38, 44 + 2 + 38));
    Ok(())
}
