//! Every step, and the C of the last one, computes the bits of the definition.

use std::fmt::Write;
use std::process::Command;

use tangram_kernel::{Body, Element, Op, Panels, Program, RegisterTile, Role, StepError};
use tangram_machine::{Isa, Machine};

/// A random expression over a few operands, one row and one column operand at least.
fn body(rng: &mut fastrand::Rng) -> Body {
    let mut roles = vec![Role::Row, Role::Column];
    let all = [Role::Row, Role::Column, Role::Scalar];
    roles.extend((0..rng.usize(..3)).map(|_| all[rng.usize(..3)]));
    rng.shuffle(&mut roles);
    let mut ops = vec![Op::Operand(0)];
    for operand in 1..roles.len() {
        if rng.u8(..4) == 0 {
            ops.push(Op::Neg);
        }
        ops.push(Op::Operand(operand));
        ops.push([Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::Div][rng.usize(..5)]);
    }
    Body::new(roles, ops, rng.bool()).expect("balanced")
}

/// Operands that show signs, rounding, infinities and what is no number.
fn panels(rng: &mut fastrand::Rng, body: &Body, rows: usize, columns: usize) -> Panels {
    let depth = rng.usize(..6);
    let mut value = || match rng.u8(..20) {
        0 => 0.0,
        1 => -0.0,
        2 => f64::INFINITY,
        _ => rng.f64() * 4.0 - 2.0,
    };
    let count = |role: &Role| match role {
        Role::Row => depth * rows,
        Role::Column => depth * columns,
        Role::Scalar => 1,
    };
    let operands = body.roles().iter().map(|role| (0..count(role)).map(|_| value()).collect());
    Panels { depth, operands: operands.collect() }
}

/// Where the sums of rows, and of columns, begin and end.
struct Ends {
    rows: [Vec<i64>; 2],
    columns: Option<[Vec<i64>; 2]>,
}

impl Ends {
    fn new(rng: &mut fastrand::Rng, depth: usize, rows: usize, columns: usize) -> Self {
        let depth = depth as i64;
        let mut sides = |count: usize| {
            // Those of loops have a slope; whatever is out of range is no harm.
            let (slope, start) = (rng.i64(-1..2), rng.i64(-3..depth + 2));
            let row = |at: usize| start + slope * at as i64;
            let first = (0..count).map(row).collect();
            let end = (0..count).map(|_| rng.i64(-1..depth + 3)).collect();
            [first, end]
        };
        let own = sides(rows);
        let of_columns = sides(columns);
        Self { rows: own, columns: rng.bool().then_some(of_columns) }
    }

    fn has(&self, row: usize, column: usize, p: usize) -> bool {
        let within = |[first, end]: &[Vec<i64>; 2], at: usize| {
            (first[at]..end[at].max(first[at])).contains(&(p as i64))
        };
        within(&self.rows, row) && self.columns.as_ref().is_none_or(|own| within(own, column))
    }
}

/// The definition: for each element, each iteration in its order.
fn defined(body: &Body, panels: &Panels, target: &mut [f64], rows: usize, columns: usize) {
    defined_where(body, panels, target, (rows, columns), |_, _, _| true);
}

