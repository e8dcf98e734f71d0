//! `tangram scop`.

use std::path::Path;
use std::process::{Command, ExitCode};

use tangram_polyhedral::schedule::Options;
use tangram_polyhedral::scop::{Basis, Kind, Scop};
use tangram_presburger::Budget;
use tangram_scop::Part;

use crate::args::{ScopArgs, ScopPrint};
use crate::error::{self, Error};

/// Finds the marked parts of a C file and prints what is known about them.
pub(crate) fn run(args: &ScopArgs) -> Result<ExitCode, Error> {
    let budget = args.max_steps.map_or_else(Budget::unlimited, Budget::steps);
    let name = args.input.display();
    let Some(text) = preprocessed(&args.input)? else {
        eprintln!("{name}: error: the preprocessor `cc -E` failed");
        return Ok(ExitCode::from(2));
    };
    let parts = match tangram_scop::parts(&text, &budget) {
        Ok(parts) => parts,
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{name}:{problem}"));
            return Ok(ExitCode::from(2));
        }
    };
    if parts.is_empty() {
        eprintln!("{name}: error: no `#pragma scop` in the file");
        return Ok(ExitCode::from(2));
    }
    for part in &parts {
        println!("# {}, lines {} to {}", part.function, part.first_line, part.last_line);
        if let Err(error) = print(part, args, &budget) {
            eprintln!("{name}:{}: error: {error}", part.first_line);
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a file; one with directives goes through the system's preprocessor.
fn preprocessed(path: &Path) -> Result<Option<String>, Error> {
    let text = std::fs::read_to_string(path).map_err(error::io(path))?;
    let directive = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with("pragma"))
    };
    if !text.lines().any(directive) {
        return Ok(Some(text));
    }
    let output = Command::new("cc").arg("-E").arg(path).output().map_err(error::io(path))?;
    if !output.status.success() {
        return Ok(None);
    }
    Ok(String::from_utf8(output.stdout).ok())
}

fn print(part: &Part, args: &ScopArgs, budget: &Budget) -> Result<(), tangram_polyhedral::Error> {
    let scop = &part.scop;
    let options = Options { fusion: args.fuse.into(), ..Options::default() };
    match args.print {
        ScopPrint::Tree => print!("{}", scop.schedule),
        ScopPrint::Deps => {
            for kind in Kind::ALL {
                let found = scop.dependences(kind, Basis::Value, budget)?;
                println!("{}: \"{}\"", kind.name(), found.tagged);
            }
            println!("live_in: \"{}\"", scop.live_in(budget)?);
            println!("live_out: \"{}\"", scop.live_out(budget)?);
        }
        ScopPrint::Schedule => {
            let constraints = scop.constraints(budget)?;
            let scheduled = constraints.schedule(&options, Some(&scop.schedule), budget)?;
            if let Some(reason) = &scheduled.fallback {
                eprintln!("line {}: the original schedule stays: {reason}", part.first_line);
            }
            print!("{}", scheduled.tree);
        }
        ScopPrint::Stats => stats(scop, budget)?,
    }
    Ok(())
}

fn stats(scop: &Scop, budget: &Budget) -> Result<(), tangram_polyhedral::Error> {
    println!("statements: {}", scop.statements.len());
    println!("arrays: {}", scop.arrays.len());
    println!("parameters: {}", scop.domain()?.parameters().join(", "));
    for kind in Kind::ALL {
        let found = scop.dependences(kind, Basis::Value, budget)?;
        println!("{} dependences: {}", kind.name(), found.tagged.relations().count());
    }
    Ok(())
}
