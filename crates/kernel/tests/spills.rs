//! The innermost loop of a micro-kernel keeps everything in registers: the listing says so.
//!
//! A register tile is as large as registers allow. One row more, and the compiler stores sums on the
//! stack and loads them again in each iteration: the same bits, at a fraction of the rate.

use std::process::Command;

use tangram_ir::{Context, Module};
use tangram_kernel::{Body, Element, Op, Program, RegisterTile, Role};
use tangram_machine::{Isa, Machine};
use tangram_target::{GNU_C, function};

/// What the text around a kernel of a model defines.
const AROUND: &str = "#include <stdint.h>
#define TANGRAM_PREFETCH(from) __builtin_prefetch(from)
#define TANGRAM_KEEP(vector) __asm__(\"\" : \"+x\"(vector));
";

/// The kernel of a model's product, which is printed from IR.
fn of_model(program: &Program, element: Element) -> String {
    let mut module = Module::new(Context::new());
    let kernel = program.to_ir(&mut module, "kernel", element, program.columns);
    let text = function(&module, kernel.expect("a kernel"), &GNU_C).expect("a text");
    format!("{AROUND}{text}").replace("static void", "void")
}

/// The kernel of a loop nest in C.
fn of_c(program: &Program, element: Element) -> String {
    program.to_c("kernel", element).expect("a kernel").replace("static void", "void")
}

/// Products, and pairs of products under one sum.
fn bodies() -> Vec<(&'static str, Body)> {
    let [a, b, c, d] = [0, 1, 2, 3].map(Op::Operand);
    let pair = vec![a, b, Op::Mul, c, d, Op::Mul, Op::Add];
    let roles = vec![Role::Row, Role::Column, Role::Row, Role::Column];
    let less = Body::new(vec![Role::Row, Role::Column], vec![a, b, Op::Mul], true);
    vec![
        ("product", Body::product()),
        ("subtracted product", less.expect("a body")),
        ("two products", Body::new(roles, pair, false).expect("a body")),
    ]
}

/// Compiles a kernel to assembly; nothing without a compiler that knows the flags.
fn listing(stem: &str, code: &str, flags: &[&str]) -> Option<String> {
    listing_by("cc", stem, code, flags)
}

fn listing_by(compiler: &str, stem: &str, code: &str, flags: &[&str]) -> Option<String> {
    let stem = std::env::temp_dir().join(format!("tangram-{stem}-{}", std::process::id()));
    let (source, output) = (stem.with_extension("c"), stem.with_extension("s"));
    std::fs::write(&source, code).expect("written");
    let made = Command::new(compiler)
        .args(["-O3", "-S", "-w", "-fno-asynchronous-unwind-tables"])
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&output)
        .output();
    let text = made.is_ok_and(|made| made.status.success());
    let text = text.then(|| std::fs::read_to_string(&output).expect("a listing"));
    for path in [source, output] {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(path);
    }
    text
}

/// Returns the lines of the loop in a function that has most fused operations in it.
///
/// A loop goes from a label to a jump back to it; the innermost ones have no other label between.
fn hot_loop<'a>(listing: &'a str, function: &str) -> Vec<&'a str> {
    let start = format!("{function}:");
    let lines: Vec<&str> = listing
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != start)
        .take_while(|line| !line.starts_with(".size"))
        .collect();
    let mut best: Vec<&str> = Vec::new();
    for (end, line) in lines.iter().enumerate() {
        let Some(target) = line.strip_prefix('j').and_then(|rest| rest.split_whitespace().nth(1))
        else {
            continue;
        };
        let label = format!("{target}:");
        let Some(from) = lines[..end].iter().position(|line| *line == label) else { continue };
        let body = &lines[from + 1..end];
        if !body.iter().any(|line| line.ends_with(':')) && fused(body) > fused(&best) {
            best = body.to_vec();
        }
    }
    best
}

fn fused(lines: &[&str]) -> usize {
    let updates = ["vfm", "vfnm", "vpmaddwd"];
    lines.iter().filter(|line| updates.iter().any(|update| line.starts_with(update))).count()
}

#[test]
fn innermost_loops_do_not_touch_the_stack() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: reads listings of x86");
        return;
    }
    let machines: [(Isa, &[&str]); 2] = [
        (Isa::Avx2, &["-mavx2", "-mfma"]),
        (
            Isa::Avx512,
            &["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mprefer-vector-width=512"],
        ),
    ];
    for (isa, flags) in machines {
        for element in [Element::F64, Element::F32, Element::Pairs, Element::PairsOfBytes] {
            // Models multiply, and so do pairs; loops from C do more.
            let loops =
                bodies().into_iter().filter(|_| !element.is_pair()).map(|body| (body, false));
            let of_models = [(("product of a model", Body::product()), true)];
            for ((what, body), is_model) in loops.chain(of_models) {
                let tile = RegisterTile::of(&Machine::of(isa), element, &body);
                let program = Program::for_tile(&body, &tile).expect("a program");
                let code = match is_model {
                    true => of_model(&program, element),
                    false => of_c(&program, element),
                };
                let stem = format!("spills-{isa}-{element:?}-{}", what.replace(' ', "-"));
                let Some(text) = listing(&stem, &code, flags) else {
                    println!("skipped: needs cc with {flags:?}");
                    return;
                };
                let lines = hot_loop(&text, "kernel");
                let name = format!("{what} of {element:?} on {isa}, {tile:?}");
                // The loop that was found is the whole tile's.
                assert!(fused(&lines) >= tile.rows * tile.vectors, "{name}: {lines:#?}");
                let spills: Vec<&&str> =
                    lines.iter().filter(|line| line.contains("(%rsp")).collect();
                assert!(spills.is_empty(), "{name}: {spills:?}");
            }
        }
    }
}

/// clang cuts long vectors in two for processors where it prefers shorter ones, unless told not to.
#[test]
fn vectors_of_64_bytes_stay_whole() {
    let code = |isa| {
        let (body, element) = (Body::product(), Element::F64);
        let tile = RegisterTile::of(&Machine::of(isa), element, &body);
        let program = Program::for_tile(&body, &tile).expect("a program");
        of_c(&program, element)
    };
    assert!(code(Isa::Avx512).contains("min_vector_width(512)"));
    assert!(!code(Isa::Avx2).contains("min_vector_width"));
    let flags = ["-march=skylake-avx512"];
    let clangs = ["clang", "clang-19"];
    let mut found = clangs
        .iter()
        .filter_map(|clang| listing_by(clang, "whole-vectors", &code(Isa::Avx512), &flags));
    let Some(text) = found.next() else {
        println!("skipped in part: needs clang");
        return;
    };
    let fused = text.lines().map(str::trim).filter(|line| line.starts_with("vfm"));
    let (whole, cut): (Vec<&str>, Vec<&str>) = fused.partition(|line| line.contains("%zmm"));
    assert!(!whole.is_empty() && cut.is_empty(), "{cut:?}");
}

/// The test sees spills where a tile is larger than the registers.
#[test]
fn larger_tiles_are_seen_to_spill() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let body = Body::product();
    let tile = RegisterTile { rows: 8, vectors: 3, width: 4 };
    let program = Program::for_tile(&body, &tile).expect("a program");
    let code = of_c(&program, Element::F64);
    let Some(text) = listing("spills-large", &code, &["-mavx2", "-mfma"]) else {
        println!("skipped: needs cc");
        return;
    };
    let lines = hot_loop(&text, "kernel");
    assert!(lines.iter().any(|line| line.contains("(%rsp")), "{lines:#?}");
}
