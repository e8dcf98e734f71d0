//! Tables of a report.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use tangram::report::{BeforeAfter, Narrowed};
use tangram::saturation::Saturation;
use tangram::steps::Refused;
use tangram::{Report, saturate};

use crate::choose;
use crate::error::Error;

/// The report as people read it.
pub(crate) fn render(report: &Report) -> String {
    let mut out = String::new();
    if let Some(rules) = rules(report) {
        out.push_str(&format!("{rules}\n\n"));
    }
    if let Some(operators) = operators(report) {
        out.push_str(&format!("{operators}\n\n"));
    }
    if let Some(found) = &report.saturation {
        out.push_str(&format!("{}\n\n", strategies(found)));
    }
    if let Some(choice) = &report.choice {
        out.push_str(&format!("{}\n", choose::render(choice)));
    }
    out.push_str(&summary(report));
    out
}

/// What each strategy would reach.
fn strategies(found: &Saturation) -> Table {
    let mut table = plain(["strategy", "estimated ms", "change", "took s"]);
    let mut row = |name: String, cost: f64, seconds: String| {
        let change = 100.0 * (cost / found.before.max(f64::MIN_POSITIVE) - 1.0);
        let mark = if name == found.taken { " (taken)" } else { "" };
        let cost = format!("{:.4}", cost * 1e3);
        table.add_row([name + mark, cost, format!("{change:+.2} %"), seconds]);
    };
    row("as it was".into(), found.before, String::new());
    row("greedy".into(), found.greedy, format!("{:.2}", found.greedy_seconds));
    for run in &found.runs {
        let spent = |f: &saturate::Report| f.seconds.search + f.seconds.extract;
        let seconds: f64 = run.functions.iter().map(spent).sum();
        row(run.from.to_owned(), run.cost, format!("{seconds:.2}"));
    }
    table
}

/// Why the result of a saturation equals the model: all of it, or `output` if that is not empty.
/// `outputs`: the names of the model's outputs.
pub(crate) fn proofs(report: &Report, outputs: &[String], output: &str) -> Result<String, Error> {
    let run = report.saturation.as_ref().and_then(|found| found.taken_run());
    let functions = run.into_iter().flat_map(|run| &run.functions);
    let proofs: Vec<_> = functions.filter_map(|f| f.proof.as_ref()).collect();
    let of_outputs = || proofs.iter().flat_map(|proof| &proof.outputs);
    if let Some(proof) = of_outputs().find(|proof| proof.output == output) {
        return Ok(proof.to_string());
    }
    let mut known: Vec<&str> = of_outputs().map(|proof| proof.output.as_str()).collect();
    if proofs.is_empty() {
        known.extend(outputs.iter().map(String::as_str));
    }
    if !output.is_empty() && !known.contains(&output) {
        let known = known.join(", ");
        return Err(Error::Usage(format!("there is no output `{output}`; there are: {known}")));
    }
    Ok(match proofs.is_empty() {
        true => {
            "no proof: saturation bettered nothing, so the greedy result was taken\n".to_owned()
        }
        false => proofs.iter().map(ToString::to_string).collect(),
    })
}

