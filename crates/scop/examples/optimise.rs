//! Writes a C file with faster loops: `cargo run --example optimise -- kernel.c > fast.c`, with
//! `--parallel` behind the name for several threads.
//!
//! The file must need no preprocessor beyond headers that declare pure functions.

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_presburger::Budget;
use tangram_scop::{Emit, parts, rewrite};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("expected the name of a C file")?;
    let original = std::fs::read_to_string(path)?;
    // Lines stay where they are, so that parts are found again in the original.
    let readable: String = original
        .lines()
        .map(|line| if line.starts_with("#include") { "\n".into() } else { format!("{line}\n") })
        .collect();
    let budget = Budget::unlimited();
    let found = parts(&readable, &budget)
        .map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect::<String>())?;
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    let parallel = std::env::args().any(|word| word == "--parallel");
    recipe.parallel = parallel;
    recipe.wavefront = parallel;
    let mut pairs = Vec::new();
    for part in &found {
        let best = part.scop.optimise(&recipe, &budget)?;
        let ast = Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget)?;
        pairs.push((part, (!best.original).then_some(ast)));
    }
    let pairs: Vec<_> = pairs.iter().map(|(part, ast)| (*part, ast.as_ref())).collect();
    print!(
        "{}",
        rewrite(&original, &pairs, &Emit { parallel, vectorize: true, ..Emit::default() })?
    );
    Ok(())
}
