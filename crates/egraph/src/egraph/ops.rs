//! Between a language's nodes and interned operators.

use crate::code::{Operators, bit_of, hash_of};
use crate::core::{Core, Link, Op};
use crate::id::to_u32;
use crate::{Id, Language};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A node as words: its operator, then its children.
pub(crate) type Words = SmallVec<[u32; 8]>;

/// Up to how many operators and discriminants are compared one by one.
///
/// Small e-graphs have no more, and to look at a few hashes costs less than a table of them.
const FEW: usize = 8;

/// The operators of one e-graph: for each a node of the language with all children zero.
#[derive(Clone, Debug)]
pub(crate) struct OpTable<L: Language> {
    pub(crate) templates: Vec<L>,
    /// The hashes of the first few operators.
    hashes: SmallVec<[u32; FEW]>,
    /// All operators, from when there are more than a few.
    ids: HashTable<(u32, Op)>,
    /// A bit for each operator there is; see [`bit_of`].
    known: u64,
    /// The discriminants, in the order of their index keys.
    discriminants: Vec<L::Discriminant>,
    /// The index keys, from when there are more than a few.
    codes: FxHashMap<L::Discriminant, u32>,
}

impl<L: Language> OpTable<L> {
    pub(crate) fn new() -> Self {
        OpTable {
            templates: Vec::with_capacity(FEW),
            hashes: SmallVec::new(),
            ids: HashTable::new(),
            known: 0,
            discriminants: Vec::with_capacity(FEW),
            codes: FxHashMap::default(),
        }
    }

    /// Returns the operator of a node, if it is known.
    pub(crate) fn lookup(&self, node: &L) -> Option<Op> {
        if node.is_leaf() {
            return self.find(hash_of(node), node);
        }
        let template = node.clone().map_children(|_| Id(0));
        self.find(hash_of(&template), &template)
    }

    /// Returns the operator of a node with all children zero, whose hash is known.
    #[inline]
    pub(crate) fn find(&self, hash: u64, template: &L) -> Option<Op> {
        if self.known & bit_of(hash) == 0 {
            return None;
        }
        if self.ids.is_empty() {
            let known = self.hashes.iter().zip(&self.templates);
            let same = |(known, other): (&u32, &L)| *known == hash as u32 && other == template;
            return known.into_iter().position(same).map(|place| Op(place as u32));
        }
        let same = |entry: &(u32, Op)| {
            entry.0 == hash as u32 && self.templates[entry.1.0 as usize] == *template
        };
        self.ids.find(hash, same).map(|entry| entry.1)
    }

    /// Returns the operator of a node, registered in `core` if it is new.
    pub(crate) fn intern(&mut self, core: &mut Core, node: &L) -> Op {
        if node.is_leaf() {
            return self.intern_hashed(core, hash_of(node), node);
        }
        let template = node.clone().map_children(|_| Id(0));
        self.intern_hashed(core, hash_of(&template), &template)
    }

    /// Does the same for a node with all children zero, whose hash is known.
    pub(crate) fn intern_hashed(&mut self, core: &mut Core, hash: u64, template: &L) -> Op {
        if let Some(op) = self.find(hash, template) {
            return op;
        }
        let code = self.code_of(template);
        let op = core.new_op(code, template.children().len());
        self.register(hash, template.clone(), op);
        op
    }

    fn code_of(&mut self, template: &L) -> u32 {
        let discriminant = template.discriminant();
        if let Some(code) = self.code(&discriminant) {
            return code;
        }
        let next = to_u32(self.discriminants.len(), "discriminants");
        self.discriminants.push(discriminant);
        if self.discriminants.len() > FEW {
            let known = self.codes.len();
            self.codes.extend(
                self.discriminants[known..].iter().cloned().zip(to_u32(known, "discriminants")..),
            );
        }
        next
    }

