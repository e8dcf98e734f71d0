//! The context: everything immutable that modules share.

use std::any::{Any, TypeId};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineMap, IntegerSet};

use crate::assembly::{Program, compile};
use crate::attributes::{Attr, AttrData};
use crate::fold::MaterializeFn;
use crate::interner::{self, Interner};
use crate::location::{Loc, LocData, Sources};
use crate::op_def::OpDef;
use crate::types::{Dim, DimExpr, FloatKind, Signedness, TensorType, Type, TypeData};

/// A handle of an interned string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Str(pub(crate) u32);

impl Str {
    /// `value`, under which constants have their attribute.
    pub const VALUE: Str = Str(0);

    /// The string as the name of an operation.
    pub(crate) fn as_name(self) -> Name {
        Name(self.0)
    }
}

/// The name of an operation, `dialect.operation`: an interned string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Name(pub(crate) u32);

impl Name {
    /// A small dense number, for tables indexed by operation name.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The name as a string handle.
    pub fn as_str(self) -> Str {
        Str(self.0)
    }
}

/// An expression that an extent is, and its text.
struct SymbolicExtent {
    expr: Expr,
    text: Box<str>,
}

impl Borrow<Expr> for SymbolicExtent {
    fn borrow(&self) -> &Expr {
        &self.expr
    }
}

impl PartialEq for SymbolicExtent {
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}

impl Eq for SymbolicExtent {}

impl Hash for SymbolicExtent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expr.hash(state);
    }
}

/// Interns names, types, extents, attributes and locations, and knows the registered operations.
///
/// Shared by all modules that exchange handles; grows only. `Send + Sync`.
pub struct Context {
    strings: Interner<Box<str>>,
    types: Interner<TypeData>,
    attrs: Interner<AttrData>,
    dims: Interner<SymbolicExtent>,
    locs: Interner<LocData>,
    sources: Sources,
    /// By the number of the name, so that reading takes no lock.
    defs: boxcar::Vec<OnceLock<&'static OpDef>>,
    /// The formats of operations, compiled when first asked for, by the number of the name.
    programs: boxcar::Vec<OnceLock<Option<Program>>>,
    materializers: RwLock<FxHashMap<Str, MaterializeFn>>,
    /// The dialects whose types are kept as text although their operations are registered.
    text_types: boxcar::Vec<&'static str>,
    extensions: boxcar::Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({} operations)", self.defs().len())
    }
}

impl Context {
    /// A context without any registered operation.
    pub fn new() -> Arc<Context> {
        let context = Context {
            strings: Interner::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            dims: Interner::new(),
            locs: Interner::new(),
            sources: Sources::default(),
            defs: boxcar::Vec::new(),
            programs: boxcar::Vec::new(),
            materializers: RwLock::default(),
            text_types: boxcar::Vec::new(),
            extensions: boxcar::Vec::new(),
        };
        // The handles that are constants have to be interned first, in their order.
        let reserved = [
            AttrData::Dict(Box::default()),
            AttrData::Unit,
            AttrData::Bool(false),
            AttrData::Bool(true),
        ];
        for data in reserved {
            context.attr(data);
        }
        context.str("value");
        context.loc(LocData::Unknown);
        Arc::new(context)
    }

    /// Makes `defs` known: their names are then verified and inferred by their definition. Of two
    /// with one name the first stays.
    pub fn register(&self, defs: impl IntoIterator<Item = &'static OpDef>) {
        for def in defs {
            let name = self.name(def.name);
            while self.defs.count() <= name.index() {
                self.defs.push(OnceLock::new());
            }
            while self.programs.count() <= name.index() {
                self.programs.push(OnceLock::new());
            }
            self.defs[name.index()].get_or_init(|| def);
        }
    }

    pub(crate) fn materializers(&self) -> &RwLock<FxHashMap<Str, MaterializeFn>> {
        &self.materializers
    }

