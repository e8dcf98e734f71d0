//! Files of a kind that another command takes: the message says which.

use std::fs;
use std::path::Path;

use crate::commands::STARTS;
use crate::desk::Desk;

/// Files of the desk, and the command that the message names.
const WAYS: &[(&str, &str)] = &[
    ("kernel.c", "`tangram scop kernel.c`"),
    ("model.onnx", "`tangram compile model.onnx`"),
    ("in.mlir", "`tangram rewrite in.mlir`"),
    ("own.gsl", "`tangram rules check own.gsl`"),
    ("sets.calc", "`tangram calc sets.calc`"),
    ("tree.st", "`tangram codegen tree.st`"),
    ("map.in", "`tangram codegen map.in`"),
    ("loops.sc", "`tangram schedule loops.sc`"),
    ("flow.ai", "`tangram flow flow.ai`"),
    ("library", "`tangram run library`"),
];

/// What a command takes besides the file it starts with here.
fn takes(words: &[&str], file: &str) -> bool {
    match words[0] {
        "run" => file == "library",
        "schedule" | "codegen" => ["tree.st", "map.in"].contains(&file),
        "rules" => file == "own.gsl",
        // Sets in another form: the calculator says where it differs.
        "calc" => ["tree.st", "map.in", "loops.sc", "flow.ai"].contains(&file),
        _ => false,
    }
}

/// Commands whose input is a file of a certain kind.
const OF_A_KIND: &[&str] = &[
    "opt", "show", "diff", "check", "run", "bench", "compile", "calc", "codegen", "flow",
    "schedule", "scop", "rewrite", "view",
];

fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.folder().join("library"), b"\x7fELF\x02\x01\x01\0\0\0").expect("written");
    desk
}

#[test]
fn a_file_for_another_command_names_it() {
    let desk = desk();
    let own = |words: &[&str]| {
        OF_A_KIND.contains(&words[0])
            || words[0] == "rules" && ["fmt", "check", "mutate"].contains(&words[1])
    };
    for words in STARTS.iter().filter(|words| own(words)) {
        let at = words.iter().position(|word| word.contains('.')).expect("an input");
        for (file, way) in WAYS {
            let same =
                words[at] == *file || (words[at].ends_with(".onnx") && file.ends_with(".onnx"));
            if same || takes(words, file) {
                continue;
            }
            let mut words = words.to_vec();
            words[at] = file;
            let seen = desk.seen(&words);
            assert_eq!(seen.code, Some(2), "{words:?}: {seen:?}");
            let begin = format!("error: {file}: this is ");
            assert!(seen.stderr.starts_with(&begin), "{words:?}: {}", seen.stderr);
            assert!(seen.stderr.contains(way), "{words:?}: {}", seen.stderr);
            assert_eq!(seen.files, [], "{words:?}");
        }
    }
}

#[test]
fn what_is_in_a_file_decides_before_its_name() {
    let desk = desk();
    let write = |name: &str, text: &[u8]| {
        fs::write(desk.folder().join(name), text).expect("written");
    };
    let model = fs::read(desk.folder().join("model.onnx")).expect("a model");
    write("weights.c", &model);
    write("model", &model);
    write("source", b"#include <stdint.h>\nvoid f(int *x) { *x = 0; }\n");
    write("empty.c", b"");
    write("notes.onnx", b"void f(int *x) { *x = 0; }\n");
    write("tree", b"domain: \"{ S[i] : 0 <= i < 9 }\"\nchild:\n  mark: \"a\"\n");
    write("constraints", b"{ domain: \"{ S[i] : 0 <= i < 9 }\",\n  'validity': \"{ }\" }\n");
    for (words, said) in [
        (&["show", "weights.c"][..], None),
        (&["scop", "weights.c"], Some("`tangram show weights.c`")),
        (&["scop", "model"], Some("`tangram opt model`")),
        (&["compile", "source", "-o", "x.so"], Some("`tangram scop source`")),
        (&["compile", "empty.c", "-o", "x.so"], Some("`tangram scop empty.c`")),
        (&["codegen", "constraints"], Some("`tangram schedule constraints`")),
        (&["flow", "tree"], Some("`tangram codegen tree`")),
        (&["flow", "constraints"], Some("`tangram schedule constraints`")),
        // Text with the name of a model may be anything; C that reads it finds none.
        (&["scop", "notes.onnx"], None),
    ] {
        let seen = desk.seen(words);
        let begin = format!("error: {}: this is ", words[1]);
        match said {
            None => assert_eq!(seen.code, Some(0), "{words:?}: {seen:?}"),
            Some(way) => {
                assert_eq!(seen.code, Some(2), "{words:?}: {seen:?}");
                assert!(seen.stderr.starts_with(&begin), "{words:?}: {}", seen.stderr);
                assert!(seen.stderr.contains(way), "{words:?}: {}", seen.stderr);
            }
        }
    }
}

/// The inputs of the examples and of the benchmarks reach their readers.
#[test]
fn examples_are_of_the_kind_that_they_are_for() {
    let desk = desk();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let inputs = [("examples/models", "onnx", "show"), ("examples/kernels", "c", "scop")];
    for (folder, ending, command) in inputs {
        let folder = fs::read_dir(root.join(folder)).expect("a folder");
        let files = folder.filter_map(|entry| Some(entry.ok()?.path()));
        for file in files.filter(|file| file.extension().is_some_and(|end| end == ending)) {
            let output = desk.run(&[command, &file.to_string_lossy()]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.contains("this is"), "{file:?}: {said}");
        }
    }
}
