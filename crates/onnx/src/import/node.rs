//! From one node of a graph to operations: attributes, operands, subgraphs.

use smallvec::SmallVec;
use tangram_dialects::attrs::Attrs;
use tangram_dialects::{constant, defined};
use tangram_ir::{
    Arity, Attr, AttrDef, AttrKind, Context, FloatKind, InferError, Loc, Module, Name, Op, OpDef,
    OpState, Point, Type, TypeData, Value,
};
use tangram_tensor::{DType, Tensor};

use super::{Importer, attributes, describe};
use crate::declared;
use crate::error::{Error, Result};
use crate::model::{ConstantForm, ConstantOrigin, Input, Member, Origin};
use crate::operators::{self, Kind, Row};
use crate::proto::NodeProto;
use crate::schema::{self, Found};
use crate::types;

/// A node while it is imported.
pub(super) struct NodeCx<'a> {
    pub importer: &'a mut Importer,
    pub node: &'a NodeProto,
    /// For each input its value; `None` where it is absent.
    pub inputs: SmallVec<[Option<Value>; 4]>,
    /// The version of the default operator set.
    pub version: i64,
    loc: Loc,
    members: SmallVec<[Op; 2]>,
}

/// Why a node is carried along as an opaque operation.
#[derive(Debug)]
pub(super) struct Opaque(pub String);

/// The values of a node's outputs, or why nn has no form for it.
pub(super) type Outputs = std::result::Result<Vec<Value>, Opaque>;

impl Importer {
    /// Imports `node` at the end of the current block.
    pub(super) fn node(&mut self, mut node: NodeProto) -> Result<()> {
        let graphs = self.take_graphs(&mut node);
        if node.op_type() == "Constant" && is_default(&node) && self.constant_node(&node)? {
            return Ok(());
        }
        let inputs = self.inputs(&node)?;
        let loc = self.context.name_loc(node.name());
        let version = self.version;
        let (outputs, members) = if graphs.is_empty() {
            self.plain_node(&node, inputs.clone(), loc, version)?
        } else {
            self.node_with_graphs(&node, &inputs, graphs, loc)?
        };
        // Nodes of subgraphs have their numbers by now.
        let number = self.source.nodes.len() as u32;
        self.remember(number, &node, &inputs, &members, &outputs);
        self.define_outputs(&node, &outputs)?;
        self.source.nodes.push(node);
        Ok(())
    }

    fn inputs(&self, node: &NodeProto) -> Result<SmallVec<[Option<Value>; 4]>> {
        let value = |name: &String| {
            if name.is_empty() {
                return Ok(None);
            }
            self.lookup(self.context.str(name))
                .map(Some)
                .ok_or_else(|| Error::Undefined { node: describe(node), name: name.clone() })
        };
        node.input.iter().map(value).collect()
    }

    fn plain_node(
        &mut self,
        node: &NodeProto,
        inputs: SmallVec<[Option<Value>; 4]>,
        loc: Loc,
        version: i64,
    ) -> Result<(Vec<Value>, SmallVec<[Op; 2]>)> {
        let members = SmallVec::new();
        let mut cx = NodeCx { importer: self, node, inputs: inputs.clone(), version, loc, members };
        let refused = match cx.convert()? {
            Ok(outputs) => return Ok((outputs, cx.members)),
            Err(Opaque(reason)) => reason,
        };
        // What a refused conversion has made is taken back, latest first.
        for op in std::mem::take(&mut cx.members).into_iter().rev() {
            cx.importer.module.erase(op);
        }
        if !refused.is_empty() {
            if self.scopes.len() == 1 {
                self.source.misfits.push((describe(node), refused.clone()));
            }
            let line = format!("{} is carried along unchanged: {refused}", describe(node));
            self.source.warnings.push(line);
        }
        let op = self.opaque_node(node, &inputs, 0, loc)?;
        Ok((self.module.results(op).collect(), [op].into_iter().collect()))
    }

