//! The rules of the original implementation of the language, case by case: `rules/cases/*.txt`
//! has for each a graph where it fires, with what it makes, and graphs that it leaves alone.
//!
//! ```text
//! rule relu-relu
//! from NameInTheOriginal
//! fires: relu(x)
//!   x: f32[3]
//!   ...
//! stays: why it does not fire
//!   ...
//! ```

#[path = "../../gsl/tests/support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::Graph;
use tangram::Library;
use tangram_gsl::rules::Options;

/// The rules that the original ships: those of its library, then those that it compares with the
/// passes of the compiler it works in.
const ORIGINALS: [&str; 38] = [
    "trans_trans",
    "split_concat",
    "split_concat_variadic",
    "bias_add_add",
    "diamond_conv_add",
    "two_conv_add",
    "conv_shortcut_add",
    "lower_batch_norm",
    "lower_layer_norm",
    "conv_mul",
    "merge_element_wise",
    "merge_element_wise_variadic",
    "dispatch_tuple",
    "parallel_two_conv",
    "parallel_conv_variadic",
    "parallel_conv_expand_kernels",
    "parallel_group_conv_variadic",
    "parallel_dense",
    "parallel_dense_variadic",
    "ConcretizeZerosLike",
    "ConcretizeOnesLike",
    "ConcretizeReshapeLike",
    "ConcretizeCollapseSumLike",
    "ConcretizeBroadcastToLike",
    "SimplifyReshape",
    "SimplifyTranspose",
    "FullElementWise",
    "EliminateIdentity",
    "SimplifyPadConv",
    "SimplifyBiasAdd",
    "LowerBatchNorm",
    "LowerLayerNorm",
    "LowerGroupNorm",
    "LowerInstanceNorm",
    "LowerL2Norm",
    "CombineParallelConv2D",
    "CombineParallelDense",
    "CombineParallelBatchMatmul",
];

/// A graph, and what the rule makes of it; nothing if it stays.
struct Case {
    expected: Option<String>,
    graph: String,
    line: usize,
}

#[derive(Default)]
struct Section {
    rule: String,
    originals: Vec<String>,
    cases: Vec<Case>,
}

fn read(path: &Path) -> Vec<Section> {
    let text = std::fs::read_to_string(path).expect("a file of cases");
    let mut sections: Vec<Section> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let case = |expected| Case { expected, graph: String::new(), line: i + 1 };
        if line.is_empty() || line.starts_with('#') {
            continue;
        } else if let Some(rule) = line.strip_prefix("rule ") {
            sections.push(Section { rule: rule.to_owned(), ..Section::default() });
            continue;
        }
        let section = sections.last_mut().expect("a rule before its cases");
        if let Some(names) = line.strip_prefix("from ") {
            section.originals = names.split(", ").map(str::to_owned).collect();
        } else if let Some(expected) = line.strip_prefix("fires: ") {
            section.cases.push(case(Some(expected.to_owned())));
        } else if line.starts_with("stays") {
            section.cases.push(case(None));
        } else if let Some(line) = line.strip_prefix("  ") {
            section.cases.last_mut().expect("a case").graph += &format!("{line}\n");
        } else {
            panic!("{}:{}: {line}", path.display(), i + 1);
        }
    }
    sections
}

/// Says what is wrong with a case, if anything is.
fn try_case(rule: &str, case: &Case) -> Option<String> {
    let options = Options { natives: tangram::natives(), ..Options::default() };
    let mut graph = Graph::new(&case.graph);
    let before = graph.dump();
    let compiled = graph.rule_with(rule, &options);
    let fired = graph.run(&compiled) > 0;
    let found = graph.show();
    match &case.expected {
        Some(expected) if !fired || *expected != found => Some(format!("{found}, not {expected}")),
        None if fired => Some(format!("the rule fires and makes {found}")),
        None if graph.dump() != before => Some("the graph was changed".to_owned()),
        _ => None,
    }
}

#[test]
fn rules_fire_where_they_should_and_nowhere_else() {
    let library = Library::shipped().expect("the shipped rules");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/cases");
    let mut originals = BTreeSet::new();
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the cases") {
        let path = entry.expect("a file").path();
        for section in read(&path) {
            let rule = library.rules.iter().find(|rule| rule.rule.name() == section.rule);
            let rule = rule.unwrap_or_else(|| panic!("no rule {}", section.rule));
            let text = tangram_gsl::text::print(&rule.rule);
            let fires = section.cases.iter().filter(|case| case.expected.is_some()).count();
            assert!(fires > 0 && fires < section.cases.len(), "{} lacks a case", section.rule);
            originals.extend(section.originals);
            for case in &section.cases {
                if let Some(problem) = try_case(&text, case) {
                    let file = path.file_name().expect("a name").to_string_lossy();
                    wrong.push(format!("{file}:{} {}: {problem}", case.line, section.rule));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(originals, ORIGINALS.map(str::to_owned).into());
}
