//! The commands, and for each a command line that does something.

use clap::{Arg, Command};

/// A command line without flags that succeeds, for each command with arguments of its own.
pub const STARTS: &[&[&str]] = &[
    &["opt", "model.onnx", "-o", "out.onnx"],
    &["rules", "list"],
    &["rules", "show", "relu-relu"],
    &["rules", "fmt", "ugly.gsl"],
    &["rules", "import", "list.txt"],
    &["rules", "check", "own.gsl"],
    &["rules", "mutate", "many.gsl"],
    &["rules", "domains", "cumsum"],
    &["show", "model.onnx"],
    &["view", "model.onnx", "-o", "look.html"],
    &["view", "model.onnx", "--rules", "-o", "look.html"],
    &["diff", "model.onnx", "model.onnx"],
    &["check", "model.onnx", "model.onnx"],
    &["run", "model.onnx", "--random"],
    &["bench", "model.onnx", "--runs", "1", "--python", "none"],
    &["compile", "same.onnx", "-o", "same.c", "--emit", "c"],
    &["calc", "sets.calc"],
    &["codegen", "tree.st"],
    &["flow", "flow.ai"],
    &["schedule", "loops.sc"],
    &["egraph", "simplify", "(+ 0 (+ x y))", "--rules", "sums.rules"],
    &["egraph", "show", "(+ 0 x)", "--rules", "sums.rules"],
    &["egraph", "dot", "(+ 0 x)", "--rules", "sums.rules"],
    &["egraph", "json", "(+ 0 x)", "--rules", "sums.rules"],
    &["egraph", "extract", "graph.json"],
    &["scop", "kernel.c"],
    &["machine", "avx2"],
    &["lsp"],
    &["completions", "bash"],
    &["man"],
    &["rewrite", "in.mlir", "--pass-pipeline", "builtin.module(func.func(canonicalize))"],
];

/// Lists the commands that have arguments of their own, with their names.
pub fn leaves() -> Vec<(Vec<String>, Command)> {
    let mut top = tangram_cli::command();
    top.build();
    let mut open = vec![(Vec::new(), top)];
    let mut found = Vec::new();
    while let Some((names, command)) = open.pop() {
        let below: Vec<Command> =
            command.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
        if below.is_empty() {
            found.push((names, command));
            continue;
        }
        for command in below {
            let mut names = names.clone();
            names.push(command.get_name().to_owned());
            open.push((names, command));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Returns the start of a command.
pub fn start(names: &[String]) -> &'static [&'static str] {
    let own = |start: &&&[&str]| {
        start.len() >= names.len() && names.iter().zip(**start).all(|(a, b)| a == b)
    };
    STARTS.iter().find(own).unwrap_or_else(|| panic!("no start for {names:?}: add one"))
}

/// Lists the flags of a command, without those of clap.
pub fn flags(command: &Command) -> Vec<Arg> {
    let own =
        |arg: &&Arg| !arg.is_positional() && !["help", "version"].contains(&arg.get_id().as_str());
    command.get_arguments().filter(own).cloned().collect()
}

/// Returns how a flag is written.
pub fn written(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => panic!("{} is no flag", arg.get_id()),
    }
}

#[test]
fn every_command_starts_and_documents_its_exit_codes() {
    let desk = crate::desk::Desk::new();
    for (names, mut command) in leaves() {
        let help = command.render_help().to_string();
        assert!(help.contains("Exit codes: 0 done, 1 "), "{names:?}: {help}");
        let seen = desk.seen(start(&names));
        assert_eq!(seen.code, Some(0), "{names:?}: {seen:?}");
        assert_eq!(desk.seen(start(&names)), seen, "{names:?} is not the same twice");
    }
}
