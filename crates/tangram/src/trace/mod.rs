//! What an optimisation did, change by change, from the graph that it started from.
//!
//! A [`Trace`] is complete: applying its steps to its first graph gives the last one (`removed`
//! goes, `made` and `modified` replace what has their numbers). It is written as JSON, or as a page
//! that steps through the graphs and needs nothing but a browser.

mod page;

use serde::Serialize;
use tangram_gsl::text;
use tangram_ir::{Module, Order, walk};

use crate::library::Library;
use crate::report::Report;
use crate::steps::{Node, Port, RewriteStep};

/// The version of the form. Grows when a field changes its meaning.
const VERSION: u32 = 1;

/// A program as a trace shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Graph {
    /// The inputs of the graph, and what its regions take.
    pub arguments: Vec<Port>,
    /// The operations, in order; one with regions comes before what these hold.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Takes down `module` as it is. Time and memory are linear in the program.
    pub fn of(module: &Module) -> Graph {
        let ops = walk(module, module.root(), Order::Pre);
        let mut arguments = Vec::new();
        for &op in &ops {
            for &region in module.regions(op) {
                for block in module.blocks(region) {
                    arguments.extend(module.args(block).iter().map(|&v| Port::of(module, v)));
                }
            }
        }
        Graph { arguments, nodes: ops.into_iter().map(|op| Node::of(module, op)).collect() }
    }
}

/// A rule that a step names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RuleText {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// Its text in canonical form.
    pub text: String,
}

/// What an optimisation did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Trace<'a> {
    /// The version of this form.
    pub version: u32,
    /// What was optimised.
    pub model: String,
    /// The program before the first step.
    pub before: Graph,
    /// The first steps.
    pub steps: &'a [RewriteStep],
    /// How many steps there were.
    pub step_count: u64,
    /// The rules that steps name. Native patterns have no text.
    pub rules: Vec<RuleText>,
}

impl<'a> Trace<'a> {
    /// Puts together the graph that was taken down before an optimisation, and its report.
    pub fn new(model: &str, before: Graph, report: &'a Report, library: &Library) -> Trace<'a> {
        let named = |name: &str| report.steps.iter().any(|step| step.rule == name);
        let rules = library.rules.iter().map(|located| &located.rule);
        let rules = rules.filter(|rule| named(rule.name())).map(|rule| RuleText {
            name: rule.name().to_owned(),
            doc: rule.doc().to_owned(),
            text: text::print(rule),
        });
        Trace {
            version: VERSION,
            model: model.to_owned(),
            before,
            steps: &report.steps,
            step_count: report.step_count,
            rules: rules.collect(),
        }
    }

    /// The trace as JSON.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// A page that steps through the trace: one file, which loads nothing.
    ///
    /// # Errors
    /// What the encoder says.
    pub fn to_html(&self) -> serde_json::Result<String> {
        Ok(page::PAGE.fill(&self.model, &self.to_json()?))
    }
}
