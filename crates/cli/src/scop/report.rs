//! What `tangram scop` says of each part: what was done or why not, and which results are the
//! same bits.

use std::fmt::Display;
use std::path::Path;

use tangram_polyhedral::Error as Fault;
use tangram_polyhedral::optimise::{Arranged, Idle, WORTH};
use tangram_scop::{Part, Problem};

use super::{Outcome, quoted};
use crate::error;

/// A problem as `file:line:column: kind: message`.
pub(super) fn placed(name: &impl Display, kind: &str, problem: &Problem) -> String {
    let Problem { file, line, column, .. } = problem;
    let message = quoted::message(problem, Path::new(&name.to_string()));
    match file {
        Some(file) => format!("{file}:{line}:{column}: {kind}: {message}\n"),
        None => format!("{name}:{line}:{column}: {kind}: {message}\n"),
    }
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What is assumed of a part, and what keeps it as it is whatever is found. `compared`: whether new
/// loops compare the ranges of arrays.
pub(super) fn assumed(name: &impl Display, part: &Part, compared: bool) -> String {
    let mut text = String::new();
    if !compared && !part.marked && !part.distinct.is_empty() {
        let (line, names) = (part.first_line, listed(&part.distinct));
        text += &format!(
            "{name}:{line}: note: {names} are assumed not to overlap, as `restrict` would say\n"
        );
    }
    if !part.ended.is_empty() {
        let (line, names) = (part.last_line, listed(&part.ended));
        text += &format!(
            "{name}:{line}: warning: the part stays as it is, as what follows may need the value \
             of {names} at its end: declare the loop's variable in the loop\n"
        );
    }
    text
}

/// The line about a part: where it is and what became of it.
pub(super) fn line(name: &impl Display, part: &Part, found: &Result<Outcome, Fault>) -> String {
    let Part { first_line, last_line, .. } = part;
    let became = match found {
        Ok(outcome) => became(part, outcome),
        Err(why) => format!("kept, as its dependences were not found: {}", error::loops(why)),
    };
    format!("{name}:{first_line}: note: to line {last_line}: {became}\n")
}

/// The lines of `--print report`.
pub(super) fn report(part: &Part, outcome: &Outcome) -> String {
    format!("loops: {}\nbits: {}\n", became(part, outcome), bits(part, outcome))
}

/// What became of a part, or why nothing did.
fn became(part: &Part, outcome: &Outcome) -> String {
    let Outcome { part: with, best, ast, one_thread, guards } = outcome;
    if !part.ended.is_empty() {
        return "kept, as what follows may need the value of a loop variable".to_owned();
    }
    if let Some(reason) = &best.fallback {
        return format!("kept, as no order was found: {}", error::loops(reason));
    }
    if let (Err(reason), false) = (ast, best.original) {
        return format!("kept, as no loops were generated: {}", error::loops(reason));
    }
    if best.original {
        return match best.ratio {
            Some(ratio) if ratio.is_finite() => format!(
                "kept, as the best order found is estimated at {ratio:.2} of its cost: less than \
                 {WORTH} is worth new code"
            ),
            _ => "kept, as nothing in it repeats".to_owned(),
        };
    }
    let guards = match guards {
        Ok(guards) => guards,
        Err(reason) => return format!("kept, as {reason}"),
    };
    let gain =
        best.ratio.map_or(String::new(), |ratio| format!(", estimated at {ratio:.2} of its cost"));
    let bands: Vec<String> = best.bands.iter().filter_map(|band| arranged(with, band)).collect();
    let bands = if bands.is_empty() { "in another order".to_owned() } else { bands.join("; ") };
    let idle: String = best.idle.iter().map(|idle| format!("; {}", without(*idle))).collect();
    let names: Vec<String> = with.allocated.iter().map(|own| format!("`{}`", own.name)).collect();
    let memory = match names.is_empty() {
        true => String::new(),
        false => format!("; in memory of its own: {}", names.join(", ")),
    };
    let compared = match guards.iter().any(|test| test.contains("<= TANGRAM_AT")) {
        true => format!("; where the ranges of {} do not overlap", listed(&part.distinct)),
        false => String::new(),
    };
    let alone = match one_thread {
        true => {
            "; for one thread, as the search for loops of several took too long: `--max-steps` allows more"
        }
        false => "",
    };
    format!("rewritten{gain}: {bands}{idle}{memory}{compared}{alone}")
}

/// Says what of `--tile` has no effect on a part.
pub(super) fn without(idle: Idle) -> String {
    match idle {
        Idle::Diamond => {
            "no diamonds, as they need loops that can be tiled together, of which the \
                          first is not parallel, as the time of a stencil"
                .to_owned()
        }
        Idle::Sizes { used: 0 } => {
            "nothing is tiled as `--tile` says, as no loops can be".to_owned()
        }
        Idle::Sizes { used } => format!(
            "of the sizes in `--tile` the first {used} alone, as no more loops can be tiled together"
        ),
        _ => "`--tile` without all of its effect".to_owned(),
    }
}

/// What became of the loops around some statements.
fn arranged(part: &Part, band: &Arranged) -> Option<String> {
    let by =
        |numbers: &[i128]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" by ");
    let mut done = Vec::new();
    if !band.tiles.is_empty() {
        done.push(format!("tiles of {}", by(&band.tiles)));
    }
    if !band.jams.is_empty() {
        done.push(format!("{} iterations side by side", by(&band.jams)));
    }
    if band.vector {
        done.push("a free innermost loop".to_owned());
    }
    let lines = band.statements.iter().filter_map(|at| part.bodies.get(*at));
    let mut lines: Vec<usize> = lines.map(|body| body.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    (!done.is_empty() && !lines.is_empty())
        .then(|| format!("line {} with {}", lines.join(", "), done.join(", ")))
}

/// Says which results are the same bits as those of the source.
fn bits(part: &Part, outcome: &Outcome) -> String {
    let changed = outcome.ast.is_ok() && !outcome.best.original && part.ended.is_empty();
    if !changed {
        return "the code is that of the source".to_owned();
    }
    if !part.has_floats() {
        return "the same: no value is of a floating type".to_owned();
    }
    if !part.may_contract() {
        return "the same: no statement adds to a product, so nothing can be fused".to_owned();
    }
    "the same with `-ffp-contract=off`, as every operation has the operands of the source; where \
     the compiler may fuse a product into a sum, as gcc does by default, it may choose otherwise \
     in other loops, and last bits differ"
        .to_owned()
}
