//! C from C: the example kernels, before and after, through a compiler with sanitizers.
//!
//! `TANGRAM_ONLY=gemm` takes one kernel and prints its code.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::optimise::Recipe;
use tangram_presburger::Budget;
use tangram_scop::{Emit, Part, parts, rewrite};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kernels"))
}

/// A kernel's text; its headers declare pure functions alone, so no preprocessor is needed.
fn text(name: &str) -> String {
    let text = std::fs::read_to_string(folder().join(format!("{name}.c"))).expect("readable");
    text.lines().filter(|line| !line.starts_with("#include")).map(|l| format!("{l}\n")).collect()
}

/// Writes a kernel with other loops.
fn optimised(name: &str, text: &str, recipe: &Recipe, emit: &Emit) -> String {
    let budget = Budget::steps(2_000_000_000);
    let found = parts(text, &budget).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
    let mut generated: Vec<(&Part, Option<Ast>)> = Vec::new();
    for part in &found {
        let best = part.scop.optimise(recipe, &budget).expect("a schedule");
        if let Some(reason) = &best.fallback {
            panic!("{name}: {reason}");
        }
        let ast = (!best.original)
            .then(|| Ast::of_tree(&best.tree, None, &AstOptions::default(), &budget))
            .transpose();
        generated.push((part, ast.unwrap_or_else(|error| panic!("{name}: {error}"))));
    }
    let pairs: Vec<_> = generated.iter().map(|(part, ast)| (*part, ast.as_ref())).collect();
    rewrite(text, &pairs, emit).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

/// A parameter of a kernel: type, name, extents.
struct Parameter {
    element: String,
    name: String,
    extents: Vec<String>,
}

fn parameters(text: &str, name: &str) -> Vec<Parameter> {
    let start = text.find(&format!("{name}(")).expect("the function") + name.len() + 1;
    let end = start + text[start..].find("\n{").expect("a body");
    let list = text[start..end].trim_end().trim_end_matches(')');
    let parameter = |part: &str| {
        let (element, rest) = part.trim().split_once(' ').expect("a type and a name");
        let mut pieces = rest.split('[');
        let name = pieces.next().unwrap_or_default().trim().to_owned();
        let extents = pieces.map(|p| p.trim_end_matches(']').to_owned()).collect();
        Parameter { element: element.to_owned(), name, extents }
    };
    list.split(',').map(parameter).collect()
}

/// Writes a function that runs a kernel in two ways on the same data and compares all bytes.
fn comparison(name: &str, parameters: &[Parameter]) -> String {
    let mut code = format!("static int compare_{name}(const int *size) {{\n  int at = 0;\n");
    let (mut first, mut second, mut checks) = (Vec::new(), Vec::new(), String::new());
    for Parameter { element, name, extents } in parameters {
        if extents.is_empty() {
            let value = if element == "int" { "size[at++]" } else { "1.5" };
            let _ = writeln!(code, "  {element} {name} = {value};");
            first.push(name.clone());
            second.push(name.clone());
            continue;
        }
        let count: String = extents.iter().map(|extent| format!(" * ({extent})")).collect();
        let last = &extents[extents.len() - 1];
        let _ = writeln!(
            code,
            "  size_t n_{name} = 1{count};\n  {element} *a_{name} = fill_{element}(n_{name}, {last}), \
             *b_{name} = fill_{element}(n_{name}, {last});"
        );
        let _ = writeln!(
            checks,
            "  wrong |= memcmp(a_{name}, b_{name}, n_{name} * sizeof *a_{name});\n  \
             free(a_{name}); free(b_{name});"
        );
        first.push(format!("(void *)a_{name}"));
        second.push(format!("(void *)b_{name}"));
    }
    let _ = writeln!(
        code,
        "  before_{name}({});\n  after_{name}({});\n  int wrong = 0;\n{checks}  return wrong;\n}}",
        first.join(", "),
        second.join(", ")
    );
    code
}

const START: &str = "\
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Large values on the diagonal keep solvers away from 0. */
#define FILL(type) static inline type *fill_##type(size_t n, size_t row) { \\
  type *a = malloc(n * sizeof *a); \\
  for (size_t i = 0; i < n; i++) \\
    a[i] = (type)((i * 7 + 3) % 11) / (type)7 + (i / row % row == i % row ? 40 : 0); \\
  return a; }
