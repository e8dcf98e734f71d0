//! Dataflow against the definition: instances are run one by one.

use std::collections::BTreeMap;

use tangram_polyhedral::Error;
use tangram_polyhedral::flow::Accesses;
use tangram_polyhedral::schedule::Constraints;
use tangram_presburger::{Budget, Union};

fn budget() -> Budget {
    Budget::steps(50_000_000)
}

fn union(text: &str) -> Union {
    Union::parse(text, &budget()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A linear form `c0 + c1 * i + c2 * j` over instances `i, j`.
type Form = [i128; 3];

fn value(form: Form, (i, j): (i128, i128)) -> i128 {
    form[0] + form[1] * i + form[2] * j
}

fn text(form: Form) -> String {
    format!("({}) + ({})*i + ({})*j", form[0], form[1], form[2])
}

/// Two statements over a square of side 4: each writes one cell and reads another.
struct Program {
    writes: [Form; 2],
    reads: [Form; 2],
    times: [[Form; 2]; 2],
}

const NAMES: [&str; 2] = ["S", "T"];
const SIDE: i128 = 4;

impl Program {
    fn accesses(&self) -> Accesses {
        let square = format!("0 <= i < {SIDE} and 0 <= j < {SIDE}");
        let both = |body: &dyn Fn(usize) -> String| {
            let parts = [0, 1].map(|s| format!("{}[i, j] -> {} : {square}", NAMES[s], body(s)));
            union(&format!("{{ {} }}", parts.join("; ")))
        };
        Accesses {
            sink: both(&|s| format!("A[{}]", text(self.reads[s]))),
            must_source: both(&|s| format!("A[{}]", text(self.writes[s]))),
            schedule: both(&|s| {
                format!("[{}, {}, {s}, i, j]", text(self.times[s][0]), text(self.times[s][1]))
            }),
            ..Accesses::default()
        }
    }

    /// Runs the instances in order and notes the last writer that each read sees.
    fn run(&self) -> Union {
        let mut instances = Vec::new();
        for s in [0, 1] {
            for at in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
                let time = self.times[s].map(|form| value(form, at));
                instances.push((time, s, at));
            }
        }
        instances.sort_unstable();
        let mut last: BTreeMap<i128, (usize, (i128, i128))> = BTreeMap::new();
        let mut pairs = Vec::new();
        for (_, s, at) in instances {
            let cell = value(self.reads[s], at);
            if let Some((source, (i, j))) = last.get(&cell) {
                let (from, to) = (NAMES[*source], NAMES[s]);
                pairs.push(format!("{from}[{i}, {j}] -> [{to}[{}, {}] -> A[{cell}]]", at.0, at.1));
            }
            last.insert(value(self.writes[s], at), (s, at));
        }
        union(&format!("{{ {} }}", pairs.join("; ")))
    }
}

#[test]
fn sources_are_the_last_writers_of_a_run() {
    let mut state = 0x9e37_79b9_u64;
    let mut next = |low: i128, high: i128| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + i128::from(state >> 33) % (high - low + 1)
    };
    let mut found = 0;
    for _ in 0..12 {
        let mut form = || [next(-1, 2), next(-1, 2), next(-1, 1)];
        let program = Program {
            writes: [form(), form()],
            reads: [form(), form()],
            times: [[form(), form()], [form(), form()]],
        };
        let flow = program.accesses().flow(&budget()).expect("within the budget");
        let expected = program.run();
        found += usize::from(!expected.is_empty(&budget()).expect("decided"));
        for got in [&flow.must_dependence, &flow.may_dependence] {
            assert!(got.is_equal(&expected, &budget()).expect("decided"), "{got}\n{expected}");
        }
    }
    assert!(found > 6, "too few programs with dependences: {found}");
}

#[test]
fn may_sources_and_kills_stand_beside_certain_ones() {
    let text = "
sink: \"{ R[i] -> a[] : 0 <= i < 3 }\"
must_source: \"{ W[] -> a[] }\"
may_source: \"{ M[] -> a[] }\"
kill: \"{ K[] -> a[] }\"
schedule_map: \"{ W[] -> [0]; R[i] -> [2i + 1]; M[] -> [2]; K[] -> [4] }\"
";
    let accesses = Accesses::parse(text, &budget()).expect("a problem");
    let flow = accesses.flow(&budget()).expect("within the budget");
    let same = |got: &Union, expected: &str| {
        assert!(got.is_equal(&union(expected), &budget()).expect("decided"), "{got}");
    };
    same(&flow.must_dependence, "{ W[] -> [R[0] -> a[]] }");
    same(&flow.may_dependence, "{ W[] -> [R[i] -> a[]] : 0 <= i < 2; M[] -> [R[1] -> a[]] }");
    same(&flow.must_no_source, "{ }");
    same(&flow.may_no_source, "{ }");
}

#[test]
fn a_source_depends_on_the_parameter() {
    let text = "
sink: { S[] -> a[] }
must_source: \"[N] -> { T[i] -> a[] : 0 <= i < N }\"
schedule_map: { T[i] -> [0, i]; S[] -> [1, 0] }
";
    let flow = Accesses::parse(text, &budget()).and_then(|a| a.flow(&budget())).expect("a flow");
    let expected = union("[N] -> { T[i] -> [S[] -> a[]] : i = N - 1 and N > 0 }");
    assert!(flow.must_dependence.is_equal(&expected, &budget()).expect("decided"));
    let none = union("[N] -> { S[] -> a[] : N <= 0 }");
    assert!(flow.may_no_source.is_equal(&none, &budget()).expect("decided"));
}

#[test]
fn schedules_of_different_lengths_are_refused() {
    let text = "
sink: { S[] -> a[] }
must_source: { T[] -> a[] }
schedule_map: { T[] -> [0, 0]; S[] -> [1] }
";
    let error = Accesses::parse(text, &budget()).and_then(|a| a.flow(&budget()));
    assert!(error.expect_err("no order").to_string().starts_with("expected the space"));
}

#[test]
fn a_text_without_accesses_or_an_order_says_which_key_it_lacks() {
    let of_flow = [
        ("schedule_map: { S[] -> [0] }\n", "no key `sink`"),
        ("sink: { S[] -> a[] }\n", "no key `schedule_map` or `schedule`"),
    ];
    for (text, expected) in of_flow {
        let error = Accesses::parse(text, &budget()).expect_err("a key is missing");
        assert!(matches!(error, Error::MissingKey { .. }), "{error:?}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let error = Constraints::parse("validity: { S[] -> T[] }\n", &budget()).expect_err("no domain");
    assert!(matches!(error, Error::MissingKey { .. }) && error.to_string().contains("`domain`"));
}
