//! Completions and manual pages: of every command, as shells and readers of manual pages take them; and
//! colours.

use std::fs;
use std::process::{Command, Stdio};

use crate::desk::Desk;

/// The words of every command that is shown.
fn commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), tangram_cli::command())];
    while let Some((words, command)) = open.pop() {
        let shown = command.get_subcommands().filter(|own| !own.is_hide_set());
        open.extend(shown.map(|own| {
            let mut words: Vec<String> = words.clone();
            words.push(own.get_name().to_owned());
            (words, own.clone())
        }));
        found.push(words);
    }
    found
}

#[test]
fn bash_completes_commands_and_options() {
    let desk = Desk::new();
    let script = desk.run(&["completions", "bash"]);
    assert!(script.status.success(), "{script:?}");
    fs::write(desk.folder().join("script"), &script.stdout).expect("written");
    let completed = |words: &[&str]| {
        let line = words.join(" ");
        let ask = format!(
            "source ./script; COMP_WORDS=({line}); COMP_CWORD={}; _tangram tangram '{}' ''; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words.last().unwrap_or(&"")
        );
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", &ask]).current_dir(desk.folder()).stdin(Stdio::null());
        let output = bash.output().ok()?;
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(text.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    // Without bash there is nothing to ask.
    let Some(found) = completed(&["tangram", "comp"]) else { return };
    assert_eq!(found, ["compile", "completions"]);
    let found = completed(&["tangram", "opt", "--stra"]).unwrap_or_default();
    assert_eq!(found, ["--strategy"]);
    let found = completed(&["tangram", "rules", "che"]).unwrap_or_default();
    assert_eq!(found, ["check"]);
}

#[test]
fn every_shell_has_a_script_with_every_command() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.seen(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{script:?}");
        for name in commands().iter().filter_map(|words| words.last()) {
            assert!(script.stdout.contains(name.as_str()), "{shell}: {name}");
        }
    }
}

#[test]
fn every_command_has_a_page() {
    let desk = Desk::new();
    let folder = desk.folder().join("man1");
    let ran = desk.run(&["man", "-o", "man1"]);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    for words in commands() {
        let name = [&["tangram".to_owned()][..], &words].concat().join("-") + ".1";
        let page = fs::read_to_string(folder.join(&name)).expect(&name);
        assert!(page.contains("\n.SH OPTIONS\n") && page.contains("Exit codes: 0 done"), "{page}");
        let mut all = vec!["man"];
        all.extend(words.iter().map(String::as_str));
        assert_eq!(String::from_utf8_lossy(&desk.run(&all).stdout), page, "{name}");
    }
    let wrong = desk.seen(&["man", "rules", "chek"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("`tangram rules` has no command `chek`: it has"), "{wrong:?}");
}

#[test]
fn messages_have_colours_where_somebody_asks_for_them() {
    let desk = Desk::new();
    let said = |variables: &[(&str, &str)]| {
        let mut command = desk.command(&["show", "nowhere.onnx"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.iter().copied());
        String::from_utf8_lossy(&command.output().expect("it runs").stderr).into_owned()
    };
    let plain = said(&[]);
    assert!(plain.starts_with("error: ") && !plain.contains('\u{1b}'), "{plain}");
    let coloured = said(&[("CLICOLOR_FORCE", "1")]);
    assert!(coloured.contains("\u{1b}[31merror\u{1b}[0m: "), "{coloured}");
    assert_eq!(said(&[("NO_COLOR", "1")]), plain);
}
