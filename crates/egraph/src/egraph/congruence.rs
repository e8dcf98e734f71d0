//! Unions, rebuilding, and keeping the analysis up to date.

use super::{EGraph, class_mut, new_class};
use crate::core::{Core, Host, Merge, Why};
use crate::id::to_u32;
use crate::{Analysis, EClass, Id, Justification, Language, PatternAst, Subst, Symbol};

/// The flag of a node whose data has to be made again.
const STALE: u8 = crate::core::STALE_FACT;

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Unites two classes; false if they were one already.
    ///
    /// Congruence follows at the next [`rebuild`](EGraph::rebuild). With explanations the reason
    /// is the place of the call; prefer [`union_instantiations`](EGraph::union_instantiations)
    /// or [`union_trusted`](EGraph::union_trusted) then.
    #[track_caller]
    pub fn union(&mut self, id1: Id, id2: Id) -> bool {
        if self.store.core.log.is_some() {
            let caller = std::panic::Location::caller();
            self.union_trusted(id1, id2, caller.to_string())
        } else {
            self.unite_for(id1, id2, Why::Congruence, None)
        }
    }

    /// Unites two classes for a reason that proofs will name.
    pub fn union_trusted(&mut self, from: Id, to: Id, reason: impl Into<Symbol>) -> bool {
        let reason = reason.into();
        let justification = Some(Justification::Rule(reason));
        self.unite_for(from, to, Why::Given(reason), justification)
    }

    /// Adds two instantiated patterns and unites them; returns the class and whether it is new.
    pub fn union_instantiations(
        &mut self,
        from_pat: &PatternAst<L>,
        to_pat: &PatternAst<L>,
        subst: &Subst,
        rule_name: impl Into<Symbol>,
    ) -> (Id, bool) {
        let from = self.add_instantiation_spelled(from_pat, subst);
        let to = self.add_instantiation_spelled(to_pat, subst);
        let united = self.union_trusted(from, to, rule_name);
        (self.find(from), united)
    }

    #[inline]
    fn unite_for(
        &mut self,
        id1: Id,
        id2: Id,
        why: Why,
        for_analysis: Option<Justification>,
    ) -> bool {
        if N::__nothing_to_do().is_none() {
            N::pre_union(self, id1, id2, &for_analysis);
        }
        self.clean = false;
        let Some(merge) = self.store.core.direction(id1, id2) else {
            return false;
        };
        if !self.touched.is_empty() {
            self.write_back();
        }
        self.join_lists(merge);
        let lost = self.pool.get_mut().and_then(|pool| pool.remove(merge.from));
        if N::__nothing_to_do().is_none()
            && let (Some(lost), Some(kept)) = (lost, class_mut(&mut self.pool, merge.into))
        {
            let did = self.analysis.merge(&mut kept.data, lost.data);
            if did.0 {
                self.queue_above(merge.into);
            }
            if did.1 {
                self.queue_above(merge.from);
            }
        }
        self.store.core.carry_out(merge, id1, id2, why);
        if N::__nothing_to_do().is_none() {
            N::modify(self, merge.into);
        }
        true
    }

    /// Appends the nodes of a class that is about to go, if those of the other were asked for.
    fn join_lists(&mut self, merge: Merge) {
        let wanted = |class: &mut EClass<L, N::Data>| class.nodes.made().is_some();
        if !class_mut(&mut self.pool, merge.into).is_some_and(wanted) {
            return;
        }
        let lost = class_mut(&mut self.pool, merge.from);
        let nodes: Vec<L> = match lost.and_then(|lost| lost.nodes.made()) {
            Some(made) => std::mem::take(made),
            None => self.store.core.nodes_of(merge.from).map(|node| self.enode(node)).collect(),
        };
        let kept = class_mut(&mut self.pool, merge.into);
        if let Some(made) = kept.and_then(|kept| kept.nodes.made()) {
            let mut nodes = nodes;
            if nodes.len() > made.len() {
                std::mem::swap(made, &mut nodes);
            }
            made.append(&mut nodes);
        }
    }

    /// Queues the nodes above a class to have their data made again.
    fn queue_above(&mut self, class: Id) {
        self.store.core.mark_above(class, |node| self.stale.push_back(node));
    }

    /// Replaces the data of a class and spreads the change at the next rebuild.
    pub fn set_analysis_data(&mut self, id: Id, new_data: N::Data) {
        let id = self.find(id);
        self.pool();
        if let Some(class) = class_mut(&mut self.pool, id) {
            class.data = new_data;
        }
        self.queue_above(id);
        self.clean = false;
        N::modify(self, id);
    }

    /// Restores congruence and the analysis after changes; returns the number of unions made.
    ///
    /// Amortised over all unions so far, O(nodes above changed classes).
    pub fn rebuild(&mut self) -> usize {
        let before = self.store.core.number_of_classes();
        let ids = self.store.core.number_of_ids();
        loop {
            while let Some((left, right)) = self.store.core.next_congruence() {
                self.unite_for(left, right, Why::Congruence, Some(Justification::Congruence));
            }
            match self.stale.pop_front() {
                Some(node) => self.remake(Id(node)),
                None if self.touched.is_empty() => break,
                None => self.write_back(),
            }
        }
        self.forget_lists();
        self.store.core.settle();
        self.clean = true;
        // Spellings are ids without a class, so this counts unions also where `modify` adds.
        (before + self.store.core.number_of_ids() - ids)
            .saturating_sub(self.store.core.number_of_classes())
    }

    /// Drops the lists of nodes of the classes that are about to change.
    fn forget_lists(&mut self) {
        let Some(pool) = self.pool.get_mut() else {
            return;
        };
        let fresh = self.store.core.first_new()..to_u32(self.store.core.number_of_ids(), "ids");
        for id in self.store.core.changed.iter().copied().chain(fresh) {
            if let Some(class) = pool.get_mut(self.store.core.find(Id(id))) {
                class.nodes.forget();
            }
        }
    }

    fn remake(&mut self, node: Id) {
        self.store.core.flags[node.0 as usize] &= !STALE;
        let enode = self.enode(node);
        let class = self.find(node);
        let data = N::remake(self, &enode, class);
        let class = self.find(node);
        let Some(kept) = class_mut(&mut self.pool, class) else {
            return;
        };
        let did = self.analysis.merge(&mut kept.data, data);
        if did.0 {
            self.queue_above(class);
            N::modify(self, class);
        }
    }

    /// Makes the typed side of a node that the core has just made.
    #[inline]
    pub(crate) fn welcome(&mut self, id: Id) {
        self.clean = false;
        if self.spelled.get().is_some() {
            self.spelled = Default::default();
        }
        match N::__nothing_to_do() {
            Some(data) => {
                if let Some(pool) = self.pool.get_mut() {
                    pool.insert(new_class(id, data));
                }
            }
            None => {
                let enode = self.enode(id);
                let data = N::make(self, &enode, id);
                self.pool();
                if let Some(pool) = self.pool.get_mut() {
                    pool.insert(new_class(id, data));
                }
                N::modify(self, id);
            }
        }
    }
}

impl<L: Language, N: Analysis<L>> Host for EGraph<L, N> {
    #[inline]
    fn core(&self) -> &Core {
        &self.store.core
    }

    #[inline]
    fn core_mut(&mut self) -> &mut Core {
        &mut self.store.core
    }

    #[inline]
    fn add_words(&mut self, words: &[u32]) -> Id {
        let (id, new) = self.store.core.add_key(words);
        if new {
            self.welcome(Id(id));
        }
        Id(id)
    }

    #[inline]
    fn add_new_words(&mut self, words: &[u32]) -> Id {
        let id = Id(self.store.core.add_new_key(words));
        self.welcome(id);
        id
    }

    #[inline]
    fn is_plain(&self) -> bool {
        N::__nothing_to_do().is_some()
    }

    #[inline]
    fn unite(&mut self, left: Id, right: Id, why: Why) -> bool {
        let for_analysis = match why {
            _ if self.store.core.log.is_none() => None,
            Why::Congruence => Some(Justification::Congruence),
            Why::Given(name) => Some(Justification::Rule(name)),
            Why::Match(_) => self.store.core.rule_name(why).map(Justification::Rule),
        };
        self.unite_for(left, right, why, for_analysis)
    }
}
