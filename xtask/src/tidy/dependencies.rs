//! Dependency directions: arrows between crates only point down, each from the outside has a reason.

use crate::workspace::{Member, short};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What each crate may depend on directly; what those may depend on is allowed as well.
///
/// The table of `ARCHITECTURE.md`. `*` stands for every other crate but `cli` and `python`.
pub const ALLOWED: &[(&str, &[&str])] = &[
    ("cli", &["*"]),
    ("python", &["cli"]),
    ("lsp", &["tangram"]),
    ("tangram", &["*"]),
    ("calc", &["polyhedral"]),
    ("scop", &["polyhedral", "kernel"]),
    ("native", &["lowering", "onnx"]),
    ("lowering", &["dialects", "polyhedral", "target", "sources"]),
    ("onnx", &["dialects", "rewrite", "files"]),
    ("saturate", &["gsl", "egraph", "dialects"]),
    ("gsl", &["rewrite", "dialects"]),
    ("passes", &["rewrite", "dialects"]),
    ("dialects", &["rewrite", "affine", "tensor"]),
    ("rewrite", &["ir"]),
    ("ir", &["affine"]),
    ("polyhedral", &["presburger", "kernel", "machine"]),
    ("kernel", &["target", "machine"]),
    ("target", &["ir"]),
    ("machine", &[]),
    ("presburger", &[]),
    ("affine", &[]),
    ("egraph", &[]),
    ("tensor", &[]),
    ("features", &[]),
    ("files", &[]),
    ("sources", &[]),
    ("xtask", &[]),
];

/// Lists dependencies that point up or sideways.
pub fn wrong_directions(members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    for member in members {
        let name = short(&member.name);
        let Some(allowed) = closure(name) else {
            faults.push(format!(
                "crate `{name}` has no row in xtask/src/tidy/dependencies.rs: say what it may depend on"
            ));
            continue;
        };
        for dependency in member.inside.iter().map(|dependency| short(dependency)) {
            if !allowed.contains(dependency) {
                faults.push(format!("crate `{name}` may not depend on `{dependency}`"));
            }
        }
    }
    faults
}

/// Lists outside dependencies without a line in `docs/dependencies.md`.
pub fn unexplained(root: &Path, members: &[Member]) -> Vec<String> {
    let explained = fs::read_to_string(root.join("docs/dependencies.md")).unwrap_or_default();
    let used: BTreeSet<&String> = members.iter().flat_map(|member| &member.outside).collect();
    let missing = used.into_iter().filter(|name| !explained.contains(&format!("`{name}`")));
    missing
        .map(|name| format!("docs/dependencies.md: no line says why `{name}` is needed"))
        .collect()
}

/// Returns everything a crate may depend on, or `None` for a crate without a row.
fn closure(name: &str) -> Option<BTreeSet<&'static str>> {
    let row = |name: &str| ALLOWED.iter().find(|(crate_name, _)| *crate_name == name);
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = row(name)?.1.to_vec();
    while let Some(next) = open.pop() {
        if next == "*" {
            let others = ALLOWED.iter().map(|(crate_name, _)| *crate_name);
            reached
                .extend(others.filter(|other| !["cli", "python", "xtask", name].contains(other)));
        } else if reached.insert(next) {
            open.extend(row(next).map_or(&[][..], |(_, below)| below));
        }
    }
    Some(reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, inside: &[&str]) -> Member {
        let inside = inside.iter().map(|&name| name.into()).collect();
        Member { name: name.into(), documented: true, inside, outside: vec!["serde".into()] }
    }

    #[test]
    fn arrows_point_down_through_what_lies_below() {
        let down = [member("tangram-onnx", &["tangram-dialects", "tangram-ir", "tangram-tensor"])];
        assert!(wrong_directions(&down).is_empty());
        let up = [member("tangram-ir", &["tangram-dialects"])];
        assert_eq!(wrong_directions(&up), ["crate `ir` may not depend on `dialects`"]);
        let top = [member("tangram", &["tangram-cli"])];
        assert_eq!(wrong_directions(&top), ["crate `tangram` may not depend on `cli`"]);
    }

    #[test]
    fn no_crate_reaches_itself() {
        for (name, _) in ALLOWED {
            assert!(!closure(name).expect("each has a row").contains(name), "{name}");
        }
    }

    #[test]
    fn a_crate_without_a_row_is_a_fault() {
        assert!(wrong_directions(&[member("tangram-new", &[])])[0].contains("`new` has no row"));
    }

    #[test]
    fn a_dependency_needs_its_line() {
        let faults = unexplained(Path::new("nowhere"), &[member("tangram-ir", &[])]);
        assert_eq!(faults, ["docs/dependencies.md: no line says why `serde` is needed"]);
    }
}
