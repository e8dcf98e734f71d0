//! The passes, by name: those of this crate, and those that a program adds.
//!
//! ```
//! use tangram_passes::{Pass, PassCx, PassError, Pipeline, Registration, Registry};
//! use tangram_passes::{RunOptions, Silent};
//!
//! /// Counts the operations of what it runs on.
//! struct Count;
//!
//! impl Pass for Count {
//!     fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
//!         let all = tangram_ir::walk(cx.module, cx.root, tangram_ir::Order::Pre);
//!         cx.count("operations", all.len() as u64);
//!         Ok(())
//!     }
//! }
//!
//! let mut passes = Registry::standard();
//! passes.add(Registration::new("count", "counts operations", |_| Ok(Box::new(Count))))?;
//! let pipeline = Pipeline::parse("builtin.module(canonicalize,count)")?;
//! let mut module = tangram_ir::Module::new(tangram_ir::Context::new());
//! let report = passes.run(&mut module, &pipeline, &RunOptions::default(), &mut Silent)?;
//! assert_eq!(report.passes[1].counts, [("operations", 1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use crate::pass::Pass;
use crate::{convert, cse, dce, inline, loop_invariant, patterns, sccp, strip, symbols};

/// A pass of this crate.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Its options, with what each does.
    pub options: &'static [(&'static str, &'static str)],
    /// Makes it.
    pub make: fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError>,
}

/// Every pass of this crate, by name.
pub static PASSES: &[Entry] = &[
    patterns::CANONICALIZE,
    convert::INDEX_TO_I64,
    convert::SCF_TO_CF,
    cse::ENTRY,
    dce::ENTRY,
    inline::ENTRY,
    loop_invariant::ENTRY,
    convert::LOWER_AFFINE,
    convert::RECONCILE,
    sccp::ENTRY,
    strip::ENTRY,
    symbols::ENTRY,
];

type Make = Arc<dyn Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError> + Send + Sync>;

/// A pass that a pipeline can name: what is known of it, and how it is made.
#[derive(Clone)]
pub struct Registration {
    name: Cow<'static, str>,
    summary: Cow<'static, str>,
    options: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    make: Make,
}

impl Registration {
    /// A pass called `name`, without options. `make` is asked for one for each place in a
    /// pipeline that names it.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
        make: impl Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError> + Send + Sync + 'static,
    ) -> Registration {
        let (name, summary) = (name.into(), summary.into());
        Registration { name, summary, options: Vec::new(), make: Arc::new(make) }
    }

    /// Adds an option, with what it does.
    #[must_use]
    pub fn with_option(
        mut self,
        name: impl Into<Cow<'static, str>>,
        summary: impl Into<Cow<'static, str>>,
    ) -> Registration {
        self.options.push((name.into(), summary.into()));
        self
    }

    /// Adds options from a table such as [`crate::patterns::FILTERS`].
    #[must_use]
    pub fn with_options(self, table: &'static [(&'static str, &'static str)]) -> Registration {
        table.iter().fold(self, |pass, &(name, summary)| pass.with_option(name, summary))
    }

    /// The name of the pass.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, in a line.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Its options, with what each does.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter().map(|(name, summary)| (&**name, &**summary))
    }

    /// Makes the pass.
    ///
    /// # Errors
    /// If it has not one of the options, or one of them has another value.
    pub fn make(&self, options: &PassOptions) -> Result<Box<dyn Pass>, OptionError> {
        let has = |key: &String| self.options().any(|(name, _)| name == key);
        if let Some((key, _)) = options.0.iter().find(|(key, _)| !has(key)) {
            let known = self.options().map(|(name, _)| name.to_owned()).collect();
            return Err(OptionError::Unknown { name: key.clone(), known });
        }
        (self.make)(options)
    }
}

impl From<&'static Entry> for Registration {
    fn from(entry: &'static Entry) -> Registration {
        Registration::new(entry.name, entry.summary, entry.make).with_options(entry.options)
    }
}

/// A pass has a name that another one has already.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a pass `{0}` is registered already")]
pub struct NameTaken(pub String);

/// The passes that pipelines can name.
#[derive(Clone, Default)]
pub struct Registry {
    passes: Vec<Registration>,
}

impl Registry {
    /// No pass.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// The passes of this crate.
    pub fn standard() -> Registry {
        Registry { passes: PASSES.iter().map(Registration::from).collect() }
    }

    /// Adds a pass.
    ///
    /// # Errors
    /// If there is one of its name.
    pub fn add(&mut self, pass: Registration) -> Result<&mut Registry, NameTaken> {
        if self.find(pass.name()).is_some() {
            return Err(NameTaken(pass.name().to_owned()));
        }
        self.passes.push(pass);
        Ok(self)
    }

    /// The pass called `name`.
    pub fn find(&self, name: &str) -> Option<&Registration> {
        self.passes.iter().find(|pass| pass.name() == name)
    }

    /// The passes, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.passes.iter()
    }
}

/// What is wrong with an option of a pass.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// The pass has no such option.
    #[error("no option `{name}`; there are: {}", listed(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The options that the pass has.
        known: Vec<String>,
    },
    /// The value cannot be read.
    #[error("option `{name}` takes no `{value}`; the default is `{default}`")]
    Value {
        /// The option.
        name: String,
        /// What was given.
        value: String,
        /// What it is if nothing is given.
        default: String,
    },
    /// The value is none of the words that the option takes.
    #[error("`{name}` is {}, not `{value}`", choice(.words))]
    Word {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        words: &'static [&'static str],
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// `` `a`, `b` or `c` ``.
fn choice(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match &quoted[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// Options of one pass.
#[derive(Clone, Debug, Default)]
pub struct PassOptions(pub Vec<(String, String)>);

impl PassOptions {
    /// The option `name`, or `default`.
    ///
    /// # Errors
    /// If its value cannot be read.
    pub fn get<T: FromStr + Display>(&self, name: &str, default: T) -> Result<T, OptionError> {
        let Some((_, value)) = self.0.iter().rev().find(|entry| entry.0 == name) else {
            return Ok(default);
        };
        // As LLVM's options, a flag is also a number.
        let flag = matches!(default.to_string().as_str(), "true" | "false");
        let text = match value.as_str() {
            "1" if flag => "true",
            "0" if flag => "false",
            text => text,
        };
        text.parse().map_err(|_| OptionError::Value {
            name: name.into(),
            value: value.clone(),
            default: default.to_string(),
        })
    }

    /// The words of option `name`, which commas separate.
    pub fn words(&self, name: &str) -> Vec<String> {
        let given = self.0.iter().filter(|entry| entry.0 == name);
        let words = given.flat_map(|(_, value)| value.split(','));
        words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    }
}
