//! Printing isl's YAML.

use std::fmt;

use tangram_presburger::{Budget, Union, UnionPwMultiAff};

use super::affine;
use crate::{Band, Node, NodeKind, ScheduleTree};

impl fmt::Display for ScheduleTree {
    /// Writes isl's YAML in block style; leaves are not written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nodes to write, outermost last, each with its depth and whether it is a list item.
        let mut open = vec![(self.root(), 0, false)];
        while let Some((node, depth, item)) = open.pop() {
            let inner = if item { depth + 1 } else { depth };
            let indent = "  ".repeat(inner);
            let first = if item { format!("{}- ", "  ".repeat(depth)) } else { indent.clone() };
            self.write_node(f, node, &first, &indent)?;
            if matches!(self.kind(node), NodeKind::Sequence | NodeKind::Set) {
                let mut children: Vec<Node> = self.children(node).collect();
                children.reverse();
                open.extend(children.into_iter().map(|child| (child, inner, true)));
            } else if let Some(child) = self.children(node).find(|child| !self.is_leaf(*child)) {
                writeln!(f, "{indent}child:")?;
                open.push((child, inner + 1, false));
            }
        }
        Ok(())
    }
}

impl ScheduleTree {
    fn is_leaf(&self, node: Node) -> bool {
        matches!(self.kind(node), NodeKind::Leaf)
    }

    fn write_node(
        &self,
        f: &mut fmt::Formatter<'_>,
        node: Node,
        first: &str,
        indent: &str,
    ) -> fmt::Result {
        match self.kind(node) {
            NodeKind::Domain(set) => writeln!(f, "{first}domain: \"{set}\""),
            NodeKind::Context(set) => writeln!(f, "{first}context: \"{set}\""),
            NodeKind::Filter(set) => writeln!(f, "{first}filter: \"{set}\""),
            NodeKind::Guard(set) => writeln!(f, "{first}guard: \"{set}\""),
            NodeKind::Extension(map) => writeln!(f, "{first}extension: \"{map}\""),
            NodeKind::Mark(name) => writeln!(f, "{first}mark: \"{}\"", escaped(name)),
            NodeKind::Expansion { contraction, expansion } => {
                let contraction = function(contraction);
                writeln!(f, "{first}contraction: \"{contraction}\"")?;
                writeln!(f, "{indent}expansion: \"{expansion}\"")
            }
            NodeKind::Sequence => writeln!(f, "{first}sequence:"),
            NodeKind::Set => writeln!(f, "{first}set:"),
            NodeKind::Leaf => Ok(()),
            NodeKind::Band(band) => write_band(f, band, first, indent),
        }
    }
}

/// Writes a relation as a function, as isl reads contractions; what is none, as it is.
fn function(relation: &Union) -> String {
    let function = UnionPwMultiAff::from_union(relation, &Budget::steps(1_000_000));
    function.map_or_else(|_| relation.to_string(), |function| function.to_string())
}

fn write_band(f: &mut fmt::Formatter<'_>, band: &Band, first: &str, indent: &str) -> fmt::Result {
    writeln!(f, "{first}schedule: \"{}\"", schedule(band))?;
    if band.permutable {
        writeln!(f, "{indent}permutable: 1")?;
    }
    if band.members.iter().any(|member| member.coincident) {
        let flags = band.members.iter().map(|member| if member.coincident { "1" } else { "0" });
        writeln!(f, "{indent}coincident: [ {} ]", flags.collect::<Vec<_>>().join(", "))?;
    }
    if band.options.relations().next().is_some() {
        writeln!(f, "{indent}options: \"{}\"", band.options)?;
    }
    Ok(())
}

fn schedule(band: &Band) -> String {
    let mut params: Vec<String> = Vec::new();
    for param in band.members.iter().flat_map(|member| member.schedule.parameters()) {
        if !params.contains(&param) {
            params.push(param);
        }
    }
    let prefix =
        if params.is_empty() { String::new() } else { format!("[{}] -> ", params.join(", ")) };
    let members: Vec<String> =
        band.members.iter().map(|member| affine::member(&member.schedule)).collect();
    format!("{prefix}[{}]", members.join(", "))
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ if c.is_alphanumeric() => text.push(c),
            _ => text.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    text
}
