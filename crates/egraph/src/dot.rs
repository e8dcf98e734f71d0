//! Pictures of e-graphs by way of Graphviz.

use crate::{Analysis, EClass, EGraph, Id, Language};
use std::ffi::OsStr;
use std::fmt::{self, Debug, Display};
use std::io::{Error, Result, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// An e-graph as a text that Graphviz draws: a box for each class, an arrow for each child.
///
/// ```
/// use tangram_egraph::{EGraph, SymbolLang};
/// let mut egraph = EGraph::<SymbolLang, ()>::default();
/// egraph.add_expr(&"(f x x)".parse().unwrap());
/// egraph.rebuild();
/// assert!(egraph.dot().to_string().starts_with("digraph egraph {"));
/// ```
pub struct Dot<'a, L: Language, N: Analysis<L>> {
    egraph: &'a EGraph<L, N>,
    lines: Vec<String>,
    anchors: bool,
}

impl<'a, L: Language, N: Analysis<L>> Dot<'a, L, N> {
    pub(crate) fn new(egraph: &'a EGraph<L, N>) -> Self {
        Dot { egraph, lines: Vec::new(), anchors: true }
    }
}

impl<L: Language + Display, N: Analysis<L>> Dot<'_, L, N> {
    /// Adds a line to the head of the text.
    pub fn with_config_line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Returns whether arrows of one node leave it at different places; they do by default.
    pub fn with_anchors(mut self, use_anchors: bool) -> Self {
        self.anchors = use_anchors;
        self
    }

    /// Writes the text to a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_dot(&self, filename: impl AsRef<Path>) -> Result<()> {
        std::fs::write(filename, self.to_string())
    }

    /// Draws a PNG file with `dot`.
    ///
    /// # Errors
    /// If `dot` cannot be run.
    pub fn to_png(&self, filename: impl AsRef<Path>) -> Result<()> {
        self.draw("-Tpng", filename.as_ref())
    }

    /// Draws an SVG file with `dot`.
    ///
    /// # Errors
    /// If `dot` cannot be run.
    pub fn to_svg(&self, filename: impl AsRef<Path>) -> Result<()> {
        self.draw("-Tsvg", filename.as_ref())
    }

    /// Draws a PDF file with `dot`.
    ///
    /// # Errors
    /// If `dot` cannot be run.
    pub fn to_pdf(&self, filename: impl AsRef<Path>) -> Result<()> {
        self.draw("-Tpdf", filename.as_ref())
    }

    fn draw(&self, format: &str, path: &Path) -> Result<()> {
        self.run_dot([OsStr::new(format), OsStr::new("-o"), path.as_os_str()])
    }

    /// Runs `dot` with the text on its standard input.
    ///
    /// # Errors
    /// If it cannot be run or fails.
    pub fn run_dot<S: AsRef<OsStr>, I: IntoIterator<Item = S>>(&self, args: I) -> Result<()> {
        self.run("dot", args)
    }

    /// Runs a program with the text on its standard input.
    ///
    /// # Errors
    /// If it cannot be run or fails.
    pub fn run<S1, S2, I>(&self, program: S1, args: I) -> Result<()>
    where
        S1: AsRef<OsStr>,
        S2: AsRef<OsStr>,
        I: IntoIterator<Item = S2>,
    {
        let mut command = Command::new(program);
        let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(self.to_string().as_bytes())?;
        }
        match child.wait()?.code() {
            Some(0) => Ok(()),
            code => Err(Error::other(format!("expected exit code 0, found {code:?}"))),
        }
    }

    fn write_class(&self, f: &mut fmt::Formatter<'_>, class: &EClass<L, N::Data>) -> fmt::Result {
        writeln!(f, "  subgraph cluster_{} {{", class.id)?;
        writeln!(f, "    style=dotted")?;
        for (place, node) in class.iter().enumerate() {
            let label = node.to_string().replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(f, "    {}.{place}[label = \"{label}\"]", class.id)?;
        }
        writeln!(f, "  }}")
    }

    fn write_edges(&self, f: &mut fmt::Formatter<'_>, class: &EClass<L, N::Data>) -> fmt::Result {
        for (place, node) in class.iter().enumerate() {
            for (number, &child) in node.children().iter().enumerate() {
                let port = self.port(number, node.children().len());
                let child: Id = self.egraph.find(child);
                if child == class.id {
                    let (from, id) = (place, class.id);
                    writeln!(
                        f,
                        "  {id}.{from}{port} -> {id}.{from}:n [lhead = cluster_{id}, label=\"{number}\"]"
                    )?;
                } else {
                    let (id, from) = (class.id, place);
                    writeln!(
                        f,
                        "  {id}.{from}{port} -> {child}.0 [lhead = cluster_{child}, label=\"{number}\"]"
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Returns where the arrow to a child leaves its node.
    fn port(&self, number: usize, count: usize) -> &'static str {
        match (self.anchors, number, count) {
            (false, ..) | (_, _, 0 | 1) => "",
            (_, 0, 2) => ":sw",
            (_, 1, 2) => ":se",
            (_, 0, 3) => ":sw",
            (_, 1, 3) => ":s",
            (_, 2, 3) => ":se",
            _ => "",
        }
    }
}

impl<L: Language + Display, N: Analysis<L>> Display for Dot<'_, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "digraph egraph {{")?;
        writeln!(f, "  compound=true")?;
        writeln!(f, "  clusterrank=local")?;
        for line in &self.lines {
            writeln!(f, "  {line}")?;
        }
        let mut classes: Vec<&EClass<L, N::Data>> = self.egraph.classes().collect();
        classes.sort_unstable_by_key(|class| class.id);
        for class in &classes {
            self.write_class(f, class)?;
        }
        for class in &classes {
            self.write_edges(f, class)?;
        }
        writeln!(f, "}}")
    }
}

impl<L: Language, N: Analysis<L>> Debug for Dot<'_, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dot").field(self.egraph).finish()
    }
}