/// The definition where not all elements have all iterations.
fn defined_where(
    body: &Body,
    panels: &Panels,
    target: &mut [f64],
    (rows, columns): (usize, usize),
    has: impl Fn(usize, usize, usize) -> bool,
) {
    for at in 0..rows * columns {
        let (row, column) = (at / columns, at % columns);
        for p in (0..panels.depth).filter(|p| has(row, column, *p)) {
            let mut stack: Vec<f64> = Vec::new();
            for op in body.ops() {
                let mut pop = || stack.pop().expect("a value");
                let value = match *op {
                    Op::Operand(k) => match body.roles()[k] {
                        Role::Row => panels.operands[k][p * rows + row],
                        Role::Column => panels.operands[k][p * columns + column],
                        Role::Scalar => panels.operands[k][0],
                    },
                    Op::Neg => -pop(),
                    op => {
                        let (b, a): (f64, f64) = (pop(), pop());
                        match op {
                            Op::Add => a + b,
                            Op::Sub => a - b,
                            Op::Mul => a * b,
                            _ => a / b,
                        }
                    }
                };
                stack.push(value);
            }
            target[at] += if body.subtracts() { -stack[0] } else { stack[0] };
        }
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    // Which of several patterns an invalid operation gives is up to the compiler.
    values.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
}

#[test]
fn every_step_keeps_every_bit() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let body = body(&mut rng);
        let (rows, vectors, width) = (rng.usize(1..5), rng.usize(1..4), [1, 2, 4][rng.usize(..3)]);
        let columns = vectors * width;
        let panels = panels(&mut rng, &body, rows, columns);
        let before: Vec<f64> = (0..rows * columns).map(|_| rng.f64() - 0.5).collect();
        let mut expected = before.clone();
        defined(&body, &panels, &mut expected, rows, columns);
        let unrolled = Program::unrolled(&body, rows, columns);
        let replaced = unrolled.scalar_replaced().expect("updates");
        let vectors = replaced.vectorised(width).expect("lanes");
        for program in [unrolled, replaced, vectors] {
            let mut target = before.clone();
            program.run(&panels, &mut target);
            assert_eq!(bits(&target), bits(&expected), "{body:?} {program:?}");
        }
    }
}

#[test]
fn programs_that_are_no_updates_are_refused() {
    let program = Program::unrolled(&Body::product(), 2, 4);
    let mut twice = program.clone();
    twice.step.extend(program.step.clone());
    assert_eq!(twice.scalar_replaced(), Err(StepError::Target { row: 0, column: 0 }));
    assert_eq!(program.vectorised(3), Err(StepError::Width { columns: 4, width: 3 }));
    // One lane computes something else.
    let mut other = program.scalar_replaced().expect("updates");
    let at = other.step.iter().rposition(|inst| inst.sources().count() == 2).expect("a sum");
    if let tangram_kernel::Inst::Binary { op, .. } = &mut other.step[at] {
        *op = Op::Sub;
    }
    assert!(matches!(other.vectorised(4), Err(StepError::Lanes(_))));
}

/// A body, its tile and panels, a target, and where sums end if not all are whole.
type Case = (Body, RegisterTile, Panels, Vec<f64>, Option<Ends>);

/// A program that runs kernels on the numbers that follow it, and prints the bits of the targets.
fn harness(cases: &[Case]) -> String {
    let mut text = "#include <stdio.h>\n#include <string.h>\n\n".to_owned();
    let list = |values: &[f64]| {
        let each = values.iter().map(|v| match v {
            v if v.is_infinite() => "1.0 / 0.0".to_owned(),
            v => format!("{v:e}"),
        });
        each.chain(["0".to_owned()]).collect::<Vec<_>>().join(", ")
    };
    let mut main = String::new();
    for (at, (body, tile, panels, target, ends)) in cases.iter().enumerate() {
        let program = Program::for_tile(body, tile).expect("a program");
        let name = format!("k{at}");
        let kernel = match ends {
            Some(ends) => program.to_c_ragged(&name, Element::F64, ends.columns.is_some()),
            None => program.to_c(&name, Element::F64),
        };
        text.push_str(&kernel.expect("a kernel"));
        let (rows, columns) = (tile.rows, tile.columns());
        let _ = writeln!(main, "    {{ double t[] = {{{}}}; double *c[{rows}];", list(target));
        let _ = writeln!(main, "    for (int r = 0; r < {rows}; r++) c[r] = t + r * {columns};");
        let mut arguments = String::new();
        for (k, (panel, role)) in panels.operands.iter().zip(body.roles()).enumerate() {
            let _ = writeln!(main, "    double o{k}[] = {{{}}};", list(panel));
            let first = if *role == Role::Scalar { "[0]" } else { "" };
            let _ = write!(arguments, "o{k}{first}, ");
        }
        let mut more = String::new();
        let sides =
            ends.iter().flat_map(|ends| ends.rows.iter().chain(ends.columns.iter().flatten()));
        for (k, side) in sides.enumerate() {
            let list = side.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let _ = writeln!(main, "    int e{k}[] = {{{list}}};");
            let _ = write!(more, ", e{k}");
        }
        let _ = writeln!(
            main,
            "    k{at}({}, {arguments}c{more}); show(t, {});",
            panels.depth,
            rows * columns
        );
        // Of a part of the tile, the rest must stay, and be poisoned without harm.
        let _ = writeln!(main, "    int from[{rows}] = {{0}}, to[{rows}];");
        let _ = writeln!(
            main,
            "    for (int r = 0; r < {rows}; r++) {{ from[r] = r % 2; to[r] = {columns} - 1; }}"
        );
        let _ = writeln!(
            main,
            "    k{at}_edge({}, {arguments}c, {rows} - 1, from, to{more}); show(t, {}); }}",
            panels.depth,
            rows * columns
        );
    }
    let show = "static void show(const double *t, int n)\n{\n    for (int i = 0; i < n; i++) {\n        \
                unsigned long long b;\n        memcpy(&b, t + i, 8);\n        \
                printf(\"%llu\\n\", t[i] != t[i] ? ~0ull : b);\n    }\n}\n\n";
    format!("{text}\n{show}int main(void)\n{{\n{main}    return 0;\n}}\n")
}

