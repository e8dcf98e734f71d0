//! E-graphs over terms as text: what `tangram.egraph` is made of.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use tangram_egraph as egraph;
use tangram_egraph::choices::EGraphChoices;
use tangram_egraph::{
    AstDepth, AstSize, BackoffScheduler, CostFunction, Extractor, Id, Pattern, RecExpr, Runner,
    Searcher, SerializedEGraph, SimpleScheduler, StopReason, SymbolLang,
};

use crate::EgraphError;
use crate::interrupt::interruptibly;

type Graph = egraph::EGraph<SymbolLang, ()>;
type Term = RecExpr<SymbolLang>;
/// What a run did: why it stopped, iterations, and for each rule its name, matches, changes and
/// new nodes.
type Ran = (String, usize, Vec<(String, usize, usize, usize)>);

fn error(why: impl ToString) -> PyErr {
    EgraphError::new_err(why.to_string())
}

fn term(text: &str) -> PyResult<Term> {
    text.parse().map_err(|why| error(format!("cannot read the term `{text}`: {why}")))
}

/// A cost for each operator, 1 if it has none; children are added.
struct Weights(HashMap<String, f64>);

impl Weights {
    fn of(&self, node: &SymbolLang) -> f64 {
        self.0.get(node.op.as_str()).copied().unwrap_or(1.0)
    }
}

impl CostFunction<SymbolLang> for Weights {
    type Cost = f64;

    fn cost<C: FnMut(Id) -> f64>(&mut self, node: &SymbolLang, mut costs: C) -> f64 {
        node.children.iter().fold(self.of(node), |sum, &child| sum + costs(child))
    }
}

/// A class with a match, and what each variable of the pattern stands for there.
type Found = (usize, Vec<(String, usize)>);

/// The native half of `tangram.egraph.EGraph`.
#[pyclass(module = "tangram._native")]
pub(crate) struct PyEGraph {
    graph: Graph,
}

impl PyEGraph {
    /// Returns the e-graph, rebuilt.
    fn rebuilt(&mut self) -> &Graph {
        if !self.graph.clean {
            self.graph.rebuild();
        }
        &self.graph
    }

    fn id(&self, id: usize) -> PyResult<Id> {
        match id < self.graph.core().number_of_ids() {
            true => Ok(Id::from(id)),
            false => Err(error(format!("there is no class {id}"))),
        }
    }

    fn shared(&self, root: Id, weights: &Weights, seconds: f64) -> PyResult<(f64, String, f64)> {
        let choices = EGraphChoices::new(&self.graph, |_, node| weights.of(node));
        let limit = Duration::try_from_secs_f64(seconds);
        let limit = limit.unwrap_or(if seconds > 0.0 { Duration::MAX } else { Duration::ZERO });
        let found = choices.class(&self.graph, root).and_then(|root| {
            let found = choices.choices.best(&[root], limit)?;
            let (term, _) = choices.expression(&self.graph, &found.selection, &[root])?;
            Some((found.cost, term.to_string(), found.bound))
        });
        found.ok_or_else(|| error(format!("class {root} has no finite term")))
    }
}

#[pymethods]
impl PyEGraph {
    #[new]
    fn new(proofs: bool) -> Self {
        let graph = Graph::default();
        PyEGraph { graph: if proofs { graph.with_explanations_enabled() } else { graph } }
    }