FILL(int)
FILL(double)
";

/// Compiles kernels in both forms, runs them for several sizes, and lists those that differ.
fn differing(kernels: &[&str], recipe: &Recipe, emit: &Emit, flags: &[&str]) -> Vec<String> {
    let mut program = START.to_owned();
    let mut main = "int main(int n, char **v) {\n  int size[8], wrong = 0;\n  \
                    for (int i = 0; i < 8; i++) size[i] = atoi(v[1 + i % (n - 1)]);\n"
        .to_owned();
    for name in kernels {
        let before = text(name);
        let after = optimised(name, &before, recipe, emit);
        if std::env::var("TANGRAM_ONLY").is_ok() {
            println!("{after}");
        }
        for (form, text) in [("before", &before), ("after", &after)] {
            let _ = writeln!(program, "#define {name} {form}_{name}\n{text}#undef {name}");
        }
        program.push_str("#undef min\n#undef max\n#undef floord\n#undef TANGRAM_SIMD\n");
        program.push_str(&comparison(name, &parameters(&before, name)));
        let _ = writeln!(main, "  if (compare_{name}(size)) wrong = 1, puts(\"{name}\");");
    }
    program.push_str(&main);
    program.push_str("  return wrong;\n}\n");
    let folder = std::env::temp_dir();
    let stem = format!("tangram-kernels-{}-{}-{}", std::process::id(), kernels[0], flags.len());
    let (source, binary) = (folder.join(format!("{stem}.c")), folder.join(&stem));
    std::fs::write(&source, program).expect("written");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-Wall", "-Werror", "-Wno-unknown-pragmas"]).args(flags);
    let Ok(compiled) = compiler.arg("-o").arg(&binary).arg(&source).arg("-lm").output() else {
        println!("skipped: needs cc");
        return Vec::new();
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut wrong = Vec::new();
    for sizes in [["1", "1", "1"], ["7", "5", "9"], ["35", "70", "41"], ["3", "67", "34"]] {
        let run = Command::new(&binary).args(sizes).output().expect("runs");
        if !run.status.success() {
            let out = String::from_utf8_lossy(&run.stdout).into_owned();
            wrong.push(format!("{sizes:?}: {out}{}", String::from_utf8_lossy(&run.stderr)));
        }
    }
    for path in [source, binary] {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(path);
    }
    wrong
}

const SANITIZED: &[&str] = &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"];

/// Kernels in groups that take about the same time.
const QUICK: &[&[&str]] = &[
    &["gemm", "two_products", "three_products", "atax", "bicg", "mvt", "gesummv"],
    &["gemver", "syrk", "trmm", "trisolv", "lu", "cholesky", "jacobi_1d", "jacobi_2d"],
];
const SLOW: &[&[&str]] =
    &[&["covariance", "doitgen", "conv2d"], &["seidel_2d", "fdtd_2d", "floyd_warshall"]];

fn check(groups: &[&[&'static str]], recipe: &Recipe, emit: &Emit, flags: &[&str]) {
    let only = std::env::var("TANGRAM_ONLY").ok();
    let chosen = |group: &&[&'static str]| -> Vec<&'static str> {
        group.iter().filter(|name| only.as_ref().is_none_or(|o| o == *name)).copied().collect()
    };
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        let run = |group: Vec<&'static str>| {
            scope.spawn(move || match group.is_empty() {
                true => Vec::new(),
                false => differing(&group, recipe, emit, flags),
            })
        };
        let groups: Vec<&[&'static str]> = groups.to_vec();
        let threads: Vec<_> = groups.iter().map(chosen).map(run).collect();
        for thread in threads {
            wrong.extend(thread.join().expect("no panic"));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_compute_the_same_bits() {
    let emit = Emit { vectorize: true, parallel: false, ..Emit::default() };
    check(QUICK, &Recipe::default(), &emit, SANITIZED);
}

#[test]
#[ignore = "takes a minute"]
fn large_kernels_compute_the_same_bits() {
    let emit = Emit { vectorize: true, parallel: false, ..Emit::default() };
    check(SLOW, &Recipe::default(), &emit, SANITIZED);
}

#[test]
fn kernels_compute_the_same_bits_in_parallel_tiles() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![4, 8, 5, 3]);
    recipe.wavefront = true;
    for groups in [QUICK, SLOW] {
        check(groups, &recipe, &emit, &["-O2", "-fopenmp"]);
    }
}

#[test]
fn sizes_that_are_given_tile_loops_that_no_vector_runs_along() {
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![32, 32, 32]);
    let code = optimised("seidel_2d", &text("seidel_2d"), &recipe, &Emit::default());
    assert_eq!(code.matches("for (").count(), 6, "{code}");
}

/// The code of a kernel with an order of its own, if one promises a gain.
fn kept_or_not(name: &str, parallel: bool) -> String {
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    recipe.parallel = parallel;
    let emit = Emit { vectorize: true, parallel, ..Emit::default() };
    optimised(name, &text(name), &recipe, &emit)
}

#[test]
fn sums_of_rows_run_side_by_side_in_local_variables() {
    let code = kept_or_not("gesummv", false);
    assert!(code.contains("double s7 = y[c0 + 3];"), "{code}");
    assert!(code.contains("s7 += B[c0 + 3][c1] * x[c1];"), "{code}");
    // Only the first statement of each row's block writes to memory, and the last.
    assert_eq!(code.matches("[c1] * x[c1]").count(), 8 + 2, "{code}");
}

#[test]
fn loops_whose_order_costs_more_than_threads_give_keep_the_source() {
    assert_eq!(kept_or_not("trisolv", true), text("trisolv"));
    // Columns are cut into strips, one thread each; rows run one after the other in them.
    let code = kept_or_not("atax", true);
    assert_eq!(code.matches("#pragma omp parallel for").count(), 2, "{code}");
    // A division between the loops leaves the others to vectors.
    let code = kept_or_not("lu", true);
    let hint = code.rfind("TANGRAM_SIMD").expect("a vector loop");
    assert!(code[..hint].contains("#pragma omp parallel for"), "{code}");
}

const STENCILS: &[&str] = &["seidel_2d", "jacobi_1d", "jacobi_2d", "fdtd_2d"];

#[test]
fn tiles_of_stencils_run_by_wavefronts() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![6, 9, 7]);
    recipe.wavefront = true;
    for name in STENCILS {
        let code = optimised(name, &text(name), &recipe, &emit);
        // Fronts one after the other, the tiles of one at once.
        let pragma = code.find("#pragma omp parallel for").unwrap_or_else(|| panic!("{code}"));
        let fronts = code[..pragma].matches("for (long long").count();
        assert!(fronts == 1, "{name}: {code}");
    }
    let flags = [SANITIZED, &["-fopenmp"]].concat();
    check(&[&["seidel_2d", "jacobi_1d"], &["jacobi_2d", "fdtd_2d"]], &recipe, &emit, &flags);
}

#[test]
fn tiles_of_stencils_of_several_statements_start_at_once() {
    let emit = Emit { vectorize: true, parallel: true, ..Emit::default() };
    let mut recipe = Recipe::default();
    recipe.tile = Some(vec![6, 9, 7]);
    // The sides of the cones are other loops than those of tiles by wavefronts.
    let plain = optimised("jacobi_1d", &text("jacobi_1d"), &recipe, &emit);
    recipe.diamond = true;
    for name in ["jacobi_1d", "jacobi_2d", "fdtd_2d"] {
        let code = optimised(name, &text(name), &recipe, &emit);
        let pragma = code.find("#pragma omp parallel for").unwrap_or_else(|| panic!("{code}"));
        assert!(code[..pragma].matches("for (long long").count() == 1, "{name}: {code}");
        assert!(code != plain);
    }
    let flags = [SANITIZED, &["-fopenmp"]].concat();
    check(&[&["jacobi_1d", "jacobi_2d"], &["fdtd_2d"]], &recipe, &emit, &flags);
}