    /// The definition of operation `name`, if it is registered.
    pub fn def(&self, name: Name) -> Option<&'static OpDef> {
        self.defs.get(name.index())?.get().copied()
    }

    /// How operations `name` are written beside their generic form.
    pub(crate) fn program(&self, name: Name) -> Option<&Program> {
        let def = self.def(name)?;
        self.programs.get(name.index())?.get_or_init(|| compile(def)).as_ref()
    }

    /// Every registered definition, by name.
    pub fn defs(&self) -> Vec<&'static OpDef> {
        let mut all: Vec<_> = self.defs.iter().filter_map(|(_, def)| def.get().copied()).collect();
        all.sort_by_key(|def| def.name);
        all
    }

    /// Returns whether an operation of `dialect` is registered.
    pub fn has_dialect(&self, dialect: &str) -> bool {
        let of = |def: &OpDef| def.name.split('.').next() == Some(dialect);
        self.defs.iter().filter_map(|(_, def)| def.get()).any(|def| of(def))
    }

    /// Keeps the types of `dialect` as they are written: their parameters are no attributes.
    pub fn keep_types_as_text(&self, dialect: &'static str) {
        self.text_types.push(dialect);
    }

    /// Returns whether types of `dialect` have parameters that are attributes.
    pub(crate) fn has_structured_types(&self, dialect: &str) -> bool {
        self.has_dialect(dialect) && !self.text_types.iter().any(|(_, &name)| name == dialect)
    }

    /// What a dialect keeps beside the context: one `T` for each context, made when first asked
    /// for. The number of different `T`s should stay small.
    pub fn extension<T: Any + Default + Send + Sync>(&self) -> &T {
        let id = TypeId::of::<T>();
        let find = || self.extensions.iter().find(|(_, (key, _))| *key == id);
        if find().is_none() {
            // Two threads may both get here; the first entry is the one that everyone finds.
            self.extensions.push((id, Box::new(T::default())));
        }
        let (_, (_, found)) = find().expect("the entry just made");
        found.downcast_ref().expect("the entry is keyed by its type")
    }

    /// Notes that the attribute which is kept as `text` has type `ty`, with which it ends.
    pub(crate) fn note_text_type(&self, text: &str, ty: Type) {
        self.extension::<TextTypes>().0.write().insert(self.str(text), ty);
    }

    /// The type of the attribute that is kept as `text`, such as `sparse<...> : tensor<4xf32>`;
    /// `None` if it was not read with one.
    pub fn text_type(&self, text: Str) -> Option<Type> {
        self.extension::<TextTypes>().0.read().get(&text).copied()
    }

    /// Interns a string.
    pub fn str(&self, text: &str) -> Str {
        Str(self.strings.intern(text, || text.into()))
    }

    /// The text of `s`.
    pub fn text(&self, s: Str) -> &str {
        self.strings.at(s.0)
    }

    /// Interns an operation name.
    pub fn name(&self, name: &str) -> Name {
        Name(self.str(name).0)
    }

    /// The handle of an operation name that was interned before.
    pub fn find_name(&self, name: &str) -> Option<Name> {
        self.strings.find(name).map(Name)
    }

    /// The text of an operation name.
    pub fn name_text(&self, name: Name) -> &str {
        self.strings.at(name.0)
    }

    /// Interns a type.
    pub fn ty(&self, data: TypeData) -> Type {
        Type(self.types.intern_owned(data))
    }

    /// What `ty` says.
    pub fn type_data(&self, ty: Type) -> &TypeData {
        self.types.at(ty.0)
    }

    /// Interns an attribute. The entries of a dictionary have to be sorted; see [`Context::dict`].
    pub fn attr(&self, data: AttrData) -> Attr {
        Attr(self.attrs.intern_owned(data))
    }

    /// What `attr` says.
    pub fn attr_data(&self, attr: Attr) -> &AttrData {
        self.attrs.at(attr.0)
    }

    /// The extent that `expr` is; a negative number is none, and gives [`Dim::UNKNOWN`].
    pub fn dim(&self, expr: &Expr) -> Dim {
        let make = || SymbolicExtent { expr: expr.clone(), text: expr.to_string().into() };
        match expr.as_int() {
            Some(n) => Dim::fixed(n),
            None => Dim::symbolic(DimExpr(self.dims.intern(expr, make))),
        }
    }

    /// The expression behind a symbolic extent.
    pub fn dim_expr(&self, expr: DimExpr) -> &Expr {
        &self.dims.at(expr.0).expr
    }

    /// The text of a symbolic extent.
    pub fn dim_text(&self, expr: DimExpr) -> &str {
        &self.dims.at(expr.0).text
    }

    /// Interns a location.
    pub fn loc(&self, data: LocData) -> Loc {
        Loc(self.locs.intern_owned(data))
    }

    /// What `loc` says.
    pub fn loc_data(&self, loc: Loc) -> &LocData {
        match loc.position() {
            None => self.locs.at(loc.0),
            Some(position) => self.locs.at(self.loc(self.sources.resolve(position)).0),
        }
    }

    /// Makes the places of `text` known, and returns the number of the first: adding an offset in
    /// bytes gives the position for [`Loc::at_position`]. `None` if there are no numbers left.
    pub(crate) fn add_source(&self, file: Str, text: &str) -> Option<u32> {
        self.sources.add(file, text)
    }

    /// The location of a name.
    pub fn name_loc(&self, name: &str) -> Loc {
        self.loc(LocData::Name { name: self.str(name), child: Loc::UNKNOWN })
    }

    /// One location for what was made from several, with at most [`LocData::MAX_FUSED`] parts.
    pub fn fuse(&self, locs: impl IntoIterator<Item = Loc>) -> Loc {
        let mut parts: Vec<Loc> = Vec::new();
        for loc in locs {
            // A place in a text need not be looked up to see what kind it is.
            if loc.position().is_some() {
                parts.push(loc);
                continue;
            }
            match self.loc_data(loc) {
                LocData::Unknown => {}
                LocData::Fused { parts: inner, metadata: None } => parts.extend_from_slice(inner),
                _ => parts.push(loc),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts.truncate(LocData::MAX_FUSED);
        match parts.as_slice() {
            [] => Loc::UNKNOWN,
            [one] => *one,
            _ => self.loc(LocData::Fused { parts: parts.into(), metadata: None }),
        }
    }

    /// Interns a dictionary; of two entries with one name the later stays.
    pub fn dict(&self, entries: impl IntoIterator<Item = (Str, Attr)>) -> Attr {
        self.dict_of(&mut entries.into_iter().collect())
    }

    /// As [`Context::dict`], of `entries`, which are sorted then.
    pub(crate) fn dict_of(&self, entries: &mut Vec<(Str, Attr)>) -> Attr {
        if entries.is_empty() {
            return Attr::EMPTY_DICT;
        }
        if entries.len() > 1 {
            entries.reverse();
            entries.sort_by(|a, b| self.text(a.0).cmp(self.text(b.0)));
            entries.dedup_by_key(|entry| entry.0);
        }
        let entries = entries.as_slice();
        let same = |data: &AttrData| matches!(data, AttrData::Dict(other) if **other == *entries);
        let make = || AttrData::Dict(entries.into());
        let hash = interner::hash(&ListKey(AttrData::Dict(Box::default()), entries));
        Attr(self.attrs.intern_by(hash, same, make))
    }

    /// What an operation of an unknown dialect carries: `properties`, and the dictionary
    /// `attributes` beside them.
    pub fn with_properties(&self, properties: Attr, attributes: Attr) -> Attr {
        let both = [attributes, properties].map(|dict| self.entries(dict).to_vec());
        let merged = self.dict(both.concat());
        let entries = self.entries(merged).into();
        self.attr(AttrData::Properties { properties, attributes, entries })
    }

    /// The properties of `attrs` and the dictionary beside them; all of `attrs` is that dictionary
    /// where there are no properties.
    pub fn split_properties(&self, attrs: Attr) -> (Option<Attr>, Attr) {
        match *self.attr_data(attrs) {
            AttrData::Properties { properties, attributes, .. } => (Some(properties), attributes),
            _ => (None, attrs),
        }
    }

    /// `attrs` with `value` under `name`, or without `name`; properties stay properties.
    pub fn with_entry(&self, attrs: Attr, name: Str, value: Option<Attr>) -> Attr {
        let replaced = |dict: Attr| {
            let kept = self.entries(dict).iter().copied().filter(|entry| entry.0 != name);
            self.dict(kept.chain(value.map(|value| (name, value))))
        };
        match self.split_properties(attrs) {
            (Some(properties), attributes) if self.entry(properties, name).is_some() => {
                self.with_properties(replaced(properties), attributes)
            }
            (Some(properties), attributes) => {
                self.with_properties(properties, replaced(attributes))
            }
            (None, attributes) => replaced(attributes),
        }
    }

    /// The entries of dictionary `attr`; none if it is no dictionary.
    pub fn entries(&self, attr: Attr) -> &[(Str, Attr)] {
        match self.attr_data(attr) {
            AttrData::Dict(entries) | AttrData::Properties { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The entry `name` of dictionary `dict`.
    pub fn entry(&self, dict: Attr, name: Str) -> Option<Attr> {
        self.entries(dict).iter().find(|entry| entry.0 == name).map(|entry| entry.1)
    }

    /// The entry `name` of dictionary `dict`.
    pub fn entry_named(&self, dict: Attr, name: &str) -> Option<Attr> {
        self.entries(dict).iter().find(|entry| self.text(entry.0) == name).map(|entry| entry.1)
    }
}

/// Short forms for the types that everyone needs.
impl Context {
    /// `i<width>`.
    pub fn int_type(&self, width: u32) -> Type {
        self.ty(TypeData::Integer { width, sign: Signedness::Signless })
    }

    /// `ui<width>`.
    pub fn uint_type(&self, width: u32) -> Type {
        self.ty(TypeData::Integer { width, sign: Signedness::Unsigned })
    }

    /// `f32` and the like.
    pub fn float_type(&self, kind: FloatKind) -> Type {
        self.ty(TypeData::Float(kind))
    }

    /// `tensor<dims x element>`.
    pub fn tensor_type(&self, dims: &[Dim], element: Type) -> Type {
        self.ty(TypeData::Tensor(TensorType { dims: dims.into(), element, encoding: None }))
    }

    /// `(inputs) -> (results)`.
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        let same = |data: &TypeData| match data {
            TypeData::Function { inputs: ins, results: outs } => {
                **ins == *inputs && **outs == *results
            }
            _ => false,
        };
        let make = || TypeData::Function { inputs: inputs.into(), results: results.into() };
        Type(self.types.intern_by(interner::hash(&FunctionKey(inputs, results)), same, make))
    }

    /// The extents and element type of a ranked tensor type.
    pub fn as_tensor(&self, ty: Type) -> Option<(&[Dim], Type)> {
        match self.type_data(ty) {
            TypeData::Tensor(t) => Some((&t.dims, t.element)),
            _ => None,
        }
    }

    /// The element type of a tensor type, ranked or not.
    pub fn element_type(&self, ty: Type) -> Option<Type> {
        match self.type_data(ty) {
            TypeData::Tensor(t) => Some(t.element),
            TypeData::UnrankedTensor(element) => Some(*element),
            _ => None,
        }
    }
}

/// Short forms for the attributes that everyone needs.
impl Context {
    /// `value : i64`.
    pub fn i64_attr(&self, value: i64) -> Attr {
        self.attr(AttrData::Integer { value: value.into(), ty: self.int_type(64) })
    }

    /// `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        if value { Attr::TRUE } else { Attr::FALSE }
    }

    /// `value : f32` or another float type.
    pub fn float_attr(&self, value: f64, kind: FloatKind) -> Attr {
        self.attr(AttrData::Float { bits: value.to_bits(), ty: self.float_type(kind) })
    }

    /// `"text"`.
    pub fn str_attr(&self, text: &str) -> Attr {
        self.attr(AttrData::String(self.str(text)))
    }

    /// `array<i64: ...>`.
    pub fn i64s_attr(&self, values: &[i64]) -> Attr {
        let same = |data: &AttrData| matches!(data, AttrData::I64s(other) if **other == *values);
        let hash = interner::hash(&ListKey(AttrData::I64s(Box::default()), values));
        Attr(self.attrs.intern_by(hash, same, || AttrData::I64s(values.into())))
    }

    /// `[...]`.
    pub fn array_attr(&self, items: &[Attr]) -> Attr {
        let same = |data: &AttrData| matches!(data, AttrData::Array(other) if **other == *items);
        let hash = interner::hash(&ListKey(AttrData::Array(Box::default()), items));
        Attr(self.attrs.intern_by(hash, same, || AttrData::Array(items.into())))
    }

    /// A type as an attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrData::Type(ty))
    }

    /// The integer in `attr`; a boolean counts as 0 or 1.
    pub fn as_i64(&self, attr: Attr) -> Option<i64> {
        match self.attr_data(attr) {
            AttrData::Integer { value, .. } => i64::try_from(*value).ok(),
            AttrData::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    /// The number in `attr`, integer or float.
    pub fn as_f64(&self, attr: Attr) -> Option<f64> {
        match self.attr_data(attr) {
            AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
            AttrData::Integer { value, .. } => Some(*value as f64),
            _ => None,
        }
    }

    /// The boolean in `attr`; an integer counts as "not 0".
    pub fn as_bool(&self, attr: Attr) -> Option<bool> {
        match self.attr_data(attr) {
            AttrData::Bool(b) => Some(*b),
            AttrData::Integer { value, .. } => Some(*value != 0),
            _ => None,
        }
    }

    /// The text in `attr`.
    pub fn as_text(&self, attr: Attr) -> Option<&str> {
        match self.attr_data(attr) {
            AttrData::String(s) => Some(self.text(*s)),
            _ => None,
        }
    }

    /// The affine map that `attr` is.
    pub fn as_affine_map(&self, attr: Attr) -> Option<&AffineMap> {
        match self.attr_data(attr) {
            AttrData::AffineMap(map) => Some(map),
            _ => None,
        }
    }

    /// The integer set that `attr` is.
    pub fn as_integer_set(&self, attr: Attr) -> Option<&IntegerSet> {
        match self.attr_data(attr) {
            AttrData::IntegerSet(set) => Some(set),
            _ => None,
        }
    }

    /// The integers in `attr`: `array<i64: ...>` or an array of integers.
    pub fn as_i64s(&self, attr: Attr) -> Option<Vec<i64>> {
        match self.attr_data(attr) {
            AttrData::I64s(values) => Some(values.to_vec()),
            AttrData::Array(items) => items.iter().map(|&item| self.as_i64(item)).collect(),
            _ => None,
        }
    }
}

/// Hashes as an attribute that says nothing but `.1`, of the kind that `.0` is of, and needs no
/// memory of its own.
struct ListKey<'a, T>(AttrData, &'a [T]);

impl<T: Hash> Hash for ListKey<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
        self.1.hash(state);
    }
}

