//! What a model is compiled to, as a page: groups of operations, their loops, memory and time.

use serde_json::{Value, json};
use tangram_machine::Machine;
use tangram_native::{Group, Memory, Report};

use crate::page::Page;

const PAGE: Page = Page {
    frame: include_str!("page.html"),
    style: include_str!("style.css"),
    scripts: &[include_str!("page.js")],
};

/// The page of a compiled model, in one file that loads nothing.
///
/// It shows a bar for each group as long as it took, what a group computes with its loops in C, and
/// the arena over the groups, in bytes.
///
/// ```
/// let page = tangram::code_report("model.onnx", &Default::default(), &tangram::Machine::native());
/// assert!(page.starts_with("<!doctype html>"));
/// ```
pub fn code_report(title: &str, report: &Report, machine: &Machine) -> String {
    PAGE.fill(title, &data(title, report, machine).to_string())
}

fn data(title: &str, report: &Report, machine: &Machine) -> Value {
    // Calls with equal code share a function: its text is there once.
    let mut code = serde_json::Map::new();
    for group in report.groups.iter().filter(|group| group.compiled) {
        code.entry(group.name.clone()).or_insert_with(|| json!(group.code));
    }
    json!({
        "model": title,
        "machine": format!("{}, vectors of {} bytes", machine.name, machine.vector_bytes),
        "sizes": report.sizes,
        "seconds": report.total.as_secs_f64(),
        "arena": report.arena,
        "groups": report.groups.iter().map(group).collect::<Vec<_>>(),
        "buffers": report.buffers.iter().map(memory).collect::<Vec<_>>(),
        "code": code,
    })
}

fn group(group: &Group) -> Value {
    let operations = group.operations.iter();
    json!({
        "name": group.name,
        "compiled": group.compiled,
        "reason": group.reason,
        "operations": operations.map(|op| json!([op.name, op.results])).collect::<Vec<_>>(),
        "buffers": group.buffers,
        "cycles": group.cycles,
        "parts": group.parts,
        "seconds": group.time.as_secs_f64(),
    })
}

fn memory(memory: &Memory) -> Value {
    json!({
        "storage": memory.storage,
        "element": memory.element,
        "bytes": memory.bytes,
        "offset": memory.offset,
        "life": memory.life,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_loads_nothing_and_data_stays_in_its_place() {
        crate::page::check(&super::PAGE);
    }
}
