//! Contractions in the forms in which people write them: the same bits as the source's.
//!
//! Programs are random (`random.rs`), written as people write them (`write.rs`): loops in any order,
//! up, down and bounded by each other, with constants or parameters as sizes; arrays in one dimension,
//! transposed, shared, behind pointers to rows; with what stands before and behind the sum.
//! `TANGRAM_FILE=kernel.c TANGRAM_OUT=out.c` rewrites one file, `TANGRAM_SEEDS=7..9` takes other programs.

mod random;
#[path = "../support/mod.rs"]
mod support;
mod write;

use std::borrow::Cow;

use random::Generator;
use support::{PRINTF, SANITIZED, budget, kernel, print_the_same, run};
use tangram_machine::{Isa, Machine};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::Recipe;
use tangram_presburger::Budget;
use tangram_scop::{Emit, Part, parts, rewrite};

/// What the command spends on a part, about: those that need more keep their loops.
const STEPS: u64 = 10_000_000;

/// Rewrites a file; says how many contractions were found, too.
fn rewritten(text: &str, recipe: &Recipe) -> (String, usize) {
    rewritten_where(text, recipe, false)
}

/// As `rewritten`; `no_alias`: whether arrays and rows are said not to overlap.
fn rewritten_where(text: &str, recipe: &Recipe, no_alias: bool) -> (String, usize) {
    let found = parts(text, &budget()).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut emit = Emit { vectorize: true, parallel: recipe.parallel, no_alias, ..Emit::default() };
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let mut generated: Vec<(Cow<Part>, Option<Ast>)> = Vec::new();
    for (at, part) in found.iter().enumerate() {
        let budget = &Budget::steps(STEPS);
        // Dependences of some subscripts take too long: such a part keeps its loops.
        let Ok((part, best)) = part.optimise(recipe, budget) else {
            generated.push((Cow::Borrowed(part), None));
            continue;
        };
        let ast = Ast::of_tree(&best.tree, part.scop.context.as_ref(), &options, budget);
        emit.private.extend(best.private.iter().map(|name| (at, name.clone())));
        emit.contractions.extend(best.contractions.iter().map(|c| (at, c.clone())));
        generated.push((part, (!best.original).then(|| ast.expect("loops"))));
    }
    let pairs: Vec<_> = generated.iter().map(|(part, ast)| (&**part, ast.as_ref())).collect();
    let code = rewrite(text, &pairs, &emit).unwrap_or_else(|problem| panic!("{problem}"));
    (code, emit.contractions.len())
}

/// A program of several random contractions that prints what they compute.
fn program(seed: u64, count: usize) -> String {
    let mut generator = Generator { rng: fastrand::Rng::with_seed(seed) };
    let (mut functions, mut calls) = (String::new(), String::new());
    for index in 0..count {
        let case = generator.case(index);
        let (function, call) = write::written(&case, index);
        functions += &function;
        calls += &call;
    }
    format!("{}{functions}int main(void)\n{{\n{calls}    return 0;\n}}\n", write::START)
}

/// Small caches and registers of a machine, so that small programs have many blocks.
fn machines() -> Vec<Machine> {
    let mut all = Vec::new();
    for isa in [Isa::Avx2, Isa::Sse2, Isa::Scalar] {
        let mut machine = Machine::of(isa);
        let sizes = [2 << 10, 16 << 10, 32 << 10];
        for (cache, bytes) in machine.caches.iter_mut().zip(sizes) {
            cache.bytes = bytes;
        }
        all.push(machine);
    }
    all
}

/// Flags of compilers whose results have to be the same bits.
const FLAGS: [&[&str]; 2] = [SANITIZED, &["-std=c99", "-O1", "-march=native", "-ffp-contract=off"]];
/// The same with several threads.
const ON_THREADS: [&[&str]; 1] =
    [&["-std=c99", "-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover"]];

/// What a program prints that another one does not, or why it ends.
fn differing(name: &str, before: &str, after: &str, flags: &[&[&str]]) -> Vec<String> {
    let mut wrong = Vec::new();
    for flags in flags {
        let runs = [before, after].map(|program| run(name, program, flags, &[&[]]));
        let [Some(one), Some(two)] = runs else { return wrong };
        let [one, two] = [&one[0], &two[0]];
        assert!(one.status.success() && !one.stdout.is_empty(), "{name}: {one:?}");
        let [a, b] = [one, two].map(|run| String::from_utf8_lossy(&run.stdout).into_owned());
        let pairs = a.lines().zip(b.lines()).filter(|(a, b)| a != b);
        wrong.extend(pairs.map(|(a, _)| format!("{name}: {a}")));
        if !two.status.success() {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&two.stderr)));
        }
    }
    wrong
}

