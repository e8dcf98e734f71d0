//! Programs of others that depend on egg, built against this crate in its place.
//!
//! Nothing of them is here: cargo fetches them from the package registry into a scratch folder of
//! the target directory. There a package of egg's name stands for egg and hands everything on. The
//! tests that pass with egg itself have to pass with that, but for those that are listed. Folders of programs that no registry
//! has are taken from the variable `EGG_CLIENTS`, separated as in `PATH`.

use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A program, in the registry under its name.
struct Published<'a> {
    name: &'a str,
    version: &'a str,
    /// Whether it takes the versions of other packages that it was published with: newer ones do
    /// not fit each other.
    locked: bool,
    /// A file, text in it, and what has to stand there here, as the page for those who come from
    /// egg says.
    edit: Option<[&'static str; 3]>,
    /// Tests that pass with egg alone.
    differing: &'static [&'static str],
}

const fn published<'a>(name: &'a str, version: &'a str) -> Published<'a> {
    Published { name, version, locked: false, edit: None, differing: &[] }
}

/// All of them.
const PUBLISHED: [Published<'_>; 4] = [
    published("egg_recursive", "0.2.0"),
    published("egg-stats", "0.3.0"),
    published("omena-transform-egg", "0.5.0"),
    Published {
        locked: true,
        edit: Some(["src/driver.rs", " class.nodes = new_nodes;", " *class.nodes = new_nodes;"]),
        // Three want one of two terms of equal cost, one reads a term with more text behind it.
        differing: &[
            "test redundant_inputs",
            "test test_args_egraphs",
            "test test_proof_generation",
            "test tests::test_reg",
        ],
        ..published("eqmap", "0.10.0")
    },
];

fn cargo(dir: &Path, target: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.env("CARGO_TARGET_DIR", target).env("CARGO_PROFILE_DEV_DEBUG", "false");
    // Some programs refuse to be built after a date.
    cargo.env("SOURCE_DATE_EPOCH", "1767225600");
    cargo.current_dir(dir);
    cargo
}

/// Lets cargo fetch a program; `None` if no registry has it or can be reached.
fn fetch(scratch: &Path, name: &str, version: &str) -> Result<Option<PathBuf>> {
    let dir = scratch.join("fetch").join(name);
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join("lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\n{name} = \"={version}\"\n"
    );
    std::fs::write(dir.join("Cargo.toml"), manifest)?;
    let output = cargo(&dir, scratch).args(["metadata", "--format-version=1"]).output()?;
    if !output.status.success() {
        return Ok(None);
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let package = packages.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    Ok(manifest.and_then(|manifest| Some(Path::new(manifest).parent()?.to_owned())))
}

/// Writes the package that stands for egg, in the version that a program asks for.
fn write_stand_in(dir: &Path, version: &str) -> Result<()> {
    let features = ["lp", "serde-1", "reports", "deterministic", "wasm-bindgen"];
    let features = features.map(|name| format!("{name} = [\"tangram-egraph/{name}\"]\n"));
    let manifest = format!(
        "[package]\nname = \"egg\"\nversion = \"{version}\"\nedition = \"2021\"\n[workspace]\n\
         [lib]\npath = \"lib.rs\"\n[features]\n{}[dependencies]\n\
         tangram-egraph = {{ path = {:?} }}\n",
        features.concat(),
        env!("CARGO_MANIFEST_DIR"),
    );
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("Cargo.toml"), manifest)?;
    std::fs::write(dir.join("lib.rs"), "pub use tangram_egraph::*;\n")?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut todo = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = todo.pop() {
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(from)? {
            let (entry, place) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
            let hidden = place.file_name().is_some_and(|name| name == "target" || name == ".git");
            match entry.is_dir() {
                true if hidden => {}
                true => todo.push((entry, place)),
                false => _ = std::fs::copy(entry, place)?,
            }
        }
    }
    Ok(())
}

/// Returns the version of egg that a program is locked to.
fn locked_egg(dir: &Path, target: &Path) -> Result<String> {
    let output = cargo(dir, target).args(["metadata", "--format-version=1"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let egg = packages.iter().find(|package| package["name"] == "egg");
    let version = egg.and_then(|egg| egg["version"].as_str());
    Ok(version.ok_or("the program does not depend on egg")?.to_owned())
}

/// Runs the tests of a program and returns the names of those that pass.
fn passing(dir: &Path, target: &Path) -> Result<Vec<String>> {
    let args = ["test", "--no-fail-fast", "--all-targets"];
    let output = cargo(dir, target).args(args).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("could not compile"), "{errors}");
    let passed = text.lines().filter_map(|line| line.strip_suffix(" ... ok"));
    let mut passed: Vec<String> = passed.map(str::to_owned).collect();
    passed.sort();
    Ok(passed)
}

/// Changes the one place of a program that has to change.
fn apply(edit: Option<[&str; 3]>, dir: &Path) -> Result<()> {
    let Some([file, from, to]) = edit else { return Ok(()) };
    let text = std::fs::read_to_string(dir.join(file))?;
    assert_eq!(text.matches(from).count(), 1, "{file}");
    Ok(std::fs::write(dir.join(file), text.replace(from, to))?)
}

fn compare(scratch: &Path, program: &Published<'_>, source: &Path) -> Result<()> {
    let &Published { name, locked, edit, differing, .. } = program;
    let (with_egg, with_ours) = (scratch.join("egg").join(name), scratch.join("ours").join(name));
    for dir in [&with_egg, &with_ours] {
        copy(source, dir)?;
        if !locked {
            _ = std::fs::remove_file(dir.join("Cargo.lock"));
        }
        let manifest = std::fs::read_to_string(dir.join("Cargo.toml"))?;
        let alone = if manifest.contains("[workspace]") { "" } else { "\n[workspace]\n" };
        std::fs::write(dir.join("Cargo.toml"), manifest + alone)?;
    }
    apply(edit, &with_ours)?;
    let target = scratch.join("target");
    let version = locked_egg(&with_egg, &target)?;
    let stand_in = scratch.join("stand-in").join(&version);
    write_stand_in(&stand_in, &version)?;
    let manifest = std::fs::read_to_string(with_ours.join("Cargo.toml"))?;
    let patch = format!("\n[patch.crates-io]\negg = {{ path = {stand_in:?} }}\n");
    std::fs::write(with_ours.join("Cargo.toml"), manifest + &patch)?;
    let mut expected = passing(&with_egg, &target)?;
    expected.retain(|test| !differing.contains(&test.as_str()));
    assert_eq!(passing(&with_ours, &target)?, expected, "{name}");
    println!("{name}: {} tests pass as with egg {version}", expected.len());
    Ok(())
}

#[test]
#[ignore = "fetches and builds programs of others, minutes each"]
fn programs_that_depend_on_egg_pass_as_with_egg() -> Result<()> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("egg-clients");
    _ = std::fs::remove_dir_all(scratch.join("egg"));
    _ = std::fs::remove_dir_all(scratch.join("ours"));
    for program in &PUBLISHED {
        let &Published { name, version, .. } = program;
        match fetch(&scratch, name, version)? {
            Some(source) => compare(&scratch, program, &source)?,
            None => println!("skipped {name}: no registry has it"),
        }
    }
    let folders = std::env::var_os("EGG_CLIENTS").unwrap_or_default();
    for folder in std::env::split_paths(&folders).filter(|folder| folder.is_dir()) {
        let name =
            folder.file_name().and_then(|name| name.to_str()).ok_or("a folder has no name")?;
        compare(&scratch, &published(name, ""), &folder)?;
    }
    Ok(())
}
