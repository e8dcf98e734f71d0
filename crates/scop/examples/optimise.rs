//! Writes a C file with faster loops: `cargo run --example optimise -- kernel.c > fast.c`, with
//! `--parallel` behind the name for several threads, and a machine's name for its vectors.
//!
//! The file must need no preprocessor beyond headers that declare pure functions.

use tangram_machine::{Isa, Machine};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::Recipe;
use tangram_presburger::Budget;
use tangram_scop::{Emit, parts, rewrite};

/// What the command spends on a part.
const STEPS: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let path = words.first().ok_or("expected the name of a C file")?;
    let original = std::fs::read_to_string(path)?;
    // Lines stay where they are, so that parts are found again in the original.
    let readable: String = original
        .lines()
        .map(|line| if line.starts_with("#include") { "\n".into() } else { format!("{line}\n") })
        .collect();
    let found = parts(&readable, &Budget::unlimited())
        .map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect::<String>())?;
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    let parallel = words.iter().any(|word| word == "--parallel");
    recipe.parallel = parallel;
    recipe.wavefront = parallel;
    recipe.contract = true;
    if let Some(isa) = Isa::all().into_iter().find(|isa| words.iter().any(|w| *w == isa.name())) {
        recipe.machine = Machine::of(isa);
    }
    let mut emit = Emit { parallel, vectorize: true, ..Emit::default() };
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let mut pairs = Vec::new();
    for (at, part) in found.iter().enumerate() {
        let budget = Budget::steps(STEPS);
        let (part, best) = part.optimise(&recipe, &budget)?;
        let ast = Ast::of_tree(&best.tree, part.scop.context.as_ref(), &options, &budget)?;
        emit.private.extend(best.private.iter().map(|name| (at, name.clone())));
        emit.contractions.extend(best.contractions.iter().map(|c| (at, c.clone())));
        if let Some(error) = &best.fallback {
            eprintln!("{path}: {error}");
        }
        pairs.push((part, (!best.original).then_some(ast)));
    }
    let pairs: Vec<_> = pairs.iter().map(|(part, ast)| (&**part, ast.as_ref())).collect();
    print!("{}", rewrite(&original, &pairs, &emit)?);
    Ok(())
}
