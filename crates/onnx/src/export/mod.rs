//! From IR to an ONNX model.
//!
//! Operations are written in the order in which they stand. An operation whose group is as the
//! import made it gives its node back, with inputs and outputs under their present names; any
//! other is written anew, in the model's operator set or the one that is asked for. Constants are
//! written when the first node that uses them is.

pub(crate) mod annotate;
mod graph;
mod names;
mod node;
mod origin;
mod special;
pub(crate) mod tensor;

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Block, Context, Module, Op, Str, Value};

use crate::edit::{functions, inline_functions};
use crate::error::{Error, Result, Unsaid};
use crate::import::OLDEST;
use crate::model::{Model, Source};
use crate::operators;
use crate::proto::{ModelProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::schema;

/// How a model is exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// The version of the default operator set; the model's own if absent.
    pub opset: Option<i64>,
}

/// A graph that is being written.
struct Graph {
    block: Block,
    nodes: Vec<NodeProto>,
    /// The names of these nodes.
    node_names: FxHashSet<String>,
    /// The names of values of this graph.
    names: FxHashSet<Str>,
    initializers: Vec<TensorProto>,
    /// What the graph returns.
    returned: Vec<Value>,
}

impl Graph {
    fn new(block: Block) -> Graph {
        Graph {
            block,
            nodes: Vec::new(),
            node_names: FxHashSet::default(),
            names: FxHashSet::default(),
            initializers: Vec::new(),
            returned: Vec::new(),
        }
    }
}

/// The state of an export.
struct Exporter<'m> {
    module: &'m Module,
    context: &'m Context,
    source: &'m Source,
    opset: i64,
    /// The version of the model.
    own_opset: i64,
    /// Whether nodes of the import may be given back.
    same_opset: bool,
    /// What cannot be said in the wanted version, and where.
    unsaid: Vec<Unsaid>,
    /// The graphs around the current place, innermost last.
    graphs: Vec<Graph>,
    /// The name of each value, once it has one.
    names: SecondaryMap<Value, Option<Str>>,
    taken: FxHashSet<Str>,
    /// The names that values were given so far, in any graph.
    given: FxHashSet<Str>,
    /// The names of the model's own nodes, which no new node takes.
    own_nodes: FxHashSet<&'m str>,
    fresh: u32,
    /// Constants that are written already.
    written: FxHashSet<Value>,
    /// Initializers, by number, that are defaults of graph inputs: they are written first.
    defaults: FxHashSet<u32>,
    /// Constants made for attributes that are inputs in ONNX, by what they hold.
    pool: FxHashMap<tensor::PoolKey, String>,
    /// Operations that the node of a later operation covers.
    covered: FxHashSet<Op>,
    /// Domains of which nodes were written, where the model may not import them: the default one, and those
    /// that are not known here.
    domains: BTreeSet<String>,
}

/// Exports `model`.
///
/// # Errors
/// [`Error::Inexpressible`] if a rule made what no node of the operator set says;
/// [`Error::WantedOpset`] for a version of it that is not known, [`Error::Unsaid`] for one in which
/// not all of the model can be said; [`Error::Invalid`] if a node does not keep to the schema of
/// its operator, which nothing in the imported model did.
pub fn export(model: &Model, options: ExportOptions) -> Result<ModelProto> {
    let own = model.opset("").unwrap_or(0);
    let opset = options.opset.unwrap_or(own);
    let newest = schema::newest("");
    if opset == own {
        return validated(attempt(model, opset)?.0, &model.source);
    }
    if !(OLDEST..=newest).contains(&opset) {
        return Err(Error::WantedOpset { wanted: opset, least: OLDEST, newest, own });
    }
    let inlined = adapted(model, opset)?;
    let model = inlined.as_ref().unwrap_or(model);
    let (proto, unsaid) = attempt(model, opset)?;
    if unsaid.is_empty() {
        return Ok(proto);
    }
    let says = |&version: &i64| attempt(model, version).is_ok_and(|(_, unsaid)| unsaid.is_empty());
    let first = (opset + 1..=newest).find(says);
    Err(Error::Unsaid { opset, first, unsaid: Unsaid::list(unsaid) })
}

