//! Translating whole e-graphs to another language.

use crate::{Analysis, EGraph, Language};
use std::fmt::{self, Debug};
use std::marker::PhantomData;

/// A translation of e-graphs to another language and analysis.
pub trait LanguageMapper<L: Language, A: Analysis<L>> {
    /// The target language.
    type L2: Language;

    /// The target analysis.
    type A2: Analysis<Self::L2>;

    /// Translates a node; children stay as they are.
    fn map_node(&self, node: L) -> Self::L2;

    /// Translates a discriminant.
    fn map_discriminant(
        &self,
        discriminant: L::Discriminant,
    ) -> <Self::L2 as Language>::Discriminant;

    /// Translates the analysis.
    fn map_analysis(&self, analysis: A) -> Self::A2;

    /// Translates the data of a class.
    fn map_data(&self, data: A::Data) -> <Self::A2 as Analysis<Self::L2>>::Data;

    /// Translates an e-graph. Ids stay as they are.
    fn map_egraph(&self, src_egraph: EGraph<L, A>) -> EGraph<Self::L2, Self::A2> {
        src_egraph.map(self)
    }
}

/// A translation by `From`.
pub struct SimpleLanguageMapper<L2, A2> {
    target: PhantomData<fn() -> (L2, A2)>,
}

impl<L2, A2> Default for SimpleLanguageMapper<L2, A2> {
    fn default() -> Self {
        SimpleLanguageMapper { target: PhantomData }
    }
}

impl<L2, A2> Debug for SimpleLanguageMapper<L2, A2> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimpleLanguageMapper")
    }
}

impl<L, A, L2, A2> LanguageMapper<L, A> for SimpleLanguageMapper<L2, A2>
where
    L: Language,
    A: Analysis<L>,
    L2: Language + From<L>,
    A2: Analysis<L2> + From<A>,
    L2::Discriminant: From<L::Discriminant>,
    A2::Data: From<A::Data>,
{
    type L2 = L2;
    type A2 = A2;

    fn map_node(&self, node: L) -> L2 {
        L2::from(node)
    }

    fn map_discriminant(&self, discriminant: L::Discriminant) -> L2::Discriminant {
        discriminant.into()
    }

    fn map_analysis(&self, analysis: A) -> A2 {
        analysis.into()
    }

    fn map_data(&self, data: A::Data) -> A2::Data {
        data.into()
    }
}

impl<L: Language, A: Analysis<L>> EGraph<L, A> {
    fn map<M: LanguageMapper<L, A> + ?Sized>(mut self, mapper: &M) -> EGraph<M::L2, M::A2> {
        self.rebuild();
        self.pool();
        let mut target = EGraph::new(mapper.map_analysis(self.analysis));
        let templates = self.store.ops.templates.into_iter();
        target.store.ops = templates.map(|template| mapper.map_node(template)).collect();
        target.store.core = self.store.core;
        for class in self.pool.into_inner().into_iter().flat_map(|pool| pool.classes) {
            let class = crate::egraph::new_class(class.id, mapper.map_data(class.data));
            target.put_class(class);
        }
        target.shorten = self.shorten;
        target
    }
}