/// Runs random programs of `count` functions; returns how many contractions were found.
fn check(seeds: std::ops::Range<u64>, count: usize, on_threads: bool) -> usize {
    let asked = std::env::var("TANGRAM_SEEDS").ok().and_then(|range| {
        let (first, end) = range.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    let machines = machines();
    let (mut found, mut wrong) = (0, Vec::new());
    for seed in asked.unwrap_or(seeds) {
        let mut recipe = Recipe::default();
        // Some go the way of other loops.
        recipe.contract = seed % 5 != 4;
        recipe.machine = machines[seed as usize % machines.len()].clone();
        (recipe.parallel, recipe.keep_source) = (on_threads, on_threads);
        let text = program(seed, count);
        let (code, contractions) = rewritten(&text, &recipe);
        if let Ok(folder) = std::env::var("TANGRAM_OUT") {
            std::fs::write(format!("{folder}/p{seed}.c"), &text).expect("written");
            std::fs::write(format!("{folder}/p{seed}.ours.c"), &code).expect("written");
        }
        found += contractions;
        let flags: &[&[&str]] = if on_threads { &ON_THREADS } else { &FLAGS };
        let name = format!("contractions-{seed}{}", if on_threads { "-threads" } else { "" });
        let own = differing(&name, &text, &code, flags);
        own.iter().for_each(|line| println!("{line}"));
        wrong.extend(own);
    }
    assert!(wrong.is_empty(), "{found} contractions, other results:\n{}", wrong.join("\n"));
    found
}

/// Parts of one line have tiles of their own.
#[test]
fn parts_may_share_a_line() {
    let nest = |update: &str| {
        format!(
            "for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) \
             for (int k = 0; k < 70; k++) C[i][j] {update};"
        )
    };
    let [one, other] = ["+= A[i][k] * B[k][j]", "-= A[k][i] * B[k][j] * s"].map(nest);
    let text = format!(
        "{PRINTF}static double A[70][70], B[70][70], C[70][70], s = 1.5;
int main(void)
{{
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++)
            A[i][j] = (i * 3 + j) % 5, B[i][j] = (i + j * 7) % 11 / 3.0;
    for (int run = 0; run < 2; run++) {{
#pragma scop
        if (C[0][0] > 0) {{ {one} }} else {{ {other} }}
#pragma endscop
        C[0][0] = 1;
    }}
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++) printf(\"%a\\n\", C[i][j]);
}}
"
    );
    let mut recipe = Recipe::default();
    recipe.contract = true;
    recipe.keep_source = true;
    recipe.machine = Machine::of(Isa::Avx2);
    let (code, found) = rewritten(&text, &recipe);
    assert_eq!(found, 2, "{code}");
    print_the_same("contractions-of-one-line", &text, &code);
}

#[test]
fn random_contractions_keep_every_bit() {
    let found = check(0..2, 7, false);
    assert!(found >= 3, "{found} of 14");
}

#[test]
#[ignore = "takes minutes: 1,000 contractions"]
fn a_thousand_random_contractions_keep_every_bit() {
    let found = check(100..140, 25, false);
    println!("{found} are contractions");
    let asked = std::env::var("TANGRAM_SEEDS").is_ok();
    assert!(asked || found >= 250, "{found} of 1000");
}

#[test]
fn random_contractions_keep_every_bit_on_threads() {
    let found = check(2..4, 7, true);
    assert!(found >= 2, "{found} of 14");
}

#[test]
#[ignore = "takes minutes: 1,000 contractions"]
fn a_thousand_random_contractions_keep_every_bit_on_threads() {
    let found = check(200..240, 25, true);
    println!("{found} are contractions");
    assert!(found >= 200, "{found} of 1000");
}

/// Runs random programs on an emulated device; returns how many contractions have tiles there.
fn check_on_device(seeds: std::ops::Range<u64>, count: usize) -> usize {
    let (mut found, mut wrong) = (0, Vec::new());
    for seed in seeds {
        let text = program(seed, count);
        let (code, tiles) = support::device::on_device(&text, &[2, 2], STEPS);
        found += tiles;
        if let Ok(folder) = std::env::var("TANGRAM_OUT") {
            std::fs::write(format!("{folder}/d{seed}.c"), &code).expect("written");
        }
        let flags = [SANITIZED, &["-std=gnu99", "-fopenmp"]].concat();
        let runs = [&text, &code].map(|text| run(&format!("device-{seed}"), text, &flags, &[&[]]));
        let [Some(one), Some(two)] = runs else { return found };
        let [a, b] =
            [&one[0], &two[0]].map(|run| String::from_utf8_lossy(&run.stdout).into_owned());
        assert!(one[0].status.success() && !a.is_empty(), "{seed}: {one:?}");
        let pairs = a.lines().zip(b.lines()).filter(|(a, b)| a != b);
        wrong.extend(pairs.map(|(a, b)| format!("{seed}: {a}\nfor {b}")));
        if !two[0].status.success() {
            wrong.push(format!("{seed}: {}", String::from_utf8_lossy(&two[0].stderr)));
        }
    }
    assert!(wrong.is_empty(), "{found} contractions, other results:\n{}", wrong.join("\n"));
    found
}

#[test]
fn random_contractions_keep_every_bit_on_a_device() {
    let found = check_on_device(0..2, 7);
    assert!(found >= 2, "{found} of 14");
}

#[test]
#[ignore = "takes minutes: 1,000 contractions"]
fn a_thousand_random_contractions_keep_every_bit_on_a_device() {
    let found = check_on_device(100..140, 25);
    println!("{found} have tiles");
    assert!(found >= 200, "{found} of 1000");
}

/// The kernels of the examples that are contractions, at sizes with whole tiles and without.
#[test]
fn example_kernels_are_contractions() {
    let mut recipe = Recipe::default();
    recipe.contract = true;
    let (mut pairs, mut found) = (Vec::new(), Vec::new());
    for name in ["gemm", "two_products", "three_products", "syrk", "conv2d", "covariance"] {
        let before = kernel::text(name);
        let (after, count) = rewritten(&before, &recipe);
        found.push((name, count));
        // All stand in one program.
        let after = after.replace("kernel", &format!("{name}_kernel"));
        pairs.push(kernel::Pair { name, before, after });
    }
    let flags = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"];
    let wrong = kernel::differing(&pairs, "", &flags);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let expected = [("gemm", 1), ("two_products", 2), ("three_products", 3), ("syrk", 1)];
    assert_eq!(found[..4], expected);
    assert_eq!(found[4..], [("conv2d", 1), ("covariance", 1)]);
}

/// A part of a rectangle that a slope and its side bound in turn.
#[test]
fn trapezoids_end_where_their_box_does() {
    let text = "int printf(const char *, ...);\n\
        double A[41][50], B[50][30], C[41][30];\n\
        void f(void)\n{\n#pragma scop\n\
        for (int i = 0; i < 41; i++)\n    for (int j = 0; j < 30 && j <= i + 2; j++)\n        \
        for (int k = 0; k < 50; k++)\n            C[i][j] += A[i][k] * B[k][j];\n\
        #pragma endscop\n}\n\
        int main(void)\n{\n    for (int i = 0; i < 2050; i++)\n        A[i / 50][i % 50] = i % 7 - 2.5;\n    \
        for (int i = 0; i < 1500; i++)\n        B[i / 30][i % 30] = i % 5 - 1.5;\n    f();\n    \
        for (int i = 0; i < 1230; i++)\n        printf(\"%.17g\\n\", C[i / 30][i % 30]);\n}\n";
    let mut recipe = Recipe::default();
    recipe.contract = true;
    recipe.machine = machines().swap_remove(0);
    let (code, count) = rewritten(text, &recipe);
    assert_eq!(count, 1, "{code}");
    print_the_same("trapezoid", text, &code);
}

/// Where packing cannot pay, other loops stay.
#[test]
fn small_and_thin_products_have_no_tiles() {
    let count = |rows: usize, columns: usize, depth: usize| {
        let text = format!(
            "double A[{rows}][{depth}], B[{depth}][{columns}], C[{rows}][{columns}];\n\
             void f(void)\n{{\n#pragma scop\n    for (int i = 0; i < {rows}; i++)\n        \
             for (int j = 0; j < {columns}; j++)\n            for (int k = 0; k < {depth}; k++)\n                \
             C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}}\n"
        );
        let mut recipe = Recipe::default();
        recipe.contract = true;
        rewritten(&text, &recipe).1
    };
    assert_eq!(count(4, 4, 4), 0);
    assert_eq!(count(40, 40, 40), 0);
    assert_eq!(count(2, 5000, 5000), 0);
    assert_eq!(count(5000, 3, 5000), 0);
    assert_eq!(count(5000, 5000, 4), 0);
    assert_eq!(count(500, 500, 500), 1);
}

/// Rows or columns that bound the sum, in place and apart; variables and rows that become arrays.
#[test]
fn triangular_sums_and_shared_variables_are_contractions() {
    let kernels = [
        ("trmm", 1, "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++) B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j]; }"),
        ("right", 1, "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
            for (int k = 0; k < j; k++) D[i][j] -= E[i][k] * A[k][j];"),
        ("upper", 1, "for (int i = 0; i < m; i++) for (int j = i; j < m; j++)
            for (int k = i; k <= j; k++) F[i][j] += A[i][k] * G[k][j];"),
        ("band", 1, "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++) if (k >= i - 9 && k <= i + 7) B[i][j] += A[i][k] * C[k][j];"),
        ("opposite", 1, "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++)
            for (int k = 0; k < m - i; k++) B[i][j] += A[i][k] * C[k][j];"),
        ("symm", 2, "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
            double t = 0;
            for (int k = 0; k < i; k++) { C[k][j] += alpha * B[i][j] * A[i][k]; t += B[k][j] * A[i][k]; }
            C[i][j] = 0.5 * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * t; }"),
        ("outer", 2, "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
            u = 1;
            for (int k = 0; k < i; k++) { C[k][j] += alpha * B[i][j] * A[i][k]; u += B[k][j] * A[i][k]; }
            C[i][j] = 0.5 * C[i][j] + alpha * u; }"),
        ("doitgen", 1, "for (int i = 0; i < 3; i++) for (int q = 0; q < n; q++) {
            for (int j = 0; j < m; j++) { s[j] = 0; for (int k = 0; k < m; k++) s[j] += H[i][q][k] * A[k][j]; }
            for (int j = 0; j < m; j++) H[i][q][j] = s[j]; }"),
    ];
    let mut functions = String::from("int printf(const char *, ...);\n");
    let mut main = String::new();
    for (at, (name, _, text)) in kernels.iter().enumerate() {
        functions += &format!(
            "static void {name}(int m, int n, double alpha, double A[m][m], double B[m][n], double C[m][n],\n\
             double D[n][m], double E[n][m], double F[m][m], double G[m][m], double H[3][n][m], double s[m])\n\
             {{\n    double u = 0;\n    (void)u;\n#pragma scop\n{text}\n#pragma endscop\n\
             if (u > 1e300) printf(\"never\\n\");\n}}\n"
        );
        for (m, n) in [(41, 37), (24, 50), (3, 2), (1, 1), (0, 4)] {
            main += &format!("    run({at}, {m}, {n});\n");
        }
    }
    let calls: String = kernels
        .iter()
        .enumerate()
        .map(|(at, (name, ..))| {
            format!(
                "    if (which == {at}) {name}(m, n, 1.25, (void *)x[0], (void *)x[1], (void *)x[2], (void *)x[3], \
                 (void *)x[4], (void *)x[5], (void *)x[6], (void *)x[7], x[8]);\n"
            )
        })
        .collect();
    functions += &format!(
        "static double x[9][9000];\n\
         static void run(int which, int m, int n)\n{{\n    \
         for (int a = 0; a < 9; a++) for (int i = 0; i < 9000; i++) x[a][i] = (i * 37 + a * 11) % 101 / 64.0 - 0.75;\n\
         {calls}    for (int a = 0; a < 9; a++) {{ double sum = 0; \
         for (int i = 0; i < 9000; i++) sum += x[a][i] * (i % 17 + 1); printf(\"%.17g\\n\", sum); }}\n}}\n\
         int main(void)\n{{\n{main}    return 0;\n}}\n"
    );
    let mut recipe = Recipe::default();
    recipe.contract = true;
    recipe.machine = machines().swap_remove(0);
    let (code, count) = rewritten(&functions, &recipe);
    let expected: usize = kernels.iter().map(|(_, count, _)| count).sum();
    let wrong = differing("triangles", &functions, &code, &FLAGS);
    assert!(wrong.is_empty(), "{}\n{code}", wrong.join("\n"));
    assert_eq!(count, expected, "{code}");
}

/// Rows of a packed triangle follow each other: what has no sum is another row's.
#[test]
fn packed_triangles_and_unsigned_loops_keep_to_their_elements() {
    let text = "\
int printf(const char *, ...);
void *malloc(unsigned long);
void free(void *);
static void lower(int n, double **C, double **A, double **B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = j; k <= i; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
static void band(unsigned n, unsigned m, double C[n][m], double A[n][n], double B[n][m])
{
#pragma scop
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < m; j++)
            for (unsigned k = 0; k < n; k++)
                if (k + 3 >= i)
                    C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
static void small(double C[128][50], double A[128][128], double B[128][50])
{
#pragma scop
    for (signed char i = 0; i < 127; i++)
        for (unsigned char j = 0; j < 50; j++)
            for (signed char k = 0; k < i; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
static double x[3][900];
static double y[3][16384];
int main(void)
{
    for (int a = 0; a < 3; a++) for (int i = 0; i < 16384; i++) y[a][i] = (i * 3 + a) % 17 / 8.0;
    small((void *)y[0], (void *)y[1], (void *)y[2]);
    for (int i = 0; i < 6400; i++) printf(\"%.17g\\n\", y[0][i]);
    for (int n = 1; n < 30; n += 7) {
        double *at[3], **rows[3];
        for (int a = 0; a < 3; a++) {
            at[a] = malloc(sizeof(double) * n * (n + 1) / 2);
            rows[a] = malloc(sizeof(double *) * n);
            for (int i = 0; i < n; i++) rows[a][i] = at[a] + i * (i + 1) / 2;
            for (int i = 0; i < n * (n + 1) / 2; i++) at[a][i] = (i * 7 + a) % 11 - 4.5;
        }
        lower(n, rows[0], rows[1], rows[2]);
        for (int i = 0; i < n * (n + 1) / 2; i++) printf(\"%.17g\\n\", at[0][i]);
        for (int a = 0; a < 3; a++) { free(at[a]); free(rows[a]); }
    }
    for (int a = 0; a < 3; a++) for (int i = 0; i < 900; i++) x[a][i] = (i * 5 + a) % 13 / 4.0;
    band(30, 30, (void *)x[0], (void *)x[1], (void *)x[2]);
    for (int i = 0; i < 900; i++) printf(\"%.17g\\n\", x[0][i]);
}
";
    let mut recipe = Recipe::default();
    recipe.contract = true;
    recipe.machine = machines().swap_remove(0);
    // The rows of a packed triangle follow each other.
    let (code, count) = rewritten_where(text, &recipe, true);
    assert_eq!(count, 3, "{code}");
    let wrong = differing("packed", text, &code, &FLAGS);
    assert!(wrong.is_empty(), "{}\n{code}", wrong.join("\n"));
    // Where there is no memory for panels, the source's loops run.
    let none = code.replace("__builtin_malloc", "no_memory");
    assert_eq!(none.matches("no_memory").count(), 3, "{code}");
    let none =
        format!("static void *no_memory(unsigned long bytes) {{ return bytes ? 0 : 0; }}\n{none}");
    let wrong = differing("no-memory", text, &none, &FLAGS);
    assert!(wrong.is_empty(), "{}\n{none}", wrong.join("\n"));
}

/// Writes a function anew for several threads.
fn shared(text: &str) -> String {
    let mut recipe = Recipe::default();
    (recipe.contract, recipe.parallel, recipe.keep_source) = (true, true, true);
    rewritten(text, &recipe).0
}

/// What later blocks write over was copied before any of them runs: threads share them.
#[test]
fn blocks_that_write_what_others_have_copied_are_shared() {
    let text = "void f(int m, int n, double A[m][m], double B[m][n]) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = i + 1; k < m; k++)
        B[i][j] += A[k][i] * B[k][j];
#pragma endscop
}
";
    let code = shared(text);
    let blocks = code.rsplit("#pragma omp parallel for").next().unwrap_or_default();
    let head = blocks.lines().nth(1).unwrap_or_default();
    assert!(head.contains("c2 += 24"), "{head}\n{code}");
    // Rows that threads copy themselves could be those that another one writes.
    let code = shared(
        &text.replace("A[k][i] * B[k][j]", "B[k][i] * A[k][j]").replace("B[m][n]", "B[m][m]"),
    );
    assert!(!code.contains("c2 += 24"), "{code}");
}

/// Where columns are shared out, all rows are packed once: each block of rows would copy the columns again.
#[test]
fn rows_that_stay_are_packed_at_once() {
    let text =
        "void f(int n, float out[64][n][n], float in[32][n + 2][n + 2], float w[64][32][3][3]) {
#pragma scop
  for (int o = 0; o < 64; o++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++)
        for (int c = 0; c < 32; c++)
          for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++)
              out[o][y][x] += in[c][y + u][x + v] * w[o][c][u][v];
#pragma endscop
}
";
    let code = shared(text);
    assert!(code.contains("#pragma omp parallel for"), "{code}");
    // The rows once, the columns for each thread.
    assert!(code.contains("float *const a1_0 = (void *)memory;"), "{code}");
    assert!(code.contains("float *const b0_0 = b0_0_all + (long)TANGRAM_THREAD * "), "{code}");
}

/// Where a variable that the part declares lives on behind it, the source's loops cannot stand beside the new
/// ones: panels last.
#[test]
fn panels_last_where_what_follows_uses_variables_of_the_part() {
    let text = "void f(int n, double C[restrict n][n], const double A[restrict n][n],
 const double B[restrict n][n], double *out) {
#pragma scop
  double last;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  last = C[0][0];
#pragma endscop
  *out = last;
}
";
    let mut recipe = Recipe::default();
    recipe.contract = true;
    let (code, _) = rewritten(text, &recipe);
    assert!(code.contains("static __thread double") && !code.contains("malloc"), "{code}");
    assert!(shared(text).contains("static __thread double a0_0["), "{}", shared(text));
}

/// Scalars and arrays may have the names that panels and kernels would get.
#[test]
fn names_of_the_source_stay_its_own() {
    for name in
        ["a0_1", "b1_1", "a0_1_all", "kernel0_edge", "kernel0_vector", "memory", "memory_at"]
    {
        let text = format!(
            "double A[70][70], B[70][70], C[70][70], {name} = 0.75;\nvoid f(void) {{\n#pragma scop\n\
             for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) {{ C[i][j] *= 0.5;\n\
             for (int k = 0; k < 70; k++) C[i][j] += {name} * A[i][k] * B[k][j]; }}\n\
             #pragma endscop\n}}\n{PRINTF}int main(void) {{\n\
             for (int i = 0; i < 4900; i++) {{ A[0][i] = i % 17 / 8.0; B[0][i] = i % 13 / 4.0; C[0][i] = i % 7; }}\n\
             f();\ndouble s = 0; for (int i = 0; i < 4900; i++) s = s * 0.9 + C[0][i];\n\
             printf(\"%a\\n\", s); return 0; }}\n"
        )
        .replace("A[0][i] =", "(&A[0][0])[i] =")
        .replace("B[0][i] =", "(&B[0][0])[i] =")
        .replace("C[0][i]", "(&C[0][0])[i]");
        let mut recipe = Recipe::default();
        recipe.contract = true;
        let (code, _) = rewritten(&text, &recipe);
        assert!(code.contains("kernel"), "{code}");
        print_the_same("contractions-names", &text, &code);
        let flags = ["-O1", "-ffp-contract=off", "-fopenmp", "-w"];
        assert!(run("contractions-named", &shared(&text), &flags, &[&[]]).is_some());
    }
}

#[test]
fn one_file() {
    let Ok(path) = std::env::var("TANGRAM_FILE") else { return };
    let text = std::fs::read_to_string(path).expect("a file");
    let mut recipe = Recipe::default();
    recipe.contract = true;
    let (code, count) = rewritten(&text, &recipe);
    println!("{count} contractions");
    std::fs::write(std::env::var("TANGRAM_OUT").expect("a path"), code).expect("written");
}
