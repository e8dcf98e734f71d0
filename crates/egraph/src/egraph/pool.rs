//! Where typed classes live.

use crate::id::to_u32;
use crate::{EClass, Id, Language};

const GONE: u32 = u32::MAX;

/// The classes, in one dense vector, and where each canonical id's class lies in it.
pub(crate) struct Pool<L, D> {
    places: Vec<u32>,
    pub(crate) classes: Vec<EClass<L, D>>,
}

impl<L: Language, D> Pool<L, D> {
    pub(crate) fn new() -> Self {
        Pool { places: Vec::with_capacity(16), classes: Vec::with_capacity(16) }
    }

    /// Returns a copy for another e-graph.
    pub(crate) fn detached(&self) -> Self
    where
        D: Clone,
    {
        let copy = |class: &EClass<L, D>| EClass {
            id: class.id,
            nodes: class.nodes.detached(),
            data: class.data.clone(),
        };
        let classes = self.classes.iter().map(copy).collect();
        Pool { places: self.places.clone(), classes }
    }

    #[inline]
    pub(crate) fn insert(&mut self, class: EClass<L, D>) {
        let id = class.id.0 as usize;
        let place = to_u32(self.classes.len(), "classes");
        if self.places.len() < id {
            self.places.resize(id, GONE);
        }
        match self.places.get_mut(id) {
            Some(known) => *known = place,
            None => self.places.push(place),
        }
        self.classes.push(class);
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: Id) -> Option<EClass<L, D>> {
        let place = std::mem::replace(self.places.get_mut(id.0 as usize)?, GONE);
        if place == GONE {
            return None;
        }
        let class = self.classes.swap_remove(place as usize);
        if let Some(moved) = self.classes.get(place as usize) {
            self.places[moved.id.0 as usize] = place;
        }
        Some(class)
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&EClass<L, D>> {
        let place = *self.places.get(id.0 as usize)?;
        self.classes.get(place as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut EClass<L, D>> {
        let place = *self.places.get(id.0 as usize)?;
        self.classes.get_mut(place as usize)
    }
}
