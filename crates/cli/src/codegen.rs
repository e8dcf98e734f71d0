//! `tangram codegen`.

use std::process::ExitCode;

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
    let map = args.input.extension().is_some_and(|end| end == "in");
    let mut places = Vec::new();
    let (ast, launch) = match generate(&text, map, args.target, &budget, &mut places) {
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

/// Generates loops of a file; `places` are then those of the nodes of its tree.
fn generate(
    text: &str,
    map: bool,
    target: TargetArg,
    budget: &Budget,
    places: &mut Vec<(usize, usize)>,
) -> Result<(Ast, Option<Launch>), Fault> {
    let options = AstOptions::default();
    let tree = match (map, target) {
        (false, _) => {
            let (tree, found) = ScheduleTree::parse_with_places(text, budget)?;
            *places = found;
            tree
        }
        (true, TargetArg::C) => {
            return Ok((MapInput::parse(text, budget)?.generate(&options, budget)?, None));
        }
        (true, TargetArg::Cuda) => {
            ScheduleTree::from_map(&MapInput::parse(text, budget)?.schedule, budget)?
        }
    };
    tree.check(budget)?;
    let launch = (target == TargetArg::Cuda).then(|| Launch::of_tree(&tree)).transpose()?;
    Ok((Ast::of_tree(&tree, None, &options, budget)?, launch))
}
