//! Contractions in the forms in which people write them: the same bits as the source's.
//!
//! Programs are random: loops in any order, several of a kind, triangular, with constants or
//! parameters as sizes; operands transposed, shifted, in one dimension; with what stands before
//! and behind the sum. `TANGRAM_FILE=kernel.c TANGRAM_OUT=out.c` rewrites one file.

mod support;

use std::fmt::Write;

use support::{budget, kernel, print_the_same};
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
    let found = parts(text, &budget()).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let mut emit = Emit { vectorize: true, ..Emit::default() };
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    let mut generated: Vec<(&Part, Option<Ast>)> = Vec::new();
    for part in &found {
        let budget = &Budget::steps(STEPS);
        // Dependences of some subscripts take too long: such a part keeps its loops.
        let Ok(best) = part.scop.optimise(recipe, budget) else {
            generated.push((part, None));
            continue;
        };
        let ast = Ast::of_tree(&best.tree, part.scop.context.as_ref(), &options, budget);
        emit.contractions.extend(best.contractions.iter().map(|c| (part.first_line, c.clone())));
        generated.push((part, (!best.original).then(|| ast.expect("loops"))));
    }
    let pairs: Vec<_> = generated.iter().map(|(part, ast)| (*part, ast.as_ref())).collect();
    let code = rewrite(text, &pairs, &emit).unwrap_or_else(|problem| panic!("{problem}"));
    (code, emit.contractions.len())
}

/// A loop of a random contraction.
struct Loop {
    name: String,
    first: usize,
    /// Its end, exclusive.
    end: usize,
    /// How the end is written: a number or a parameter.
    text: String,
}

/// A random contraction as a C function, the declarations of its arrays, and a call.
struct Case {
    function: String,
    arrays: String,
    call: String,
}

/// An array, its subscripts as sums of loops, and their extents.
struct Operand {
    name: String,
    subscripts: Vec<Vec<usize>>,
    shift: Vec<usize>,
}

struct Generator {
    rng: fastrand::Rng,
    loops: Vec<Loop>,
    ty: &'static str,
}

impl Generator {
    fn add_loops(
        &mut self,
        letter: char,
        count: usize,
        sizes: std::ops::Range<usize>,
    ) -> Vec<usize> {
        let mut all = Vec::new();
        for at in 0..count {
            let name = format!("{letter}{at}");
            let end = self.rng.usize(sizes.clone());
            let first = if self.rng.u8(..4) == 0 { self.rng.usize(..end.min(3)) } else { 0 };
            let text = if self.rng.bool() { end.to_string() } else { format!("n_{name}") };
            all.push(self.loops.len());
            self.loops.push(Loop { name, first, end, text });
        }
        all
    }

    /// An array over some loops: one subscript for each, in any order, or two loops in one.
    fn operand(&mut self, name: &str, one: &[usize], reduced: &[usize]) -> Operand {
        let mut subscripts: Vec<Vec<usize>> = one.iter().map(|at| vec![*at]).collect();
        for at in reduced {
            // As in a convolution: `in[y + u]`.
            let window = !one.is_empty() && self.rng.u8(..5) == 0;
            match window {
                true => {
                    let place = self.rng.usize(..one.len());
                    subscripts[place].push(*at);
                }
                false => subscripts.push(vec![*at]),
            }
        }
        self.rng.shuffle(&mut subscripts);
        let shift = subscripts.iter().map(|_| self.rng.usize(..8).saturating_sub(5)).collect();
        Operand { name: name.to_owned(), subscripts, shift }
    }

    fn extents(&self, operand: &Operand) -> Vec<usize> {
        let length = |(loops, shift): (&Vec<usize>, &usize)| {
            loops.iter().map(|at| self.loops[*at].end - 1).sum::<usize>() + 1 + shift
        };
        operand.subscripts.iter().zip(&operand.shift).map(length).collect()
    }

    /// An element; in one dimension if `flat`.
    fn element(&self, operand: &Operand, flat: bool) -> String {
        let sum = |(loops, shift): (&Vec<usize>, &usize)| {
            let mut names: Vec<String> =
                loops.iter().map(|at| self.loops[*at].name.clone()).collect();
            names.extend((*shift > 0).then(|| shift.to_string()));
            names.join(" + ")
        };
        let sums: Vec<String> = operand.subscripts.iter().zip(&operand.shift).map(sum).collect();
        let name = &operand.name;
        if !flat {
            return format!("{name}{}", sums.iter().map(|s| format!("[{s}]")).collect::<String>());
        }
        let extents = self.extents(operand);
        let mut text = sums[0].clone();
        for (sum, extent) in sums.iter().zip(extents).skip(1) {
            text = format!("({text}) * {extent} + {sum}");
        }
        format!("{name}[{text}]")
    }

