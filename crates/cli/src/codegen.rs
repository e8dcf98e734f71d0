//! `tangram codegen`.

use crate::exit::ExitCode;
use std::path::Path;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, Launch, MapInput};
use tangram_polyhedral::{Error as Fault, ScheduleTree};
use tangram_presburger::Budget;

use crate::args::{CodegenArgs, LOOP_STEPS, TargetArg};
use crate::error::{self, Error};
use crate::out;

/// Generates loops and prints them.
pub(crate) fn run(args: &CodegenArgs) -> Result<ExitCode, Error> {
    let text = out::read(&args.input)?;
    let budget = Budget::steps(args.max_steps.unwrap_or(LOOP_STEPS));
    let map = args.input.extension().is_some_and(|end| end == "in") || MapInput::is_notation(&text);
    if map && args.target == TargetArg::Cuda {
        let why = "kernels are made of a schedule tree, and the file holds a map";
        return Err(Error::Usage(format!("`--target cuda` has no effect: {why}")));
    }
    let mut places = Vec::new();
    let generated = if map {
        generate_map(&args.input, &text, &budget)
    } else {
        generate(&text, args.target, &budget, &mut places)
    };
    let (ast, launch) = match generated {
        Ok(generated) => generated,
        Err(error) => return Ok(error::refuse(&args.input, &error, &places)),
    };
    let mut style = CStyle::default();
    style.index.clone_from(&args.index);
    (style.parallel, style.vectorize) = (args.parallel, args.vectorize);
    let body = match launch {
        Some(launch) => ast.to_cuda("kernel", &launch, &style),
        None => ast.to_c(&style),
    };
    let text = if args.macros { format!("{}\n{body}", Ast::macros()) } else { body };
    out::deliver(args.output.as_deref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Generates loops of a map with context and options, and says which option has no effect.
fn generate_map(path: &Path, text: &str, budget: &Budget) -> Result<(Ast, Option<Launch>), Fault> {
    let input = MapInput::parse(text, budget)?;
    if let Some(idle) = &input.idle {
        out::say(error::line(path, "warning", idle, &[]));
    }
    Ok((input.generate(&AstOptions::default(), budget)?, None))
}

/// Generates loops of a schedule tree; `places` are then those of the nodes of its tree.
fn generate(
    text: &str,
    target: TargetArg,
    budget: &Budget,
    places: &mut Vec<(usize, usize)>,
) -> Result<(Ast, Option<Launch>), Fault> {
    let options = AstOptions::default();
    let (tree, found) = ScheduleTree::parse_with_places(text, budget)?;
    *places = found;
    tree.check(budget)?;
    let launch = (target == TargetArg::Cuda).then(|| Launch::of_tree(&tree)).transpose()?;
    Ok((Ast::of_tree(&tree, None, &options, budget)?, launch))
}
