//! Packages stand alone: what a crate compiles in lies in its own folder, if only as a link.

use std::fs;
use std::path::{Component, Path};

use super::sources::sources;

/// How a file is compiled in.
const CALLS: [&str; 2] = [concat!("include_st", "r!(\""), concat!("include_byte", "s!(\"")];

/// Lists files that are compiled in from outside of their crate: a package would not have them.
pub fn open(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for path in sources(root) {
        let shown = path.strip_prefix(root).unwrap_or(&path);
        let text = fs::read_to_string(&path).unwrap_or_default();
        if shown.components().nth(2).is_some_and(|part| part.as_os_str() == "src") {
            faults.extend(outside(shown, &text));
        }
    }
    faults
}

/// The files that the source at `place`, below `crates`, compiles in from outside of its crate.
fn outside(place: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for call in CALLS {
            let named = line.split(call).nth(1).and_then(|rest| rest.split('"').next());
            let folder = place.parent().unwrap_or(place);
            if named.is_some_and(|named| leaves(&folder.join(named))) {
                let named = named.unwrap_or_default();
                let (shown, line) = (place.display(), at + 1);
                faults.push(format!(
                    "{shown}:{line}: `{named}` is not in the crate's package: link to it from the crate"
                ));
            }
        }
    }
    faults
}

/// Whether a path goes above `crates/NAME`, where it begins.
fn leaves(path: &Path) -> bool {
    let mut depth = 0;
    for part in path.components() {
        match part {
            Component::ParentDir => depth -= 1,
            _ => depth += 1,
        }
        // The first two are those of the crate itself.
        if matches!(part, Component::ParentDir) && depth < 2 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_lies_in_the_crate() {
        let text = |path: &str| format!("const A: &str = {}{path}\");\n", CALLS[0]);
        let place = Path::new("crates/cli/src/tips.rs");
        assert!(outside(place, &text("../docs/page.md")).is_empty());
        assert!(outside(place, &text("page.html")).is_empty());
        let found = outside(place, &text("../../../docs/page.md"));
        assert_eq!(
            found,
            ["crates/cli/src/tips.rs:1: `../../../docs/page.md` is not in the crate's package: \
              link to it from the crate"]
        );
        assert_eq!(outside(place, &text("../../gsl/src/a.gsl")).len(), 1);
    }
}