    fn register(&mut self, hash: u64, template: L, op: Op) {
        self.known |= bit_of(hash);
        self.templates.push(template);
        if self.templates.len() <= FEW {
            self.hashes.push(hash as u32);
            return;
        }
        if self.ids.is_empty() {
            for at in 0..FEW {
                self.enter(hash_of(&self.templates[at]), Op(at as u32));
            }
        }
        self.enter(hash, op);
    }

    fn enter(&mut self, hash: u64, op: Op) {
        let OpTable { templates, ids, .. } = self;
        // Only a table that grows asks for the hashes of the entries that it has.
        ids.insert_unique(hash, (hash as u32, op), |entry| hash_of(&templates[entry.1.0 as usize]));
    }

    /// Finds the operators of a left-hand side; `None` if it cannot match.
    ///
    /// A language that decides by hand what [matches](Language::matches) is asked for each
    /// operator of the same kind.
    pub(crate) fn link(&self, core: &Core, operators: &Operators<L>) -> Option<Link> {
        let mut link = Link::default();
        let known = operators.hashes.iter().zip(&operators.templates);
        if L::__matches_equal() {
            if operators.bits & !self.known != 0 {
                return None;
            }
            for (&hash, template) in known {
                link.ops.push(self.find(hash, template)?.0);
            }
            return Some(link);
        }
        for (&hash, template) in known {
            let own = self.find(hash, template).map(|op| op.0);
            let all = self.matching(core, template);
            link.ops.push(own.or(all.first().copied())?);
            link.loose.push(all);
        }
        let strict = link.ops.iter().zip(&link.loose).all(|(op, all)| *all == [*op]);
        if strict {
            link.loose.clear();
        }
        Some(link)
    }

    /// Lists the operators that a node matches, with as many children.
    fn matching(&self, core: &Core, template: &L) -> Vec<u32> {
        let Some(code) = self.code(&template.discriminant()) else {
            return Vec::new();
        };
        let fits = |op: &&Op| {
            core.arity(**op) == template.len() && template.matches(&self.templates[op.0 as usize])
        };
        core.ops_of_code(code).iter().filter(fits).map(|op| op.0).collect()
    }

    /// Finds or registers the operators of a right-hand side.
    pub(crate) fn link_right(
        &mut self,
        core: &mut Core,
        operators: &Operators<L>,
    ) -> SmallVec<[u32; 8]> {
        let known = operators.hashes.iter().zip(&operators.templates);
        known.map(|(&hash, template)| self.intern_hashed(core, hash, template).0).collect()
    }

    /// Returns the index key of a discriminant, if it is known.
    pub(crate) fn code(&self, discriminant: &L::Discriminant) -> Option<u32> {
        if self.codes.is_empty() {
            let place = self.discriminants.iter().position(|known| known == discriminant);
            return place.map(|place| place as u32);
        }
        self.codes.get(discriminant).copied()
    }

    /// Makes the node that words stand for.
    pub(crate) fn node(&self, words: &[u32]) -> L {
        let mut node = self.templates[words[0] as usize].clone();
        for (child, &word) in node.children_mut().iter_mut().zip(&words[1..]) {
            *child = Id(word);
        }
        node
    }
}

/// Puts an operator and children into words, each child passed through a function.
pub(crate) fn words(op: Op, children: &[Id], mut child: impl FnMut(u32) -> u32) -> Words {
    let mut words = Words::with_capacity(children.len() + 1);
    words.push(op.0);
    words.extend(children.iter().map(|id| child(id.0)));
    words
}

impl<L: Language> FromIterator<L> for OpTable<L> {
    /// Takes templates in the order of their operators, whose index keys are kept.
    fn from_iter<T: IntoIterator<Item = L>>(iter: T) -> Self {
        let mut table = OpTable::new();
        for (number, template) in iter.into_iter().enumerate() {
            table.code_of(&template);
            table.register(hash_of(&template), template, Op(to_u32(number, "operators")));
        }
        table
    }
}
