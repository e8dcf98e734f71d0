//! A trace is complete: its steps turn the first graph into the last one.

use std::collections::BTreeMap;

use tangram::onnx::Model;
use tangram::steps::Node;
use tangram::trace::{Graph, Trace};
use tangram::{Library, Options, Report, Strategy, optimise};

fn example(name: &str) -> Model {
    let path = format!("{}/../../examples/models/{name}.onnx", env!("CARGO_MANIFEST_DIR"));
    Model::open(path, tangram::dialects::context()).expect("an example")
}

fn traced(model: &mut Model, options: &Options) -> (Graph, Report) {
    let library = Library::shipped().expect("the shipped rules");
    let before = Graph::of(&model.module);
    let report = optimise(model, &library, options).expect("a report");
    (before, report)
}

fn by_number(nodes: &[Node]) -> BTreeMap<u32, &Node> {
    nodes.iter().map(|node| (node.id, node)).collect()
}

#[test]
fn steps_turn_the_first_graph_into_the_last() {
    for name in ["cnn", "transformer", "legacy", "text", "control"] {
        for strategy in [Strategy::Greedy, Strategy::Walk] {
            let mut model = example(name);
            let options = Options { strategy, max_steps: usize::MAX, ..Options::default() };
            let (before, report) = traced(&mut model, &options);
            let mut there = by_number(&before.nodes);
            for step in &report.steps {
                for node in &step.removed {
                    assert!(there.remove(&node.id).is_some(), "{name}: {step:?}");
                }
                there.extend(step.made.iter().chain(&step.modified).map(|node| (node.id, node)));
            }
            let after = Graph::of(&model.module);
            let expected = by_number(&after.nodes);
            assert_eq!(there.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
            for (id, node) in expected {
                assert_eq!(there[&id], node, "{name} {strategy:?}");
            }
        }
    }
}

#[test]
fn what_is_removed_is_shown_as_it_was() {
    let mut model = example("cnn");
    let (before, report) = traced(&mut model, &Options { max_steps: 1000, ..Options::default() });
    let mut there: BTreeMap<u32, Node> =
        before.nodes.into_iter().map(|node| (node.id, node)).collect();
    for step in &report.steps {
        // A step may change an operation and erase it then, but not what it makes.
        for node in &step.removed {
            assert_eq!(there[&node.id].results, node.results, "{step:?}");
            there.remove(&node.id);
        }
        for node in step.made.iter().chain(&step.modified) {
            there.insert(node.id, node.clone());
        }
    }
}

#[test]
fn operands_and_results_have_names_and_types() {
    let mut model = example("cnn");
    let (before, report) = traced(&mut model, &Options { max_steps: 1000, ..Options::default() });
    let library = Library::shipped().expect("the shipped rules");
    let trace = Trace::new("cnn", before, &report, &library);
    let json: serde_json::Value =
        serde_json::from_str(&trace.to_json().expect("text")).expect("JSON");
    let steps = json["steps"].as_array().expect("steps");
    let fused = steps.iter().find(|step| step["rule"] == "conv-batch-norm").expect("a fusion");
    let made = fused["made"].as_array().expect("nodes");
    let conv = made.iter().find(|node| node["operation"] == "nn.conv2d").expect("a convolution");
    let operand = &conv["operands"][0];
    assert!(operand["type"].as_str().is_some_and(|ty| ty.starts_with("float32[")), "{conv}");
    assert!(operand["name"].is_string() && conv["results"][0]["type"].is_string(), "{conv}");
    assert!(conv["attributes"]["strides"].as_str().is_some_and(|text| text.starts_with('[')));
    let matched = fused["matched"].as_array().expect("nodes");
    let norm = matched.iter().find(|node| node["operation"] == "nn.batch_norm").expect("a norm");
    assert_eq!(norm["operands"].as_array().map(Vec::len), Some(5), "{norm}");
    let rule = &trace.rules.iter().find(|rule| rule.name == "conv-batch-norm").expect("its text");
    assert!(rule.text.contains("rule conv-batch-norm") && !rule.doc.is_empty());
}

#[test]
fn a_page_is_one_file_with_the_trace_in_it() {
    let mut model = example("text");
    let (before, report) = traced(&mut model, &Options { max_steps: 1000, ..Options::default() });
    let trace = Trace::new("text", before, &report, &Library::default());
    let page = trace.to_html().expect("a page");
    let start = page.find("id=\"data\">").expect("data") + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").expect("its end");
    let held: serde_json::Value = serde_json::from_str(&page[start..end]).expect("JSON");
    let told: serde_json::Value =
        serde_json::from_str(&trace.to_json().expect("text")).expect("JSON");
    assert_eq!(held, told);
    assert!(page.starts_with("<!doctype html>"));
}
