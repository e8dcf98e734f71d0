//! Rules: those that are shipped, and those that a user names.

use std::path::{Path, PathBuf};

use tangram_gsl::check::check_rule;
use tangram_gsl::diagnostic::Sources;
use tangram_gsl::schema::NnSchema;
use tangram_gsl::text::{self, LocatedRule};
use tangram_gsl::verify::{self, Effort, Verdict};

use crate::natives::natives;

/// The shipped rule files, by topic.
pub const SHIPPED: &[(&str, &str)] = &[
    ("simplify", include_str!("../../../rules/simplify.gsl")),
    ("fuse", include_str!("../../../rules/fuse.gsl")),
    ("recognise", include_str!("../../../rules/recognise.gsl")),
    ("merge", include_str!("../../../rules/merge.gsl")),
    ("parallel", include_str!("../../../rules/parallel.gsl")),
    ("algebra", include_str!("../../../rules/algebra.gsl")),
    ("lower", include_str!("../../../rules/lower.gsl")),
];

/// Why rules could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// A file could not be read.
    #[error("cannot read rules from `{path}`: {source}")]
    Read {
        /// What was asked for.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// There is neither such a file nor such a shipped topic.
    #[error("`{name}` is no rule file, no folder and none of the shipped topics ({known})")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The shipped topics.
        known: String,
    },
    /// The text is wrong; `rendered` shows where and why.
    #[error("{rendered}")]
    Wrong {
        /// The diagnostics with their source lines.
        rendered: String,
    },
}

/// Rules with the texts that they were read from.
#[derive(Default)]
pub struct Library {
    /// The texts, for messages.
    pub sources: Sources,
    /// The rules, in order.
    pub rules: Vec<LocatedRule>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({} rules)", self.rules.len())
    }
}

impl Library {
    /// The shipped rules.
    ///
    /// # Errors
    /// [`RulesError::Wrong`] if a shipped file is wrong, which a test rules out.
    pub fn shipped() -> Result<Library, RulesError> {
        let mut library = Library::default();
        for (name, text) in SHIPPED {
            library.add_text(&format!("{name}.gsl"), text, None)?;
        }
        Ok(library)
    }

    /// Adds the rules of a file, of every `.gsl` file of a folder, or of a shipped topic.
    ///
    /// # Errors
    /// [`RulesError`]: there is no such thing, it cannot be read, or it is wrong.
    pub fn add(&mut self, name: &str) -> Result<(), RulesError> {
        let path = Path::new(name);
        if path.is_dir() {
            return self.add_folder(path);
        }
        if path.exists() {
            let text = read(path)?;
            return self.add_text(name, &text, path.parent());
        }
        match SHIPPED.iter().find(|(topic, _)| *topic == name) {
            Some((topic, text)) => self.add_text(&format!("{topic}.gsl"), text, None),
            None => {
                let known = SHIPPED.iter().map(|(topic, _)| *topic).collect::<Vec<_>>().join(", ");
                Err(RulesError::Unknown { name: name.to_owned(), known })
            }
        }
    }

    /// Checks the rules against the operations; what is wrong, as it would be shown, or nothing.
    pub fn check(&self) -> String {
        let context = tangram_dialects::context();
        let schema = NnSchema::new(&context);
        let found: Vec<_> = self.rules.iter().flat_map(|rule| check_rule(rule, &schema)).collect();
        self.sources.render(&found)
    }

    /// Verifies each rule by exact evaluation of many small instances.
    ///
    /// Takes up to a second for each; see [`tangram_gsl::verify`].
    pub fn verify(&self, effort: &Effort) -> Vec<(String, Verdict)> {
        let natives = natives();
        let verdict = |located: &LocatedRule| {
            let context = tangram_dialects::context();
            let verdict = verify::verify(&located.rule, &context, &natives, effort);
            let verdict = verdict.unwrap_or_else(|e| Verdict::Unknown { why: e.to_string() });
            (located.rule.name().to_owned(), verdict)
        };
        self.rules.iter().map(verdict).collect()
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), RulesError> {
        let failed = |source| RulesError::Read { path: folder.to_owned(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|ext| ext == "gsl") {
                files.push(path);
            }
        }
        files.sort();
        for path in files {
            let text = read(&path)?;
            self.add_text(&path.to_string_lossy(), &text, Some(folder))?;
        }
        Ok(())
    }

    /// Adds the rules written in `text`; files that it names with `use` are looked for in
    /// `folder`.
    ///
    /// # Errors
    /// [`RulesError::Wrong`]: the text, or one that it uses, is wrong.
    pub fn add_text(
        &mut self,
        name: &str,
        text: &str,
        folder: Option<&Path>,
    ) -> Result<(), RulesError> {
        let mut loader = Folder { folder: folder.map(Path::to_owned) };
        let file = text::load(name, text, &mut loader, &mut self.sources);
        if file.has_errors() {
            return Err(RulesError::Wrong { rendered: self.sources.render(&file.diagnostics) });
        }
        self.rules.extend(file.rules);
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, RulesError> {
    std::fs::read_to_string(path)
        .map_err(|source| RulesError::Read { path: path.to_owned(), source })
}

/// Reads the files that rule files name.
struct Folder {
    folder: Option<PathBuf>,
}

impl text::Loader for Folder {
    fn load(&mut self, from: &str, path: &str) -> Result<(String, String), String> {
        let beside = Path::new(from).parent().filter(|p| !p.as_os_str().is_empty());
        let folder = beside.map(Path::to_owned).or_else(|| self.folder.clone());
        let folder = folder.ok_or("this text cannot use other files")?;
        let file = folder.join(path);
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        Ok((file.to_string_lossy().into_owned(), text))
    }
}
