//! Walking a schedule tree or the dimensions of a map.

use std::collections::HashMap;

use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::build::{Builder, Executed, Graft, Next, Surroundings};
use crate::ast::basic_set::BasicSet;
use crate::ast::check_options::map_fault;
use crate::ast::{Ast, AstNodeKind, AstOptions};
use crate::{Error, Node, NodeKind, ScheduleTree};

/// Trees and maps that are deeper are refused: generation recurses.
const DEPTH: usize = 200;

impl Ast {
    /// Generates code for a well-formed schedule tree.
    ///
    /// `context` is a set of parameters that hold when the code runs. Parameters of
    /// contexts in the tree count as given, too.
    ///
    /// # Errors
    /// [`Error::Presburger`] if an operation fails or a loop has no first value;
    /// [`Error::TooDeep`] for trees of more than 200 dimensions or nested nodes.
    pub fn of_tree(
        tree: &ScheduleTree,
        context: Option<&Relation>,
        options: &AstOptions,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut params: Vec<String> = Vec::new();
        let names = context.into_iter().flat_map(|set| set.space().params.clone());
        for name in names.chain(tree.nodes().flat_map(|node| parameters(tree.kind(node)))) {
            if !params.contains(&name) {
                params.push(name);
            }
        }
        let mut depths = vec![0_usize; tree.nodes().count()];
        for node in tree.nodes() {
            let members = match tree.kind(node) {
                NodeKind::Band(band) => band.members.len(),
                _ => 1,
            };
            let outer = tree.parent(node).map_or(0, |parent| depths[parent.index()]);
            depths[node.index()] = outer + members;
        }
        if depths.iter().any(|depth| *depth > DEPTH) {
            return Err(Error::TooDeep { limit: DEPTH });
        }
        let mut builder = Builder {
            ast: Self::new(params.clone()),
            params,
            tree: Some(tree),
            free_dimensions: crate::ast::loops::residue_classes::free_dimensions(tree),
            loops: Vec::new(),
            map_options: Union::empty(),
            options,
            budget,
            jams: HashMap::new(),
        };
        let place = builder.start(context)?;
        let grafts = builder.node(tree.root(), Executed::new(), &place)?;
        builder.finish(grafts, &place)
    }

    /// Generates code for a schedule map: instances to points in lexicographic order.
    ///
    /// `choices` are isl's options of maps: `{ [i, j] -> separate[0]; [i, j] -> unroll[1] }`.
    ///
    /// # Errors
    /// [`Error::Option`] for a choice that has no meaning for the map; [`Error::Presburger`] if an
    /// operation fails, a loop has no first value, or the points have different dimensions; [`Error::TooDeep`] for more than 200 dimensions.
    pub fn of_map(
        schedule: &Union,
        context: Option<&Relation>,
        choices: &Union,
        options: &AstOptions,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut params: Vec<String> = Vec::new();
        let names = context.into_iter().flat_map(|set| set.space().params.clone());
        for name in names.chain(schedule.parameters()).chain(choices.parameters()) {
            if !params.contains(&name) {
                params.push(name);
            }
        }
        let mut builder = Builder {
            ast: Self::new(params.clone()),
            params,
            tree: None,
            free_dimensions: true,
            loops: Vec::new(),
            map_options: choices.clone(),
            options,
            budget,
            jams: HashMap::new(),
        };
        let times: Vec<Tuple> =
            schedule.relations().map(|map| map.space().output.clone()).collect();
        if let Some(fault) = map_fault(choices, &times, budget)? {
            return Err(fault.into());
        }
        let mut executed = Executed::new();
        let mut total = None;
        for map in schedule.relations() {
            let map = map.inverse()?.align_params(&builder.params)?;
            let space = map.space().clone();
            let dims = space.input.as_ref().map_or(0, |tuple| tuple.dims.len());
            if *total.get_or_insert(dims) != dims {
                let expected = format!("a tuple of {} dimensions", total.unwrap_or(0));
                let error = tangram_presburger::Error::Space { expected, found: space.to_string() };
                return Err(error.into());
            }
            executed.push(map.cast(Some(Tuple::anonymous(dims)), space.output)?);
        }
        let total = total.unwrap_or(0);
        if total > DEPTH {
            return Err(Error::TooDeep { limit: DEPTH });
        }
        let place = builder.start(context)?;
        let executed = builder.alive(executed, &place)?;
        let executed = builder.solved(executed, &place, total)?;
        let grafts = builder.dimensions(&executed, &place, total)?;
        builder.finish(grafts, &place)
    }
}

