//! Rows of recurrences side by side: the same bits as the source's.
//!
//! Sweeps are random: which neighbours an element is computed from, old and new ones, in which order
//! and direction rows and columns run, where they begin and end, and whether variables and several
//! statements stand in the body. `TANGRAM_SEEDS=7..9` takes other programs.

mod support;

use std::fmt::Write;

use support::{PRINTF, budget, print_the_same};
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::KERNEL;
use tangram_polyhedral::optimise::Recipe;
use tangram_scop::{Emit, parts, rewrite};

/// Writes a file anew as the command does; returns how many parts have rows side by side, too.
fn rewritten(text: &str) -> (String, usize) {
    written(text, false)
}

/// The same, for several threads if these are wanted.
fn written(text: &str, parallel: bool) -> (String, usize) {
    let parts = parts(text, &budget()).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut recipe = Recipe::default();
    recipe.keep_source = true;
    recipe.contract = true;
    recipe.parallel = parallel;
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let mut emit = Emit { vectorize: true, parallel, ..Emit::default() };
    let (mut codes, mut found) = (Vec::new(), 0);
    for (at, part) in parts.iter().enumerate() {
        let (own, best) = part.optimise(&recipe, &budget()).expect("a schedule");
        let context = own.scop.context.as_ref();
        let ast = Ast::of_tree(&best.tree, context, &options, &budget()).expect("loops");
        emit.contractions.extend(best.contractions.iter().map(|tiles| (at, tiles.clone())));
        emit.private.extend(best.private.iter().map(|name| (at, name.clone())));
        let chained = |band: &tangram_polyhedral::optimise::Arranged| {
            !band.vector && band.tiles.is_empty() && !band.jams.is_empty()
        };
        found += usize::from(best.bands.iter().any(chained));
        codes.push((own, (!best.original).then_some(ast)));
    }
    let pairs: Vec<_> = codes.iter().map(|(part, ast)| (&**part, ast.as_ref())).collect();
    (rewrite(text, &pairs, &emit).expect("code"), found)
}

/// A random sweep over `A`, with `B` and `C` beside it.
fn sweep(rng: &mut fastrand::Rng) -> String {
    let (mut terms, mut text) = (Vec::new(), String::new());
    let near = |rng: &mut fastrand::Rng, name: &str| {
        let at = |loop_: &str, by: i32| match by {
            0 => loop_.to_owned(),
            by => format!("{loop_} {} {}", if by < 0 { '-' } else { '+' }, by.abs()),
        };
        format!("{name}[{}][{}]", at("i", rng.i32(-1..2)), at("j", rng.i32(-2..3)))
    };
    for _ in 0..rng.usize(1..5) {
        terms.push(near(rng, "A"));
    }
    // Most of them wait for the element before.
    if rng.u8(..4) > 0 {
        terms.push(["A[i][j - 1]", "A[i][j + 1]", "A[i][j - 2]"][rng.usize(..3)].to_owned());
    }
    let sum = terms.join(" + ");
    let body = match rng.u8(..6) {
        0 => format!("A[i][j] = {sum};"),
        1 => format!("{{ double s = {sum}; s = s * 0.25 + B[i][j]; A[i][j] = s / 3; }}"),
        2 => format!("{{ B[i][j] = ({sum}) / 5; A[i][j] = B[i][j] - C[i][j] * 0.5; }}"),
        3 => format!("{{ s = {sum}; A[i][j] = s * 0.125; C[i][j] = {} + s; }}", near(rng, "C")),
        4 => format!("if (j > i) A[i][j] = ({sum}) / 7;"),
        _ => format!("A[i][j] = ({sum}) / 9 + B[i][j];"),
    };
    let rows =
        ["int i = 1; i < n - 1; i++", "int i = n - 2; i >= 2; i--", "int i = 3; i < n - 2; i++"];
    let columns = [
        "int j = 2; j < m - 2; j++",
        "int j = m - 3; j >= 2; j--",
        "int j = 2; j < i && j < m - 2; j++",
        "int j = i < 2 ? 2 : i; j < m - 2; j++",
    ];
    let pick = |rng: &mut fastrand::Rng, all: &[&str]| all[rng.usize(..all.len())].to_owned();
    let kinds = rng.usize(1..5);
    let (rows, columns) = (pick(rng, &rows), pick(rng, &columns[..kinds]));
    if rng.bool() {
        text += "for (int t = 0; t < 2; t++)\n";
    }
    let _ = writeln!(text, "for ({rows}) {{");
    let start = rng.u8(..4) == 0;
    if start {
        text += "A[i][1] = 0.5; B[i][1] = A[i][0] + i;\n";
    }
    let _ = write!(text, "for ({columns})\n{body}\n");
    if rng.u8(..4) == 0 {
        text += "C[i][m - 1] = A[i][m - 3];\nfor (int j = m - 4; j >= 2; j--) C[i][j] = C[i][j + 1] * 0.5 + A[i][j];\n";
    }
    text + "}\n"
}

