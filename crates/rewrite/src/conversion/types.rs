//! Types that become other types, and the casts that stand where both meet.
//!
//! While a conversion runs, an operation that was converted gives values of new types and its
//! users may still want the old ones. A `builtin.unrealized_conversion_cast` stands between them.
//! When the user is converted it looks through the cast; casts that are left at the end are
//! replaced by what the converter materialises, or the conversion fails.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tangram_ir::{
    Attr, AttrData, Block, Context, Diagnostic, Loc, Module, Op, OpState, Point, Type, TypeData,
    Value,
};

use crate::rewriter::Rewriter;

/// The name of the cast.
pub(super) const CAST: &str = "builtin.unrealized_conversion_cast";

/// A list of types: none, one or several.
pub type Types = SmallVec<[Type; 1]>;

/// What one rule says of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeConversion {
    /// Nothing: another rule decides.
    Skip,
    /// There is no type for it.
    Illegal,
    /// These take its place; the type itself where it is legal.
    To(Types),
}

impl TypeConversion {
    /// One type.
    pub fn one(ty: Type) -> TypeConversion {
        TypeConversion::To([ty].into_iter().collect())
    }
}

type Rule = Box<dyn Fn(&Context, Type) -> TypeConversion + Send + Sync>;
type ValueRule = Box<dyn Fn(&Module, Value) -> TypeConversion + Send + Sync>;
type ToOne =
    Box<dyn Fn(&mut Rewriter<'_>, Point, Type, &[Value], Loc) -> Option<Value> + Send + Sync>;
type ToMany =
    Box<dyn Fn(&mut Rewriter<'_>, Point, &[Type], Value, Loc) -> Option<Vec<Value>> + Send + Sync>;

/// Rules for types and how to go between old and new. The rule added last is asked first.
#[derive(Default)]
pub struct TypeConverter {
    rules: Vec<Rule>,
    value_rules: Vec<ValueRule>,
    sources: Vec<ToOne>,
    targets: Vec<ToMany>,
    known: Mutex<FxHashMap<Type, Option<Types>>>,
}

/// Rules.
impl TypeConverter {
    /// A converter that has no type for anything.
    pub fn new() -> TypeConverter {
        TypeConverter::default()
    }

    /// Adds a rule.
    pub fn add(
        &mut self,
        rule: impl Fn(&Context, Type) -> TypeConversion + Send + Sync + 'static,
    ) -> &mut Self {
        self.rules.push(Box::new(rule));
        self.known.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self
    }

    /// Adds a rule that looks at the value; asked before the rules that see the type alone.
    pub fn add_for_values(
        &mut self,
        rule: impl Fn(&Module, Value) -> TypeConversion + Send + Sync + 'static,
    ) -> &mut Self {
        self.value_rules.push(Box::new(rule));
        self
    }

    /// Adds a way to make one value of an old type from values of new types.
    pub fn add_source_materialization(
        &mut self,
        make: impl Fn(&mut Rewriter<'_>, Point, Type, &[Value], Loc) -> Option<Value>
        + Send
        + Sync
        + 'static,
    ) -> &mut Self {
        self.sources.push(Box::new(make));
        self
    }

    /// Adds a way to make values of new types from one value of an old type.
    pub fn add_target_materialization(
        &mut self,
        make: impl Fn(&mut Rewriter<'_>, Point, &[Type], Value, Loc) -> Option<Vec<Value>>
        + Send
        + Sync
        + 'static,
    ) -> &mut Self {
        self.targets.push(Box::new(make));
        self
    }

    /// What takes the place of `ty`; `None` if nothing does.
    pub fn convert(&self, context: &Context, ty: Type) -> Option<Types> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&ty) {
            return known.clone();
        }
        let answer = self.rules.iter().rev().map(|rule| rule(context, ty));
        let found = decide(answer);
        lock().insert(ty, found.clone());
        found
    }

    /// What takes the place of the type of `value`.
    pub fn convert_value(&self, module: &Module, value: Value) -> Option<Types> {
        for rule in self.value_rules.iter().rev() {
            match rule(module, value) {
                TypeConversion::Skip => {}
                TypeConversion::Illegal => return None,
                TypeConversion::To(types) => return Some(types),
            }
        }
        self.convert(module.context(), module.value_type(value))
    }

    /// What takes the place of `types`, one after the other.
    pub fn convert_all(
        &self,
        context: &Context,
        types: impl IntoIterator<Item = Type>,
    ) -> Option<Vec<Type>> {
        let mut all = Vec::new();
        for ty in types {
            all.extend(self.convert(context, ty)?);
        }
        Some(all)
    }

    /// Returns whether `ty` stays as it is.
    pub fn is_legal(&self, context: &Context, ty: Type) -> bool {
        self.convert(context, ty).is_some_and(|types| types[..] == [ty])
    }

    /// Returns whether all operands and results of `op`, and the arguments of its blocks, have types
    /// that stay.
    pub fn is_legal_op(&self, module: &Module, op: Op) -> bool {
        let legal = |value: Value| self.is_legal(module.context(), module.value_type(value));
        module.operands(op).all(legal)
            && module.results(op).all(legal)
            && module.regions(op).iter().all(|&region| {
                module.blocks(region).all(|block| module.args(block).iter().copied().all(legal))
            })
    }

    /// `attr` with the types in it converted: type attributes, also in arrays and dictionaries.
    /// `None` if one of them has no one type. Attributes nest as deep as the parser allows.
    pub fn convert_attr(&self, context: &Context, attr: Attr) -> Option<Attr> {
        match context.attr_data(attr) {
            AttrData::Type(ty) => Some(context.type_attr(self.convert_nested(context, *ty)?)),
            AttrData::Array(items) => {
                let items: Option<Vec<Attr>> =
                    items.iter().map(|&item| self.convert_attr(context, item)).collect();
                Some(context.array_attr(&items?))
            }
            AttrData::Dict(entries) => {
                let entries: Option<Vec<_>> = entries
                    .iter()
                    .map(|&(name, item)| Some((name, self.convert_attr(context, item)?)))
                    .collect();
                Some(context.dict(entries?))
            }
            &AttrData::Properties { properties, attributes, .. } => {
                let properties = self.convert_attr(context, properties)?;
                let attributes = self.convert_attr(context, attributes)?;
                Some(context.with_properties(properties, attributes))
            }
            _ => Some(attr),
        }
    }

    /// One type for `ty`; in the type of a function, what it takes and gives.
    fn convert_nested(&self, context: &Context, ty: Type) -> Option<Type> {
        if let TypeData::Function { inputs, results } = context.type_data(ty) {
            let inputs = self.convert_all(context, inputs.iter().copied())?.into();
            let results = self.convert_all(context, results.iter().copied())?.into();
            return Some(context.ty(TypeData::Function { inputs, results }));
        }
        match self.convert(context, ty)?[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

fn decide(answers: impl Iterator<Item = TypeConversion>) -> Option<Types> {
    for answer in answers {
        match answer {
            TypeConversion::Skip => {}
            TypeConversion::Illegal => return None,
            TypeConversion::To(types) => return Some(types),
        }
    }
    None
}

/// Values between old and new types.
impl TypeConverter {
    /// The values of new types for `value`, where an operation at `point` needs them: `value`
    /// itself if its type stays, what a cast was made of, or a new cast. `None` if its type has
    /// nothing in its place.
    pub fn remap(
        &self,
        rewriter: &mut Rewriter<'_>,
        point: Point,
        value: Value,
    ) -> Option<Vec<Value>> {
        let module = rewriter.module();
        let types = self.convert_value(module, value)?;
        let ty = module.value_type(value);
        if types[..] == [ty] {
            return Some(vec![value]);
        }
        if let Some(def) = module.def_op(value)
            && module.name_text(def) == CAST
            && module.operands(def).map(|v| module.value_type(v)).eq(types.iter().copied())
        {
            return Some(module.operands(def).collect());
        }
        let loc = module.def_op(value).map_or(Loc::UNKNOWN, |def| module.loc(def));
        let cast = cast(rewriter, point, &[value], &types, loc);
        Some(rewriter.module().results(cast).collect())
    }

    /// Replaces each result of `op` by the values given for it, which may have other types or be
    /// none or several, and erases `op`.
    ///
    /// # Errors
    /// If `values` has not one entry for each result; nothing is changed then.
    pub fn replace(
        &self,
        rewriter: &mut Rewriter<'_>,
        op: Op,
        values: &[Vec<Value>],
    ) -> Result<(), Diagnostic> {
        let module = rewriter.module();
        let wanted = module.result_count(op);
        if wanted != values.len() {
            let message = format!("{} lists of values replace {wanted} results", values.len());
            return Err(Diagnostic::error("replacement-count", module.loc(op), message));
        }
        let (loc, results) = (module.loc(op), module.results(op));
        let olds: Vec<Value> = results
            .zip(values)
            .map(|(result, values)| as_old(rewriter, Point::Before(op), result, values, loc))
            .collect();
        rewriter.replace(op, &olds)
    }

    /// Gives `block` arguments of new types for those that it has. `None` if there are none for
    /// one of them, and then nothing is changed.
    pub fn convert_arguments(&self, rewriter: &mut Rewriter<'_>, block: Block) -> Option<()> {
        let module = rewriter.module();
        let args = module.args(block).to_vec();
        let types: Option<Vec<Types>> =
            args.iter().map(|&arg| self.convert_value(module, arg)).collect();
        let types = types?;
        if args.iter().zip(&types).all(|(&arg, types)| types[..] == [module.value_type(arg)]) {
            return Some(());
        }
        let count = args.len();
        for (&arg, types) in args.iter().zip(&types) {
            let loc = rewriter.module().arg_loc(arg);
            let new: Vec<Value> =
                types.iter().map(|&ty| rewriter.add_argument_at(block, ty, loc)).collect();
            if rewriter.module().has_uses(arg) {
                let old = as_old(rewriter, Point::Start(block), arg, &new, loc);
                rewriter.replace_uses(arg, old);
            }
        }
        for i in (0..count).rev() {
            rewriter.erase_argument(block, i);
        }
        Some(())
    }

    /// Converts the arguments of every block in the regions of `op`.
    pub fn convert_regions(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Option<()> {
        for i in 0..rewriter.module().regions(op).len() {
            let region = rewriter.module().region(op, i);
            let blocks: Vec<Block> = rewriter.module().blocks(region).collect();
            for block in blocks {
                self.convert_arguments(rewriter, block)?;
            }
        }
        Some(())
    }

    /// Makes what stands for the cast `op`, if the converter knows how; `None` if not.
    pub(super) fn materialize(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Option<Vec<Value>> {
        let module = rewriter.module();
        let (loc, point) = (module.loc(op), Point::Before(op));
        let inputs: Vec<Value> = module.operands(op).collect();
        let types: Vec<Type> = module.results(op).map(|v| module.value_type(v)).collect();
        let context = module.context_arc().clone();
        let legal = types.iter().all(|&ty| self.is_legal(&context, ty));
        if !legal && let [ty] = types[..] {
            let mut makers = self.sources.iter().rev();
            return makers
                .find_map(|make| make(rewriter, point, ty, &inputs, loc))
                .map(|v| vec![v]);
        }
        let [input] = inputs[..] else { return None };
        self.targets.iter().rev().find_map(|make| make(rewriter, point, &types, input, loc))
    }
}

/// One value of the type of `old` made of `values`.
fn as_old(
    rewriter: &mut Rewriter<'_>,
    point: Point,
    old: Value,
    values: &[Value],
    loc: Loc,
) -> Value {
    let module = rewriter.module();
    let ty = module.value_type(old);
    match *values {
        [value] if module.value_type(value) == ty => value,
        _ => {
            let cast = cast(rewriter, point, values, &[ty], loc);
            rewriter.module().result(cast, 0)
        }
    }
}

fn cast(
    rewriter: &mut Rewriter<'_>,
    point: Point,
    inputs: &[Value],
    outputs: &[Type],
    loc: Loc,
) -> Op {
    let mut state = OpState::new(rewriter.module().context().name(CAST), loc);
    state.operands.extend_from_slice(inputs);
    state.results.extend_from_slice(outputs);
    rewriter.create(point, state)
}
