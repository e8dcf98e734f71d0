//! isl's own schedule trees, read, printed and turned into maps beside isl.

mod peer;

use tangram_polyhedral::ScheduleTree;
use tangram_presburger::Budget;

const SCRIPT: &str = r#"
import sys, islpy
count = wrong = 0
for line in sys.stdin:
    path, printed, got = line.rstrip("\n").split("\t")
    want = islpy.Schedule.read_from_str(islpy.DEFAULT_CONTEXT, open(path).read())
    back = islpy.Schedule.read_from_str(islpy.DEFAULT_CONTEXT, printed.replace("\\n", "\n"))
    count += 1
    got = islpy.UnionMap(got)
    # isl does not restrict its map to the domain; the root's is not that of expanded instances.
    expands = "contraction" in open(path).read()
    domain = got.domain() if expands else want.get_domain()
    want = want.get_map().intersect_domain(domain)
    for name, value in (("map", got), ("printed", back.get_map().intersect_domain(domain))):
        if not want.is_equal(value):
            wrong += 1
            print("WRONG", name, path, "got", str(value)[:600], "want", str(want)[:600])
print("checked", count, "wrong", wrong)
"#;

#[test]
fn trees_and_their_maps_are_those_of_isl() {
    let Some((python, inputs)) = peer::python_and_inputs("") else { return };
    let (mut lines, mut refused) = (String::new(), Vec::new());
    for path in inputs.iter().filter(|path| path.extension().is_some_and(|end| end == "st")) {
        let text = std::fs::read_to_string(path).expect("readable");
        let budget = Budget::steps(200_000_000);
        let result = ScheduleTree::parse(&text, &budget).and_then(|tree| {
            tree.check(&budget)?;
            Ok((tree.to_string(), tree.to_map(&budget)?))
        });
        match result {
            Ok((printed, map)) => {
                let printed = printed.replace('\n', "\\n");
                lines.push_str(&format!("{}\t{printed}\t{map}\n", path.display()));
            }
            Err(error) => refused.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let out = peer::ask(&python, SCRIPT, &lines);
    assert!(out.ends_with("wrong 0\n"), "{out}");
    assert!(lines.lines().count() > 190, "{out}");
}