    fn case(&mut self, index: usize) -> Case {
        self.loops.clear();
        let batch_count = usize::from(self.rng.u8(..4) == 0);
        let batch = self.add_loops('b', batch_count, 1..4);
        let triangular = batch_count == 0 && self.rng.u8(..3) == 0;
        let more = |rng: &mut fastrand::Rng| 1 + usize::from(!triangular && rng.u8(..3) == 0);
        let (rows, columns) = (more(&mut self.rng), more(&mut self.rng));
        let row = self.add_loops('i', rows, 2..40);
        let column = self.add_loops('j', columns, 2..40);
        let depth = 1 + self.rng.usize(..3);
        let reduced = self.add_loops('p', depth, if depth == 1 { 2..200 } else { 1..9 });
        // Of a trapezoid, side and slope bound the columns in turn.
        if triangular && self.rng.bool() {
            self.loops[column[0]].first = 0;
        } else if triangular {
            // Of one length, as a part above or below the diagonal needs.
            let (end, text) = (self.loops[row[0]].end, self.loops[row[0]].text.clone());
            let name = self.loops[column[0]].name.clone();
            self.loops[column[0]] = Loop { name, first: 0, end, text };
        }
        let target = self.operand("C", &[batch.clone(), row.clone(), column.clone()].concat(), &[]);
        let mut operands = Vec::new();
        for (at, own) in [&row, &column, &row, &column].into_iter().enumerate() {
            let name = ["A", "B", "D", "E"][at];
            operands.push(self.operand(name, &[batch.clone(), own.clone()].concat(), &reduced));
        }
        let order = self.order(triangular.then_some((row[0], column[0])));
        let flat: Vec<bool> = (0..5).map(|_| self.rng.u8(..4) == 0).collect();
        let c = self.element(&target, flat[4]);
        let [a, b, d, e] = [0, 1, 2, 3].map(|at| self.element(&operands[at], flat[at]));
        let statement = match self.rng.usize(..9) {
            0 => format!("{c} += alpha * {a} * {b};"),
            1 => format!("{c} = {c} + {a} * {b};"),
            2 => format!("{c} -= {b} * {a};"),
            3 => format!("{c} += ({a} + alpha) * {b};"),
            4 => format!("{c} += {a} * {b} * alpha;"),
            5 => format!("{c} += {a} * alpha * {b} + {d} * {e};"),
            6 => format!("{c} -= {a} - {b} / alpha;"),
            7 => format!("{c} = -{a} * {b} + {c};"),
            _ => format!("{c} += {a} * {b};"),
        };
        let function = self.function(index, &statement, &order, triangular, (&c, &batch, &reduced));
        let all: Vec<(&Operand, bool)> =
            [&target].into_iter().zip([flat[4]]).chain(operands.iter().zip(flat)).collect();
        self.finished(index, &function, &all)
    }

