//! Files of e-graphs and of rules, drawn at random: read or refused, and what is read is as it was.

mod files;

use fastrand::Rng;
use files::follow;
use tangram_egraph::SerializedEGraph;

fn run(seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let is_graph = |&seed: &u64| {
        let mut random = Rng::with_seed(seed);
        follow(&mut |end| random.usize(..end))
    };
    let graphs = seeds.filter(is_graph).count() as u64;
    println!("{graphs} of {count} files are an e-graph");
    assert!(graphs > count / 4, "most files are refused");
}

#[test]
fn a_sample_of_files() {
    run(0..600);
}

#[test]
#[ignore = "thousands of files"]
fn many_files() {
    run(1_000..61_000);
}

/// A chain of nodes, the root first: each child is known last.
fn chain(length: usize) -> String {
    let nodes: serde_json::Map<String, serde_json::Value> = (0..length)
        .map(|at| {
            let children: Vec<String> =
                (at + 1 < length).then(|| (at + 1).to_string()).into_iter().collect();
            let name = at.to_string();
            let node = serde_json::json!({"op": "f", "children": children, "eclass": name});
            (name, node)
        })
        .collect();
    let roots: Vec<String> = (0..length).map(|at| at.to_string()).collect();
    serde_json::json!({"nodes": nodes, "root_eclasses": roots}).to_string()
}

#[test]
fn a_long_chain_is_built_in_time_near_its_length() {
    // Quadratic, this would be 10^10 visits of nodes, for children and for roots.
    let length = 100_000;
    let read = SerializedEGraph::from_json(&chain(length)).expect("it is well formed");
    let (egraph, roots) = read.build().expect("every class has a term");
    assert_eq!((egraph.number_of_classes(), roots.len()), (length, length));
}
