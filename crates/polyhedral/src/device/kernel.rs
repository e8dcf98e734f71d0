//! The code of kernels.

use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::Kernel;
use super::kernel_selection::{Offload, Root};
use crate::ast::{Ast, AstOptions, Launch};
use crate::contraction::{BlockTiles, KERNEL, MOST_THREADS};
use crate::transform::Editor;
use crate::{Conjunction, Error, Node, NodeKind, ScheduleTree};

/// Blocks, threads and threads by default for a number of parallel loops.
type Units = (&'static [&'static str], &'static [&'static str], &'static [i128], &'static [i128]);

/// Neighbouring threads take neighbouring iterations of the innermost of the loops.
const ONE: Units = (&["b0"], &["t0"], &[256], &[256]);
const TWO: Units = (&["b1", "b0"], &["t1", "t0"], &[32, 32], &[8, 32]);
const THREE: Units = (&["b2", "b1", "b0"], &["t1", "t0"], &[16, 16, 16], &[8, 32]);

impl Offload {
    /// Generates the code of one thread.
    pub(super) fn kernel(
        &self,
        root: &Root,
        threads: &[i128],
        budget: &Budget,
    ) -> Result<Kernel, Error> {
        let params = root.prefix.parameters();
        let outer = names(root.depth, &params);
        let domain = at_values(&root.prefix, &outer)?;
        let domain = root.prefix.intersect_range(&domain, budget)?.domain(budget)?;
        let context = domain.params(budget)?.coalesce(budget)?;
        let mut tree = self.below_root(root, &domain);
        let mut launch = Launch::single();
        if root.parallel > 0 {
            let own = |pairs: &Union| -> Result<Union, Error> {
                Ok(pairs.intersect_domain(&domain, budget)?.intersect_range(&domain, budget)?)
            };
            let (validity, coincidence) = (own(&self.validity)?, own(&self.coincidence)?);
            let editor = Editor::with_coincidence(tree, validity, coincidence, budget)?;
            tree = mapped(editor, root.parallel, threads)?;
            launch = Launch::of_tree(&tree)?;
        }
        let context = context.single().ok();
        let ast = Ast::of_tree(&tree, context, &AstOptions::default(), budget)?;
        let statements = domain.relations().map(|set| set.space().output.name.clone()).collect();
        Ok(Kernel { name: root.name.clone(), outer, launch, ast, statements, tiles: None })
    }