/// The model with the bodies of its functions in the place of their calls, if one of them means
/// something else in version `opset`.
fn adapted(model: &Model, opset: i64) -> Result<Option<Model>> {
    let mut functions = model.source.proto.functions.clone();
    let others = functions::refer_to(&mut functions, opset);
    if others.is_empty() { Ok(None) } else { inline_functions(model).map(Some) }
}

/// `proto`, if it has no mistake that the imported model did not have.
fn validated(proto: ModelProto, source: &Source) -> Result<ModelProto> {
    let first = new_violations(&proto, source).into_iter().next();
    match first {
        Some(violation) => Err(Error::Invalid { violation: Box::new(violation) }),
        None => Ok(proto),
    }
}

fn new_violations(proto: &ModelProto, source: &Source) -> Vec<schema::Violation> {
    let is_new = |found: &schema::Violation| !source.flaws.iter().any(|flaw| flaw.is_like(found));
    schema::violations(proto).into_iter().filter(is_new).collect()
}

/// Writes `model` in version `opset`, with what cannot be said there; in the model's own version
/// that is an error.
fn attempt(model: &Model, opset: i64) -> Result<(ModelProto, Vec<Unsaid>)> {
    let own = model.opset("").unwrap_or(0);
    let mut exporter = Exporter {
        module: &model.module,
        context: model.module.context(),
        source: &model.source,
        opset,
        own_opset: own,
        same_opset: opset == own,
        unsaid: Vec::new(),
        graphs: Vec::new(),
        names: SecondaryMap::new(),
        taken: FxHashSet::default(),
        given: FxHashSet::default(),
        own_nodes: model.source.nodes.iter().map(NodeProto::name).collect(),
        fresh: 0,
        written: FxHashSet::default(),
        defaults: FxHashSet::default(),
        pool: FxHashMap::default(),
        covered: FxHashSet::default(),
        domains: BTreeSet::new(),
    };
    let block = model.graph().ok_or(Error::NoGraph)?;
    exporter.take_names();
    let graph = exporter.graph(block)?;
    let (mut unsaid, domains) = (exporter.unsaid, exporter.domains);
    let mut proto = model.source.proto.clone();
    proto.graph = Some(graph);
    for domain in domains {
        let is_known = |set: &OperatorSetIdProto| {
            set.domain() == domain || (domain.is_empty() && set.domain() == "ai.onnx")
        };
        if !proto.opset_import.iter().any(is_known) {
            let version = if domain.is_empty() { opset } else { 1 };
            let set = OperatorSetIdProto { domain: Some(domain), version: Some(version) };
            proto.opset_import.push(set);
        }
    }
    if opset == own {
        return Ok((proto, unsaid));
    }
    proto.opset_import.retain(|set| !matches!(set.domain(), "" | "ai.onnx"));
    let set = OperatorSetIdProto { domain: Some(String::new()), version: Some(opset) };
    proto.opset_import.insert(0, set);
    for name in functions::refer_to(&mut proto.functions, opset) {
        let reason = "its operators mean something else there".to_owned();
        unsaid.push(Unsaid { at: format!("function `{name}`"), reason });
    }
    // What stands in the place of what cannot be said is not judged.
    if unsaid.is_empty() {
        unsaid.extend(new_violations(&proto, &model.source).into_iter().map(Unsaid::from));
    }
    Ok((proto, unsaid))
}

/// The domain and operator that an operation stands for which no dialect defines.
fn foreign(name: &str) -> Option<(&str, &str)> {
    let (domain, operator) = name.rsplit_once('.')?;
    let ours =
        matches!(domain, "nn" | "onnx" | "func" | "builtin" | "com.microsoft" | "ai.onnx.ml");
    (!ours && !operator.is_empty()).then_some((domain, operator))
}

/// Returns the first version of ONNX's default operator set in which nn operation `name` can be written,
/// whatever its attributes; 0 for operators of other domains that stand for themselves, and nothing for
/// those of vendors, which are never written anew.
pub fn expressible_since(name: &str) -> Option<i64> {
    match operators::by_nn(name) {
        Some(row) => row.domain.is_empty().then_some(row.since),
        None if foreign(name).is_some() => Some(0),
        None => special::since(name),
    }
}

/// Returns whether nn operation `name` can be written in version `opset` of ONNX's default operator
/// set, whatever its attributes.
pub fn is_expressible(name: &str, opset: i64) -> bool {
    expressible_since(name).is_some_and(|since| since <= opset)
}
