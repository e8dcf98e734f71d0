//! Measures reading, verifying and printing a file in generic form:
//! `cargo run --release -p tangram-ir --example text_time FILE`.

use std::time::Instant;

use tangram_ir::{Context, text, verify};

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let source = std::fs::read_to_string(&path).expect("text");
    let context = Context::new();
    let start = Instant::now();
    let module = text::parse(&source, &path, context).expect("a module");
    let parsed = start.elapsed();
    let start = Instant::now();
    verify(&module).expect("a right module");
    let verified = start.elapsed();
    let start = Instant::now();
    let printed = text::print(&module);
    let written = start.elapsed();
    let ops = module.op_capacity();
    println!(
        "{ops} operations, {} MB: read {:.1} ms, verified {:.1} ms, printed {:.1} ms ({} MB)",
        source.len() >> 20,
        parsed.as_secs_f64() * 1e3,
        verified.as_secs_f64() * 1e3,
        written.as_secs_f64() * 1e3,
        printed.len() >> 20
    );
    println!("{}", module.statistics());
    println!("the same text: {}", printed == source);
}