/// A table without lines, its first column of text, the others of numbers.
pub(crate) fn plain(header: [&str; 4]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn rules(report: &Report) -> Option<Table> {
    let fired: Vec<_> = report.rules.iter().filter(|rule| rule.fired > 0).collect();
    let driver = report.driver;
    let besides = [
        ("(folded by definition)", driver.folded, 0),
        ("(equal to another)", driver.merged, -1),
        ("(unused)", driver.dead, -1),
    ];
    if fired.is_empty() && besides.iter().all(|(_, count, _)| *count == 0) {
        return None;
    }
    let mut table = plain(["rule", "fired", "operations", "ms"]);
    for rule in fired {
        let change = rule.added as i64 - rule.removed as i64;
        table.add_row([
            rule.name.clone(),
            rule.fired.to_string(),
            format!("{change:+}"),
            format!("{:.2}", rule.seconds * 1e3),
        ]);
    }
    for (name, count, change) in besides.into_iter().filter(|(_, count, _)| *count > 0) {
        let change = format!("{:+}", change * count as i64);
        table.add_row([name.to_owned(), count.to_string(), change, String::new()]);
    }
    Some(table)
}

fn operators(report: &Report) -> Option<Table> {
    let changed = report.operators.iter().filter(|(_, count)| count.before != count.after);
    let mut table = plain(["operator", "before", "after", "change"]);
    let mut any = false;
    for (name, count) in changed {
        any = true;
        let change = count.after as i64 - count.before as i64;
        table.add_row([
            name.clone(),
            count.before.to_string(),
            count.after.to_string(),
            format!("{change:+}"),
        ]);
    }
    any.then_some(table)
}

fn summary(report: &Report) -> String {
    let percent = |both: BeforeAfter<f64>| match both.before {
        0.0 => String::new(),
        before => format!(" ({:+.1} %)", (both.after - before) / before * 100.0),
    };
    let nodes =
        BeforeAfter { before: report.nodes.before as f64, after: report.nodes.after as f64 };
    let cost = &report.cost;
    let amounts = |name: &str, both: (Option<f64>, Option<f64>)| match both {
        (Some(before), Some(after)) => {
            let change = percent(BeforeAfter { before, after });
            format!("{name}  {} -> {}{change}\n", short(before), short(after))
        }
        _ => format!("{name}  unknown, as some extents are\n"),
    };
    let mut out = format!("nodes  {} -> {}{}\n", nodes.before, nodes.after, percent(nodes));
    out += &amounts("flops", (cost.before.flops, cost.after.flops));
    out += &amounts("bytes", (cost.before.bytes, cost.after.bytes));
    let seconds = report.seconds;
    out += &format!(
        "time   load {:.1} ms, optimise {:.1} ms, save {:.1} ms\n",
        seconds.load * 1e3,
        seconds.optimise * 1e3,
        seconds.save * 1e3
    );
    if let Some(limit) = &report.stopped_by {
        out += &format!(
            "stopped early by {limit}; the result is right, and may not be the last word\n"
        );
    }
    if !report.left_out.is_empty() {
        let rules = match report.left_out.len() {
            1 => "1 rule that needs a newer operator set".to_owned(),
            count => format!("{count} rules that need a newer operator set"),
        };
        out += &format!("left out  {rules}: {}\n", report.left_out[0]);
    }
    out += &refused(report);
    out += &report.narrowed.as_ref().map_or_else(String::new, narrowed);
    for warning in &report.warnings {
        out += &format!("note: {warning}\n");
    }
    out
}

/// What became of the floats: how many, what stayed and why, and how far results are apart.
fn narrowed(found: &Narrowed) -> String {
    let Narrowed { to, nodes, weights, casts, kept, .. } = found;
    let stay: usize = kept.iter().map(|kept| kept.nodes.len()).sum();
    let mut out = format!(
        "{to}  {nodes} nodes and {weights} weights, {casts} casts added; {stay} nodes stay float32\n"
    );
    if !kept.is_empty() {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(["stays", "nodes", "why"]);
        for kept in kept {
            let count = kept.nodes.len().to_string();
            table.add_row([kept.operator.clone(), count, kept.why.clone()]);
        }
        out += &format!("{table}\n");
    }
    if let Some(difference) = &found.difference {
        out += &format!("difference  {}\n", difference.measured());
    }
    if let Some(why) = &found.unmeasured {
        out += &format!("difference  not measured: {why}\n");
    }
    out
}

/// What was refused: a line for each rule and kind of reason, with the first case.
fn refused(report: &Report) -> String {
    let mut kinds: BTreeMap<(&str, &str), Vec<&Refused>> = BTreeMap::new();
    for refused in &report.refused {
        kinds.entry((&refused.rule, refused.code)).or_default().push(refused);
    }
    let mut out = String::new();
    for ((rule, code), cases) in kinds {
        let first = cases[0];
        let (at, times) = (first.root.result_names(), cases.len());
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        out += &format!("refused {rule} {times} ({code}): {} at {at}\n", first.reason);
    }
    out
}

/// A number in three digits and a unit.
pub(crate) fn short(value: f64) -> String {
    for (unit, name) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value >= unit {
            return format!("{:.2} {name}", value / unit);
        }
    }
    format!("{value:.0} ")
}