fn program(parts: &[String]) -> String {
    let mut text = String::from(PRINTF);
    let mut calls = String::new();
    for (at, part) in parts.iter().enumerate() {
        let _ = write!(
            text,
            "static void f{at}(int n, int m, double A[n][m], double B[n][m], double C[n][m])\n{{\n\
             double s = 0;\n(void)s;\n#pragma scop\n{part}#pragma endscop\nif (n > 1) C[1][0] += s;\n}}\n"
        );
        for (n, m) in [(29, 41), (9, 12), (12, 9), (3, 5), (2, 4)] {
            let _ = writeln!(calls, "  run(f{at}, {n}, {m});");
        }
    }
    text += "static double x[3][2000];\n\
        static void run(void (*f)(int, int, double (*)[], double (*)[], double (*)[]), int n, int m)\n{\n\
        for (int a = 0; a < 3; a++) for (int i = 0; i < 2000; i++) x[a][i] = (i * 37 + a * 11) % 101 / 64.0 - 0.75;\n\
        ((void (*)(int, int, void *, void *, void *))f)(n, m, x[0], x[1], x[2]);\n\
        unsigned long h = 5381;\nfor (int a = 0; a < 3; a++) for (unsigned i = 0; i < sizeof x[a]; i++)\n\
        h = h * 33 + ((unsigned char *)x[a])[i];\nprintf(\"%lu\\n\", h);\n}\n";
    text.replace("run(void (*f)(int, int, double (*)[], double (*)[], double (*)[])", "run(void *f")
        + &format!("int main(void)\n{{\n{calls}  return 0;\n}}\n")
}

fn check(seeds: std::ops::Range<u64>, count: usize) -> usize {
    let asked = std::env::var("TANGRAM_SEEDS").ok().and_then(|range| {
        let (first, end) = range.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    let mut found = 0;
    for seed in asked.unwrap_or(seeds) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let parts: Vec<String> = (0..count).map(|_| sweep(&mut rng)).collect();
        let text = program(&parts);
        let (code, own) = rewritten(&text);
        found += own;
        print_the_same(&format!("recurrences-{seed}"), &text, &code);
    }
    found
}

#[test]
fn random_sweeps_keep_every_bit() {
    let found = check(0..2, 8);
    assert!(found >= 3, "{found} of 16");
}

#[test]
#[ignore = "takes minutes: 1,000 sweeps"]
fn a_thousand_random_sweeps_keep_every_bit() {
    let found = check(100..150, 20);
    println!("{found} have rows side by side");
    assert!(std::env::var("TANGRAM_SEEDS").is_ok() || found >= 200, "{found} of 1000");
}

/// What rows share must not be mixed up, and what they wait for must be there.
#[test]
fn rows_that_share_a_variable_or_wait_stay() {
    let parts = [
        // The variable is carried from element to element, and from row to row.
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) { s = s * 0.5 + A[i][j - 1]; A[i][j] = s; }\n",
        // It is set in a row and used in its loop.
        "for (int i = 1; i < n - 1; i++) { double t = B[i][0]; for (int j = 1; j < m - 1; j++) \
         A[i][j] = A[i][j - 1] * 0.5 + t; C[i][0] = t; }\n",
        // Set and used in front of the loop.
        "for (int i = 1; i < n - 1; i++) { double t = B[i][0]; C[i][0] = t * 2; for (int j = 1; j < m - 1; j++) \
         A[i][j] = A[i][j - 1] * 0.5 + B[i][j]; }\n",
        // All of a row waits for all of the one before.
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) A[i][j] = A[i][j - 1] * 0.5 + A[i - 1][m - 2];\n",
    ];
    let text = program(&parts.map(str::to_owned));
    let (code, found) = rewritten(&text);
    assert!(found <= 2, "{found}\n{code}");
    print_the_same("recurrences-shared", &text, &code);
}

