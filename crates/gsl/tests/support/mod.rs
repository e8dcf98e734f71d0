//! Small graphs written as text, and rules applied to them.
//!
//! ```text
//! x: f32[N, 3]
//! c = const f32[2] (1, 2)
//! y = relu(x)
//! a, b = split(y) {axis = 1, indices_or_sections = 2}
//! return y, a
//! ```
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::Arc;

use tangram_dialects::{constant, dims, dtype};
use tangram_gsl::rules::{CompiledRule, Log, Options};
use tangram_gsl::text::parse;
use tangram_ir::{
    Attr, Context, Dim, FloatKind, Loc, Module, Op, OpState, Point, Type, TypeData, Value, ValueDef,
};
use tangram_rewrite::{RewritePattern, Rewriter, Silent};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// A module made from text.
pub struct Graph {
    pub module: Module,
    pub values: BTreeMap<String, Value>,
}

const SHORT: &[(&str, DType)] = &[
    ("f32", DType::F32),
    ("f16", DType::F16),
    ("bf16", DType::BF16),
    ("f64", DType::F64),
    ("i64", DType::I64),
    ("i32", DType::I32),
    ("i1", DType::Bool),
];

fn cut(text: &str) -> Vec<String> {
    let (mut depth, mut out, mut item) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                out.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    out.push(item.trim().to_owned());
    out.retain(|item| !item.is_empty());
    out
}

fn element(text: &str) -> DType {
    SHORT.iter().find(|(name, _)| *name == text).unwrap_or_else(|| panic!("type {text}")).1
}

fn ty(context: &Context, text: &str) -> Type {
    let (name, dims) = text.split_once('[').unwrap_or_else(|| panic!("type {text}"));
    let name = dtype::type_of(context, element(name));
    let dims = dims.strip_suffix(']').expect("a bracket");
    if dims == "*" {
        return context.ty(TypeData::UnrankedTensor(name));
    }
    let extent = |text: &String| match text.as_str() {
        "?" => Dim::UNKNOWN,
        text => dims::dim(context, &text.parse().expect("an extent")),
    };
    context.tensor_type(&cut(dims).iter().map(extent).collect::<Vec<_>>(), name)
}

fn attr(context: &Context, text: &str) -> Attr {
    if let Some(list) = text.strip_prefix('[') {
        let items = cut(list.strip_suffix(']').expect("a bracket"));
        let integers = items.iter().map(|item| item.parse().ok()).collect::<Option<Vec<i64>>>();
        return match integers {
            Some(integers) => context.i64s_attr(&integers),
            None => context.array_attr(&items.iter().map(|i| attr(context, i)).collect::<Vec<_>>()),
        };
    }
    if let Some(text) = text.strip_prefix('"') {
        return context.str_attr(text.trim_end_matches('"'));
    }
    match (text, text.parse::<i64>(), text.parse::<f64>()) {
        ("true" | "false", ..) => context.bool_attr(text == "true"),
        (_, Ok(n), _) => context.i64_attr(n),
        (_, _, Ok(x)) => context.float_attr(x, FloatKind::F32),
        _ => context.type_attr(dtype::type_of(context, element(text))),
    }
}

/// A constant of a type with these elements, or with one element throughout.
pub fn tensor(dtype: DType, shape: &[usize], elements: &[f64]) -> Tensor {
    let count: usize = shape.iter().product();
    let elements = if elements.len() == 1 { vec![elements[0]; count] } else { elements.to_vec() };
    cast(&Tensor::from_vec(shape, elements).unwrap(), dtype).unwrap()
}

impl Graph {
    pub fn new(text: &str) -> Graph {
        Graph::in_context(tangram_dialects::context(), text)
    }

    pub fn in_context(context: Arc<Context>, text: &str) -> Graph {
        let mut graph = Graph { module: Module::new(context), values: BTreeMap::new() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            graph.line(line);
        }
        graph
    }

