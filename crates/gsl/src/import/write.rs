//! Substitutions as text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::graph::{Node, Operand, Operator, RuleGraph, Side};
use crate::check::check_file;
use crate::diagnostic::{Severity, Sources};
use crate::schema::NnSchema;
use crate::text;

/// Writes a rule in canonical form, in which nothing is found that is wrong.
pub(super) fn rule(name: &str, rule: &RuleGraph, schema: &NnSchema) -> Result<String, String> {
    let names = |letter, side| Names { letter, side };
    let (source, target) = (names('s', &rule.source), names('t', &rule.target));
    let writer = Writer { rule, source, target };
    let written = writer.rule(name)?;
    let text = text::format(name, &written).map_err(|_| "it is no rule".to_owned())?;
    let mut sources = Sources::default();
    let file = sources.add(name, text.clone());
    let mut parsed = text::parse_file(&sources, file);
    check_file(&mut parsed, schema, &sources);
    let error = parsed.diagnostics.iter().find(|found| found.severity == Severity::Error);
    match error {
        Some(found) => Err(found.message.replace('\n', " ")),
        None => Ok(text + "\n"),
    }
}

struct Writer<'a> {
    rule: &'a RuleGraph,
    source: Names<'a>,
    target: Names<'a>,
}

/// How the values of a side are called.
#[derive(Clone, Copy)]
struct Names<'a> {
    letter: char,
    side: &'a Side,
}

impl Names<'_> {
    fn one(self, operand: Operand) -> String {
        match operand {
            Operand::Input(i) => format!("i{i}"),
            Operand::Result(node, result) => match self.side.nodes[node].operator {
                Operator::Split { .. } => format!("{}{node}[{result}]", self.letter),
                _ => format!("{}{node}", self.letter),
            },
        }
    }

    fn list(self, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.one(*operand)).collect::<Vec<_>>().join(", ")
    }
}