/// Sums of rows in variables: arrays in their place let rows run side by side.
#[test]
fn sums_of_rows_in_variables_run_side_by_side() {
    let parts = [
        "for (int i = 0; i < n; i++) { double p = 0.0; double q = 1.0; for (int j = 0; j < m; j++) \
         { p += A[i][j] * C[0][j]; q += C[i][j] * A[0][j]; } B[i][1] = 0.5 * p + 0.25 * q; }\n",
        "for (int i = 0; i < n; i++) { s = 0.0; for (int j = 0; j < m; j++) s += A[i][j] * B[0][j]; \
         for (int j = 0; j < m; j++) C[0][j] += A[i][j] * s; }\n",
        // The sum goes on from row to row.
        "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) s += A[i][j] * B[0][j]; C[i][0] = s; }\n",
    ];
    let text = program(&parts.map(str::to_owned));
    let (code, _) = rewritten(&text);
    assert!(code.contains("p_all") && code.contains("q_all") && code.contains("s_all"), "{code}");
    assert_eq!(code.matches("__builtin_free").count(), 2, "{code}");
    print_the_same("recurrences-sums", &text, &code);
}

/// The state of a filter in variables, which one nest after the other uses: arrays in their place let rows
/// run side by side, and vectors run columns. What is left in a variable is copied back.
#[test]
fn filters_with_state_in_variables_run_by_rows_and_columns() {
    let rows = "for (int i = 0; i < n; i++) { s = 0.5; double p = 0.0; for (int j = 0; j < m; j++) \
         { B[i][j] = 0.5 * A[i][j] + 0.25 * s - 0.125 * p; p = s; s = B[i][j]; } }\n";
    let back = "for (int i = 0; i < n; i++) { s = A[i][0]; double q = 1.0; for (int j = m - 1; j >= 0; j--) \
         { q = q * 0.5 + A[i][j]; C[i][j] = q + 0.25 * s; s = A[i][j]; } }\n";
    let columns = "for (int j = 0; j < m; j++) { s = 0.25; for (int i = 0; i < n; i++) \
         { A[i][j] = B[i][j] + 0.5 * s; s = A[i][j] - C[i][j]; } }\n";
    let parts = [rows.to_owned() + back, columns.to_owned(), [rows, back, columns].concat()];
    let text = program(&parts);
    let (code, _) = rewritten(&text);
    for name in ["s_all", "s_all_", "p_all", "q_all"] {
        assert!(code.contains(&format!("*{name} = (void *)")), "no {name}\n{code}");
    }
    assert!(code.contains("B[c1 + 3]") || code.contains("B[i + 3]"), "{code}");
    print_the_same("recurrences-filters", &text, &code);
    // Without memory, the source's loops run.
    let none = code.replace("__builtin_malloc", "no_memory");
    let none =
        format!("static void *no_memory(unsigned long bytes) {{ return bytes ? 0 : 0; }}\n{none}");
    print_the_same("recurrences-no-memory", &text, &none);
}

/// An array in the place of a variable is one for all threads: none of them has a copy of where it lies.
#[test]
fn threads_share_the_state_of_rows() {
    let rows = "for (int i = 0; i < n; i++) { s = 0.5; double p = 0.0; for (int j = 0; j < m; j++) \
         { B[i][j] = 0.5 * A[i][j] + 0.25 * s - 0.125 * p; p = s; s = B[i][j]; } }\n";
    let twice = "for (int k = 0; k < 3; k++) for (int i = 0; i < n; i++) { s = 0.25 * k; \
         for (int j = 0; j < m; j++) { C[i][j] = C[i][j] + 0.5 * s; s = C[i][j] - A[i][j]; } }\n";
    let text = program(&[rows.to_owned(), twice.to_owned(), rows.to_owned() + twice]);
    let (code, _) = written(&text, true);
    assert!(code.contains("s_all"), "{code}");
    let copies = code.lines().filter(|line| line.contains("private(") && line.contains("_all"));
    assert_eq!(copies.count(), 0, "{code}");
    let flags = ["-O2", "-ffp-contract=off", "-fopenmp", "-w"];
    let printed = [&text, &code].map(|program| {
        let runs = support::run("recurrences-threads", program, &flags, &[&[]])?;
        Some(String::from_utf8_lossy(&runs[0].stdout).into_owned())
    });
    assert_eq!(printed[0], printed[1], "{code}");
}

