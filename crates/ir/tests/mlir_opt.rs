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

/// Numbers of `f80` and `f128` of any size come back whole: our text to `mlir-opt`, its text to us.
/// (Its own text of them it reads as numbers of `f64`.)
#[test]
fn wide_floats_come_back() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u128::from(state)
    };
    let numbers: Vec<String> = (0..800)
        .map(|i| {
            let bits = word() << 64 | word();
            // Some have few digits, some are near 1, the others are of any size.
            let sparse = if i % 4 < 2 { bits & !0 << (40 + i % 64) } else { bits };
            match i % 2 {
                0 => format!("0x{:X} : f80", sparse >> 48 | 1 << 63),
                _ if i % 8 == 1 => format!("0x{:X} : f128", sparse >> 16 | 0x3FFF << 112),
                _ => format!("0x{sparse:X} : f128"),
            }
        })
        .collect();
    let source = format!("\"w.a\"() {{v = [{}]}} : () -> ()", numbers.join(", "));
    let ours = reprint(&source);
    assert_eq!(reprint(&ours), ours);
    let Some(theirs) = mlir_opt(&source) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = theirs.expect("mlir-opt takes the numbers");
    let list = |text: &str| -> Vec<String> {
        let (_, list) = text.split_once('[').expect("a list");
        list.split(['[', ']', ',']).map(|number| number.trim().to_owned()).collect()
    };
    let again = mlir_opt(&ours).expect("installed").expect("mlir-opt takes our text");
    for (theirs, again) in list(&theirs).iter().zip(list(&again)) {
        assert_eq!(*theirs, again, "in our text");
    }
    for (ours, read) in list(&ours).iter().zip(list(&reprint(&theirs))) {
        assert_eq!(*ours, read, "in their text");
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
    for part in ["callsite(\"b\" at \"c\":1:2)", "fused<\"m\">[\"a\", ", "loc(\"<stdin>\":6:3)"] {
        assert!(ours.contains(part), "{part} is missing:\n{ours}");
    }
    let again = mlir_opt_with(&ours, &["--mlir-print-debuginfo"]).expect("installed");
    assert_eq!(with_locations(&again.expect("mlir-opt takes our text")), ours);
}

/// Metadata of fused locations, ranges of files, resources of tools and their alignments are kept.
#[test]
fn what_tools_add_comes_back() {
    let input = r#"
"u.a"() {x = loc(fused<"p">["a", "b"])} : () -> () loc(fused<{k = 1 : i32}>["z":1:2, "y"])
"u.b"() : () -> () loc(fused<"alone">[unknown])
"u.c"() : () -> () loc(fused<"outer">[fused<"inner">["a"], fused<"outer">["b"]])
"u.d"() {w = dense_resource<blob> : tensor<2xi8>} : () -> () loc("w":3:4 to :6)
"u.e"() : () -> () loc("q"("w":3:4 to 5:6))
"u.f"() : () -> () loc(fused["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])
{-#
  dialect_resources: {
    builtin: {
      blob: "0x010000000102"
    }
  },
  external_resources: {
    other: {
      "a b": "0x01000000AB"
    },
    tool: {
      flag: true,
      key: "0x01000000AB",
      text: "some"
    }
  }
#-}
"#;
    let options = ["--mlir-print-debuginfo", "--mlir-print-local-scope"];
    let Some(theirs) = mlir_opt_with(input, &options) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let theirs = theirs.expect("mlir-opt takes the input");
    let with_locations = |text: &str| {
        let module = text::parse(text, "test.mlir", Context::new()).expect("a module");
        let mut out = String::new();
        let options = text::Options { locations: true, ..text::Options::default() };
        text::print_to(&mut out, &module, options).expect("a string takes all");
        out
    };
    assert_eq!(with_locations(&theirs).trim_end(), theirs.trim_end());
    let again = mlir_opt_with(&with_locations(&theirs), &options).expect("installed");
    assert_eq!(again, Ok(theirs));
}

/// Maps and sets are simplified as they are read, as `mlir-opt` does.
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
    let theirs = theirs.expect("mlir-opt takes the input");
    let body = |text: &str| text.split_once("builtin.module").map(|(_, body)| body.to_owned());
    assert_eq!(body(&reprint(&input)), body(&reprint(&theirs)));
    for attr in
        reprint(&input).split(", a").map(|entry| &entry[entry.find("affine").unwrap_or(0)..])
    {
        let attr = attr.split("} :").next().unwrap_or("");
        assert!(theirs.contains(attr), "{attr} is not theirs:\n{theirs}");
    }
}

/// Formats and attributes that few programs use: `mlir-opt` prints the same of our text.
#[test]
fn rare_types_and_attributes() {
    let input = r#"
"foo.x"() {a = sparse<[[0, 0], [1, 2]], [1.0, 5.5]> : tensor<3x4xf32>, b = sparse<0, 1.0e+00> : tensor<1xf8E4M3>, c = sparse<[[0,0]], 5> : vector<1x1xi16>, d = sparse<[[0, 0]], "foo"> : tensor<1x1x!foo.str>, e = sparse<[], []> : tensor<2xf16>, f = sparse<[[0]], (1.0, 2.0)> : tensor<2xcomplex<f32>>} : () -> ()
"foo.x"() {a = dense<1> : memref<2xi32>, b = dense<[1,2]> : memref<2xi8>, c = dense<1.0> : tensor<2xf6E2M3FN>, d = dense<[1.5, 2.0]> : tensor<2xf6E3M2FN>, e = 1.0 : f8E3M4, f = dense<[1.0, 0.0]> : tensor<2xf8E4M3B11FNUZ>, g = 300.0 : f8E4M3, h = 0xFF : f8E3M4} : () -> ()
"foo.x"() <{a = 1 : i32}> {a = 2 : i32} : () -> ()
"foo.x"() <5 : i32> : () -> ()
"#;
    let Some(theirs) = mlir_opt(input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    assert_eq!(mlir_opt(&reprint(input)), Some(theirs));
}

/// Locations as deep as calls that were inlined into each other make them, and regions.
#[test]
fn nesting_has_no_limit() {
    let deep = 20_000;
    let open: String = (0..deep).map(|i| format!("callsite(\"f\":{}:1 at ", i + 1)).collect();
    let source = format!("\"x.y\"() : () -> () loc({open}unknown{})", ")".repeat(deep));
    let module = text::parse(&source, "a.mlir", Context::new()).expect("a module");
    let mut out = String::new();
    let options = text::Options { locations: true, ..text::Options::default() };
    text::print_to(&mut out, &module, options).expect("a string takes all");
    assert!(out.contains(&open));
    let source = format!(
        "{}\"x.y\"() : () -> (){}",
        "\"x.y\"() ({\n".repeat(deep),
        "\n}) : () -> ()".repeat(deep)
    );
    let printed = reprint(&source);
    assert_eq!(reprint(&printed), printed);
    // Indentation alone would be the square of the depth otherwise.
    assert!(printed.len() < 2 * deep * 600, "{}", printed.len());
}