fn parameters(kind: &NodeKind) -> Vec<String> {
    match kind {
        NodeKind::Domain(set) | NodeKind::Filter(set) | NodeKind::Extension(set) => {
            set.parameters()
        }
        NodeKind::Context(set) | NodeKind::Guard(set) => set.space().params.clone(),
        NodeKind::Band(band) => {
            let members = band.members.iter().flat_map(|member| member.schedule.parameters());
            members.chain(band.options.parameters()).collect()
        }
        NodeKind::Expansion { contraction, expansion } => {
            [contraction.parameters(), expansion.parameters()].concat()
        }
        NodeKind::Sequence | NodeKind::Set | NodeKind::Mark(_) | NodeKind::Leaf => Vec::new(),
    }
}

impl Builder<'_> {
    fn start(&self, context: Option<&Relation>) -> Result<Surroundings, Error> {
        let mut place = Surroundings {
            depth: 0,
            known: BasicSet::universe(self.vars(0)),
            isolated: false,
            classes: Vec::new(),
        };
        if let Some(context) = context {
            self.assume(context, &mut place)?;
        }
        Ok(place)
    }

    /// Takes the facts of a set over the outer dimensions, or over parameters alone.
    fn assume(&self, set: &Relation, place: &mut Surroundings) -> Result<(), Error> {
        let set = set.align_params(&self.params)?.simple_hull(self.budget)?;
        for cell in BasicSet::all_of(&set)? {
            place.known.join(&cell.widened(place.known.vars));
        }
        Ok(())
    }

    fn finish(mut self, grafts: Vec<Graft>, place: &Surroundings) -> Result<Ast, Error> {
        let root = self.assemble(grafts, place)?;
        self.ast.set_root(root);
        self.ast.jam(&self.jams);
        Ok(self.ast)
    }

    /// Drops statements without instances where known facts hold.
    fn alive(&self, executed: Executed, place: &Surroundings) -> Result<Executed, Error> {
        let mut result = Executed::new();
        for map in executed {
            let dims = map.space().input.as_ref().map_or(0, |tuple| tuple.dims.len());
            let known = place.known.widened(self.vars(dims)).relation(self.space(dims))?;
            if !map.intersect_domain(&known, self.budget)?.is_empty(self.budget)? {
                result.push(map);
            }
        }
        Ok(result)
    }

    /// Generates the subtree of a node of the schedule tree.
    pub fn node(
        &mut self,
        node: Node,
        executed: Executed,
        place: &Surroundings,
    ) -> Result<Vec<Graft>, Error> {
        let Some(tree) = self.tree else { return Ok(Vec::new()) };
        let inner = |executed| (tree.children(node).next(), executed);
        let (child, executed) = match tree.kind(node) {
            NodeKind::Domain(domain) => inner(self.roots(domain)?),
            NodeKind::Context(set) => {
                let mut place = place.clone();
                self.assume(set, &mut place)?;
                let executed = self.alive(executed, &place)?;
                return tree
                    .children(node)
                    .next()
                    .map_or(Ok(Vec::new()), |child| self.node(child, executed, &place));
            }
            NodeKind::Guard(set) => return self.guarded(node, set, executed, place),
            NodeKind::Filter(filter) => {
                let executed = executed.into_iter().map(Union::from);
                let mut kept = Executed::new();
                for map in executed {
                    kept.extend(map.intersect_range(filter, self.budget)?.relations().cloned());
                }
                inner(self.alive(self.aligned(kept)?, place)?)
            }
            NodeKind::Sequence | NodeKind::Set => {
                let mut grafts = Vec::new();
                for child in tree.children(node) {
                    grafts.extend(self.node(child, executed.clone(), place)?);
                }
                return Ok(grafts);
            }
            NodeKind::Mark(name) if self.options.outlined == Some(name) => {
                return self.leaf(&executed, place);
            }
            NodeKind::Mark(name) => {
                let child = tree.children(node).next();
                let grafts = child.map_or(Ok(Vec::new()), |c| self.node(c, executed, place))?;
                return self.marked(name, grafts, place);
            }
            NodeKind::Extension(extension) => {
                let around = tree.parent(node).map(|_| &executed);
                let added = self.added(extension, around, place)?;
                inner(self.with_extension(executed, added)?)
            }
            NodeKind::Expansion { expansion, .. } => {
                let mut all = Union::empty();
                for map in executed {
                    let map = Union::from(map).apply_range(expansion, self.budget)?;
                    all = all.union(&map)?;
                }
                inner(self.aligned(all.relations().cloned().collect())?)
            }
            NodeKind::Band(_) if executed.is_empty() => return Ok(Vec::new()),
            NodeKind::Band(_) => {
                let executed = self.appended(&executed, node, 0)?;
                let place = Surroundings { isolated: false, ..place.clone() };
                return self.level(&executed, &place, Next::Member { band: node, member: 0 });
            }
            NodeKind::Leaf => return self.leaf(&executed, place),
        };
        child.map_or(Ok(Vec::new()), |child| self.node(child, executed, place))
    }

    /// Maps the point of no dimensions to every instance.
    fn roots(&self, domain: &Union) -> Result<Executed, Error> {
        let mut executed = Executed::new();
        for set in domain.relations() {
            let space = set.space();
            let to = Space::map(space.params.clone(), Tuple::anonymous(0), space.output.clone());
            executed.push(Relation::from_conjunctions(to, &set.conjunctions())?);
        }
        self.aligned(executed)
    }

    pub fn aligned(&self, executed: Executed) -> Result<Executed, Error> {
        Ok(executed.iter().map(|map| map.align_params(&self.params)).collect::<Result<_, _>>()?)
    }

    /// Returns the instances that an extension adds: once for each iteration of the loops
    /// around, which are those of the instances in `around`. As root, it has none around.
    fn added(
        &self,
        extension: &Union,
        around: Option<&Executed>,
        place: &Surroundings,
    ) -> Result<Executed, Error> {
        let mut added = Executed::new();
        for map in extension.relations() {
            let output = map.space().output.clone();
            added.push(map.cast(Some(Tuple::anonymous(place.depth)), output)?);
        }
        let added = self.aligned(added)?;
        let Some(around) = around else { return Ok(added) };
        let mut iterations = Relation::empty(self.space(place.depth));
        for map in around {
            iterations = iterations.union(&self.domain(map, place.depth)?)?;
        }
        // Mostly the loops say it all: then nothing is left to check.
        let iterations = iterations.coalesce(self.budget)?;
        let known = place.known.relation(self.space(place.depth))?;
        let iterations = self.needed(&iterations, &known)?;
        let inside = |map: &Relation| self.restricted(map, &iterations);
        Ok(added.iter().map(inside).collect::<Result<_, _>>()?)
    }

    fn with_extension(&self, executed: Executed, added: Executed) -> Result<Executed, Error> {
        let all = Union::collect(executed)?.union(&Union::collect(added)?)?;
        self.aligned(all.relations().cloned().collect())
    }

    /// Adds a member of a band as last dimension.
    pub fn appended(
        &self,
        executed: &Executed,
        band: Node,
        member: usize,
    ) -> Result<Executed, Error> {
        let Some(NodeKind::Band(data)) = self.tree.map(|tree| tree.kind(band)) else {
            return Ok(executed.clone());
        };
        let schedule = &data.members[member].schedule;
        let mut result = Executed::new();
        for map in executed {
            let outer = Union::from(map.inverse()?);
            let all = outer.flat_range_product(schedule, self.budget)?.inverse()?;
            for map in all.relations() {
                let output = map.space().output.clone();
                let dims = map.space().input.as_ref().map_or(0, |tuple| tuple.dims.len());
                result.push(map.cast(Some(Tuple::anonymous(dims)), output)?);
            }
        }
        self.aligned(result)
    }

    /// Returns whether iterations of the dimension may run at the same time.
    pub fn coincident(&self, next: Next) -> bool {
        match (next, self.tree) {
            (Next::Member { band, member }, Some(tree)) => match tree.kind(band) {
                NodeKind::Band(data) => data.members[member].coincident,
                _ => false,
            },
            _ => false,
        }
    }

    /// Generates what comes after a dimension.
    pub fn after(
        &mut self,
        executed: &Executed,
        place: &Surroundings,
        next: Next,
    ) -> Result<Vec<Graft>, Error> {
        let (band, member) = match next {
            Next::Dimension { total } => return self.dimensions(executed, place, total),
            Next::Member { band, member } => (band, member),
        };
        let Some(tree) = self.tree else { return Ok(Vec::new()) };
        let NodeKind::Band(data) = tree.kind(band) else { return Ok(Vec::new()) };
        if member + 1 < data.members.len() {
            let executed = self.appended(executed, band, member + 1)?;
            return self.level(&executed, place, Next::Member { band, member: member + 1 });
        }
        match tree.children(band).next() {
            Some(child) => self.node(child, executed.clone(), place),
            None => self.leaf(executed, place),
        }
    }

    /// Generates the dimensions of a map from the current one on.
    pub fn dimensions(
        &mut self,
        executed: &Executed,
        place: &Surroundings,
        total: usize,
    ) -> Result<Vec<Graft>, Error> {
        if executed.is_empty() {
            Ok(Vec::new())
        } else if place.depth < total {
            self.level(executed, place, Next::Dimension { total })
        } else {
            self.leaf(executed, place)
        }
    }

    fn guarded(
        &mut self,
        node: Node,
        set: &Relation,
        executed: Executed,
        place: &Surroundings,
    ) -> Result<Vec<Graft>, Error> {
        let Some(tree) = self.tree else { return Ok(Vec::new()) };
        let set = set.align_params(&self.params)?;
        let vars = self.vars(place.depth);
        let cells: Vec<BasicSet> =
            BasicSet::all_of(&set)?.iter().map(|cell| cell.widened(vars)).collect();
        let set = self.set(&cells, place.depth)?;
        let context = place.known.relation(self.space(place.depth))?;
        let guard = self.needed(&set, &context)?;
        let mut inner = place.clone();
        self.assume(&set, &mut inner)?;
        let Some(child) = tree.children(node).next() else { return Ok(Vec::new()) };
        let mut grafts = self.node(child, executed, &inner)?;
        for graft in &mut grafts {
            let own = graft.guard.take();
            graft.guard = self.conjunction(Some(guard.clone()), own)?;
        }
        Ok(grafts)
    }

    fn marked(
        &mut self,
        name: &str,
        grafts: Vec<Graft>,
        place: &Surroundings,
    ) -> Result<Vec<Graft>, Error> {
        let mut guard = None;
        let mut grafts = grafts;
        if let Some(first) = grafts.first().and_then(|graft| graft.guard.clone()) {
            let parts = first.conjunctions();
            let same = |graft: &Graft| {
                graft.guard.as_ref().is_some_and(|guard| guard.conjunctions() == parts)
            };
            if grafts.iter().all(same) {
                grafts.iter_mut().for_each(|graft| graft.guard = None);
                guard = Some(first);
            }
        }
        let Some(body) = self.assemble(grafts, place)? else { return Ok(Vec::new()) };
        let node = self.ast.add(AstNodeKind::Mark { name: name.to_owned(), body });
        Ok(vec![Graft { guard, node }])
    }
}