    /// Generates the code of a block for a kernel that is a contraction; nothing if it is none, or
    /// tiles do not keep its dependences.
    pub(super) fn tiled(
        &self,
        root: &Root,
        tiles: &[BlockTiles],
        budget: &Budget,
    ) -> Result<Option<Kernel>, Error> {
        let Some(name) = root.alone() else { return Ok(None) };
        let domain = root.prefix.domain(budget)?;
        let Ok(domain) = domain.single() else { return Ok(None) };
        let Some(own) = tiles.iter().find(|own| own.statement == name) else { return Ok(None) };
        let set = Union::from(domain.clone());
        let inside = |pairs: &Union| -> Result<Union, Error> {
            Ok(pairs.intersect_domain(&set, budget)?.intersect_range(&set, budget)?)
        };
        let (validity, coincidence) = (inside(&self.validity)?, inside(&self.coincidence)?);
        let tree = match own.tree(domain, [&validity, &coincidence], budget) {
            Ok(tree) => tree,
            Err(Error::Illegal { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let launch = Launch::of_tree(&tree)?.with_threads(own.threads);
        let options = AstOptions { outlined: Some(KERNEL), ..AstOptions::default() };
        let context = set.params(budget)?.coalesce(budget)?;
        let ast = Ast::of_tree(&tree, context.single().ok(), &options, budget)?;
        let (name, outer, statements) = (root.name.clone(), Vec::new(), vec![name.to_owned()]);
        let tiles = Some(own.clone());
        Ok(Some(Kernel { name, outer, launch, ast, statements, tiles }))
    }

    /// Copies what stands at and below the root of a kernel.
    fn below_root(&self, root: &Root, domain: &Union) -> ScheduleTree {
        let mut tree = ScheduleTree::new(NodeKind::Domain(domain.clone()));
        // A filter has passed its instances already.
        let top: Vec<Node> = match self.tree.kind(root.node) {
            NodeKind::Filter(_) => self.tree.children(root.node).collect(),
            _ => vec![root.node],
        };
        let mut open: Vec<(Node, Node)> = top.into_iter().map(|n| (n, tree.root())).collect();
        while let Some((node, to)) = open.pop() {
            let copy = tree.add(to, self.tree.kind(node).clone());
            let mut children: Vec<Node> = self.tree.children(node).collect();
            children.reverse();
            open.extend(children.into_iter().map(|child| (child, copy)));
        }
        tree.close();
        tree
    }
}

/// Maps the parallel loops at the top of a tree to blocks of threads.
fn mapped(mut editor: Editor, parallel: usize, threads: &[i128]) -> Result<ScheduleTree, Error> {
    let is_band = |kind: &NodeKind| matches!(kind, NodeKind::Band(_));
    let (block_names, thread_names, blocks, chosen) = match parallel {
        1 => ONE,
        2 => TWO,
        _ => THREE,
    };
    let count = blocks.len();
    let Some(mut band) = editor.find(is_band) else { return Ok(editor.into_tree()) };
    let members = match editor.tree().kind(band) {
        NodeKind::Band(band) => band.members.len(),
        _ => 0,
    };
    if members > count {
        band = editor.split(band, count)?;
    }
    let given = |at: usize| threads.get(at).copied().filter(|size| *size > 0);
    let mut sizes: Vec<i128> =
        (0..chosen.len()).map(|at| given(at).unwrap_or(chosen[at])).collect();
    if sizes.iter().product::<i128>() > MOST_THREADS as i128 {
        let expected = "no more than 1024 threads in a block";
        return Err(Error::Operand { node: band, expected });
    }
    let outer = count - sizes.len();
    // Of three loops the outermost has no threads: its tiles are of one iteration.
    sizes.splice(0..0, std::iter::repeat_n(1, outer));
    let tiles = editor.tile(band, &sizes)?;
    let top = editor.map_to_units(tiles, block_names, blocks)?;
    // Below the context of the blocks: their filter, the tiles, and the points of a tile.
    let down = |node: &Node| editor.tree().children(*node).next();
    let chain = std::iter::successors(Some(top), down);
    let mut bands = chain.filter(|node| is_band(editor.tree().kind(*node)));
    if let Some(mut points) = bands.nth(1) {
        if outer > 0 {
            points = editor.split(points, outer)?;
            points = editor.tree().children(points).next().unwrap_or(points);
        }
        editor.map_to_units(points, thread_names, &sizes[outer..])?;
    }
    Ok(editor.into_tree())
}

/// Names the arguments of a launch apart from parameters.
fn names(count: usize, params: &[String]) -> Vec<String> {
    let mut start = "outer".to_owned();
    while (0..count).any(|at| params.contains(&format!("{start}{at}"))) {
        start.push('_');
    }
    (0..count).map(|at| format!("{start}{at}")).collect()
}

/// Returns the tuple whose values are those of parameters.
fn at_values(prefix: &Union, outer: &[String]) -> Result<Union, Error> {
    let count = outer.len();
    let mut part = Conjunction::default();
    for at in 0..count {
        let mut row = vec![0; 1 + 2 * count];
        (row[1 + at], row[1 + count + at]) = (-1, 1);
        part.equalities.push(row);
    }
    let tuple = prefix.relations().next().map(|map| map.space().output.clone());
    let tuple = tuple.unwrap_or_else(|| Tuple::anonymous(count));
    Ok(Relation::from_conjunctions(Space::set(outer.to_vec(), tuple), &[part])?.into())
}
