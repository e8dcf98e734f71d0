//! What a band promises and asks of code generation; nodes taken out.

use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, Piece, refuse};
use crate::{Band, Conjunction, Division, Error, Member, Node, NodeKind};

/// How code generation may treat a member of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopType {
    /// As it thinks best.
    Default,
    /// One loop.
    Atomic,
    /// No loop: each iteration by itself.
    Unroll,
    /// A loop for each set of statements that run together.
    Separate,
}

impl LoopType {
    /// Every type with isl's name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("default", Self::Default),
        ("atomic", Self::Atomic),
        ("unroll", Self::Unroll),
        ("separate", Self::Separate),
    ];
}

impl Editor<'_> {
    fn change_band(&mut self, node: Node, change: impl FnOnce(&mut Band)) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        change(&mut band);
        let below = self.children(node);
        self.replace(node, vec![Piece::New(NodeKind::Band(band), below)])
    }

    /// Returns whether members of a band may be interchanged.
    ///
    /// # Errors
    /// [`Error::Illegal`] if they may not.
    pub fn set_permutable(&mut self, node: Node, permutable: bool) -> Result<Node, Error> {
        self.change_band(node, |band| band.permutable = permutable)
    }

    /// Returns whether iterations of a member may run at the same time.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member, [`Error::Illegal`] if they may not.
    pub fn set_coincident(
        &mut self,
        node: Node,
        member: usize,
        coincident: bool,
    ) -> Result<Node, Error> {
        if member >= self.band(node)?.members.len() {
            return refuse(node, "a band with such a member");
        }
        self.change_band(node, |band| band.members[member].coincident = coincident)
    }

    /// Replaces the options of code generation of a band: `{ separate[0]; unroll[1] }`.
    ///
    /// # Errors
    /// [`Error::Operand`] if the node is no band.
    pub fn set_options(&mut self, node: Node, options: Union) -> Result<Node, Error> {
        self.change_band(node, |band| band.options = options)
    }

    /// Says how code generation treats a member.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member.
    pub fn set_loop_type(
        &mut self,
        node: Node,
        member: usize,
        kind: LoopType,
    ) -> Result<Node, Error> {
        self.with_loop_type(node, member, kind, |tuple| tuple)
    }

    /// Says how code generation treats a member in what the band isolates.
    ///
    /// # Errors
    /// As [`Self::set_loop_type`].
    pub fn set_isolate_loop_type(
        &mut self,
        node: Node,
        member: usize,
        kind: LoopType,
    ) -> Result<Node, Error> {
        let isolated = |tuple| Tuple::wrapping(Tuple::new("isolate", [""; 0]), tuple);
        self.with_loop_type(node, member, kind, isolated)
    }

    fn with_loop_type(
        &mut self,
        node: Node,
        member: usize,
        kind: LoopType,
        tuple: impl Fn(Tuple) -> Tuple,
    ) -> Result<Node, Error> {
        if member >= self.band(node)?.members.len() {
            return refuse(node, "a band with such a member");
        }
        let mut options = self.band(node)?.options.clone();
        for (name, each) in LoopType::ALL.into_iter().skip(1) {
            let space = Space::set(Vec::new(), tuple(Tuple::new(name, ["d".to_owned()])));
            let at = Union::from(Relation::point(space, &[member as i128])?);
            options = match each == kind {
                true => options.union(&at)?,
                false => options.subtract(&at, self.budget)?,
            };
        }
        self.set_options(node, options)
    }

    /// Divides a member by a positive factor and rounds down.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member or the factor is not positive,
    /// [`Error::Illegal`] if dependent instances run at one time then.
    pub fn scale_down(&mut self, node: Node, member: usize, factor: i128) -> Result<Node, Error> {
        self.with_quotient(node, member, factor, vec![0, 0, -1, 1])
    }

    /// Replaces a member by its remainder after division by a positive factor.
    ///
    /// # Errors
    /// As [`Self::scale_down`].
    pub fn modulo(&mut self, node: Node, member: usize, factor: i128) -> Result<Node, Error> {
        self.with_quotient(node, member, factor, vec![0, 1, -1, -factor])
    }

    /// Replaces member `x` by the `y` of `row` over `[1, x, y, floor(x/factor)]`.
    fn with_quotient(
        &mut self,
        node: Node,
        member: usize,
        factor: i128,
        row: Vec<i128>,
    ) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        if member >= band.members.len() || factor <= 0 {
            return refuse(node, "a member of the band and a positive factor");
        }
        let divisions = vec![Division { numerator: vec![0, 1, 0], denominator: factor }];
        let part = Conjunction { divisions, equalities: vec![row], inequalities: Vec::new() };
        let space = Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1));
        let map = Union::from(Relation::from_conjunctions(space, &[part])?);
        let schedule = band.members[member].schedule.apply_range(&map, self.budget)?;
        band.members[member] = Member { schedule, coincident: false };
        let below = self.children(node);
        self.replace_by_bands(node, vec![band], below)
    }

    /// Takes a node out; its only child takes its place.
    ///
    /// # Errors
    /// [`Error::Operand`] for nodes that the tree needs or that have several children,
    /// [`Error::Illegal`] if the tree does not keep the order without it.
    pub fn delete(&mut self, node: Node) -> Result<Node, Error> {
        let listed = self.tree.parent(node).is_some_and(|parent| self.list(parent).is_ok());
        let children: Vec<Node> = self.tree.children(node).collect();
        let ([child], false, false) = (&children[..], listed, node == self.tree.root()) else {
            return refuse(node, "a node with one child, below the root and in no list");
        };
        let child = *child;
        if let NodeKind::Filter(filter) = self.tree.kind(node) {
            let active = self.tree.active(node, self.budget)?;
            if !active.is_subset(filter, self.budget)? {
                return refuse(node, "a filter that holds nothing back");
            }
        }
        let place = self.place_of(node);
        self.replace(node, vec![Piece::Old(child)])?;
        Ok(self.at_place(&place))
    }

    /// Takes away everything below a node.
    ///
    /// # Errors
    /// [`Error::Operand`] for the root and filters of a list, [`Error::Illegal`] if what was
    /// below kept dependent instances in order.
    pub fn cut(&mut self, node: Node) -> Result<Node, Error> {
        let listed = self.tree.parent(node).is_some_and(|parent| self.list(parent).is_ok());
        if listed || node == self.tree.root() {
            return refuse(node, "a node below the root and in no list");
        }
        self.replace(node, vec![Piece::New(NodeKind::Leaf, Vec::new())])
    }

    /// Puts the children of the sequence below a child of a sequence in that child's place.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such child or no sequence right below it.
    pub fn splice(&mut self, node: Node, position: usize) -> Result<Node, Error> {
        let expected = "a sequence whose child stands over a sequence";
        let list = self.list(node)?;
        let Some((child, outer)) = list.get(position) else { return refuse(node, expected) };
        let Some(inner) = self.tree.children(*child).next() else { return refuse(node, expected) };
        let same = self.tree.kind(inner).name() == self.tree.kind(node).name();
        if !same {
            return refuse(node, expected);
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for (index, (old, _)) in list.iter().enumerate() {
            if index != position {
                pieces.push(Piece::Old(*old));
                continue;
            }
            for (grandchild, filter) in self.list(inner)? {
                let own = filter.intersect(outer, self.budget)?;
                pieces.push(Piece::New(NodeKind::Filter(own), self.children(grandchild)));
            }
        }
        self.replace(node, vec![Piece::New(self.tree.kind(node).clone(), pieces)])
    }

    /// Puts the children of all sequences right below children of a sequence in the children's
    /// places.
    ///
    /// # Errors
    /// [`Error::Operand`] for a node that is no list.
    pub fn splice_all(&mut self, node: Node) -> Result<Node, Error> {
        let kind = self.tree.kind(node).name();
        let over_one = |(child, _): &(Node, Union)| {
            let inner = self.tree.children(*child).next();
            inner.is_some_and(|inner| self.tree.kind(inner).name() == kind)
        };
        let list = self.list(node)?;
        let positions: Vec<usize> =
            list.iter().enumerate().filter(|(_, one)| over_one(one)).map(|(at, _)| at).collect();
        positions.into_iter().rev().try_fold(node, |at, position| self.splice(at, position))
    }

    /// Returns the positions of children on the way from the root to a node.
    pub(super) fn place_of(&self, node: Node) -> Vec<usize> {
        let mut place = Vec::new();
        let mut at = node;
        while let Some(parent) = self.tree.parent(at) {
            place.push(self.tree.children(parent).position(|child| child == at).unwrap_or(0));
            at = parent;
        }
        place.reverse();
        place
    }

    /// Follows positions of children from the root.
    pub(super) fn at_place(&self, place: &[usize]) -> Node {
        let root = self.tree.root();
        place.iter().fold(root, |at, index| self.tree.children(at).nth(*index).unwrap_or(at))
    }
}