    /// An operation that stands for `node` and is never looked into.
    pub(super) fn opaque_node(
        &mut self,
        node: &NodeProto,
        inputs: &[Option<Value>],
        regions: u32,
        loc: Loc,
    ) -> Result<Op> {
        let mut name = declared::operation(&self.context, node.domain(), node.op_type());
        let mut attrs = Vec::new();
        for attribute in &node.attribute {
            let value = self.plain_attr(attribute)?;
            attrs.push((self.context.str(attribute.name()), value));
        }
        let mut state = OpState::new(self.context.name(&name), loc);
        state.attrs = self.context.dict(attrs);
        state.regions = regions;
        for input in inputs {
            let value = match input {
                Some(value) => *value,
                None => self.absent(),
            };
            state.operands.push(value);
        }
        let mut known = declared::result_types(&self.module, node, inputs);
        match self.defined_types(node, &state) {
            Some(Ok(types)) => known = Some(types),
            Some(Err(why)) => {
                // It is no operation of that definition then.
                name = format!("onnx.{name}");
                state.name = self.context.name(&name);
                let line = format!("{} is carried along unchanged: {why}", describe(node));
                self.source.warnings.push(line);
            }
            None => {}
        }
        let known = known.unwrap_or_default();
        let ty = |(i, output): (usize, &String)| match known.get(i) {
            Some(Some(ty)) => *ty,
            _ => self.claimed_type(output),
        };
        state.results = node.output.iter().enumerate().map(ty).collect();
        Ok(self.module.create_at(Point::End(self.block), state))
    }

    /// What an operation gives whose operator the caller defined; an error where the node is none of
    /// that definition.
    fn defined_types(
        &self,
        node: &NodeProto,
        state: &OpState,
    ) -> Option<std::result::Result<Vec<Option<Type>>, InferError>> {
        let def = self.context.def(state.name).filter(|def| defined::is_defined(def))?;
        let refused = |why: String| Some(Err(InferError::mismatch(why)));
        if self.functions.contains(&(node.domain().to_owned(), node.op_type().to_owned())) {
            return refused("the model has a function of this name, which goes before".to_owned());
        }
        if node.output.len() != 1 {
            return refused(format!("it has {} results, its definition one", node.output.len()));
        }
        for attr in def.attrs {
            let given = self.context.entry(state.attrs, self.context.str(attr.name));
            if given.is_some_and(|given| !attr.kind.accepts(&self.context, given)) {
                let name = attr.name;
                return refused(format!("attribute `{name}` is of another kind than its default"));
            }
        }
        let inferred = self.module.infer(state.name, &state.operands, state.attrs, Some(1));
        Some(inferred.map(|inferred| inferred.types.into_iter().map(Some).collect()))
    }

