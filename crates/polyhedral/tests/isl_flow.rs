//! isl's own dataflow problems: the results are the relations that isl lists.

mod peer;

use tangram_polyhedral::flow::Accesses;
use tangram_presburger::Budget;

const SCRIPT: &str = r#"
import sys, islpy
count = wrong = 0
def relations(path):
    text = open(path).read()
    lines = [line.split(": ", 1) for line in text.splitlines() if line.strip()]
    return {key: islpy.UnionMap(value.strip().strip('"')) for key, value in lines}
for line in sys.stdin:
    path, *got = line.rstrip("\n").split("\t")
    want = relations(path)
    names = ("must_dependence", "may_dependence", "must_no_source", "may_no_source")
    count += 1
    for name, text in zip(names, got, strict=True):
        if not want[name].is_equal(islpy.UnionMap(text)):
            wrong += 1
            print("WRONG", name, path, "got", text, "want", want[name])
print("checked", count, "wrong", wrong)
"#;

#[test]
fn flow_is_that_of_isl() {
    let Some((python, inputs)) = peer::python_and_inputs("flow") else { return };
    let mut lines = String::new();
    for path in inputs.iter().filter(|path| path.extension().is_some_and(|end| end == "ai")) {
        let text = std::fs::read_to_string(path).expect("readable");
        let budget = Budget::steps(200_000_000);
        let flow = Accesses::parse(&text, &budget).and_then(|accesses| accesses.flow(&budget));
        let flow = flow.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let results =
            [flow.must_dependence, flow.may_dependence, flow.must_no_source, flow.may_no_source];
        lines.push_str(&path.with_extension("flow").display().to_string());
        for result in results {
            lines.push_str(&format!("\t{result}"));
        }
        lines.push('\n');
    }
    let out = peer::ask(&python, SCRIPT, &lines);
    assert!(out.ends_with("checked 35 wrong 0\n"), "{out}");
}
