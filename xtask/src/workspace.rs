//! Where the workspace is, what is in it, and how `cargo` is called there.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in a folder of the workspace").to_path_buf()
}

/// Starts a `cargo` command in the root.
pub fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// One crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The published name, such as `tangram-ir`.
    pub name: String,
    /// Whether it has a library that `cargo test --doc` can link.
    pub documented: bool,
    /// Normal and build dependencies on other members, by published name.
    pub inside: Vec<String>,
    /// All dependencies from outside the workspace.
    pub outside: Vec<String>,
}

/// The name of a package's folder: the published name without its prefix, but for the facade, whose own
/// name is taken in the registry.
pub fn short(name: &str) -> &str {
    match name.strip_prefix("tangram-").unwrap_or(name) {
        "compiler" => "tangram",
        short => short,
    }
}

/// Describes the members of the workspace, as `cargo metadata` does.
///
/// # Errors
/// Says what `cargo metadata` said when it fails.
pub fn members() -> Result<Vec<Member>, String> {
    let output = cargo(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(list(&metadata["packages"]).iter().map(member).collect())
}

/// Returns the folder that cargo builds into.
pub fn target_directory() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(chosen.unwrap_or_else(|| "target".into()))
}

fn member(package: &Value) -> Member {
    let dependencies = list(&package["dependencies"]);
    let inside = |d: &&Value| d["path"].is_string();
    Member {
        name: text(&package["name"]),
        documented: list(&package["targets"]).iter().any(|target| target["doctest"] == true),
        inside: dependencies
            .iter()
            .filter(inside)
            .filter(|d| d["kind"] != "dev")
            .map(|d| text(&d["name"]))
            .collect(),
        outside: dependencies.iter().filter(|d| !inside(d)).map(|d| text(&d["name"])).collect(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