    /// The type that the model declares for `name`, without any trust in its extents.
    pub(super) fn claimed_type(&self, name: &str) -> Type {
        let claim = self.claims.get(&self.context.str(name));
        let ty = types::import(&self.context, claim.and_then(|info| info.r#type.as_ref()));
        match self.context.element_type(ty) {
            Some(element) => self.context.ty(TypeData::UnrankedTensor(element)),
            None => ty,
        }
    }

    /// A value of type `none`.
    pub(super) fn absent(&mut self) -> Value {
        let mut state = OpState::new(self.context.name("nn.none"), Loc::UNKNOWN);
        state.results.push(self.context.ty(TypeData::None));
        let op = self.module.create_at(Point::End(self.block), state);
        self.module.result(op, 0)
    }

    fn define_outputs(&mut self, node: &NodeProto, outputs: &[Value]) -> Result<()> {
        for (name, &value) in node.output.iter().zip(outputs) {
            if name.is_empty() {
                continue;
            }
            let handle = self.context.str(name);
            if !self.define(handle, value) {
                return Err(Error::Redefined { node: describe(node), name: name.clone() });
            }
        }
        Ok(())
    }

    /// A `Constant` node as a constant operation; `false` if it has another form.
    fn constant_node(&mut self, node: &NodeProto) -> Result<bool> {
        let Some(output) = node.output.first().filter(|_| node.attribute.len() == 1) else {
            return Ok(false);
        };
        let attribute = &node.attribute[0];
        let value = match attribute.name() {
            "value" => match &attribute.t {
                Some(tensor) => {
                    let op = self.constant(tensor)?;
                    return self.finish_constant(node, op, output).map(|()| true);
                }
                None => return Ok(false),
            },
            "value_int" => Ok(Tensor::scalar(attribute.i())),
            "value_float" => Ok(Tensor::scalar(attribute.f())),
            "value_ints" => Ok(Tensor::vector(attribute.ints.clone())),
            "value_floats" => Ok(Tensor::vector(attribute.floats.clone())),
            "value_string" => {
                let text = attribute.s.as_deref().unwrap_or_default();
                Tensor::from_strings([], [text.to_vec()])
            }
            "value_strings" => {
                let texts: Vec<_> = attribute.strings.iter().map(|text| text.to_vec()).collect();
                Tensor::from_strings([texts.len()], texts)
            }
            _ => return Ok(false),
        };
        let Ok(value) = value else { return Ok(false) };
        let loc = self.context.name_loc(node.name());
        let op = constant::build(&mut self.module, Point::End(self.block), &value, output, loc);
        self.finish_constant(node, op, output).map(|()| true)
    }

    fn finish_constant(&mut self, node: &NodeProto, op: Op, output: &str) -> Result<()> {
        let form = ConstantForm::Node(self.source.nodes.len() as u32);
        self.source.constants.insert(op, ConstantOrigin { block: self.block, form });
        self.source.nodes.push(node.clone());
        let name = self.context.str(output);
        let value = self.module.result(op, 0);
        if self.define(name, value) {
            return Ok(());
        }
        Err(Error::Redefined { node: describe(node), name: output.to_owned() })
    }

    /// Records which operations stand for the node, and how its inputs are found in them.
    fn remember(
        &mut self,
        number: u32,
        node: &NodeProto,
        inputs: &[Option<Value>],
        members: &[Op],
        outputs: &[Value],
    ) {
        let Some(&tail) = members.last() else { return };
        let mut free: Vec<(u32, u32, Value)> = Vec::new();
        for (m, &op) in members.iter().enumerate() {
            let operands = self.module.operands(op).enumerate();
            free.extend(operands.map(|(i, value)| (m as u32, i as u32, value)));
        }
        let mut found = SmallVec::new();
        for input in inputs {
            found.push(match input {
                None => Input::Absent,
                Some(value) => match free.iter().position(|slot| slot.2 == *value) {
                    Some(at) => {
                        let (member, operand, _) = free.remove(at);
                        Input::Operand(member, operand)
                    }
                    None => Input::Constant(*value),
                },
            });
        }
        let member = |(m, &op): (usize, &Op)| Member {
            op,
            attrs: self.module.attrs(op),
            fixed: free.iter().filter(|s| s.0 as usize == m).map(|s| (s.1, s.2)).collect(),
            operand_count: self.module.operand_count(op) as u32,
        };
        let origin = Origin {
            node: number,
            members: members.iter().enumerate().map(member).collect(),
            inputs: found,
            outputs: (0..node.output.len()).map(|i| outputs.get(i).copied()).collect(),
        };
        self.source.origins.push(origin);
        self.source.origin_of[tail] = self.source.origins.len() as u32;
    }
}

pub(super) fn is_default(node: &NodeProto) -> bool {
    matches!(node.domain(), "" | "ai.onnx")
}

/// Why an operation does not take so many operands, if it does not.
pub(super) fn misfit(def: &OpDef, found: usize) -> Option<String> {
    let arities = || def.operands.iter().map(|operand| operand.arity);
    let least = arities().filter(|&arity| arity == Arity::One).count();
    let most = arities().all(|arity| arity != Arity::Variadic).then(|| arities().count());
    let fits = found >= least && most.is_none_or(|most| found <= most);
    let takes = match most {
        Some(most) if most == least => least.to_string(),
        Some(most) => format!("{least} to {most}"),
        None => format!("at least {least}"),
    };
    let plural = if found == 1 { "" } else { "s" };
    (!fits).then(|| format!("it has {found} input{plural}, and the operator takes {takes}"))
}

/// Why an operation does not take these attributes, if it does not.
pub(super) fn odd_attribute(context: &Context, def: &OpDef, dict: Attr) -> Option<String> {
    let attrs = Attrs::new(context, dict);
    def.attrs.iter().find_map(|attr| match attrs.find(attr.name) {
        None if attr.required => Some(format!("it has no `{}`", attr.name)),
        Some(value) if !attr.kind.accepts(context, value) => {
            Some(format!("the attribute `{}` is of another kind", attr.name))
        }
        _ => None,
    })
}

/// An attribute in `dict` with a text that is none of those that operation `name` knows. Runtimes
/// take some of these for a default.
fn unknown_text(context: &Context, name: Name, dict: Attr) -> Option<&'static str> {
    let attrs = Attrs::new(context, dict);
    let known = |attr: &&AttrDef| match attr.kind {
        AttrKind::Enum(texts) => attrs.text(attr.name).is_none_or(|text| texts.contains(&text)),
        _ => true,
    };
    context.def(name)?.attrs.iter().find(|attr| !known(attr)).map(|attr| attr.name)
}

impl NodeCx<'_> {
    /// The module.
    pub(super) fn module(&self) -> &Module {
        &self.importer.module
    }