/// What a variable has in the end may be what a condition on data has let it have.
#[test]
fn a_write_that_may_be_the_last_is_not_hidden() {
    let rows = "for (int i = 0; i < n; i++) { s = 0.5; for (int j = 0; j < m; j++) \
         { B[i][j] = A[i][j] - 0.5 * s; s = B[i][j]; } }\n";
    let later =
        ["if (A[0][0] < 0) s = 5;\n", "for (int i = 0; i < n; i++) { if (A[i][0] < 0) s = i; }\n"];
    let inside = rows.replace("s = B[i][j];", "if (B[i][j] > 0) s = A[i][j];");
    let mut parts: Vec<String> = later.iter().map(|later| format!("{rows}{later}")).collect();
    parts.extend([inside, later[0].to_owned() + rows]);
    let text = program(&parts);
    let (code, _) = rewritten(&text);
    print_the_same("recurrences-last", &text, &code);
}

/// Writers in more loops than what reads the variable behind them.
#[test]
fn state_of_loops_of_several_depths_is_followed() {
    let deep = "for (int k = 0; k < 3; k++) for (int i = 0; i < n; i++) s = 0.25;\n\
         for (int i = 0; i < n; i++) { s = 0.5; C[i][0] += s; }\n";
    let behind = "for (int k = 0; k < 3; k++) for (int i = 0; i < n; i++) { s = A[i][0]; \
         for (int j = 0; j < 1 && j <= i; j++) s = B[i][j]; }\nC[0][1] = s;\n";
    let text = program(&[deep.to_owned(), behind.to_owned()]);
    let (code, _) = rewritten(&text);
    print_the_same("recurrences-depths", &text, &code);
}

/// A state that goes on from row to row keeps them in their order.
#[test]
fn state_that_goes_on_from_row_to_row_stays() {
    let part = "s = 0.5; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) \
         { B[i][j] = 0.5 * A[i][j] + 0.25 * s; s = B[i][j]; }\n";
    let text = program(&[part.to_owned()]);
    let (code, _) = rewritten(&text);
    assert!(!code.contains("s_all"), "{code}");
    print_the_same("recurrences-state-stays", &text, &code);
}

/// Runs a function on an array of `n` rows in one dimension, for several sizes.
fn on_rows(element: &str, part: &str) -> String {
    format!(
        "{PRINTF}static void f(int n, {element} *restrict A, {element} *restrict B)\n{{\n#pragma scop\n\
         {part}\n#pragma endscop\n}}\n\
         int main(void)\n{{\n  static const int sizes[] = {{1, 2, 3, 7, 8, 9, 17, 30}};\n  \
         static {element} A[900], B[900];\n  for (int s = 0; s < 8; s++) {{\n    int n = sizes[s];\n    \
         for (int i = 0; i < n * n; i++) {{ A[i] = (i * 7 + 3) % 11; B[i] = (i * 5 + 1) % 13; }}\n    \
         f(n, A, B);\n    \
         for (int i = 0; i < n * n; i++) printf(\"%a %a\\n\", (double)A[i], (double)B[i]);\n  }}\n}}\n"
    )
}

/// The last row, and the last element of each, are the array's own: rows run side by side.
#[test]
fn first_and_last_elements_of_rows_are_told_apart() {
    let part = "for (int i = 1; i < n - 1; i++) B[(n - 1) * n + i] = 1.0;
for (int i = 1; i < n - 1; i++) {
    A[i * n + 0] = 1.0;
    for (int j = 1; j < n - 1; j++)
        A[i * n + j] = B[(i - 1) * n + j] / (1.5 + A[i * n + j - 1]) + B[(i + 1) * n + j];
    A[i * n + n - 1] = 2.0;
    for (int j = n - 2; j >= 1; j--)
        A[i * n + j] = A[i * n + j] / (2.5 + A[i * n + j + 1]);
}";
    let text = on_rows("double", part);
    let (code, found) = rewritten(&text);
    assert_eq!(found, 1, "{code}");
    print_the_same("recurrences-ends", &text, &code);
}