impl Writer<'_> {
    fn rule(&self, name: &str) -> Result<String, String> {
        let RuleGraph { source, target } = self.rule;
        let inputs = inputs_of(source);
        if !inputs.is_superset(&inputs_of(target)) {
            return Err("the target reads what the source does not".to_owned());
        }
        if source.outputs.iter().any(|output| matches!(output, Operand::Input(_))) {
            return Err("the source matches anything".to_owned());
        }
        let mut text = format!("rule {name} alias range {{\n");
        for input in &inputs {
            let _ = writeln!(text, "let {} = *;", self.source.one(Operand::Input(*input)));
        }
        for (i, node) in source.nodes.iter().enumerate() {
            let _ = writeln!(text, "let s{i} = {};", self.source_call(node));
        }
        let _ = writeln!(text, "match {};", self.source.list(&source.outputs));
        let nodes = source.nodes.iter().enumerate();
        let mut conditions: Vec<String> = Vec::new();
        for condition in
            nodes.flat_map(|(i, node)| self.conditions(i, node)).chain(self.of_target())
        {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        if !conditions.is_empty() {
            let _ = writeln!(text, "where {};", conditions.join(", "));
        }
        for (i, node) in target.nodes.iter().enumerate() {
            let _ = writeln!(text, "let t{i} = {};", self.target_call(i, node)?);
        }
        let _ = writeln!(text, "rewrite {};\n}}", self.target.list(&target.outputs));
        Ok(text)
    }

    fn source_call(&self, node: &Node) -> String {
        let operands = self.source.list(&node.operands);
        match &node.operator {
            Operator::Concatenate { axis, .. } => {
                format!("concatenate({operands}) {{ axis = {axis} }}")
            }
            Operator::Split { axis } => format!("split({operands}) {{ axis = {axis} }}"),
            Operator::Conv { strides: [a, b], same, window } => {
                let padding = padding(&self.source.one(node.operands[1]), *same, *window);
                format!(
                    "conv2d({operands}) {{ strides = [{a}, {b}], dilation = [1, 1], padding = \
                     {padding}, groups = 1 }}"
                )
            }
            operator => format!("{}({operands})", name(operator)),
        }
    }

    fn target_call(&self, at: usize, node: &Node) -> Result<String, String> {
        let operands = self.target.list(&node.operands);
        Ok(match &node.operator {
            Operator::Concatenate { axis, .. } => {
                format!("concatenate({operands}) {{ axis = {axis} }}")
            }
            Operator::Split { axis } => {
                let first =
                    self.rule.target.outputs.iter().position(|o| *o == Operand::Result(at, 0));
                let first = first.ok_or("the first part of a split is no output")?;
                let like = self.source.one(self.rule.source.outputs[first]);
                format!(
                    "split({operands}) {{ axis = {axis}, indices_or_sections = \
                     [{like}.shape[{axis}]] }}"
                )
            }
            // Padding and groups are those of the convolution that it replaces.
            Operator::Conv { .. } => format!("conv2d({operands}) {{ ..{} }}", self.alike(node)?),
            operator => format!("{}({operands})", name(operator)),
        })
    }

    /// The convolution of the source with the same attributes, if there is one by the same filters.
    fn alike(&self, node: &Node) -> Result<String, String> {
        let nodes = self.rule.source.nodes.iter().enumerate();
        let alike: Vec<(usize, &Node)> =
            nodes.filter(|(_, other)| other.operator == node.operator).collect();
        let same = alike.iter().find(|(_, other)| other.operands[1] == node.operands[1]);
        let found = same.or(alike.first()).ok_or("a convolution is like none of the source")?;
        Ok(format!("s{}", found.0))
    }

    /// What the target asks of inputs that it puts together: both collections mean operands that
    /// fit without being stretched.
    fn of_target(&self) -> Vec<String> {
        let mut out = Vec::new();
        for node in &self.rule.target.nodes {
            let inputs: Vec<String> = node
                .operands
                .iter()
                .filter(|operand| matches!(operand, Operand::Input(_)))
                .map(|operand| self.source.one(*operand))
                .collect();
            let pairs = inputs.windows(2).map(|pair| (&pair[0], &pair[1]));
            match node.operator {
                Operator::Add | Operator::Multiply => {
                    out.extend(pairs.map(|(a, b)| format!("{a}.shape == {b}.shape")));
                }
                Operator::Concatenate { axis, rank: Some(rank) } => {
                    out.extend(inputs.iter().map(|input| format!("{input}.ndim == {rank}")));
                    let others = (0..rank).filter(|i| *i != axis).collect::<Vec<_>>();
                    out.extend(pairs.flat_map(|(a, b)| {
                        others.iter().map(move |i| format!("{a}.shape[{i}] == {b}.shape[{i}]"))
                    }));
                }
                _ => {}
            }
        }
        out
    }

    /// What has to hold of the operands of a node, besides its attributes.
    fn conditions(&self, at: usize, node: &Node) -> Vec<String> {
        let second = || self.source.one(node.operands[1]);
        match &node.operator {
            Operator::Scale => vec![format!("{}.ndim == 0", second())],
            // Neither collection knows of broadcasting, or of products with vectors.
            Operator::Add | Operator::Multiply => {
                vec![format!("{}.shape == {}.shape", self.source.one(node.operands[0]), second())]
            }
            Operator::Matmul => {
                let (a, b) = (self.source.one(node.operands[0]), second());
                vec![
                    format!("{a}.ndim >= 2"),
                    format!("{b}.ndim == {a}.ndim"),
                    format!("{a}.shape[0:{a}.ndim - 2] == {b}.shape[0:{b}.ndim - 2]"),
                ]
            }
            Operator::Concatenate { rank: Some(rank), .. } => {
                vec![format!("{}.ndim == {rank}", self.source.one(node.operands[0]))]
            }
            Operator::Split { .. } => vec![format!("s{at}.length == 2")],
            Operator::Conv { same: true, window: None, .. } => {
                let w = second();
                vec![format!("{w}.shape[2] mod 2 == 1"), format!("{w}.shape[3] mod 2 == 1")]
            }
            Operator::Conv { window: Some([height, width]), .. } => {
                let w = second();
                vec![format!("{w}.shape[2] == {height}"), format!("{w}.shape[3] == {width}")]
            }
            _ => Vec::new(),
        }
    }
}

fn name(operator: &Operator) -> &'static str {
    match operator {
        Operator::Add => "add",
        Operator::Multiply | Operator::Scale => "multiply",
        Operator::Matmul => "matmul",
        Operator::Relu => "relu",
        Operator::Sigmoid => "sigmoid",
        Operator::Tanh => "tanh",
        Operator::Concatenate { .. } => "concatenate",
        Operator::Split { .. } => "split",
        Operator::Conv { .. } => "conv2d",
    }
}

/// The zeros around the data of a convolution by `w`.
fn padding(w: &str, same: bool, window: Option<[i64; 2]>) -> String {
    match (same, window) {
        (false, _) => "[0, 0, 0, 0]".to_owned(),
        (true, Some([height, width])) => {
            let (a, b) = ((height - 1) / 2, (width - 1) / 2);
            format!("[{a}, {b}, {}, {}]", height - 1 - a, width - 1 - b)
        }
        (true, None) => {
            let half = |i| format!("{w}.shape[{i}] floordiv 2");
            format!("[{}, {}, {}, {}]", half(2), half(3), half(2), half(3))
        }
    }
}

fn inputs_of(side: &Side) -> BTreeSet<usize> {
    let operands = side.nodes.iter().flat_map(|node| &node.operands).chain(&side.outputs);
    let input = |operand: &Operand| match operand {
        Operand::Input(i) => Some(*i),
        Operand::Result(..) => None,
    };
    operands.filter_map(input).collect()
}