    fn convert(&mut self) -> Result<Outputs> {
        let default = is_default(self.node);
        if let Some(flag) = attributes::odd_flag(self.node) {
            let reason = format!("`{}` is {}, neither 0 nor 1", flag.name(), flag.i());
            return Ok(Err(Opaque(reason)));
        }
        if let Some(reason) = self.has_too_many() {
            return Ok(Err(Opaque(reason)));
        }
        if let Some(outputs) = if default { self.special()? } else { None } {
            return Ok(outputs);
        }
        let domain = if default { "" } else { self.node.domain() };
        // A function of the model takes the place of an operator.
        let called = (domain.to_owned(), self.node.op_type().to_owned());
        if !self.importer.functions.is_empty() && self.importer.functions.contains(&called) {
            return Ok(Err(Opaque(String::new())));
        }
        match operators::by_onnx(domain, self.node.op_type()) {
            Some(row) => self.by_row(row),
            None => Ok(Err(Opaque(String::new()))),
        }
    }

    /// Why the node has more inputs or outputs than its operator, if it has. Conversions look at those
    /// that they know, and the node would be written back with all of them.
    fn has_too_many(&self) -> Option<String> {
        let node = self.node;
        let domain = if is_default(node) { "" } else { node.domain() };
        let own = &self.importer.functions;
        if !own.is_empty() && own.contains(&(domain.to_owned(), node.op_type().to_owned())) {
            return None;
        }
        let Found::Schema(schema) = schema::find(domain, node.op_type(), self.version) else {
            return None;
        };
        let last = |names: &[String]| names.iter().rposition(|name| !name.is_empty());
        let sides =
            [("inputs", &node.input, &schema.inputs), ("outputs", &node.output, &schema.outputs)];
        sides.into_iter().find_map(|(what, names, formals)| {
            let (found, most) = (last(names).map_or(0, |last| last + 1), formals.most?);
            let takes = if what == "inputs" { "takes" } else { "gives" };
            (found > most)
                .then(|| format!("it has {found} {what}, and the operator {takes} {most}"))
        })
    }

