//! What newcomers get wrong: files that are not there or hold something else, values that are
//! none, names that nothing has.

use std::fs;

use crate::commands::{STARTS, flags, leaves, start, written};
use crate::desk::Desk;

/// Command lines, and what the message says.
const SAID: &[(&[&str], &str)] = &[
    (&["opt", "nope.onnx", "-o", "out.onnx"], "error: cannot open nope.onnx: No such file"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--json", "x.onnx"], "two outputs"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--max-seconds", "-1"], "0 or more"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--max-seconds", "nan"], "0 or more"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--explain-rule", "nope"], "there is no rule `nope`"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--explain-rule", "gelu", "--at", "nope"], "`nope`"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--explain"], "`--explain` has no effect without"),
    (&["opt", "model.onnx", "-o", "x.onnx", "--rules", "empty"], "empty"),
    (&["opt", "model.onnx", "x.onnx"], "as in `tangram opt model.onnx -o x.onnx`"),
    (&["show", "model.onnx", "x.svg"], "as in `tangram show model.onnx -o x.svg`"),
    (&["compile", "model.onnx", "-o", "x.h"], "let this one end in `.so` or `.c`"),
    (
        &["simplify", "model.onnx", "-o", "x.onnx", "--overwrite-input-shape", "x:1"],
        "onnxsim's `--overwrite-input-shape` is here: `--input-shape x:1,3,224,224`",
    ),
    (
        &["opt", "model.onnx", "-o", "x.onnx", "--dtype=fp16"],
        "onnxslim's `--dtype fp16` is here: `--to float16`",
    ),
    (
        &["opt", "model.onnx", "-o", "x.onnx", "--custom-lib", "ops.so"],
        "carried through as they came; `tangram.Operator` declares",
    ),
    (&["rules", "list", "empty"], "empty"),
    (&["rules", "fmt", "empty"], "empty"),
    (&["rules", "check", "broken.gsl"], "error[syntax]"),
    (&["rules", "import", "--pairs", "taso.pb"], "--pairs"),
    (
        &["rewrite", "in.mlir", "--pass-pipeline", "builtin.module(cse)", "--print-after", "nope"],
        "there is no pass `nope`",
    ),
    (&["egraph", "simplify", "(+ 0"], "expected `)`"),
    (&["egraph", "extract", "graph.json", "--seconds", "-1"], "0 or more"),
    (
        &["scop", "marked.c"],
        "marked.c:4:22: error: expected `;` behind `y[i] = x[i]`, found `#pragma endscop`",
    ),
    (&["scop", "plus.c"], "of C++"),
    (&["scop", "kernel.c", "-Inope"], "there is no folder nope"),
    (&["scop", "kernel.c", "--set", "n"], "NAME=VALUE"),
    (&["scop", "kernel.c", "-o", "nowhere/x.c"], "nowhere/x.c: its folder is not there"),
    (&["scop", "kernel.c", "--target", "cuda", "--tile", "diamond,8"], "`diamond` has no effect"),
    (&["codegen", "tree.st", "--index", ""], "expected a type of integers, as int64_t"),
    (&["codegen", "tree.st", "--index", "a b;"], "expected a type of integers, as int64_t"),
    (&["codegen", "tree.st", "--index", "unsigned signed"], "expected a type of integers"),
    (&["codegen", "tree.st", "--index", "double"], "expected a type of integers"),
    (
        &["codegen", "typo.in"],
        "typo.in:3:10: error: there is no option `unrol` here; options are atomic, separate, \
         separation_class, unroll",
    ),
    (
        &["codegen", "typo.st"],
        "typo.st:3:3: error: there is no option `unrol` here; options are atomic, interleave, \
         isolate, jam, separate, unroll",
    ),
    (&["codegen", "map.in", "--target", "cuda"], "kernels are made of a schedule tree"),
    (&["codegen", "lone.map"], "lone.map:1:29: error: `context`: expected context, as in `{ : }`"),
    (&["codegen", "lone.map"], "of the form `.in` are a map, its context and its options"),
    (&["schedule", "map.in"], "map.in:2:1: error: `schedule`: expected the end behind the map"),
    (&["scop", "story.c"], "story.c:2:1: error: this is left alone: expected C11"),
    (&["scop", "kernel.c", "--target", "c", "--device-only"], "`--device-only` has no effect"),
    (&["calc", "itself.calc"], "itself.calc:1:8: error: `itself.calc` runs itself\n"),
];

fn desk() -> Desk {
    let desk = Desk::new();
    let write = |name: &str, text: &[u8]| {
        fs::write(desk.folder().join(name), text).expect("written");
    };
    write("broken.gsl", b"rule wrong { let x = *; match relu(x; rewrite x; }");
    write("taso.pb", b"");
    let body = "  for (int i = 0; i < n; i++)\n          y[i] = x[i]\n";
    write("missing.c", format!("void f(int n, int *x, int *y) {{\n{body}}}\n").as_bytes());
    let marked =
        format!("void f(int n, int *x, int *y) {{\n#pragma scop\n{body}#pragma endscop\n}}\n");
    write("marked.c", marked.as_bytes());
    write("plus.c", b"template <class T> void f(T *x) { }\n");
    let map = "{ S[i] -> [i] : 0 <= i < 9 }\n";
    write("typo.in", format!("{map}{{ : }}\n{{ [i] -> unrol[0] }}\n").as_bytes());
    let band = "child:\n  schedule: \"[{ S[i] -> [(i)] }]\"\n  options: \"{ unrol[0] }\"\n";
    write("typo.st", format!("domain: \"{{ S[i] : 0 <= i < 9 }}\"\n{band}").as_bytes());
    write("lone.map", map.as_bytes());
    write("itself.calc", b"source \"itself.calc\";\n");
    write("binary", &[0, 159, 146, 150, 7, 0, 1]);
    write("story.c", b"#include <stdio.h>\nit was a dark and stormy night\n");
    write("blank", b"");
    write("prose", b"it was a dark and stormy night\n");
    desk
}

