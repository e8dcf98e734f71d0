//! The text form against `mlir-opt` 22: each reads what the other prints.

mod random;

use std::io::Write;
use std::process::{Command, Stdio};

use tangram_ir::{Context, text};

/// What `mlir-opt` prints for `input` in generic form; `None` if it is not installed.
fn mlir_opt(input: &str) -> Option<Result<String, String>> {
    mlir_opt_with(input, &[])
}

fn mlir_opt_with(input: &str, options: &[&str]) -> Option<Result<String, String>> {
    let mut child = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "--mlir-print-op-generic", "--split-input-file"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = input.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    let _ = writer.join();
    let text = |bytes| String::from_utf8(bytes).expect("mlir-opt writes UTF-8");
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

fn reprint(text: &str) -> String {
    let module = text::parse(text, "test.mlir", Context::new()).unwrap_or_else(|errors| {
        panic!("{}\n{text}", errors.iter().map(|e| e.message.clone() + "\n").collect::<String>())
    });
    text::print(&module)
}

#[test]
fn reads_and_writes_what_mlir_opt_does() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mlir");
    for entry in std::fs::read_dir(dir).expect("the folder of inputs") {
        let path = entry.expect("an entry").path();
        let input = std::fs::read_to_string(&path).expect("an input");
        let Some(theirs) = mlir_opt(&input) else {
            println!("skipped: needs mlir-opt-22");
            return;
        };
        let theirs = theirs.expect("mlir-opt takes the input");
        let ours = reprint(&theirs);
        assert_eq!(reprint(&ours), ours, "{} is not stable", path.display());
        let again = mlir_opt(&ours).expect("installed").unwrap_or_else(|error| {
            panic!("mlir-opt refuses our text of {}: {error}\n{ours}", path.display())
        });
        for (ours, theirs) in again.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{} changes", path.display());
        }
        assert_eq!(again.lines().count(), theirs.lines().count());
    }
}

/// Random modules, as we print them, are accepted and come back as they were.
#[test]
fn random_modules_pass_mlir_opt() {
    // A generator of bytes (xorshift), so that the modules are the same in each run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let modules: Vec<String> = (0..200)
        .map(|_| {
            let bytes: Vec<u8> = (0..600).map(|_| byte()).collect();
            text::print(&random::random_module(&mut random::Choices::new(&bytes)))
        })
        .collect();
    let Some(theirs) = mlir_opt(&modules.join("\n// -----\n")) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = theirs.expect("mlir-opt takes our text");
    let parts: Vec<&str> = theirs.split("// -----\n").collect();
    assert_eq!(parts.len(), modules.len());
    for (ours, theirs) in modules.iter().zip(parts) {
        // They print the resources only that an attribute names.
        let program = |text: &str| text.split("\n{-#").next().map(str::to_string);
        assert_eq!(program(&reprint(theirs)), program(ours));
    }
}

/// Locations, with their aliases, are read; `mlir-opt` takes those that we print.
#[test]
fn locations_come_back() {
    let with_locations = |text: &str| {
        let module = text::parse(text, "test.mlir", Context::new()).expect("a module");
        let mut out = String::new();
        let options = text::Options { locations: true, ..text::Options::default() };
        text::print_to(&mut out, &module, options).expect("a string takes all");
        out
    };
    let input = include_str!("mlir/everything.mlir");
    let Some(theirs) = mlir_opt_with(input, &["--mlir-print-debuginfo"]) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let ours = with_locations(&theirs.expect("mlir-opt takes the input"));
    for part in ["callsite(\"b\" at \"c\":1:2)", "fused[\"a\", ", "loc(\"<stdin>\":6:3)"] {
        assert!(ours.contains(part), "{part} is missing:\n{ours}");
    }
    let again = mlir_opt_with(&ours, &["--mlir-print-debuginfo"]).expect("installed");
    assert_eq!(with_locations(&again.expect("mlir-opt takes our text")), ours);
}