    /// The attributes that `row` names in normal form, and all others as they are.
    pub(super) fn attrs_by(
        &mut self,
        rows: &[operators::AttrRow],
    ) -> Result<Vec<(&'static str, Attr)>> {
        let mut out = Vec::new();
        for row in rows {
            if let Some(value) = self.importer.row_attr(self.node, row)? {
                out.push((row.nn, value));
            }
        }
        Ok(out)
    }

    fn others(&mut self, known: &[&str]) -> Result<Vec<(tangram_ir::Str, Attr)>> {
        let mut out = Vec::new();
        for attribute in &self.node.attribute {
            if !known.contains(&attribute.name()) {
                let value = self.importer.plain_attr(attribute)?;
                out.push((self.importer.context.str(attribute.name()), value));
            }
        }
        Ok(out)
    }

    pub(super) fn by_row(&mut self, row: &'static Row) -> Result<Outputs> {
        let mut known: Vec<&str> = row.attrs.iter().map(|a| a.onnx).collect();
        known.extend(row.absorbed.iter().filter_map(|a| a.onnx));
        let mut attrs = self.attrs_by(row.attrs)?;
        let others = self.others(&known)?;
        // An attribute that the operation does not know may change what it means.
        let context = &self.importer.context;
        let def = context.def(context.name(row.nn));
        let knows = |name| def.is_some_and(|def| def.attrs.iter().any(|attr| attr.name == name));
        if let Some((name, _)) = others.iter().find(|(name, _)| !knows(context.text(*name))) {
            let reason = format!("the attribute `{}` is not known", context.text(*name));
            return Ok(Err(Opaque(reason)));
        }
        attrs.extend(self.absorb(row));
        self.op_with(row.nn, attrs, others, self.node.output.len())
    }

    /// Turns constant inputs into attributes: all that `row` absorbs, or none.
    pub(super) fn absorb(&mut self, row: &Row) -> Vec<(&'static str, Attr)> {
        let mut attrs = Vec::new();
        for entry in row.absorbed {
            let given = entry.onnx.and_then(|name| self.old_attr(name, entry.kind));
            let absent = || self.importer.default_attr(entry.before, entry.kind);
            let value = given.or_else(|| if self.version < entry.since { absent() } else { None });
            attrs.extend(value.map(|value| (entry.nn, value)));
        }
        let present = |cx: &Self, input: usize| cx.inputs.get(input).copied().flatten();
        let mut taken = Vec::new();
        for entry in row.absorbed {
            let Some(value) = present(self, entry.input) else { continue };
            match self.constant_attr(value, entry.kind) {
                Some(attr) => taken.push((entry.nn, attr)),
                None => return attrs,
            }
        }
        if let Some(first) = row.absorbed.first() {
            self.inputs.truncate(first.input);
        }
        attrs.extend(taken);
        attrs
    }

    /// An attribute of an old operator set that became an input later.
    fn old_attr(&mut self, name: &str, kind: Kind) -> Option<Attr> {
        let attribute = attributes::find(self.node, name)?;
        match kind {
            Kind::Int => attribute.i.map(|i| self.importer.context.i64_attr(i)),
            Kind::Ints => Some(self.importer.context.i64s_attr(&attribute.ints)),
            Kind::Float => {
                attribute.f.map(|f| self.importer.context.float_attr(f64::from(f), FloatKind::F32))
            }
            _ => None,
        }
    }