    fn line(&mut self, line: &str) {
        let context = self.module.context_arc().clone();
        let end = Point::End(self.module.body());
        if let Some(values) = line.strip_prefix("return") {
            let mut state = OpState::new(context.name("func.return"), Loc::UNKNOWN);
            state.operands.extend(cut(values).iter().map(|name| self.values[name]));
            self.module.create_at(end, state);
        } else if let Some((names, call)) = line.split_once(" = ") {
            let names = cut(names);
            let results = if let Some(rest) = call.strip_prefix("const ") {
                vec![self.constant(rest)]
            } else {
                self.call(call, names.len())
            };
            assert_eq!(names.len(), results.len(), "{line}");
            for (name, value) in names.into_iter().zip(results) {
                self.module.set_value_name(value, Some(context.str(&name)));
                self.values.insert(name, value);
            }
        } else {
            let (names, text) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            for name in cut(names) {
                let body = self.module.body();
                let value = self.module.add_arg(body, ty(&context, text));
                self.values.insert(name, value);
            }
        }
    }

    fn constant(&mut self, text: &str) -> Value {
        let (kind, elements) = text.rsplit_once(" (").expect("elements");
        let (name, dims) = kind.split_once('[').expect("a shape");
        let shape: Vec<usize> =
            cut(dims.trim_end_matches(']')).iter().map(|n| n.parse().unwrap()).collect();
        let elements: Vec<f64> =
            cut(elements.trim_end_matches(')')).iter().map(|x| x.parse().unwrap()).collect();
        let tensor = tensor(element(name), &shape, &elements);
        let end = Point::End(self.module.body());
        let op = constant::build(&mut self.module, end, &tensor, "c", Loc::UNKNOWN);
        self.module.result(op, 0)
    }

    fn call(&mut self, text: &str, results: usize) -> Vec<Value> {
        let context = self.module.context_arc().clone();
        let (name, rest) = text.split_once('(').unwrap_or_else(|| panic!("{text}"));
        let (operands, rest) = rest.split_once(')').expect("a parenthesis");
        let operands: Vec<Value> = cut(operands)
            .iter()
            .map(|name| *self.values.get(name).unwrap_or_else(|| panic!("{name} in {text}")))
            .collect();
        let attrs = rest.trim().trim_start_matches('{').trim_end_matches('}');
        let entries = cut(attrs).into_iter().map(|entry| {
            let (name, value) = entry.split_once(" = ").expect("an attribute");
            (context.str(name), attr(&context, value))
        });
        let attrs = context.dict(entries.collect::<Vec<_>>());
        let name = if name.contains('.') { name.to_owned() } else { format!("nn.{name}") };
        let name = context.name(&name);
        let end = Point::End(self.module.body());
        let op = if context.def(name).is_some() {
            let built = self.module.build(end, name, &operands, attrs, Some(results), Loc::UNKNOWN);
            built.unwrap_or_else(|error| panic!("{text}: {error}"))
        } else {
            let ty = self.module.value_type(operands[0]);
            let mut state = OpState::new(name, Loc::UNKNOWN);
            state.operands.extend(operands);
            state.attrs = attrs;
            state.results.extend(vec![ty; results]);
            self.module.create_at(end, state)
        };
        self.module.results(op).collect()
    }

    pub fn op(&self, name: &str) -> Op {
        self.module.def_op(self.values[name]).expect("an operation")
    }

    /// The operations in order with what they use, for comparison.
    pub fn dump(&self) -> String {
        let module = &self.module;
        let mut out = String::new();
        for op in module.ops(module.body()) {
            let operands: Vec<_> = module.operands(op).collect();
            let results: Vec<_> = module.results(op).map(|v| (v, module.value_type(v))).collect();
            let users: Vec<_> =
                results.iter().flat_map(|(v, _)| module.uses(*v)).map(|u| u.op).collect();
            out += &format!(
                "{op:?} {} {operands:?} {results:?} {:?} {users:?}\n",
                module.name_text(op),
                module.attrs(op)
            );
        }
        let mut keys: Vec<_> = module.resources().keys().collect();
        keys.sort_unstable();
        out + &format!("{keys:?}")
    }

    /// What is returned, as nested calls: `add(relu(x), const)`.
    pub fn show(&self) -> String {
        let module = &self.module;
        let last = module.last_op(module.body()).expect("a return");
        let values: Vec<String> = module.operands(last).map(|v| self.expression(v)).collect();
        values.join("; ")
    }

