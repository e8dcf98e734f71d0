//! `own-pass PIPELINE FILE`: runs a pipeline in which passes of this crate stand beside others.

mod toy;

use tangram_ir::text;
use tangram_passes::{Pipeline, Registry, RunOptions, Silent};

fn main() -> std::process::ExitCode {
    if let Err(error) = run() {
        eprintln!("error: {error}");
        return std::process::ExitCode::FAILURE;
    }
    std::process::ExitCode::SUCCESS
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut passes = Registry::standard();
    passes.add(toy::simplify())?.add(toy::to_arith())?.add(toy::measure())?;
    let words: Vec<String> = std::env::args().collect();
    let [_, pipeline, file] = &words[..] else {
        return Err("usage: own-pass PIPELINE FILE".into());
    };
    let context = tangram_dialects::context();
    context.register(toy::OPERATIONS);
    let read = text::parse(&std::fs::read_to_string(file)?, file, context);
    let mut module = read.map_err(|errors| errors[0].to_string())?;
    passes.run(&mut module, &Pipeline::parse(pipeline)?, &RunOptions::default(), &mut Silent)?;
    println!("{}", text::print(&module));
    Ok(())
}
