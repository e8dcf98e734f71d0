//! Canonicalisation and common subexpressions against `mlir-opt` 22 on generated functions: what
//! comes out here is valid to it, and has at most as many operations as what comes out there.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use tangram_ir::{Order, text, walk};
use tangram_passes::{Pipeline, RunOptions, Silent, run};

const PIPELINE: &str = "builtin.module(func.func(canonicalize,cse,canonicalize))";
const FUNCTIONS: u64 = 200;
const OPERATIONS: u64 = 24;

/// Marsaglia's xorshift, so that every run tests the same.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn one_of<'a>(&mut self, all: &'a [String]) -> &'a str {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// A function over `i32` and `i1` whose operations use arguments, constants and one another.
fn generate(seed: u64) -> String {
    const BINARY: &[&str] = &["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui"];
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut ints: Vec<String> = vec!["%x".into(), "%y".into()];
    let mut bools: Vec<String> = vec!["%c".into()];
    let mut body = String::new();
    for i in 0..OPERATIONS {
        let line = match random.below(10) {
            0 | 1 => {
                let value = [-1, 0, 1, 2, 7][random.below(5) as usize];
                ints.push(format!("%v{i}"));
                format!("\"arith.constant\"() <{{value = {value} : i32}}> : () -> i32")
            }
            2 => {
                let (a, b) = (random.one_of(&ints), random.one_of(&ints));
                let line = format!(
                    "\"arith.cmpi\"({a}, {b}) <{{predicate = {} : i64}}> : (i32, i32) -> i1",
                    random.below(10)
                );
                bools.push(format!("%v{i}"));
                line
            }
            3 => {
                let c = random.one_of(&bools);
                let (a, b) = (random.one_of(&ints), random.one_of(&ints));
                let line = format!("\"arith.select\"({c}, {a}, {b}) : (i1, i32, i32) -> i32");
                ints.push(format!("%v{i}"));
                line
            }
            _ => {
                let name = BINARY[random.below(BINARY.len() as u64) as usize];
                let (a, b) = (random.one_of(&ints), random.one_of(&ints));
                let line = format!("\"arith.{name}\"({a}, {b}) : (i32, i32) -> i32");
                ints.push(format!("%v{i}"));
                line
            }
        };
        writeln!(body, "  %v{i} = {line}").expect("text grows");
    }
    let (int, boolean) = (&ints[ints.len() - 1], &bools[bools.len() - 1]);
    format!(
        "\"func.func\"() <{{sym_name = \"f{seed}\", function_type = (i32, i32, i1) -> (i32, i1)}}> \
         ({{\n^bb0(%x: i32, %y: i32, %c: i1):\n{body}  \"func.return\"({int}, {boolean}) : \
         (i32, i1) -> ()\n}}) : () -> ()\n"
    )
}

/// What `mlir-opt` prints for `input`; `None` if it is not installed.
fn mlir_opt(arguments: &[&str], input: &str) -> Option<String> {
    let mut child = Command::new("mlir-opt-22")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("mlir-opt reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("mlir-opt ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// How many operations each function of `source` holds.
fn sizes(source: &str) -> Vec<usize> {
    let module = text::parse(source, "test.mlir", tangram_dialects::context()).expect("valid");
    let all = walk(&module, module.root(), Order::Pre).into_iter();
    let functions = all.filter(|&op| module.name_text(op) == "func.func");
    functions.map(|op| walk(&module, op, Order::Pre).len()).collect()
}

#[test]
fn leaves_at_most_as_many_operations_as_mlir_opt() {
    let input: String = (1..=FUNCTIONS).map(generate).collect();
    let theirs = [&*format!("--pass-pipeline={PIPELINE}"), "--mlir-print-op-generic"];
    let Some(theirs) = mlir_opt(&theirs, &input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let mut module = text::parse(&input, "test.mlir", tangram_dialects::context()).expect("valid");
    let pipeline = Pipeline::parse(PIPELINE).expect("a pipeline");
    run(&mut module, &pipeline, &RunOptions::default(), &mut Silent).expect("no pass fails");
    let ours = text::print(&module);
    // Nothing but the verifier and the printer runs, so that sizes stay what they are.
    let read = mlir_opt(&["--verify-each", "--mlir-print-op-generic"], &ours).expect("installed");
    let (ours, theirs) = (sizes(&read), sizes(&theirs));
    assert_eq!((ours.len(), theirs.len()), (FUNCTIONS as usize, FUNCTIONS as usize));
    let longer: Vec<_> = (1..=FUNCTIONS).zip(ours.into_iter().zip(theirs)).collect();
    let longer: Vec<_> = longer.into_iter().filter(|(_, (our, their))| our > their).collect();
    let allowed = FUNCTIONS as usize / 100;
    assert!(longer.len() <= allowed, "(seed, (ours, theirs)): {longer:?}");
}
