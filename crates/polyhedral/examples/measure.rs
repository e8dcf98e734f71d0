//! Answers requests with the time of library calls, for benchmarks.
//!
//! A request is a line `VERB PATH`: `codegen` of a schedule tree, `map` of a schedule map,
//! `schedule` of constraints, `flow` of accesses, each from text to text. The answer is a line with nanoseconds, or with
//! `error` and the reason.

use std::io::{BufRead, Write};
use std::time::Instant;

use tangram_polyhedral::ast::{Ast, AstOptions, MapInput};
use tangram_polyhedral::flow::Accesses;
use tangram_polyhedral::schedule::{Constraints, Options};
use tangram_polyhedral::{Error, ScheduleTree};
use tangram_presburger::Budget;

fn main() -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((verb, path)) = line.split_once(' ') else { continue };
        let text = std::fs::read_to_string(path)?;
        let start = Instant::now();
        let outcome = call(verb, &text);
        let time = start.elapsed().as_nanos();
        let mut out = std::io::stdout().lock();
        match outcome {
            Ok(Some(_)) => writeln!(out, "{time}")?,
            Ok(None) => writeln!(out, "error no such verb")?,
            Err(error) => writeln!(out, "error {error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// Runs one request; returns the length of the text it makes, or nothing for another verb.
fn call(verb: &str, text: &str) -> Result<Option<usize>, Error> {
    let budget = Budget::steps(200_000_000);
    Ok(Some(match verb {
        "codegen" => {
            let tree = ScheduleTree::parse(text, &budget)?;
            Ast::of_tree(&tree, None, &AstOptions::default(), &budget)?.to_string().len()
        }
        "map" => {
            let input = MapInput::parse(text, &budget)?;
            input.generate(&AstOptions::default(), &budget)?.to_string().len()
        }
        "schedule" => {
            let constraints = Constraints::parse(text, &budget)?;
            constraints.schedule(&Options::default(), None, &budget)?.tree.to_string().len()
        }
        "flow" => Accesses::parse(text, &budget)?.flow(&budget)?.to_string().len(),
        _ => return Ok(None),
    }))
}