/// The types of functions, as [`ListKey`].
struct FunctionKey<'a>(&'a [Type], &'a [Type]);

impl Hash for FunctionKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (inputs, results) = (Box::default(), Box::default());
        std::mem::discriminant(&TypeData::Function { inputs, results }).hash(state);
        self.0.hash(state);
        self.1.hash(state);
    }
}

/// The types of attributes that are kept as text.
#[derive(Default)]
struct TextTypes(RwLock<FxHashMap<Str, Type>>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up_by_its_parts_is_found() {
        let context = Context::new();
        let (int, index) = (context.int_type(32), context.ty(TypeData::Index));
        let entries = [(context.str("a"), Attr::UNIT), (context.str("b"), Attr::TRUE)];
        let dict = context.attr(AttrData::Dict(entries.into()));
        assert_eq!(context.dict(entries), dict);
        assert_eq!(context.dict([entries[1], entries[0]]), dict);
        assert_ne!(context.dict([entries[0]]), dict);
        let items = [Attr::UNIT, dict];
        assert_eq!(context.array_attr(&items), context.attr(AttrData::Array(items.into())));
        assert_eq!(context.array_attr(&[]), context.attr(AttrData::Array(Box::default())));
        assert_eq!(context.i64s_attr(&[7, -1]), context.attr(AttrData::I64s([7, -1].into())));
        for (ins, outs) in [(vec![], vec![]), (vec![int], vec![index]), (vec![int, index], vec![])]
        {
            let made = context.function_type(&ins, &outs);
            let data = TypeData::Function { inputs: ins.into(), results: outs.into() };
            assert_eq!(context.ty(data), made);
        }
    }
}
