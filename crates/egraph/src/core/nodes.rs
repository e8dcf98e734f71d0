//! Nodes and operators: the arena, interning, the hashcons.

use super::classes::{ClassInfo, NO_ROWS, Row, Use};
use super::hashcons::{Hashcons, hash_words};
use super::log::Log;
use super::spare::Spare;
use crate::Id;
use crate::id::to_u32;
use smallvec::SmallVec;
use std::sync::OnceLock;

/// An interned operator: what a node is, apart from its children.
///
/// Two nodes with the same `Op` have the same number of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct Op(pub u32);

/// What the core knows of one operator.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OpInfo {
    pub(crate) arity: u32,
    pub(crate) code: u32,
    /// Visible nodes with this operator, in the order of their creation.
    pub(crate) nodes: SmallVec<[u32; 4]>,
    /// Whether `nodes` holds entries that [`Core::settle`] has to drop.
    pub(crate) stale: bool,
}

/// A node waits for congruence repair.
pub(crate) const DIRTY: u8 = 1;
/// A node is a congruent copy of another one, or a spelling kept for proofs.
pub(crate) const DEAD: u8 = 2;
/// A node was pruned from its class: the hashcons knows it, matching does not.
pub(crate) const HIDDEN: u8 = 4;
/// A class waits for [`Core::settle`].
pub(crate) const CHANGED: u8 = 8;
/// A node waits for its analysis to be made again.
pub(crate) const STALE_FACT: u8 = 16;
/// A class took another one in since the last [`Core::settle`].
pub(crate) const MERGED: u8 = 32;

/// The untyped e-graph; see the [module](super) for its layout.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub struct Core {
    pub(crate) words: Vec<u32>,
    pub(crate) starts: Vec<u32>,
    /// The words of every node as they were when it was added, if proofs are kept.
    pub(crate) origin: Vec<u32>,
    pub(crate) find: Vec<u32>,
    pub(crate) ring: Vec<u32>,
    /// The last change of each node: creation, new children, or a new class id.
    pub(crate) stamp: Vec<u32>,
    pub(crate) flags: Vec<u8>,
    pub(crate) class: Vec<ClassInfo>,
    pub(crate) uses: Vec<Use>,
    #[cfg_attr(feature = "serde-1", serde(skip))]
    pub(crate) memo: Hashcons,
    pub(crate) rows: Vec<Row>,
    /// How many entries of `rows` belong to no class any more.
    pub(crate) garbage: usize,
    pub(crate) ops: Vec<OpInfo>,
    pub(crate) codes: Vec<SmallVec<[Op; 4]>>,
    pub(crate) pending: Vec<u32>,
    pub(crate) changed: Vec<u32>,
    /// Nodes that were pruned and came back, which the operator lists may lack.
    pub(crate) returned: Vec<u32>,
    /// The first id of each generation.
    pub(crate) generations: Vec<u32>,
    /// The current generation; [`Core::settle`] starts the next one.
    pub(crate) now: u32,
    pub(crate) visible: usize,
    pub(crate) classes: usize,
    pub(crate) unions: usize,
    pub(crate) log: Option<Log>,
    /// For each operator its nodes in the order of their classes, made when asked for.
    #[cfg_attr(feature = "serde-1", serde(skip))]
    pub(crate) by_class: OnceLock<Vec<OnceLock<Vec<u32>>>>,
    #[cfg_attr(feature = "serde-1", serde(skip))]
    pub(crate) scratch: Vec<u32>,
}

impl Default for Core {
    fn default() -> Self {
        Self::new()
    }
}

impl Core {
    /// Makes an empty e-graph.
    pub fn new() -> Self {
        let mut core = Core::over(Spare::take());
        core.starts.push(0);
        core.rows.push(NO_ROWS);
        core.generations.push(0);
        core
    }

    /// Registers an operator with `arity` children under the index key `code`.
    ///
    /// Every call makes a new operator; interning (one `Op` for equal operators) is the caller's.
    pub fn new_op(&mut self, code: u32, arity: usize) -> Op {
        let op = Op(to_u32(self.ops.len(), "operators"));
        self.ops.push(OpInfo { arity: arity as u32, code, nodes: SmallVec::new(), stale: false });
        if self.codes.len() <= code as usize {
            self.codes.resize(code as usize + 1, SmallVec::new());
        }
        self.codes[code as usize].push(op);
        op
    }

