//! What `tangram scop` says of each part: what was done or why not, and which results are the
//! same bits.

use std::fmt::Display;
use std::path::Path;

use tangram_polyhedral::Error as Fault;
use tangram_polyhedral::optimise::{Arranged, Idle};
use tangram_scop::{Part, Problem};

use super::{Outcome, bytes, quoted};
use crate::error;

/// A problem as `file:line:column: kind: message`.
pub(super) fn placed(name: &impl Display, kind: &str, problem: &Problem) -> String {
    let Problem { file, line, column, .. } = problem;
    let message = bytes::shown(&quoted::message(problem, Path::new(&name.to_string())));
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
            "{name}:{line}: warning: the part stays as it is: {names} may be live-out; declare the \
             loop's variable in the loop\n"
        );
    }
    text
}

/// The line about a part: where it is and what became of it.
pub(super) fn line(name: &impl Display, part: &Part, found: &Result<Outcome, Fault>) -> String {
    let became = match found {
        Ok(outcome) => became(part, outcome),
        Err(why) => format!("kept: no dependences: {}", error::loops(why)),
    };
    format!("{name}:{}: note: {became}\n", lines(part))
}

/// The lines of a part, as GNU's format of messages has them.
pub(super) fn lines(part: &Part) -> String {
    match part.first_line == part.last_line {
        true => part.first_line.to_string(),
        false => format!("{}-{}", part.first_line, part.last_line),
    }
}

/// The lines of `--print report`.
pub(super) fn report(part: &Part, outcome: &Outcome) -> String {
    format!("loops: {}\nbits: {}\n", became(part, outcome), bits(part, outcome))
}

/// The line of `--print score`: the number that decided, which orders schedules and predicts nothing.
pub(super) fn score(outcome: &Outcome) -> String {
    match outcome.best.ratio {
        Some(ratio) if ratio.is_finite() => format!("score: {ratio:.4}\n"),
        _ => "score: none\n".to_owned(),
    }
}

/// What became of a part, or why nothing did: in words, as the numbers that decide are no times.
fn became(part: &Part, outcome: &Outcome) -> String {
    let Outcome { part: with, best, ast, one_thread, guards } = outcome;
    if !part.ended.is_empty() {
        return "kept: a loop variable may be live-out".to_owned();
    }
    if let Some(reason) = &best.fallback {
        return format!("kept: no schedule: {}", error::loops(reason));
    }
    if let (Err(reason), false) = (ast, best.original) {
        return format!("kept: no code was generated: {}", error::loops(reason));
    }
    if best.original {
        return match best.ratio {
            Some(ratio) if ratio.is_finite() && ratio < 0.995 => {
                "kept: the best schedule saves too little".to_owned()
            }
            Some(ratio) if ratio.is_finite() => "kept: no better schedule".to_owned(),
            _ => "kept: no loop repeats".to_owned(),
        };
    }
    let guards = match guards {
        Ok(guards) => guards,
        Err(reason) => return format!("kept: {reason}"),
    };
    let contracted = |at: &usize| best.contractions.iter().any(|own| own.statement == *at);
    let bands: Vec<String> =
        best.bands.iter().filter_map(|band| arranged(with, band, contracted)).collect();
    let bands = if bands.is_empty() { "loops reordered".to_owned() } else { bands.join("; ") };
    let idle: String = best.idle.iter().map(|idle| format!("; {}", without(*idle))).collect();
    let names: Vec<String> = with.allocated.iter().map(|own| format!("`{}`", own.name)).collect();
    let memory = match names.is_empty() {
        true => String::new(),
        false => format!("; {} in memory of its own", names.join(", ")),
    };
    let compared = match guards
        .iter()
        .any(|test| test.contains("TANGRAM_AT") || test.contains("tangram_rows"))
    {
        true if part.distinct.len() == 1 => {
            format!("; run if the rows of {} do not overlap", listed(&part.distinct))
        }
        true => format!("; run if {} do not overlap", listed(&part.distinct)),
        false => String::new(),
    };
    let alone = match one_thread {
        true => {
            "; serial, as the search for a parallel schedule ran out of steps: `--max-steps` allows more"
        }
        false => "",
    };
    format!("rewritten: {bands}{idle}{memory}{compared}{alone}")
}

/// Says what of `--tile` has no effect on a part.
pub(super) fn without(idle: Idle) -> String {
    match idle {
        Idle::Diamond => {
            "no diamond tiles: they need a permutable band whose outer loop is not parallel, as \
             the time loop of a stencil"
                .to_owned()
        }
        Idle::Sizes { used: 0 } => "`--tile` has no effect: no loops are permutable".to_owned(),
        Idle::Sizes { used } => {
            format!("`--tile`: the first {used} sizes alone, as no more loops are permutable")
        }
        _ => "`--tile` without all of its effect".to_owned(),
    }
}

/// What became of the loops around some statements; `contracted`: whether a statement runs in packed
/// tiles.
fn arranged(part: &Part, band: &Arranged, contracted: impl Fn(&usize) -> bool) -> Option<String> {
    let by =
        |numbers: &[i128]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let (tiles, jams) = (by(&band.tiles), by(&band.jams));
    let done: Vec<String> = if band.statements.iter().any(contracted) {
        vec![format!("contraction with packed tiles of {tiles} and a {jams} micro-kernel")]
    } else {
        let all = [
            (!band.tiles.is_empty(), format!("tiled by {tiles}")),
            (!band.jams.is_empty(), format!("unrolled and jammed by {jams}")),
            (band.vector, "vectorised".to_owned()),
        ];
        all.into_iter().filter_map(|(is_done, text)| is_done.then_some(text)).collect()
    };
    let lines = band.statements.iter().filter_map(|at| part.bodies.get(*at));
    let mut lines: Vec<usize> = lines.map(|body| body.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let name = if lines.len() == 1 { "line" } else { "lines" };
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    (!done.is_empty() && !lines.is_empty())
        .then(|| format!("{name} {} {}", lines.join(", "), done.join(", ")))
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
