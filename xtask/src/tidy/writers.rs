//! Files are written in one way: by `crates/files`, whole or not at all. Folders are listed and
//! programs asked by it too.

use std::fs;
use std::path::Path;

use super::sources::sources;

/// What writes a file in another way.
const CALLS: [&str; 16] = [
    "fs::write(",
    "File::create(",
    "File::create_new(",
    "fs::rename(",
    "fs::copy(",
    ".create(true)",
    ".create_new(true)",
    ".persist(",
    ".persist_noclobber(",
    ".write_text(",
    ".write_bytes(",
    "open(path, \"w\"",
    // These end the process where a folder cannot be closed, or a pipe not be read.
    "read_dir(",
    "remove_dir_all(",
    "tempdir",
    "wait_with_output()",
];

/// Where that is right, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/files/src/", "the one way"),
    ("crates/native/src/cache.rs", "a folder of the user's own, in which entries get their names"),
    ("crates/native/src/kept/folder.rs", "the same"),
    ("crates/native/src/trusted.rs", "the same"),
    ("crates/native/src/compiler.rs", "a folder of a moment, for the compiler"),
    ("crates/cli/src/bench.rs", "a folder of a moment, for onnxruntime"),
    ("crates/ir/src/resource.rs", "a file without a name"),
    ("crates/sources/src/", "runs at build time only"),
    ("python/generate_", "scripts of ours, on our own sources"),
    ("python/tangram/fleet/unit.py", "folders of a moment"),
    ("python/tangram/fleet/run.py", "the same"),
    ("crates/egraph/src/dot.rs", "egg's function, on a crate that depends on nothing of ours"),
];

/// Lists places outside of tests that write files in another way.
pub fn others(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for path in sources(root) {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let excepted = EXCEPTIONS.iter().any(|(place, _)| shown.starts_with(place));
        let ours = shown.starts_with("crates/") && shown.contains("/src/");
        if excepted || !(ours || shown.starts_with("python/")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let comment = line.trim_start().starts_with(['/', '#']);
            if let (false, Some(call)) = (comment, CALLS.iter().find(|call| line.contains(**call)))
            {
                let line = at + 1;
                faults.push(format!(
                    "{shown}:{line}: `{call}` is a way of its own: `tangram_files` has the one"
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn exceptions_are_there() {
        for (place, _) in EXCEPTIONS {
            let there =
                |path: &Path| path.starts_with(place) || path.to_string_lossy().starts_with(place);
            let all = sources(&root());
            let names = all.iter().filter_map(|path| path.strip_prefix(root()).ok());
            assert!(names.into_iter().any(there), "{place}");
        }
    }
}