    /// Returns the number of children of `op`.
    pub fn arity(&self, op: Op) -> usize {
        self.ops[op.0 as usize].arity as usize
    }

    /// Returns the index key of `op`.
    pub fn code(&self, op: Op) -> u32 {
        self.ops[op.0 as usize].code
    }

    /// Returns the operators registered under the index key `code`.
    pub fn ops_of_code(&self, code: u32) -> &[Op] {
        self.codes.get(code as usize).map_or(&[], SmallVec::as_slice)
    }

    /// Returns the number of operators.
    pub fn number_of_ops(&self) -> usize {
        self.ops.len()
    }

    /// Returns the number of ids ever handed out.
    pub fn number_of_ids(&self) -> usize {
        self.find.len()
    }

    /// Returns the number of nodes that matching can see.
    pub fn number_of_nodes(&self) -> usize {
        self.visible
    }

    /// Returns the number of classes.
    pub fn number_of_classes(&self) -> usize {
        self.classes
    }

    /// Returns the number of entries in the hashcons.
    pub fn hashcons_len(&self) -> usize {
        self.memo.len()
    }

    /// Returns an estimate of the bytes held, in O(operators).
    pub fn bytes(&self) -> usize {
        let words = self.words.capacity() + self.starts.capacity() + self.origin.capacity();
        let ids = self.find.capacity() + self.ring.capacity() + self.stamp.capacity();
        let lists: usize = self.ops.iter().map(|op| op.nodes.capacity()).sum();
        let log = self.log.as_ref().map_or(0, Log::bytes);
        4 * (words + ids + lists + self.pending.capacity())
            + 8 * (self.uses.capacity() + self.rows.capacity())
            + self.flags.capacity()
            + self.class.capacity() * size_of::<ClassInfo>()
            + self.memo.bytes()
            + log
    }

    /// Returns the operator of a node.
    #[inline]
    pub fn op(&self, node: Id) -> Op {
        Op(self.words[self.starts[node.0 as usize] as usize])
    }

    /// Returns the children of a node, canonical after a rebuild.
    #[inline]
    pub fn kids(&self, node: Id) -> &[u32] {
        &self.key(node.0)[1..]
    }