    fn expression(&self, value: Value) -> String {
        let module = &self.module;
        let op = match module.value_def(value) {
            ValueDef::Arg(..) => {
                let named = self.values.iter().find(|(_, known)| **known == value);
                return named.map(|(name, _)| name.clone()).expect("a named input");
            }
            ValueDef::Result(op, _) => op,
        };
        let index = module.results(op).position(|result| result == value).unwrap();
        let suffix = if module.result_count(op) > 1 { format!("[{index}]") } else { String::new() };
        let name = module.name_text(op).trim_start_matches("nn.").to_owned();
        if name == "constant" {
            let tensor = constant::constant_tensor(module, value).expect("a tensor");
            let shape = tensor.shape().to_vec();
            let elements = tensor.f64s().expect("numbers");
            let text = match elements.as_slice() {
                [one] if shape.is_empty() => format!("{one}"),
                few if few.len() <= 4 => format!("{few:?}"),
                _ => format!("const{shape:?}"),
            };
            return text;
        }
        let operands: Vec<String> = module.operands(op).map(|v| self.expression(v)).collect();
        format!("{name}({}){suffix}", operands.join(", "))
    }

    /// Compiles a rule, with the checker.
    pub fn rule(&self, text: &str) -> CompiledRule {
        self.rule_with(text, &Options::default())
    }

    pub fn rule_with(&self, text: &str, options: &Options) -> CompiledRule {
        let rule = parse(text).unwrap_or_else(|e| panic!("{e}")).remove(0);
        let context = self.module.context();
        let schema = tangram_gsl::schema::NnSchema::new(context);
        CompiledRule::new(&rule, context, &schema, options, &|_| true)
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// Applies a rule once at each operation in order; returns how often it was applied.
    pub fn rewrite(&mut self, text: &str) -> usize {
        let rule = self.rule(text);
        self.run(&rule)
    }

    pub fn run(&mut self, rule: &CompiledRule) -> usize {
        let mut count = 0;
        let ops: Vec<Op> = self.module.ops(self.module.body()).collect();
        for op in ops {
            if self.module.is_live(op) {
                let mut listener = Silent;
                let mut rewriter = Rewriter::new(&mut self.module, &mut listener);
                count += usize::from(rule.match_and_rewrite(&mut rewriter, op).is_ok());
            }
        }
        self.verify();
        count
    }

    /// Why a rule is not applied at the operation before the last, in words.
    pub fn refusal(&mut self, rule: &CompiledRule) -> String {
        let ops: Vec<Op> = self.module.ops(self.module.body()).collect();
        let mut listener = Silent;
        let mut rewriter = Rewriter::new(&mut self.module, &mut listener);
        let refused = |op: &Op| rule.match_and_rewrite(&mut rewriter, *op).err();
        let refused = ops.iter().rev().nth(1).and_then(refused);
        refused.map(|no_match| format!("{no_match:?}")).unwrap_or_default()
    }

    /// Every operand is made before it is used.
    pub fn verify(&self) {
        let module = &self.module;
        for op in module.ops(module.body()) {
            for value in module.operands(op) {
                assert!(module.is_visible(value, op), "{op:?} uses {value:?}\n{}", self.dump());
            }
        }
    }

    /// How many matches a rule has over all operations.
    pub fn count(&self, text: &str) -> usize {
        let rule = self.rule(text);
        let mut count = 0;
        for op in self.module.ops(self.module.body()) {
            let mut solver = rule.matches(&self.module, op);
            while solver.next_match().is_some() {
                count += 1;
            }
        }
        count
    }

    /// Applies a rule that has to be refused: nothing changes. Returns the diagnostic.
    pub fn refused(&mut self, text: &str) -> tangram_ir::Diagnostic {
        let log = Arc::new(Log::default());
        let options = Options { record: Some(log.clone()), ..Options::default() };
        let rule = self.rule_with(text, &options);
        let before = self.dump();
        assert_eq!(self.run(&rule), 0);
        assert_eq!(self.dump(), before);
        log.refusals().remove(0).diagnostic
    }
}

/// Checks what a rule makes of a graph.
#[track_caller]
pub fn check(graph: &str, rule: &str, expected: &str) {
    let mut graph = Graph::new(graph);
    assert!(graph.rewrite(rule) > 0, "the rule was not applied to\n{}", graph.show());
    assert_eq!(graph.show(), expected);
}

/// Checks that a rule leaves a graph alone.
#[track_caller]
pub fn stays(graph: &str, rule: &str) {
    let mut graph = Graph::new(graph);
    let before = graph.dump();
    assert_eq!(graph.rewrite(rule), 0, "{}", graph.show());
    assert_eq!(graph.dump(), before);
}
