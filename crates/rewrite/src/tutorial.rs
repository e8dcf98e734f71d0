//! A tutorial: a dialect, a pattern, a conversion, and a driver of one's own.
//!
//! # A dialect
//!
//! A dialect is a table of definitions ([`tangram_ir::OpDef`]) that a context is told of. The
//! traits say what drivers may assume; a *folder* says what an operation is known to give, and the
//! *materialiser* how the dialect writes a constant.
//!
//! ```
//! use tangram_ir::{
//!     Arity, Context, Fold, FoldCx, Folded, OpDef, OperandDef, ResultDef, Traits, text,
//! };
//! use tangram_rewrite::{GreedyConfig, PatternSet, greedy};
//!
//! const XS: &[OperandDef] = &[OperandDef { name: "xs", arity: Arity::Variadic, doc: "numbers" }];
//! const Y: &[ResultDef] = &[ResultDef { name: "y", arity: Arity::One, doc: "a number" }];
//!
//! static CONSTANT: OpDef = OpDef {
//!     results: Y,
//!     traits: Traits::PURE.union(Traits::CONSTANT_LIKE),
//!     ..OpDef::new("toy.constant", "a number")
//! };
//! static ADD: OpDef = OpDef {
//!     operands: XS,
//!     results: Y,
//!     traits: Traits::PURE,
//!     fold: Some(fold_add),
//!     ..OpDef::new("toy.add", "the sum of numbers")
//! };
//!
//! fn fold_add(cx: &FoldCx<'_>) -> Option<Fold> {
//!     let mut sum = 0;
//!     for &constant in cx.constants {
//!         sum += cx.context().as_i64(constant?)?;
//!     }
//!     Some(Fold::Results([Folded::Attr(cx.context().i64_attr(sum))].into_iter().collect()))
//! }
//!
//! let context = Context::new();
//! context.register([&CONSTANT, &ADD]);
//! context.set_materializer("toy", |context, value, _| {
//!     Some((context.name("toy.constant"), context.dict([(context.str("value"), value)])))
//! });
//!
//! let source = r#"
//!     %0 = "toy.constant"() {value = 2 : i64} : () -> i64
//!     %1 = "toy.add"(%0, %0, %0) : (i64, i64, i64) -> i64
//!     "toy.print"(%1) : (i64) -> ()
//! "#;
//! let mut module = text::parse(source, "toy.mlir", context).expect("a right program");
//! let (root, none) = (module.root(), PatternSet::new().freeze());
//! greedy::apply(&mut module, root, &none, &GreedyConfig::default());
//! assert!(text::print(&module).contains(r#"%0 = "toy.constant"() {value = 6 : i64}"#));
//! ```
//!
//! # A pattern
//!
//! A pattern looks first and changes afterwards, and changes only through the
//! [`crate::Rewriter`]. This one has a label, and gives a reason when it does not match.
//!
//! ```
//! use tangram_ir::{Context, Name, Op, text};
//! use tangram_rewrite::{
//!     GreedyConfig, NoMatch, PatternSet, RewritePattern, Rewriter, Roots, greedy,
//! };
//!
//! /// `neg(neg(x))` is `x`.
//! struct DoubleNegation {
//!     neg: Name,
//!     labels: Vec<String>,
//! }
//!
//! impl RewritePattern for DoubleNegation {
//!     fn name(&self) -> &str {
//!         "double-negation"
//!     }
//!     fn labels(&self) -> &[String] {
//!         &self.labels
//!     }
//!     fn roots(&self) -> Roots {
//!         Roots::Names(vec![self.neg])
//!     }
//!     fn depth(&self) -> u32 {
//!         2
//!     }
//!     fn initialize(&mut self) {
//!         self.labels.push("toy-algebra".to_owned());
//!     }
//!     fn match_and_rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
//!         let module = rewriter.module();
//!         let inner = module.def_op(module.operand(op, 0));
//!         let Some(inner) = inner.filter(|&inner| module.name(inner) == self.neg) else {
//!             return Err(rewriter.no_match(|| "the operand is no negation".to_owned()));
//!         };
//!         let x = module.operand(inner, 0);
//!         rewriter.replace(op, &[x]).map_err(|error| NoMatch::because(error.message))
//!     }
//! }
//!
//! let context = Context::new();
//! let neg = context.name("toy.neg");
//! let mut patterns = PatternSet::new();
//! patterns.add(DoubleNegation { neg, labels: Vec::new() });
//! assert!(patterns.names("toy-algebra"));
//!
//! let source = r#"
//!     %0 = "toy.read"() : () -> i64
//!     %1 = "toy.neg"(%0) : (i64) -> i64
//!     %2 = "toy.neg"(%1) : (i64) -> i64
//!     "toy.print"(%2) : (i64) -> ()
//! "#;
//! let mut module = text::parse(source, "toy.mlir", context).expect("a right program");
//! let root = module.root();
//! let set = patterns.freeze();
//! let report = greedy::apply(&mut module, root, &set, &GreedyConfig::default());
//! assert_eq!((report.rewrites, report.patterns[0].hits), (1, 1));
//! assert!(text::print(&module).contains(r#""toy.print"(%0)"#));
//! ```
//!
//! # A conversion
//!
//! A target says what may stay. Here `index` becomes `i64`: the operation that reads is converted
//! first, and the one that prints sees its operand in the new type.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tangram_ir::{Context, OpState, Point, TypeData, text};
//! use tangram_rewrite::conversion::{
//!     ConversionConfig, ConversionPattern, ConversionTarget, TypeConversion, TypeConverter, convert,
//! };
//! use tangram_rewrite::{NoMatch, PatternSet, Roots, Silent};
//!
//! let context = Context::new();
//! let mut types = TypeConverter::new();
//! types.add(|_, ty| TypeConversion::one(ty));
//! types.add(|context, ty| match context.type_data(ty) {
//!     TypeData::Index => TypeConversion::one(context.int_type(64)),
//!     _ => TypeConversion::Skip,
//! });
//! let types = Arc::new(types);
//!
//! let mut target = ConversionTarget::new();
//! let legal = types.clone();
//! target.unknown(move |module, op| Some(legal.is_legal_op(module, op)));
//!
//! let roots = Roots::Names(vec![context.name("toy.read"), context.name("toy.print")]);
//! let retype = ConversionPattern::new("retype", roots, &types, |rewriter, types, op, operands| {
//!     let module = rewriter.module();
//!     let mut state = OpState::new(module.name(op), module.loc(op));
//!     state.operands.extend(operands.all());
//!     let old = module.results(op).map(|value| module.value_type(value));
//!     let new = types.convert_all(module.context(), old).ok_or(NoMatch::SILENT)?;
//!     state.results.extend(new);
//!     let made = rewriter.create(Point::Before(op), state);
//!     let values: Vec<_> = rewriter.module().results(made).map(|value| vec![value]).collect();
//!     types.replace(rewriter, op, &values).map_err(|error| NoMatch::because(error.message))
//! });
//! let mut set = PatternSet::new();
//! set.add(retype);
//!
//! let source = r#"
//!     %0 = "toy.read"() : () -> index
//!     "toy.print"(%0) : (index) -> ()
//! "#;
//! let mut module = text::parse(source, "toy.mlir", context).expect("a right program");
//! let (root, set) = (module.root(), set.freeze());
//! convert(&mut module, root, &target, &set, &ConversionConfig::default(), &mut Silent)
//!     .expect("a pattern for everything");
//! assert!(text::print(&module).contains(r#""toy.print"(%0) : (i64) -> ()"#));
//! ```
//!
//! # A driver of one's own
//!
//! A driver brings a listener that keeps its state right, an order of visits, and a cost model;
//! the [`crate::PatternApplicator`] does the rest.
//!
//! ```
//! use tangram_ir::{Context, Module, Op, text};
//! use tangram_rewrite::{
//!     FnPattern, FrozenPatternSet, Listener, PatternApplicator, PatternSet, Rewriter, Roots,
//! };
//!
//! /// Counts what is erased.
//! #[derive(Default)]
//! struct Erased(usize);
//!
//! impl Listener for Erased {
//!     fn erased(&mut self, _: &Module, _: Op) {
//!         self.0 += 1;
//!     }
//! }
//!
//! /// Tries the patterns once on `op`.
//! fn apply_my_driver(module: &mut Module, op: Op, patterns: &FrozenPatternSet) -> (bool, usize) {
//!     let mut listener = Erased::default();
//!     let mut applicator = PatternApplicator::new(patterns);
//!     // The default cost model, written out; `apply_default_cost_model` does the same.
//!     applicator.apply_cost_model(|pattern| pattern.benefit());
//!     let mut rewriter = Rewriter::new(module, &mut listener);
//!     let applied = applicator.match_and_rewrite(&mut rewriter, op).is_ok();
//!     (applied, listener.0)
//! }
//!
//! let context = Context::new();
//! let roots = Roots::Names(vec![context.name("toy.nop")]);
//! let mut set = PatternSet::new();
//! set.add(FnPattern::new("drop-nop", roots, |rewriter, op| {
//!     rewriter.erase(op);
//!     Ok(())
//! }));
//! let set = set.freeze();
//! let mut module = text::parse(r#""toy.nop"() : () -> ()"#, "toy.mlir", context).expect("right");
//! let op = module.first_op(module.body()).expect("one operation");
//! assert_eq!(apply_my_driver(&mut module, op, &set), (true, 1));
//! ```