    /// Returns operator and children of a node as words.
    #[inline]
    pub(crate) fn key(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.words[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns operator and children of a node as it was added, which needs proofs to be kept.
    pub(crate) fn spelling(&self, node: u32) -> &[u32] {
        if self.log.is_none() {
            return self.key(node);
        }
        let at = node as usize;
        &self.origin[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns the id of the class that holds `id`.
    #[inline]
    pub fn find(&self, id: Id) -> Id {
        Id(self.root(id.0))
    }

    #[inline]
    pub(crate) fn root(&self, mut id: u32) -> u32 {
        loop {
            let above = self.find[id as usize];
            if above == id {
                return id;
            }
            id = above;
        }
    }

    #[inline]
    pub(crate) fn root_mut(&mut self, mut id: u32) -> u32 {
        loop {
            let above = self.find[id as usize];
            if above == id {
                return id;
            }
            let higher = self.find[above as usize];
            self.find[id as usize] = higher;
            id = higher;
        }
    }

    /// Looks a node up: operator and children as words, children made canonical on the way.
    pub fn lookup(&self, op: Op, kids: &[Id]) -> Option<Id> {
        let mut key = SmallVec::<[u32; 8]>::with_capacity(kids.len() + 1);
        key.push(op.0);
        key.extend(kids.iter().map(|kid| self.root(kid.0)));
        self.lookup_key(&key).map(Id)
    }

    #[inline]
    pub(crate) fn lookup_key(&self, key: &[u32]) -> Option<u32> {
        self.memo.lookup(hash_words(key), |id| is_at(&self.words, &self.starts, id, key))
    }

    /// Adds a node and says whether it is new.
    ///
    /// Children need not be canonical. The id is the node's own; [`Core::find`] gives its class.
    pub fn add(&mut self, op: Op, kids: &[Id]) -> (Id, bool) {
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        key.push(op.0);
        for kid in kids {
            let root = self.root_mut(kid.0);
            key.push(root);
        }
        let (id, new) = self.add_key(&key);
        self.scratch = key;
        (Id(id), new)
    }

    /// Adds a node given as words with canonical children.
    #[inline]
    pub(crate) fn add_key(&mut self, key: &[u32]) -> (u32, bool) {
        let hash = hash_words(key);
        let id = to_u32(self.find.len(), "ids");
        let Core { memo, words, starts, .. } = self;
        if let Some(id) = memo.find_or_insert(hash, id, |id| is_at(words, starts, id, key)) {
            return (id, false);
        }
        (self.add_unknown(key), true)
    }

    /// Adds a node that is known to be new.
    #[inline]
    pub(crate) fn add_new_key(&mut self, key: &[u32]) -> u32 {
        self.memo.insert(hash_words(key), to_u32(self.find.len(), "ids"));
        self.add_unknown(key)
    }

    /// Adds a node that the hashcons knows already, by the id that it will get.
    fn add_unknown(&mut self, key: &[u32]) -> u32 {
        let id = self.push_node(key);
        let [op, kids @ ..] = key else { return id };
        self.ops[*op as usize].nodes.push(id);
        self.visible += 1;
        self.classes += 1;
        for (at, &kid) in kids.iter().enumerate() {
            let info = &mut self.class[kid as usize];
            info.weight += 1;
            if !kids[..at].contains(&kid) {
                let here = to_u32(self.uses.len(), "uses of classes");
                let next = std::mem::replace(&mut info.first_use, here);
                self.uses.push(Use { node: id, next });
            }
        }
        id
    }

    /// Appends a node that starts a class of its own.
    pub(crate) fn push_node(&mut self, key: &[u32]) -> u32 {
        let id = to_u32(self.find.len(), "ids");
        // Nodes are too short for a call to copy them to pay.
        self.words.reserve(key.len());
        for &word in key {
            self.words.push(word);
        }
        if self.log.is_some() {
            self.origin.extend_from_slice(key);
        }
        self.starts.push(to_u32(self.words.len(), "words of nodes"));
        self.find.push(id);
        self.ring.push(id);
        self.stamp.push(self.now);
        self.flags.push(CHANGED);
        self.class.push(ClassInfo::default());
        id
    }

    /// Tells whether matching can see the node.
    #[inline]
    pub(crate) fn is_visible(&self, node: u32) -> bool {
        self.flags[node as usize] & (DEAD | HIDDEN) == 0
    }

    /// Iterates over the visible nodes of the class that holds `id`, in no particular order.
    pub fn nodes_of(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.ring_of(self.root(id.0)).filter(|&node| self.is_visible(node)).map(Id)
    }

    /// Iterates over all class ids, in ascending order.
    pub fn class_ids(&self) -> impl Iterator<Item = Id> + '_ {
        (0..to_u32(self.find.len(), "ids")).filter(|&id| self.find[id as usize] == id).map(Id)
    }

    /// Returns the visible nodes with operator `op`, in the order of their creation.
    ///
    /// Exact after a rebuild.
    pub fn nodes_of_op(&self, op: Op) -> &[u32] {
        &self.ops[op.0 as usize].nodes
    }

    /// Returns the same nodes, those of a class together, classes in ascending order.
    ///
    /// Searches class by class ask for them again and again, so they are kept up to the next
    /// rebuild.
    pub(crate) fn nodes_by_class(&self, op: Op) -> &[u32] {
        let nodes = self.nodes_of_op(op);
        let all = self.by_class.get_or_init(|| vec![OnceLock::new(); self.ops.len()]);
        // An operator that came after the others has no nodes before the next rebuild.
        let Some(by_class) = all.get(op.0 as usize) else { return nodes };
        by_class.get_or_init(|| {
            let class = |node: u32| u64::from(self.root(node)) << 32 | u64::from(node);
            let mut places: Vec<u64> = nodes.iter().map(|&node| class(node)).collect();
            places.sort_unstable();
            places.into_iter().map(|place| place as u32).collect()
        })
    }
}

/// Tells whether a node consists of these words.
///
/// Compares words one by one, as nodes are too short for a call to pay. Only nodes of one length
/// begin with the same operator, so where it ends need not be looked up.
#[inline]
pub(crate) fn is_at(words: &[u32], starts: &[u32], node: u32, key: &[u32]) -> bool {
    let start = starts[node as usize] as usize;
    let node = words.get(start..start + key.len());
    node.is_some_and(|node| node.iter().zip(key).all(|(word, other)| word == other))
}
