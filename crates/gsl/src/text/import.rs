//! Rule files that use others.
//!
//! A rule file may use any file that its reader can read, and that need not be a rule file. What lies
//! outside of the folder of the file that uses it is read, and messages quote nothing of it.

use std::collections::HashMap;
use std::path::{Component, Path};

use super::{RuleFile, parse_file};
use crate::diagnostic::{Diagnostic, Sources};

/// Finds the text of a rule file that another one uses. Nothing here reads files by itself.
pub trait Loader {
    /// Returns the name and the text of `path` as written in the file named `from`.
    ///
    /// The name identifies the file: one that was loaded before is not read again.
    ///
    /// # Errors
    /// Why there is no such file, in words.
    fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String>;
}

/// A loader that finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImports;

impl Loader for NoImports {
    fn load(&mut self, _: &str, _: &str) -> Result<(String, String), String> {
        Err("this text cannot use other files".to_owned())
    }
}

/// Reads a rule file and, before it, the files that it uses, each once.
///
/// Files that use each other are fine: names of rules are not referred to. Of files from outside of
/// the folder of the file that uses them, and of what those use, messages quote nothing.
pub fn load(name: &str, text: &str, loader: &mut dyn Loader, sources: &mut Sources) -> RuleFile {
    let mut whole = RuleFile::default();
    let mut known = HashMap::new();
    let first = sources.add(name, text);
    known.insert(name.to_owned(), first);
    let mut parsed = vec![parse_file(sources, first)];
    let mut at = 0;
    while at < parsed.len() {
        for (path, span) in parsed[at].uses.clone() {
            let from = sources.name(span.file).unwrap_or_default().to_owned();
            match loader.load(&from, &path) {
                Ok((name, _)) if known.contains_key(&name) => {}
                Ok((name, text)) => {
                    let near = sources.is_quoted(span.file) && is_near(&from, &path, &name);
                    let file = match near {
                        true => sources.add(&name, text),
                        false => sources.add_unquoted(&name, text),
                    };
                    known.insert(name, file);
                    parsed.push(parse_file(sources, file));
                }
                Err(why) => {
                    let message = format!("cannot use {path:?}: {why}");
                    whole.diagnostics.push(Diagnostic::error("import", span, message));
                }
            }
        }
        at += 1;
    }
    for file in parsed.into_iter().rev() {
        whole.rules.extend(file.rules);
        whole.diagnostics.extend(file.diagnostics);
        whole.uses.extend(file.uses);
    }
    for diagnostic in &mut whole.diagnostics {
        *diagnostic = sources.fit_to_show(diagnostic);
    }
    whole
}

/// Returns whether the file `name`, which `from` uses as `path`, lies in the folder of `from` or
/// below it.
fn is_near(from: &str, path: &str, name: &str) -> bool {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let here = folder.as_os_str().is_empty();
    // A loader may have a folder for texts without one: what is written is then all that is known.
    let places = if here && Path::new(name).is_absolute() {
        None
    } else {
        let folder = if here { Path::new(".") } else { folder };
        folder.canonicalize().ok().zip(Path::new(name).canonicalize().ok())
    };
    match places {
        // A link in the folder may lead out of it.
        Some((folder, file)) => file.starts_with(folder),
        None => stays_below(folder, Path::new(path)),
    }
}

/// Returns whether `path`, as it is written, leads from `folder` to what is below it.
fn stays_below(folder: &Path, path: &Path) -> bool {
    let rest = if path.is_absolute() && folder.is_absolute() {
        path.strip_prefix(folder).unwrap_or(path)
    } else {
        path
    };
    let mut depth = 0_usize;
    rest.components().all(|component| match component {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::ParentDir => {
            let below = depth > 0;
            depth = depth.saturating_sub(1);
            below
        }
        Component::CurDir => true,
        Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds texts by name, as they are used from a folder that is not there.
    struct Held(&'static [(&'static str, &'static str)]);

    impl Loader for Held {
        fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
            let name = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
            let name = name.to_string_lossy().into_owned();
            let held = self.0.iter().find(|(held, _)| *held == name);
            let (_, text) = held.ok_or_else(|| format!("{name} is not held"))?;
            Ok((name, (*text).to_owned()))
        }
    }

    fn told(text: &str, held: &'static [(&'static str, &'static str)]) -> (String, Vec<String>) {
        let mut sources = Sources::default();
        let file = load("/nowhere/rules/a.gsl", text, &mut Held(held), &mut sources);
        let messages = file.diagnostics.iter().map(|d| format!("{d:?}")).collect();
        (sources.render(&file.diagnostics), messages)
    }

    #[test]
    fn nothing_of_a_file_from_elsewhere_is_quoted() {
        const WRONG: &str = "\n secret";
        const RULE: &str = "rule r { let secret1 = *; match relu(secret2); rewrite #secret3; }";
        const USES: &str = "use \"secret.gsl\"; use \"b.gsl\";";
        let files: &[(&str, &str)] = &[
            ("/etc/passwd", WRONG),
            ("/nowhere/rules/../x/uses.gsl", USES),
            ("/nowhere/rules/../x/b.gsl", RULE),
        ];
        let (text, messages) = told("use \"/etc/passwd\"; use \"../x/uses.gsl\"; rule a {", files);
        assert!(
            messages.iter().chain([&text]).all(|told| {
                let told = told.replace("secret.gsl is not held", "");
                !told.contains("secret")
            }),
            "{text} {messages:?}"
        );
        assert!(text.contains("/etc/passwd:2:2: syntax: expected `rule` or `use`\n"), "{text}");
        assert!(text.contains("/nowhere/rules/../x/uses.gsl:1:5: import: "), "{text}");
        assert!(text.contains("b.gsl:1:38: unknown-name: "), "{text}");
        // What uses it is quoted as ever.
        assert!(text.contains("use \"../x/uses.gsl\"; rule a {"), "{text}");
    }

    #[test]
    fn what_lies_in_the_folder_or_below_is_quoted() {
        let files: &[(&str, &str)] = &[("/nowhere/rules/b/../c/d.gsl", "near")];
        let (text, _) = told("use \"b/../c/d.gsl\";", files);
        assert!(text.contains("expected `rule` or `use`, found `near`"), "{text}");
    }

    #[test]
    fn paths_that_lead_out_are_told_from_those_that_do_not() {
        let near = |folder: &str, path: &str| stays_below(Path::new(folder), Path::new(path));
        assert!(near("", "a.gsl") && near("x", "./a/../b.gsl") && near("/x", "/x/a.gsl"));
        assert!(!near("", "../a.gsl") && !near("x", "a/../../b.gsl") && !near("/x", "/xy/a.gsl"));
        assert!(!near("/x", "/x/../a.gsl") && !near("x", "/x/a.gsl"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_of_the_folder_does_not_stay_in_it() -> std::io::Result<()> {
        let folder = std::env::temp_dir().join(format!("tangram-near-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("rules"))?;
        std::fs::write(folder.join("secret"), "")?;
        let link = folder.join("rules/link.gsl");
        std::os::unix::fs::symlink(folder.join("secret"), &link)?;
        let from = folder.join("rules/a.gsl").to_string_lossy().into_owned();
        let near = is_near(&from, "link.gsl", &link.to_string_lossy());
        std::fs::remove_dir_all(&folder)?;
        assert!(!near);
        Ok(())
    }
}