    /// Reads an e-graph in JSON; returns it with its roots.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<(Self, Vec<usize>)> {
        let read = SerializedEGraph::from_json(text).map_err(error)?;
        let (graph, roots) = read.build().map_err(error)?;
        Ok((PyEGraph { graph }, roots.into_iter().map(usize::from).collect()))
    }

    fn add(&mut self, text: &str) -> PyResult<usize> {
        Ok(self.graph.add_expr(&term(text)?).into())
    }

    fn lookup(&mut self, text: &str) -> PyResult<Option<usize>> {
        let term = term(text)?;
        Ok(self.rebuilt().lookup_expr(&term).map(usize::from))
    }

    fn union(&mut self, left: usize, right: usize, reason: &str) -> PyResult<bool> {
        let (left, right) = (self.id(left)?, self.id(right)?);
        Ok(self.graph.union_trusted(left, right, reason))
    }

    fn find(&mut self, id: usize) -> PyResult<usize> {
        let id = self.id(id)?;
        Ok(self.rebuilt().find(id).into())
    }

    /// Returns the numbers of nodes and classes.
    fn size(&mut self) -> (usize, usize) {
        let graph = self.rebuilt();
        (graph.total_number_of_nodes(), graph.number_of_classes())
    }

    /// Lists the nodes of a class: operator and classes of the children.
    fn nodes(&mut self, id: usize) -> PyResult<Vec<(&'static str, Vec<usize>)>> {
        let id = self.id(id)?;
        let graph = self.rebuilt();
        let child = |&child: &Id| usize::from(graph.find(child));
        let nodes = graph[id].nodes.iter();
        Ok(nodes
            .map(|node| (node.op.as_str(), node.children.iter().map(child).collect()))
            .collect())
    }

    /// Finds a pattern: for each match its class, and the class of each variable.
    fn search(&mut self, pattern: &str) -> PyResult<Vec<Found>> {
        let parsed: Pattern<SymbolLang> = pattern
            .parse()
            .map_err(|why| error(format!("cannot read the pattern `{pattern}`: {why}")))?;
        let vars = parsed.vars();
        let graph = self.rebuilt();
        let mut found = Vec::new();
        for matches in parsed.search(graph) {
            for subst in &matches.substs {
                let bound =
                    vars.iter().map(|&var| (var.to_string(), graph.find(subst[var]).into()));
                found.push((matches.eclass.into(), bound.collect()));
            }
        }
        Ok(found)
    }

    fn run(
        &mut self,
        python: Python<'_>,
        rules: &str,
        iterations: usize,
        nodes: usize,
        seconds: f64,
        backoff: bool,
    ) -> PyResult<Ran> {
        let rules = egraph::parse_rules(rules).map_err(error)?;
        let time = match Duration::try_from_secs_f64(seconds) {
            Ok(time) => time,
            Err(_) if seconds > 0.0 => Duration::MAX,
            Err(_) => {
                return Err(error(format!(
                    "expected a number of seconds, 0 or more, found {seconds}"
                )));
            }
        };
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        let graph = std::mem::take(&mut self.graph);
        let (graph, ran) = interruptibly(python, &stopped, move || {
            let runner = Runner::<SymbolLang, ()>::default().with_egraph(graph);
            let runner = runner.with_iter_limit(iterations).with_node_limit(nodes);
            let runner = runner.with_time_limit(time).with_hook(move |_| {
                match flag.load(Ordering::Relaxed) {
                    true => Err("interrupted".into()),
                    false => Ok(()),
                }
            });
            let runner = match backoff {
                true => runner.with_scheduler(BackoffScheduler::default()),
                false => runner.with_scheduler(SimpleScheduler),
            };
            let runner = runner.run(&rules);
            let ran = ran(&runner);
            Ok((runner.egraph, ran))
        })?;
        self.graph = graph;
        Ok(ran)
    }

    /// Returns cost and term of the best term by size, depth or weights of operators.
    fn extract(
        &mut self,
        id: usize,
        depth: bool,
        weights: Option<HashMap<String, f64>>,
    ) -> PyResult<(f64, String)> {
        let id = self.id(id)?;
        let graph = self.rebuilt();
        if let Some(weights) = weights {
            check(&weights)?;
            let (cost, term) = Extractor::new(graph, Weights(weights)).find_best(id);
            return Ok((cost, term.to_string()));
        }
        let (cost, term) = match depth {
            true => Extractor::new(graph, AstDepth).find_best(id),
            false => Extractor::new(graph, AstSize).find_best(id),
        };
        Ok((cost as f64, term.to_string()))
    }

    /// Returns cost, term and a lower bound of the best term where shared parts count once.
    fn extract_shared(
        &mut self,
        id: usize,
        weights: HashMap<String, f64>,
        seconds: f64,
    ) -> PyResult<(f64, String, f64)> {
        check(&weights)?;
        let id = self.id(id)?;
        self.rebuilt();
        self.shared(id, &Weights(weights), seconds)
    }

    /// Proves that two terms are equal, a step a line.
    fn explain(&mut self, left: &str, right: &str) -> PyResult<Vec<String>> {
        if !self.graph.are_explanations_enabled() {
            return Err(error("the e-graph keeps no proofs: make it with `proofs=True`"));
        }
        let terms = (term(left)?, term(right)?);
        let ids =
            (self.graph.add_expr_uncanonical(&terms.0), self.graph.add_expr_uncanonical(&terms.1));
        self.graph.rebuild();
        if self.graph.find(ids.0) != self.graph.find(ids.1) {
            return Err(error(format!("`{left}` and `{right}` are not equal in the e-graph")));
        }
        Ok(self.graph.explain_id_equivalence(ids.0, ids.1).get_flat_strings())
    }

    fn dot(&mut self) -> String {
        self.rebuilt().dot().to_string()
    }

    fn svg(&mut self, roots: Vec<usize>, limit: usize) -> PyResult<String> {
        let roots = roots.into_iter().map(|root| self.id(root)).collect::<PyResult<Vec<Id>>>()?;
        Ok(tangram::picture::egraph_svg(self.rebuilt(), &roots, limit))
    }

    #[allow(clippy::wrong_self_convention)] // it rebuilds first
    fn to_json(&mut self, roots: Vec<usize>) -> PyResult<String> {
        let roots = roots.into_iter().map(|root| self.id(root)).collect::<PyResult<Vec<Id>>>()?;
        SerializedEGraph::new(self.rebuilt(), &roots, |_, _| 1.0).to_json().map_err(error)
    }

    fn copy(&self) -> Self {
        PyEGraph { graph: self.graph.clone() }
    }
}

/// Costs have to be numbers that are not below 0: then a term costs no less than its parts.
fn check(weights: &HashMap<String, f64>) -> PyResult<()> {
    match weights.iter().find(|(_, cost)| !(cost.is_finite() && **cost >= 0.0)) {
        Some((op, cost)) => {
            Err(error(format!("expected a cost of at least 0 for `{op}`, found {cost}")))
        }
        None => Ok(()),
    }
}

fn ran(runner: &Runner<SymbolLang, ()>) -> Ran {
    let stopped = match &runner.stop_reason {
        Some(StopReason::IterationLimit(_)) => "iterations".to_owned(),
        Some(StopReason::NodeLimit(_)) => "nodes".to_owned(),
        Some(StopReason::TimeLimit(_)) => "seconds".to_owned(),
        Some(StopReason::Other(why)) => why.clone(),
        Some(StopReason::Saturated) | None => "saturated".to_owned(),
    };
    let rules = runner.statistics.iter().map(|rule| {
        let name = rule.name.map_or(String::new(), |name| name.to_string());
        (name, rule.matches, rule.changed, rule.nodes)
    });
    (stopped, runner.iterations.len(), rules.collect())
}
