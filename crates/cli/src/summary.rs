//! The tables of `tangram show`.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use tangram::summary::{Port, Summary};

use crate::table::short;

/// How many operators stand in the table.
const OPERATORS: usize = 20;

/// What a model is, as people read it.
pub(crate) fn render(of: &Summary) -> String {
    let mut out = String::new();
    for (kind, list) in [("input", &of.inputs), ("output", &of.outputs)] {
        let _ = writeln!(out, "{}\n", ports(kind, list));
    }
    let _ = writeln!(out, "{}\n", operators(of));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<11} {value}");
    };
    line("nodes", of.nodes.to_string());
    line("parameters", short(of.parameters as f64).trim().to_owned());
    line("weights", format!("{}B", short(of.weight_bytes as f64)));
    let told = |number: Option<f64>, unit: &str| match number {
        Some(number) => format!("{}{unit}", short(number)).trim().to_owned(),
        None => "unknown, as some extents are".to_owned(),
    };
    line("flops", told(of.cost.flops, ""));
    line("traffic", told(of.cost.bytes, "B"));
    let dynamic: Vec<&str> = of.symbols.iter().map(String::as_str).collect();
    let none = || "nothing".to_owned();
    line("dynamic", if dynamic.is_empty() { none() } else { dynamic.join(", ") });
    let sets: Vec<String> = of.opsets.iter().map(|(name, n)| format!("{name} {n}")).collect();
    line("opset", sets.join(", "));
    line("IR version", of.ir_version.to_string());
    if !of.producer.is_empty() {
        line("producer", of.producer.clone());
    }
    for warning in &of.warnings {
        let _ = writeln!(out, "note: {warning}");
    }
    out
}

fn ports(kind: &str, list: &[Port]) -> Table {
    let mut table = plain([kind, "type", "shape"]);
    for port in list {
        let shape = match &port.shape {
            Some(extents) => format!("[{}]", extents.join(", ")),
            None => "unknown".to_owned(),
        };
        table.add_row([port.name.clone(), port.element.clone(), shape]);
    }
    table
}

fn operators(of: &Summary) -> Table {
    let mut table = plain(["operator", "nodes"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut counts: Vec<(&String, &usize)> = of.operators.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (name, count) in counts.iter().take(OPERATORS) {
        table.add_row([name.as_str(), &count.to_string()]);
    }
    if counts.len() > OPERATORS {
        let rest: usize = counts[OPERATORS..].iter().map(|(_, count)| **count).sum();
        let name = format!("{} others", counts.len() - OPERATORS);
        table.add_row([name, rest.to_string()]);
    }
    table
}

fn plain<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}
