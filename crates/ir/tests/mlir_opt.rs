//! The text form against `mlir-opt` 22: each reads what the other prints.

mod peer;
mod random;

use tangram_ir::{Context, text};

/// What `mlir-opt` prints for `input` in generic form; `None` if it is not installed.
fn mlir_opt(input: &str) -> Option<Result<String, String>> {
    mlir_opt_with(input, &[])
}

fn mlir_opt_with(input: &str, options: &[&str]) -> Option<Result<String, String>> {
    let usual = ["--allow-unregistered-dialect", "--mlir-print-op-generic", "--split-input-file"];
    peer::mlir_opt(&[&usual, options].concat(), input)
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

/// Maps and sets with other names and brackets are the ones that `mlir-opt` reads and prints.
#[test]
fn affine_maps_and_sets() {
    let attrs = [
        "affine_map<()->()>",
        "affine_map<(i,j)[n]->(j, i+n, i*2, i - j, -i, i mod 8, i floordiv 4, (i+j) ceildiv 3)>",
        "affine_map<(i)[n] -> ((i * 2) floordiv 4 + (i mod 4) * 3, -(i + n), i + n * 5 - 7, i * -3)>",
        "affine_map<(i, j) -> (--5, -(-i), i - -3, i - (j mod 2), i - (j + 3), (((i))))>",
        "affine_set<(i)[n] : (i >= 0, n - i - 1 >= 0, i == 0)>",
        "affine_set<(x, y) : (-x + y - 3 >= 0, x * 2 - y == 0)>",
    ];
    let entries: Vec<String> =
        attrs.iter().enumerate().map(|(i, attr)| format!("a{i} = {attr}")).collect();
    let input = format!("\"x.y\"() {{{}}} : () -> ()", entries.join(", "));
    let Some(theirs) = mlir_opt(&input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = reprint(&theirs.expect("mlir-opt takes the input"));
    assert_eq!(reprint(&reprint(&input)), reprint(&input));
    assert_eq!(
        mlir_opt(&reprint(&input)).expect("installed"),
        mlir_opt(&theirs).expect("installed")
    );
    // What `mlir-opt` does not simplify is the same text.
    for part in [
        "(d1, d0 + s0, d0 * 2, d0 - d1, -d0, d0 mod 8, d0 floordiv 4, (d0 + d1) ceildiv 3)",
        "affine_map<() -> ()>",
        "affine_set<(d0, d1) : (-d0 + d1 - 3 >= 0, d0 * 2 - d1 == 0)>",
    ] {
        assert!(theirs.contains(part), "{part} is not theirs:\n{theirs}");
        assert!(reprint(&input).contains(part), "{part} is not ours:\n{}", reprint(&input));
    }
}