/// Compiles a program without fused operations, as the interpreter has none, and runs it.
fn printed(text: &str, compiler: &str) -> Option<Vec<u64>> {
    let folder = std::env::temp_dir().join(format!(
        "tangram-kernel-{}-{compiler}-{}",
        std::process::id(),
        text.len()
    ));
    std::fs::create_dir_all(&folder).ok()?;
    let (source, program) = (folder.join("kernels.c"), folder.join("kernels"));
    std::fs::write(&source, text).ok()?;
    let flags = ["-O2", "-std=c99", "-Wall", "-Werror", "-Wno-psabi", "-ffp-contract=off"];
    let sanitized = ["-fsanitize=address,undefined", "-fno-sanitize=float-divide-by-zero"];
    let run = Command::new(compiler)
        .args(flags)
        .args(sanitized)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output();
    let Ok(made) = run else {
        let _ = std::fs::remove_dir_all(&folder);
        return None;
    };
    let why = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{}", why.chars().take(2000).collect::<String>());
    let output = Command::new(&program).output().expect("runs");
    let _ = std::fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    Some(text.lines().map(|line| line.parse().expect("a number")).collect())
}

#[test]
fn c_computes_the_same_bits_on_whole_tiles_and_parts() {
    compared(25, fastrand::Rng::with_seed(11), false);
}

#[test]
fn c_computes_the_same_bits_where_sums_have_their_own_ends() {
    compared(40, fastrand::Rng::with_seed(13), true);
}

fn compared(count: usize, mut rng: fastrand::Rng, ragged: bool) {
    let isas = [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon];
    let mut cases = Vec::new();
    let mut expected = Vec::new();
    for index in 0..count {
        let body = if index < 5 { Body::product() } else { body(&mut rng) };
        let tile = RegisterTile::of(&Machine::of(isas[index % 5]), Element::F64, &body);
        let (rows, columns) = (tile.rows, tile.columns());
        let panels = panels(&mut rng, &body, rows, columns);
        let ends = ragged.then(|| Ends::new(&mut rng, panels.depth, rows, columns));
        let has = |row: usize, column: usize, p: usize| {
            ends.as_ref().is_none_or(|ends| ends.has(row, column, p))
        };
        let target: Vec<f64> = (0..rows * columns).map(|_| rng.f64() - 0.5).collect();
        let mut once = target.clone();
        defined_where(&body, &panels, &mut once, (rows, columns), has);
        expected.extend(bits(&once));
        let mut part = once.clone();
        defined_where(&body, &panels, &mut part, (rows, columns), has);
        for at in 0..rows * columns {
            let (row, column) = (at / columns, at % columns);
            if row + 1 == rows || column < row % 2 || column + 1 == columns {
                part[at] = once[at];
            }
        }
        expected.extend(bits(&part));
        cases.push((body, tile, panels, target, ends));
    }
    let text = harness(&cases);
    let gcc = printed(&text, "cc").expect("a C compiler");
    assert_eq!(gcc, expected);
    if let Some(clang) = printed(&text, "clang") {
        assert_eq!(clang, expected);
    }
}