    /// The elements of the constant `value` as an attribute of `kind`.
    fn constant_attr(&self, value: Value, kind: Kind) -> Option<Attr> {
        let context = &self.importer.context;
        let tensor = constant::constant_tensor(self.module(), value)?;
        match kind {
            Kind::Ints => Some(context.i64s_attr(&tensor.i64s().ok()?)),
            Kind::Int => match tensor.i64s().ok()?.as_slice() {
                [one] => Some(context.i64_attr(*one)),
                _ => None,
            },
            Kind::Float if tensor.dtype().is_float() => {
                // As where the number is an attribute: a decimal of a rule means the nearest number.
                let is_single = tensor.dtype() == DType::F32;
                let kind = if is_single { FloatKind::F32 } else { FloatKind::F64 };
                match tensor.f64s().ok()?.as_slice() {
                    [one] => Some(context.float_attr(*one, kind)),
                    _ => None,
                }
            }
            Kind::Float => match tensor.i64s().ok()?.as_slice() {
                [one] => Some(context.i64_attr(*one)),
                _ => None,
            },
            _ => None,
        }
    }

    /// One operation on all inputs that are left.
    pub(super) fn op_with(
        &mut self,
        name: &str,
        attrs: Vec<(&'static str, Attr)>,
        others: Vec<(tangram_ir::Str, Attr)>,
        results: usize,
    ) -> Result<Outputs> {
        let mut inputs = self.inputs.clone();
        while inputs.last().is_some_and(Option::is_none) {
            inputs.pop();
        }
        let operands: Vec<Value> = inputs
            .iter()
            .map(|input| match input {
                Some(value) => *value,
                None => self.importer.absent(),
            })
            .collect();
        let context = self.importer.context.clone();
        let entries = attrs.into_iter().map(|(name, value)| (context.str(name), value));
        let dict = context.dict(entries.chain(others));
        Ok(self.emit(name, &operands, dict, Some(results)))
    }

    /// Appends operation `name` to the group.
    pub(super) fn emit(
        &mut self,
        name: &str,
        operands: &[Value],
        dict: Attr,
        results: Option<usize>,
    ) -> Outputs {
        let importer = &mut *self.importer;
        let name = importer.context.name(name);
        if let Some(attr) = unknown_text(&importer.context, name, dict) {
            return Err(Opaque(format!("`{attr}` has a value that is not known")));
        }
        let def = importer.context.def(name);
        let why = def.and_then(|def| {
            misfit(def, operands.len()).or_else(|| odd_attribute(&importer.context, def, dict))
        });
        if let Some(why) = why {
            return Err(Opaque(why));
        }
        let point = Point::End(importer.block);
        let op = importer
            .module
            .build(point, name, operands, dict, results, self.loc)
            .map_err(|error| Opaque(error.to_string()))?;
        self.members.push(op);
        Ok(self.importer.module.results(op).collect())
    }

    /// Appends an operation with the given attributes to the group.
    pub(super) fn simple(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: Vec<(&'static str, Attr)>,
    ) -> Outputs {
        let context = self.importer.context.clone();
        let dict = context.dict(attrs.into_iter().map(|(name, value)| (context.str(name), value)));
        self.emit(name, operands, dict, None)
    }

    /// Input `i`, which has to be there.
    pub(super) fn need(&self, i: usize) -> std::result::Result<Value, Opaque> {
        let missing = || Opaque(format!("input {i} is absent"));
        self.inputs.get(i).copied().flatten().ok_or_else(missing)
    }

    /// The rank of a value, if known.
    pub(super) fn rank(&self, value: Value) -> Option<usize> {
        let ty = self.module().value_type(value);
        self.importer.context.as_tensor(ty).map(|(dims, _)| dims.len())
    }

    /// The extents of a value as numbers, if all are.
    pub(super) fn static_shape(&self, value: Value) -> Option<Vec<i64>> {
        let ty = self.module().value_type(value);
        let (dims, _) = self.importer.context.as_tensor(ty)?;
        dims.iter().map(|d| d.as_static()).collect()
    }

    /// The attribute for a list of strings or other data that a row does not name.
    pub(super) fn others_but(&mut self, known: &[&str]) -> Result<Vec<(tangram_ir::Str, Attr)>> {
        self.others(known)
    }
}
