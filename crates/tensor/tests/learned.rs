//! Models that were learned: what a file may say that is no model, and what the order of lists
//! does not change.

use tangram_tensor::learned::trees::{
    Aggregate, Ensemble, Mode, NodeLists, TargetLists, TreeRegressor,
};
use tangram_tensor::learned::{CastForm, Labels, PostTransform, cast_map, map_of, zip_map};
use tangram_tensor::{DType, KernelError, Tensor};

const NAMES: [&str; 4] = ["target_treeids", "target_nodeids", "target_ids", "target_weights"];

/// One tree: `x[0] <= 0.5`, then leaves of 1 and 2; nodes in the order of `ids`.
fn stump(ids: [i64; 3]) -> (NodeLists, TargetLists) {
    let inner = |id: i64, of: i64| if id == 0 { of } else { 0 };
    let nodes = NodeLists {
        trees: vec![7; 3],
        ids: ids.to_vec(),
        modes: ids.iter().map(|&id| [Mode::LessOrEqual, Mode::Leaf][usize::from(id > 0)]).collect(),
        features: vec![0; 3],
        values: ids.iter().map(|&id| if id == 0 { 0.5 } else { 0.0 }).collect(),
        yes: ids.iter().map(|&id| inner(id, 1)).collect(),
        no: ids.iter().map(|&id| inner(id, 2)).collect(),
        missing: Vec::new(),
    };
    let leaves = TargetLists {
        trees: vec![7; 2],
        nodes: vec![1, 2],
        targets: vec![0; 2],
        weights: vec![1.0, 2.0],
        names: NAMES,
    };
    (nodes, leaves)
}

fn predicted(nodes: &NodeLists, leaves: &TargetLists) -> Vec<f32> {
    let ensemble = Ensemble::of_nodes(nodes, leaves, 1, false).unwrap();
    let (aggregate, post) = (Aggregate::Sum, PostTransform::None);
    let model = TreeRegressor { ensemble, aggregate, base: Vec::new(), post };
    let x = Tensor::from_vec([3, 1], vec![0.5f32, 0.75, f32::NAN]).unwrap();
    model.predict(&x, DType::F32).unwrap().to_vec().unwrap()
}

fn refusal(nodes: &NodeLists, leaves: &TargetLists) -> &'static str {
    match Ensemble::of_nodes(nodes, leaves, 1, false) {
        Err(KernelError::BadParameter { parameter, .. }) => parameter,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_root_is_what_follows_no_other() {
    for ids in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let (nodes, leaves) = stump(ids);
        assert_eq!(predicted(&nodes, &leaves), [1.0, 2.0, 2.0], "{ids:?}");
    }
}

#[test]
fn a_walk_has_an_end() {
    let (mut nodes, leaves) = stump([0, 1, 2]);
    nodes.yes[0] = 0;
    assert_eq!(refusal(&nodes, &leaves), "nodes_truenodeids");
    // Nodes 1 and 2 follow each other.
    let (mut nodes, leaves) = stump([0, 1, 2]);
    nodes.modes = vec![Mode::LessOrEqual; 3];
    (nodes.yes, nodes.no) = (vec![1, 2, 1], vec![2, 2, 1]);
    assert_eq!(refusal(&nodes, &leaves), "nodes_truenodeids");
}

#[test]
fn a_deep_tree_needs_no_deep_stack() {
    let depth = 200_000i64;
    let ids: Vec<i64> = (0..=depth).collect();
    let last = ids.len() - 1;
    let mut modes = vec![Mode::Greater; ids.len()];
    modes[last] = Mode::Leaf;
    let next: Vec<i64> = ids.iter().map(|&id| (id + 1).min(depth)).collect();
    let count = ids.len();
    let nodes = NodeLists {
        trees: vec![0; count],
        ids,
        modes,
        features: vec![0; count],
        values: vec![0.0; count],
        yes: next.clone(),
        no: next,
        missing: Vec::new(),
    };
    let (weights, targets, leaf) = (vec![1.0], vec![0], vec![depth]);
    let leaves = TargetLists { trees: vec![0], nodes: leaf, targets, weights, names: NAMES };
    assert_eq!(predicted(&nodes, &leaves), [1.0; 3]);
}

#[test]
fn keys_of_maps_ascend_and_the_last_of_equal_ones_counts() {
    let keys = Tensor::vector(vec![4i64, 1, 4]);
    let (keys, values) = map_of(&keys, &Tensor::vector(vec![0.5f32, 1.5, 2.5])).unwrap();
    assert_eq!(keys.to_vec::<i64>().unwrap(), [1, 4]);
    assert_eq!(values.to_vec::<f32>().unwrap(), [1.5, 2.5]);
    let row = cast_map(&keys, &values, CastForm::Sparse(3), DType::I64).unwrap();
    assert_eq!((row.shape(), row.to_vec::<i64>().unwrap()), (&[1, 3][..], vec![0, 1, 0]));
    let negative = Tensor::vector(vec![-1i64]);
    assert!(
        cast_map(&negative, &Tensor::vector(vec![1.0f32]), CastForm::Sparse(3), DType::F32)
            .is_err()
    );
}

#[test]
fn a_map_for_each_row() {
    let x = Tensor::from_vec([2, 2], vec![0.25f32, 0.75, 1.0, 0.0]).unwrap();
    let labels = Labels::Texts(vec![b"b".to_vec(), b"a".to_vec()]);
    let maps = zip_map(&x, &labels).unwrap();
    assert_eq!(maps.len(), 2);
    assert_eq!(maps[0].0.strings().unwrap(), [b"a".to_vec(), b"b".to_vec()]);
    assert_eq!(maps[0].1.to_vec::<f32>().unwrap(), [0.75, 0.25]);
    assert!(zip_map(&x, &Labels::Numbers(vec![1])).is_err());
}
