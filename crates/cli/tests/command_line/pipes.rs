//! Nobody reads the output, or the disk is full.

use std::io::{Write, pipe};
use std::process::Stdio;

use crate::commands::{STARTS, leaves};
use crate::desk::Desk;

/// Command lines beside the starts that print in ways of their own.
const MORE: &[&[&str]] = &[
    &["opt", "model.onnx", "-o", "out.onnx", "--explain-rule", "gelu"],
    &["opt", "model.onnx", "-o", "out.onnx", "--strategy", "saturate", "--explain"],
    &["opt", "model.onnx", "-o", "out.onnx", "--json", "-"],
    &["opt", "model.onnx", "-o", "out.onnx", "--check"],
    &["scop", "kernel.c", "--print", "deps"],
    &["scop", "kernel.c", "--print", "schedule"],
    &["scop", "kernel.c", "--print", "tree"],
    &["scop", "kernel.c", "--print", "ast"],
    &["scop", "kernel.c", "--print", "stats"],
    &["scop", "kernel.c", "--print", "report"],
    &["scop", "kernel.c", "--print", "domains", "--set", "n=3"],
    &["scop", "kernel.c", "--target", "cuda"],
    &["calc", "sets.calc", "--json"],
    &["flow", "flow.ai", "--json"],
    &["rules", "list", "--json"],
    &["rewrite", "--list-passes"],
    &[
        "rewrite",
        "in.mlir",
        "--pass-pipeline",
        "builtin.module(func.func(cse))",
        "--statistics",
        "--time-passes",
        "--print-after",
        "all",
    ],
    &["egraph", "simplify", "(+ 0 x)", "--rules", "sums.rules", "--explain", "--statistics"],
    &["--version"],
    &["nonsense"],
    &["calc", "own.gsl"],
    &["scop", "own.gsl"],
];

#[test]
fn a_closed_pipe_changes_no_exit_code() {
    let desk = Desk::new();
    let helps: Vec<Vec<String>> =
        leaves().into_iter().map(|(names, _)| [names, vec!["--help".into()]].concat()).collect();
    let helps = helps.iter().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
    let all = STARTS.iter().chain(MORE).map(|words| words.to_vec()).chain(helps);
    for words in all {
        let expected = desk.run(&words).status.code();
        for both in [false, true] {
            let closed = || {
                let (reader, writer) = pipe().expect("a pipe");
                drop(reader);
                Stdio::from(writer)
            };
            let mut command = desk.command(&words);
            command.stdout(closed()).stderr(if both { closed() } else { Stdio::piped() });
            let output = command.spawn().and_then(|child| child.wait_with_output()).expect("ran");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{words:?}: {said}");
            assert_eq!(output.status.code(), expected, "{words:?}: {said}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let desk = Desk::new();
    // What formats files in place writes nothing, and a server only what it is asked for.
    let writes = |words: &&&[&str]| !words.contains(&"fmt") && !words.contains(&"lsp");
    for words in STARTS.iter().filter(writes) {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let mut command = desk.command(words);
        command.stdout(full).stderr(Stdio::piped());
        let output = command.spawn().and_then(|child| child.wait_with_output()).expect("ran");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("standard output"), "{words:?}: {said}");
    }
}

#[test]
fn c_through_a_pipe_is_rewritten_as_from_a_file() {
    let desk = Desk::new();
    let text = std::fs::read(desk.folder().join("kernel.c")).expect("a kernel");
    for path in ["-", "/dev/stdin"] {
        for flags in [&[][..], &["-DX"], &["--print", "deps"], &["--print", "schedule"]] {
            let from_file = desk.run(&[&["scop", "kernel.c"], flags].concat());
            let (reader, mut writer) = pipe().expect("a pipe");
            // Less than a pipe holds.
            writer.write_all(&text).expect("written");
            drop(writer);
            let mut command = desk.command(&[&["scop", path], flags].concat());
            let output = command.stdin(reader).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), from_file.status.code(), "{path} {flags:?}: {said}");
            let (found, expected) = (output.stdout, from_file.stdout);
            assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
            assert!(!found.is_empty(), "{path} {flags:?}: {said}");
        }
    }
}