    /// The order of loops; a row stays around the column that depends on it.
    fn order(&mut self, pair: Option<(usize, usize)>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.loops.len()).collect();
        self.rng.shuffle(&mut order);
        if let Some((row, column)) = pair {
            let place = |at| order.iter().position(|own| *own == at).unwrap_or(0);
            let (a, b) = (place(row), place(column));
            if a > b {
                order.swap(a, b);
            }
        }
        order
    }

    fn function(
        &mut self,
        index: usize,
        statement: &str,
        order: &[usize],
        triangular: bool,
        (c, batch, reduced): (&str, &[usize], &[usize]),
    ) -> String {
        let _ = batch;
        let upper = self.rng.bool();
        // Where all reduced loops are inside, something may stand in front of them, or behind.
        let split = order.iter().position(|at| reduced.contains(at)).unwrap_or(0);
        let inside = order[split..].iter().all(|at| reduced.contains(at));
        let extra = if inside { self.rng.usize(..4) } else { 3 };
        let mut text = String::new();
        for (depth, at) in order.iter().enumerate() {
            let Loop { name, first, text: end, .. } = &self.loops[*at];
            let indent = "    ".repeat(depth + 1);
            let (first, end) = match triangular && name == "j0" {
                true if upper => ("i0".to_owned(), end.clone()),
                true => (first.to_string(), format!("{end} && {name} <= i0")),
                false => (first.to_string(), end.clone()),
            };
            if depth == split && extra == 0 {
                let _ = writeln!(text, "{indent}{c} = 0;");
            }
            if depth == split && extra == 1 {
                let _ = writeln!(text, "{indent}{c} *= beta;");
            }
            let brace = if depth + 1 == split && extra < 3 { " {" } else { "" };
            let _ = writeln!(
                text,
                "{indent}for (int {name} = {first}; {name} < {end}; {name}++){brace}"
            );
        }
        let _ = writeln!(text, "{}{statement}", "    ".repeat(order.len() + 1));
        if extra == 2 && split > 0 {
            let _ = writeln!(text, "{}{c} = {c} / beta + alpha;", "    ".repeat(split + 1));
        }
        if extra < 3 && split > 0 {
            let _ = writeln!(text, "{}}}", "    ".repeat(split));
        }
        let _ = index;
        text
    }

    fn finished(&self, index: usize, body: &str, arrays: &[(&Operand, bool)]) -> Case {
        let ty = self.ty;
        let (mut parameters, mut call, mut declared) = (Vec::new(), Vec::new(), String::new());
        for Loop { name, text, end, .. } in &self.loops {
            if *text == format!("n_{name}") {
                parameters.push(format!("int {text}"));
                call.push(end.to_string());
            }
        }
        // The end of a triangular column is that of its row.
        parameters.extend([format!("{ty} alpha"), format!("{ty} beta")]);
        call.extend(["1.25".to_owned(), "0.75".to_owned()]);
        for (operand, flat) in arrays {
            let (name, extents) = (&operand.name, self.extents(operand));
            let total: usize = extents.iter().product();
            let each: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
            let shape = if *flat { format!("[{total}]") } else { each };
            parameters.push(format!("{ty} {name}{shape}"));
            call.push(format!("{name}{index}"));
            let _ = writeln!(declared, "static {ty} {name}{index}{shape};");
        }
        let mut uses = String::new();
        for (operand, _) in arrays {
            let name = &operand.name;
            let _ = writeln!(uses, "    fill(&{name}{index}, sizeof {name}{index});");
        }
        let call = format!(
            "{uses}    f{index}({});\n    show(&C{index}, sizeof C{index});\n",
            call.join(", ")
        );
        let function = format!(
            "void f{index}({})\n{{\n#pragma scop\n{body}#pragma endscop\n}}\n\n",
            parameters.join(", ")
        );
        Case { function, arrays: declared, call }
    }
}

/// A program of several random contractions that prints what they compute.
fn program(seed: u64, count: usize) -> String {
    let rng = fastrand::Rng::with_seed(seed);
    let ty = if seed.is_multiple_of(3) { "float" } else { "double" };
    let mut generator = Generator { rng, loops: Vec::new(), ty };
    let cases: Vec<Case> = (0..count).map(|index| generator.case(index)).collect();
    let mut text = String::from("int printf(const char *, ...);\n");
    let _ = write!(
        text,
        "static void fill(void *at, unsigned long size)\n{{\n    {ty} *x = at;\n    \
         for (unsigned long i = 0; i < size / sizeof *x; i++)\n        \
         x[i] = (double)(i * 2654435761u % 1000 + 1) / 400 - 1.2;\n}}\n\n\
         static void show(const void *at, unsigned long size)\n{{\n    \
         const unsigned char *x = at;\n    unsigned long hash = 5381;\n    \
         for (unsigned long i = 0; i < size; i++)\n        hash = hash * 33 + x[i];\n    \
         printf(\"%lu\\n\", hash);\n}}\n\n"
    );
    for case in &cases {
        text.push_str(&case.function);
    }
    cases.iter().for_each(|case| text.push_str(&case.arrays));
    text.push_str("\nint main(void)\n{\n");
    cases.iter().for_each(|case| text.push_str(&case.call));
    text.push_str("    return 0;\n}\n");
    text
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

fn check(seeds: std::ops::Range<u64>, count: usize) -> usize {
    let machines = machines();
    let mut found = 0;
    for seed in seeds {
        let mut recipe = Recipe::default();
        recipe.contract = true;
        recipe.machine = machines[seed as usize % machines.len()].clone();
        let text = program(seed, count);
        if let Ok(folder) = std::env::var("TANGRAM_OUT") {
            std::fs::write(format!("{folder}/p{seed}.c"), &text).expect("written");
        }
        let (code, contractions) = rewritten(&text, &recipe);
        found += contractions;
        print_the_same(&format!("contractions-{seed}"), &text, &code);
    }
    found
}

#[test]
fn random_contractions_keep_every_bit() {
    // Most are tiled; the others are small or thin, or bounded in a way that tiles are not.
    let found = check(0..3, 15);
    assert!(found >= 25, "{found} of 45");
}

#[test]
#[ignore = "takes minutes: 1,000 contractions"]
fn a_thousand_random_contractions_keep_every_bit() {
    let found = check(100..140, 25);
    println!("{found} of 1000 are contractions");
    assert!(found >= 700, "{found} of 1000");
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