/// Elements behind the end of a row are those of the next one: rows wait for each other.
#[test]
fn elements_behind_a_row_are_those_of_the_next() {
    let part = "for (int i = 1; i < n - 2; i++)
    for (int j = 1; j < n - 1; j++)
        A[i * n + n - j] = A[i * n + n - j + 1] / (1.5 + A[i * n + 2 * n - j]);";
    let text = on_rows("double", part);
    let (code, _) = rewritten(&text);
    print_the_same("recurrences-behind", &text, &code);
}

/// Vectors run along rows, whichever loop is inside in the source.
#[test]
fn loops_turn_where_all_wait_for_one_row() {
    let body = "A[i * n + j] = A[i * n + j] < A[i * n + k] + A[k * n + j] ? A[i * n + j] : A[i * n + k] + A[k * n + j];";
    let loop_ = |name: &str| format!("for (int {name} = 0; {name} < n; {name}++)\n");
    let part = format!("{}{}{}{body}", loop_("k"), loop_("j"), loop_("i"));
    let text = on_rows("int", &part);
    let (code, _) = rewritten(&text);
    let place = |text: &str| code.find(text).unwrap_or_else(|| panic!("no {text} in\n{code}"));
    assert!(place("i = 0; i < n;") < place("j = 0; j < k;"), "{code}");
    assert!(place("j = 0; j < k;") < place("j = k + 1; j < n;"), "{code}");
    print_the_same("recurrences-turned", &text, &code);
}

/// Sums over results of earlier rows run side by side for a block of rows, in whichever order the source
/// adds them up.
#[test]
fn substitutions_run_by_blocks_of_rows() {
    let by_rows = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
        B[i] -= A[i * n + j] * B[j];
    B[i] /= 1.5 + A[i * n + i];
}";
    let by_columns = "for (int j = 0; j < n; j++) {
    B[j] /= 1.5 + A[j * n + j];
    for (int i = j + 1; i < n; i++)
        B[i] -= A[i * n + j] * B[j];
}";
    // The initial value is that of a later row of the block in the source.
    let with_start = "for (int i = 0; i < n; i++) {
    B[i] = A[i * n + n - 1];
    for (int j = 0; j < i; j++)
        B[i] -= A[i * n + j] * B[j];
    B[i] /= 1.5 + A[i * n + i];
}";
    for (name, part) in [("rows", by_rows), ("columns", by_columns), ("start", with_start)] {
        let text = on_rows("double", part);
        let (code, found) = rewritten(&text);
        assert_eq!(found, 1, "{name}: {code}");
        assert!(code.contains("j = 0; j < 8 * c0;"), "{name}: {code}");
        print_the_same(&format!("recurrences-solve-{name}"), &text, &code);
    }
}

/// A variable of an iteration is not that of another one, whichever part of a block they are in.
#[test]
fn substitutions_with_variables_keep_every_bit() {
    let part = "for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
        double t = A[i * n + j] * B[j];
        A[i * n + j] = t + 0.5;
        B[i] -= t;
    }
    B[i] /= 1.5 + A[i * n + i];
}";
    let text = on_rows("double", part);
    print_the_same("recurrences-variable", &text, &rewritten(&text).0);
}

/// What starts a sum with a result of the row before cannot run ahead of the block.
#[test]
fn sums_that_start_with_a_result_of_their_block_stay() {
    let part = "for (int i = 1; i < n; i++) {
    B[i] = A[i * n] + B[i - 1];
    for (int j = 0; j < i; j++)
        B[i] -= A[i * n + j] * B[j];
    B[i] /= 1.5 + A[i * n + i];
}";
    let text = on_rows("double", part);
    let (code, found) = rewritten(&text);
    assert_eq!(found, 0, "{code}");
    print_the_same("recurrences-start", &text, &code);
}