#[test]
fn messages_name_the_way_out() {
    let desk = desk();
    for (words, said) in SAID {
        let seen = desk.seen(words);
        assert_eq!(seen.code, Some(2), "{words:?}: {seen:?}");
        assert!(seen.stderr.contains(said), "{words:?}: expected {said}, found {}", seen.stderr);
        assert!(!seen.stderr.contains("error: error"), "{words:?}: {}", seen.stderr);
        assert_eq!(seen.files, [], "{words:?}");
    }
}

/// What has no effect, but keeps nothing from being done, is said.
#[test]
fn what_has_no_effect_is_said() {
    let desk = desk();
    let options = "{ S[i] -> [i] : 0 <= i < 9 }\n{ : }\n{ [i, j] -> unroll[0] }\n";
    fs::write(desk.folder().join("other.in"), options).expect("written");
    for (words, said) in [
        (
            &["codegen", "other.in"][..],
            "other.in:3:13: warning: `{ [i, j] -> unroll[0] }` has no effect: the points of the map \
             are `[*]`\n",
        ),
        (
            &["scop", "kernel.c", "--tile", "diamond"],
            "vectorised; no diamond tiles: they need a permutable band",
        ),
        // The compiler says it again; what it knows and this reader does not is no reason to stop.
        (
            &["scop", "missing.c"],
            "missing.c:3:22: note: `f` is left alone: expected `;` behind `y[i] = x[i]`",
        ),
        (
            &["scop", "kernel.c", "--tile", "4,5,6,7"],
            "the first 3 sizes alone, as no more loops are permutable",
        ),
        (&["scop", "kernel.c", "--tile", "4,5,6,7", "--print", "ast"], "the first 3 sizes alone"),
        (
            &["scop", "kernel.c", "--tile", "4,5,6,7", "--print", "report"],
            "the first 3 sizes alone",
        ),
        (
            &["scop", "kernel.c", "--tile", "4,5,6", "--target", "cuda"],
            "`--tile` gives 3 sizes, but no kernel has more than 2 parallel loops on threads",
        ),
    ] {
        let seen = desk.seen(words);
        assert_eq!(seen.code, Some(0), "{words:?}: {seen:?}");
        let all = seen.stdout.clone() + &seen.stderr;
        assert!(all.contains(said), "{words:?}: expected {said}, found {all}");
    }
    for words in [&["scop", "kernel.c", "--tile", "4,5,6"][..], &["codegen", "map.in"]] {
        let seen = desk.seen(words);
        assert!(!seen.stderr.contains("no effect") && !seen.stderr.contains("alone"), "{seen:?}");
    }
    // Nothing is said to be done that could not be written.
    let seen = desk.seen(&["scop", "kernel.c", "-o", "/dev/full"]);
    assert!(seen.code == Some(2) && !seen.stderr.contains("rewritten"), "{seen:?}");
}

#[test]
fn other_files_than_expected_are_named() {
    let desk = desk();
    for words in STARTS.iter().filter(|words| words[1..].iter().any(|word| word.contains('.'))) {
        for wrong in ["nowhere/nope.x", "empty", "binary", "blank", "prose"] {
            let at = words.iter().position(|word| word.contains('.')).expect("an input");
            let mut words = words.to_vec();
            words[at] = wrong;
            let seen = desk.seen(&words);
            let (code, said) = (seen.code, &seen.stderr);
            assert!(matches!(code, Some(0..=2)) && !said.contains("panicked"), "{words:?}: {said}");
            assert!(code != Some(2) || said.contains(wrong), "{words:?}: {said}");
            assert!(code == Some(2) || ["blank"].contains(&wrong), "{words:?}: {seen:?}");
            let twice = said.lines().any(|line| line.matches(wrong).count() > 1);
            assert!(!twice, "{words:?} names it twice: {said}");
        }
    }
}

#[test]
fn values_that_are_none_are_refused_by_flag() {
    let desk = desk();
    for (names, definition) in leaves() {
        for arg in flags(&definition).iter().filter(|arg| arg.get_action().takes_values()) {
            let name = arg.get_value_names().map_or(String::new(), |names| names[0].to_string());
            let flag = written(arg);
            let wrong: &[&str] = match name.as_str() {
                "N" | "S" | "BYTES" | "VERSION" => &["-1", "many", ""],
                "FILE" | "DIR" | "OUTPUT" | "FILE|DIR" | "FILE|DIR|NAME" => &["nowhere/nope.x"],
                _ if !arg.get_possible_values().is_empty() => &["nonsense", "-1"],
                _ => continue,
            };
            for value in wrong {
                let words: Vec<String> =
                    start(&names).iter().map(|word| (*word).to_owned()).collect();
                let own = match flag.starts_with("--") {
                    true => vec![format!("{flag}={value}")],
                    false => vec![format!("{flag}{value}")],
                };
                let words = [words, own].concat();
                let seen = desk.seen(&words.iter().map(String::as_str).collect::<Vec<_>>());
                assert_eq!(seen.code, Some(2), "{words:?}: {seen:?}");
                let named = seen.stderr.contains(&flag) || seen.stderr.contains("nowhere");
                assert!(named, "{words:?}: {}", seen.stderr);
                assert_eq!(seen.files, [], "{words:?}");
            }
        }
    }
}
