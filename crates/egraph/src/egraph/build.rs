//! Adding and finding nodes, expressions and instantiated patterns.

use super::{EGraph, words};
use crate::code::{LeftCode, RightCode};
use crate::core::{Host, Link};
use crate::{Analysis, ENodeOrVar, Id, Language, PatternAst, RecExpr, Subst};
use smallvec::SmallVec;
use std::borrow::BorrowMut;

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Adds a node and returns the canonical id of its class.
    pub fn add(&mut self, enode: L) -> Id {
        let id = self.add_uncanonical(enode);
        self.find(id)
    }

    /// Adds a node and returns an id that, with explanations, remembers how it was spelled.
    pub fn add_uncanonical(&mut self, enode: L) -> Id {
        let op = self.store.ops.intern(&mut self.store.core, &enode);
        let core = &mut self.store.core;
        let key = words(op, enode.children(), |child| core.root_mut(child));
        if self.store.core.log.is_none() {
            if L::__matches_equal() {
                return self.add_words(&key);
            }
            return self.add_with_data(&key, &enode);
        }
        let spelled = words(op, enode.children(), |child| child);
        self.index_spellings();
        if let Some(&id) = self.exact.get(&spelled) {
            return Id(id);
        }
        let id = match self.store.core.lookup_key(&key) {
            Some(like) => {
                self.spelled = Default::default();
                Id(self.store.core.add_spelling(&spelled, like))
            }
            None => {
                let id = Id(self.store.core.add_key(&key).0);
                self.store.core.respell(id.0, &spelled);
                self.store.keep_data(id, &enode);
                self.welcome(id);
                id
            }
        };
        self.exact.entry(spelled).or_insert(id.0);
        id
    }

    fn add_with_data(&mut self, key: &[u32], enode: &L) -> Id {
        let (id, new) = self.store.core.add_key(key);
        if new {
            self.store.keep_data(Id(id), enode);
            self.welcome(Id(id));
        }
        Id(id)
    }

    /// Takes the ids that were made since the last call into the table of exact spellings.
    fn index_spellings(&mut self) {
        for id in self.exact_upto..self.store.core.number_of_ids() {
            let spelled = self.store.core.spelling(id as u32).into();
            self.exact.entry(spelled).or_insert(id as u32);
        }
        self.exact_upto = self.store.core.number_of_ids();
    }

    /// Adds an expression and returns the canonical id of its root.
    pub fn add_expr(&mut self, expr: &RecExpr<L>) -> Id {
        let id = self.add_expr_uncanonical(expr);
        self.find(id)
    }

    /// Adds an expression; with explanations the id remembers exactly this one.
    pub fn add_expr_uncanonical(&mut self, expr: &RecExpr<L>) -> Id {
        let mut ids: Vec<Id> = Vec::with_capacity(expr.len());
        for node in expr {
            let node = node.clone().map_children(|child| ids[usize::from(child)]);
            ids.push(self.add_uncanonical(node));
        }
        match ids.last() {
            Some(&root) => root,
            None => panic!("cannot add an empty expression"),
        }
    }

    /// Adds a pattern with its variables replaced and returns the canonical id of its root.
    pub fn add_instantiation(&mut self, pat: &PatternAst<L>, subst: &Subst) -> Id {
        let id = self.add_instantiation_spelled(pat, subst);
        self.find(id)
    }

    pub(crate) fn add_instantiation_spelled(&mut self, pat: &PatternAst<L>, subst: &Subst) -> Id {
        let mut ids: Vec<Id> = Vec::with_capacity(pat.len());
        for atom in pat {
            ids.push(match atom {
                ENodeOrVar::Var(var) => subst[*var],
                ENodeOrVar::ENode(node) => {
                    let node = node.clone().map_children(|child| ids[usize::from(child)]);
                    self.add_uncanonical(node)
                }
            });
        }
        match ids.last() {
            Some(&root) => root,
            None => panic!("cannot add an empty pattern"),
        }
    }

    /// Finds the class of a node; a borrowed one has its children made canonical.
    pub fn lookup<B: BorrowMut<L>>(&self, mut enode: B) -> Option<Id> {
        let enode = enode.borrow_mut();
        enode.update_children(|child| self.find(child));
        let op = self.store.ops.lookup(enode)?;
        let key = words(op, enode.children(), |child| child);
        self.store.core.lookup_key(&key).map(|id| self.find(Id(id)))
    }

    /// Finds the class of an expression.
    pub fn lookup_expr(&self, expr: &RecExpr<L>) -> Option<Id> {
        self.lookup_expr_ids(expr)?.pop()
    }

    /// Finds the classes of all nodes of an expression.
    pub fn lookup_expr_ids(&self, expr: &RecExpr<L>) -> Option<Vec<Id>> {
        let mut ids: Vec<Id> = Vec::with_capacity(expr.len());
        for node in expr {
            let node = node.clone().map_children(|child| ids[usize::from(child)]);
            ids.push(self.lookup(node)?);
        }
        Some(ids)
    }

    /// Finds the operators of a left-hand side; `None` if it cannot match.
    pub(crate) fn link(&self, left: &LeftCode<L>) -> Option<Link> {
        self.store.ops.link(&self.store.core, &left.operators)
    }

    /// Finds or registers the operators of a right-hand side.
    pub(crate) fn link_right(&mut self, right: &RightCode<L>) -> SmallVec<[u32; 8]> {
        self.store.ops.link_right(&mut self.store.core, &right.operators)
    }
}
