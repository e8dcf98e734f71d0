//! Pipelines here and in `mlir-opt`, side by side.

use tangram_ir::{Block, Module, Op, Order, Point, Traits, text, walk};

use super::{mlir_opt, parse, pass};

/// Runs a pipeline here and there. Returns both results in one form, if it is there.
pub fn both(pipeline: &str, source: &str) -> (Module, Option<Module>) {
    let mut ours = parse(source);
    pass(&mut ours, pipeline);
    let passes = format!("--pass-pipeline={pipeline}");
    let theirs = mlir_opt(&["--allow-unregistered-dialect", &passes], source);
    if theirs.is_none() {
        println!("skipped: needs mlir-opt-22");
    }
    (ours, theirs.map(|theirs| parse(&theirs)))
}

/// Runs a pipeline and expects what `mlir-opt` leaves, without any of `gone`.
pub fn same(pipeline: &str, source: &str, gone: &[&str]) {
    let (ours, theirs) = both(pipeline, source);
    let ours = text::print(&ours);
    for word in gone {
        assert!(!ours.contains(word), "`{word}` is left by {pipeline}:\n{ours}");
    }
    if let Some(theirs) = theirs {
        assert_eq!(ours, text::print(&theirs), "{pipeline} of\n{source}");
    }
}

/// As [`same`], whatever the order of constants in a block: nothing depends on it.
pub fn same_but_for_constants(pipeline: &str, source: &str, gone: &[&str]) {
    let (mut ours, theirs) = both(pipeline, source);
    let left = text::print(&ours);
    for word in gone {
        assert!(!left.contains(word), "`{word}` is left by {pipeline}:\n{left}");
    }
    let Some(mut theirs) = theirs else { return };
    let [ours, theirs] = [&mut ours, &mut theirs].map(|module| {
        order_constants(module);
        pretty(module)
    });
    let differing: Vec<String> = ours
        .lines()
        .zip(theirs.lines())
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("ours   {ours}\ntheirs {theirs}\n"))
        .collect();
    assert!(ours == theirs, "{pipeline}\n{}\nours:\n{ours}\ntheirs:\n{theirs}", differing.concat());
}

fn pretty(module: &Module) -> String {
    let mut out = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut out, module, options).expect("a string takes all");
    out
}

/// Puts the constants of each block at its start, in the order of their text.
fn order_constants(module: &mut Module) {
    let mut constants: Vec<(Block, String, Op)> = Vec::new();
    for op in walk(module, module.root(), Order::Pre) {
        let constant =
            module.has_traits(op, Traits::CONSTANT_LIKE) || module.name_text(op) == "ub.poison";
        if let Some(block) = module.block(op).filter(|_| constant) {
            let attrs = text::attr_text(module, module.attrs(op));
            let ty = text::type_text(module, module.value_type(module.result(op, 0)));
            constants.push((block, format!("{}{attrs}{ty}", module.name_text(op)), op));
        }
    }
    constants.sort();
    for (block, _, op) in constants.into_iter().rev() {
        if module.first_op(block) != Some(op) {
            module.move_to(op, Point::Start(block));
        }
    }
}
