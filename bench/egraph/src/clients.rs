//! What programs that depend on egg spend their time with: analyses that rules read, many runs on
//! tiny terms, schedulers of their own, unions in their own order, proofs of deep terms.
//!
//! Written once and instantiated for each crate.

/// Makes a module with these workloads over the crate `$engine`.
#[macro_export]
macro_rules! clients {
    ($module:ident, $engine:ident) => {
        /// The workloads of clients over one engine.
        pub mod $module {
            use ::$engine as engine;
            use engine::{
                define_language, merge_option, rewrite as rw, Analysis, DidMerge, EGraph, Id, Language,
                Pattern, RecExpr, Rewrite, RewriteScheduler, Runner, SimpleScheduler, Subst, Symbol,
                SymbolLang,
            };
            use std::time::Duration;
            use $crate::outside::processor_seconds;
            use $crate::{Run, MATH_EXPRS, MATH_RULES, SMALL};

            define_language! {
                enum Math {
                    "d" = Diff([Id; 2]),
                    "i" = Integral([Id; 2]),
                    "+" = Add([Id; 2]),
                    "-" = Sub([Id; 2]),
                    "*" = Mul([Id; 2]),
                    "/" = Div([Id; 2]),
                    "pow" = Pow([Id; 2]),
                    "ln" = Ln(Id),
                    "sqrt" = Sqrt(Id),
                    "sin" = Sin(Id),
                    "cos" = Cos(Id),
                    Constant(i64),
                    Symbol(Symbol),
                }
            }

            /// Runs the search and measures it from the first search to the last rebuild.
            fn run<L: Language, N: Analysis<L>>(runner: Runner<L, N, ()>, iterations: usize, rules: &[Rewrite<L, N>]) -> Run {
                let runner = runner
                    .with_iter_limit(iterations)
                    .with_node_limit(usize::MAX)
                    .with_time_limit(Duration::from_secs(3600));
                let start = processor_seconds();
                let runner = runner.run(rules);
                let seconds = processor_seconds() - start;
                let phases = runner.iterations.iter().fold((0.0, 0.0, 0.0), |sum, it| {
                    (sum.0 + it.search_time, sum.1 + it.apply_time, sum.2 + it.rebuild_time)
                });
                let (nodes, classes) = (runner.egraph.total_number_of_nodes(), runner.egraph.number_of_classes());
                Run { seconds, phases, nodes, classes, iterations: runner.iterations.len() }
            }

            fn rules<L, N>(texts: &[(&str, &str, &str)]) -> Vec<Rewrite<L, N>>
            where
                L: Language + engine::FromOp + Send + Sync + std::fmt::Display + 'static,
                N: Analysis<L> + 'static,
            {
                let pattern = |text: &str| text.parse::<Pattern<L>>().unwrap();
                let rule = |&(name, left, right): &(&str, &str, &str)| {
                    Rewrite::new(name, pattern(left), pattern(right)).unwrap()
                };
                texts.iter().map(rule).collect()
            }

            /// Folds constants and prunes what they replace, as egg's own tests do.
            #[derive(Clone, Default)]
            pub struct Fold;

            impl Analysis<Math> for Fold {
                type Data = Option<i64>;

                fn make(egraph: &mut EGraph<Math, Self>, node: &Math, _: Id) -> Option<i64> {
                    let value = |id: &Id| egraph[*id].data;
                    match node {
                        Math::Constant(constant) => Some(*constant),
                        Math::Add([a, b]) => value(a)?.checked_add(value(b)?),
                        Math::Sub([a, b]) => value(a)?.checked_sub(value(b)?),
                        Math::Mul([a, b]) => value(a)?.checked_mul(value(b)?),
                        _ => None,
                    }
                }

                fn merge(&mut self, to: &mut Option<i64>, from: Option<i64>) -> DidMerge {
                    merge_option(to, from, |_, _| DidMerge(false, false))
                }

                fn modify(egraph: &mut EGraph<Math, Self>, id: Id) {
                    if let Some(constant) = egraph[id].data {
                        let added = egraph.add(Math::Constant(constant));
                        egraph.union(id, added);
                        egraph[id].nodes.retain(|node| node.is_leaf());
                    }
                }
            }

            /// The rules of [`MATH_RULES`], and some that ask the analysis.
            fn folding_rules() -> Vec<Rewrite<Math, Fold>> {
                fn not_zero(name: &str) -> impl Fn(&mut EGraph<Math, Fold>, Id, &Subst) -> bool + use<> {
                    let var = name.parse().unwrap();
                    move |egraph, _, subst| egraph[subst[var]].data != Some(0)
                }
                fn constant(name: &str, of: &str) -> impl Fn(&mut EGraph<Math, Fold>, Id, &Subst) -> bool + use<> {
                    let (var, of) = (name.parse().unwrap(), of.parse().unwrap());
                    move |egraph, _, subst| {
                        let known = egraph[subst[var]].data.is_some()
                            || egraph[subst[var]].nodes.iter().any(|node| matches!(node, Math::Symbol(_)));
                        known && egraph.find(subst[var]) != egraph.find(subst[of])
                    }
                }
                let mut all = rules(&MATH_RULES);
                all.extend([
                    rw!("cancel-div"; "(/ ?a ?a)" => "1" if not_zero("?a")),
                    rw!("div-canon"; "(/ ?a ?b)" => "(* ?a (pow ?b -1))" if not_zero("?b")),
                    rw!("d-constant"; "(d ?x ?c)" => "0" if constant("?c", "?x")),
                    rw!("pow-recip"; "(pow ?x -1)" => "(/ 1 ?x)" if not_zero("?x")),
                ]);
                all
            }

            fn folding_runner() -> Runner<Math, Fold, ()> {
                let runner = Runner::<Math, Fold, ()>::new(Fold);
                MATH_EXPRS.iter().fold(runner, |runner, text| runner.with_expr(&text.parse().unwrap()))
            }

            pub fn fold(iterations: usize) -> Run {
                run(folding_runner().with_scheduler(SimpleScheduler), iterations, &folding_rules())
            }

            pub fn fold_backoff(iterations: usize) -> Run {
                run(folding_runner(), iterations, &folding_rules())
            }

            /// The cheapest size and depth of each class, which change again and again.
            #[derive(Clone, Default)]
            pub struct Sizes;

            impl<L: Language> Analysis<L> for Sizes {
                type Data = (u64, u64);

                fn make(egraph: &mut EGraph<L, Self>, node: &L, _: Id) -> (u64, u64) {
                    let sum = node.fold(1u64, |sum, id| sum.saturating_add(egraph[id].data.0));
                    let depth = node.fold(0u64, |depth, id| depth.max(egraph[id].data.1));
                    (sum, depth + 1)
                }

                fn merge(&mut self, to: &mut (u64, u64), from: (u64, u64)) -> DidMerge {
                    let best = (to.0.min(from.0), to.1.min(from.1));
                    let did = DidMerge(best != *to, best != from);
                    *to = best;
                    did
                }
            }

            pub fn sizes_sums(terms: usize) -> Run {
                let text = (1..terms).fold("0".to_string(), |sum, term| format!("(+ {term} {sum})"));
                let runner = Runner::<Math, Sizes, ()>::new(Sizes).with_scheduler(SimpleScheduler);
                run(runner.with_expr(&text.parse().unwrap()), 100, &rules(&[MATH_RULES[0], MATH_RULES[2]]))
            }

            pub fn sizes_math(iterations: usize) -> Run {
                let runner = Runner::<Math, Sizes, ()>::new(Sizes).with_scheduler(SimpleScheduler);
                let add = |runner: Runner<_, _, _>, text: &&str| runner.with_expr(&text.parse().unwrap());
                run(MATH_EXPRS.iter().fold(runner, add), iterations, &rules(&MATH_RULES))
            }

            /// Shapes of tensors by operator name: data on the heap, a language of strings.
            #[derive(Clone, Default)]
            pub struct Shapes;

            impl Analysis<SymbolLang> for Shapes {
                type Data = Option<Vec<usize>>;

                fn make(egraph: &mut EGraph<SymbolLang, Self>, node: &SymbolLang, _: Id) -> Option<Vec<usize>> {
                    let shape = |at: usize| egraph[node.children[at]].data.clone();
                    match (node.op.as_str(), node.children.len()) {
                        ("matmul", 2) => Some(vec![shape(0)?[0], shape(1)?[1]]),
                        ("transpose", 1) => shape(0).map(|shape| shape.into_iter().rev().collect()),
                        ("relu", 1) | ("ewadd" | "ewmul", 2) => shape(0),
                        _ => Some(vec![64, 64]),
                    }
                }

                fn merge(&mut self, to: &mut Option<Vec<usize>>, from: Option<Vec<usize>>) -> DidMerge {
                    merge_option(to, from, |_, _| DidMerge(false, false))
                }
            }

            pub fn shapes(iterations: usize) -> Run {
                let texts = [
                    ("add-comm", "(ewadd ?x ?y)", "(ewadd ?y ?x)"),
                    ("add-assoc", "(ewadd ?x (ewadd ?y ?z))", "(ewadd (ewadd ?x ?y) ?z)"),
                    ("mul-comm", "(ewmul ?x ?y)", "(ewmul ?y ?x)"),
                    ("matmul-assoc", "(matmul ?x (matmul ?y ?z))", "(matmul (matmul ?x ?y) ?z)"),
                    ("matmul-left", "(matmul (matmul ?x ?y) ?z)", "(matmul ?x (matmul ?y ?z))"),
                    ("distribute", "(matmul ?x (ewadd ?y ?z))", "(ewadd (matmul ?x ?y) (matmul ?x ?z))"),
                    ("factor", "(ewadd (matmul ?x ?y) (matmul ?x ?z))", "(matmul ?x (ewadd ?y ?z))"),
                    ("twice", "(transpose (transpose ?x))", "?x"),
                    ("product", "(transpose (matmul ?x ?y))", "(matmul (transpose ?y) (transpose ?x))"),
                    ("sum", "(transpose (ewadd ?x ?y))", "(ewadd (transpose ?x) (transpose ?y))"),
                    ("back", "(matmul (transpose ?y) (transpose ?x))", "(transpose (matmul ?x ?y))"),
                ];
                let term = "(transpose (ewadd (matmul a (matmul b (ewadd c (matmul d e)))) (ewadd (matmul a f)
                    (transpose (matmul (transpose (relu g)) (transpose (matmul a h)))))))";
                let runner = Runner::<SymbolLang, Shapes, ()>::new(Shapes).with_scheduler(SimpleScheduler);
                run(runner.with_expr(&term.parse().unwrap()), iterations, &rules(&texts))
            }

            /// Runs rules on a small term again and again, as compilers do for each expression.
            fn tiny<N: Analysis<Math> + Clone + 'static>(analysis: N, rules: &[Rewrite<Math, N>], terms: &[&str], times: usize) -> Run {
                let terms: Vec<RecExpr<Math>> = terms.iter().map(|text| text.parse().unwrap()).collect();
                let (mut nodes, mut classes, mut iterations) = (0, 0, 0);
                let start = processor_seconds();
                for at in 0..times {
                    let runner = Runner::<Math, N, ()>::new(analysis.clone()).with_iter_limit(4);
                    let runner = runner.with_expr(&terms[at % terms.len()]).run(rules);
                    nodes += runner.egraph.total_number_of_nodes();
                    classes += runner.egraph.number_of_classes();
                    iterations += runner.iterations.len();
                }
                let seconds = processor_seconds() - start;
                Run { seconds, phases: (0.0, 0.0, 0.0), nodes, classes, iterations }
            }

            const TINY: [&str; 3] = ["(+ 0 (* 1 foo))", "(* (+ x 0) 1)", "(* 0 y)"];

            fn five() -> [(&'static str, &'static str, &'static str); 5] {
                [0, 1, 5, 6, 7].map(|at| MATH_RULES[at])
            }

            pub fn tiny_5(times: usize) -> Run {
                tiny((), &rules(&five()), &TINY, times)
            }

            pub fn tiny_24(times: usize) -> Run {
                tiny((), &rules(&MATH_RULES), &TINY, times)
            }

            pub fn tiny_5_fold(times: usize) -> Run {
                tiny(Fold, &rules(&five()), &TINY, times)
            }

            pub fn tiny_24_fold(times: usize) -> Run {
                tiny(Fold, &folding_rules(), &TINY, times)
            }

            /// Small terms of egg's tests, where only a few iterations are run.
            pub fn small_fold(times: usize) -> Run {
                let terms: Vec<&str> = SMALL[1..].iter().map(|small| small.1).collect();
                tiny_with_limit(&folding_rules(), &terms, times)
            }

            fn tiny_with_limit(rules: &[Rewrite<Math, Fold>], terms: &[&str], times: usize) -> Run {
                let (mut seconds, mut nodes, mut classes, mut iterations) = (0.0, 0, 0, 0);
                for at in 0..times {
                    let expr = terms[at % terms.len()].parse().unwrap();
                    let one = run(Runner::<Math, Fold, ()>::new(Fold).with_expr(&expr), 5, rules);
                    seconds += one.seconds;
                    nodes += one.nodes;
                    classes += one.classes;
                    iterations += one.iterations;
                }
                Run { seconds, phases: (0.0, 0.0, 0.0), nodes, classes, iterations }
            }

            /// A scheduler as users write them: some rules only every other time.
            struct Own;

            impl<L: Language, N: Analysis<L>> RewriteScheduler<L, N> for Own {
                fn search_rewrite<'a>(
                    &mut self,
                    iteration: usize,
                    egraph: &EGraph<L, N>,
                    rewrite: &'a Rewrite<L, N>,
                ) -> Vec<engine::SearchMatches<'a, L>> {
                    match iteration % 2 == 1 && rewrite.name.as_str().starts_with("assoc") {
                        true => Vec::new(),
                        false => rewrite.search(egraph),
                    }
                }
            }

            /// A scheduler that changes nothing.
            struct Plain;
            impl<L: Language, N: Analysis<L>> RewriteScheduler<L, N> for Plain {}

            pub fn own_math(iterations: usize) -> Run {
                let runner = Runner::<Math, (), ()>::new(()).with_scheduler(Own);
                let add = |runner: Runner<_, _, _>, text: &&str| runner.with_expr(&text.parse().unwrap());
                run(MATH_EXPRS.iter().fold(runner, add), iterations, &rules(&MATH_RULES))
            }

            pub fn own_sums(terms: usize) -> Run {
                let text = (1..terms).fold("0".to_string(), |sum, term| format!("(+ {term} {sum})"));
                let runner = Runner::<Math, (), ()>::new(()).with_scheduler(Plain);
                run(runner.with_expr(&text.parse().unwrap()), 100, &rules(&[MATH_RULES[0], MATH_RULES[2]]))
            }

            pub fn own_fold(iterations: usize) -> Run {
                run(folding_runner().with_scheduler(Own), iterations, &folding_rules())
            }

            /// Leaves united in an order, some of them with a node above.
            fn unions<N: Analysis<SymbolLang> + Default>(count: usize, pairs: impl Fn(usize) -> Vec<(usize, usize)>, above: usize) -> Run {
                let mut egraph = EGraph::<SymbolLang, N>::default();
                let leaf = |at: usize| SymbolLang::leaf(format!("x{at}"));
                let ids: Vec<Id> = (0..count).map(|at| egraph.add(leaf(at))).collect();
                for &id in ids.iter().take(above) {
                    egraph.add(SymbolLang::new("f", vec![id]));
                }
                egraph.rebuild();
                let pairs = pairs(count);
                let start = processor_seconds();
                for (left, right) in pairs {
                    egraph.union(ids[left], ids[right]);
                }
                egraph.rebuild();
                let seconds = processor_seconds() - start;
                Run { seconds, phases: (0.0, 0.0, 0.0), nodes: egraph.total_number_of_nodes(), classes: egraph.number_of_classes(), iterations: 0 }
            }

            fn forward(count: usize) -> Vec<(usize, usize)> {
                (1..count).map(|at| (at - 1, at)).collect()
            }

            fn last_to_first(count: usize) -> Vec<(usize, usize)> {
                (1..count).rev().map(|at| (at - 1, at)).collect()
            }

            fn shuffled(count: usize) -> Vec<(usize, usize)> {
                let mut state = 88_172_645_463_325_252_u64;
                let mut next = move || {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state as usize
                };
                (0..count).map(|_| (next() % count, next() % count)).collect()
            }

            fn halves(count: usize) -> Vec<(usize, usize)> {
                let mut pairs = Vec::new();
                let mut step = 1;
                while step < count {
                    pairs.extend((0..count - step).step_by(2 * step).map(|at| (at, at + step)));
                    step *= 2;
                }
                pairs
            }

            pub fn unions_forward(count: usize) -> Run {
                unions::<()>(count, forward, 0)
            }

            pub fn unions_back(count: usize) -> Run {
                unions::<()>(count, last_to_first, 0)
            }

            pub fn unions_shuffled(count: usize) -> Run {
                unions::<()>(count, shuffled, 0)
            }

            pub fn unions_halves(count: usize) -> Run {
                unions::<()>(count, halves, 0)
            }

            pub fn unions_back_above(count: usize) -> Run {
                unions::<()>(count, last_to_first, count)
            }

            pub fn unions_shuffled_above(count: usize) -> Run {
                unions::<()>(count, shuffled, count / 2)
            }

            pub fn unions_back_sizes(count: usize) -> Run {
                unions::<Sizes>(count, last_to_first, count)
            }

            pub fn unions_shuffled_sizes(count: usize) -> Run {
                unions::<Sizes>(count, shuffled, 0)
            }

            /// Proves that a tower of `depth` operators over `a` is one over `b`.
            fn prove(depth: usize, texts: &[(&str, &str, &str)], tower: impl Fn(&str, usize) -> String) -> Run {
                let (from, to) = (tower("a", depth), tower("b", depth));
                let (from, to): (RecExpr<SymbolLang>, RecExpr<SymbolLang>) = (from.parse().unwrap(), to.parse().unwrap());
                let rules = rules::<SymbolLang, ()>(texts);
                let runner = Runner::<SymbolLang, (), ()>::new(()).with_explanations_enabled();
                let runner = runner.with_node_limit(usize::MAX).with_time_limit(Duration::from_secs(3600));
                let start = processor_seconds();
                let mut runner = runner.with_expr(&from).with_expr(&to).run(&rules);
                let mut explanation = runner.explain_equivalence(&from, &to);
                let steps = explanation.make_flat_explanation().len();
                let seconds = processor_seconds() - start;
                let classes = runner.egraph.number_of_classes();
                Run { seconds, phases: (0.0, 0.0, 0.0), nodes: steps, classes, iterations: runner.iterations.len() }
            }

            fn chain(leaf: &str, depth: usize) -> String {
                "(f ".repeat(depth) + leaf + &")".repeat(depth)
            }

            pub fn prove_deep(depth: usize) -> Run {
                prove(depth, &[("leaf", "a", "b")], chain)
            }

            pub fn prove_sum(depth: usize) -> Run {
                let sum = |leaf: &str, depth: usize| {
                    (0..depth).map(|at| format!("(+ y{at} ")).collect::<String>() + leaf + &")".repeat(depth)
                };
                prove(depth, &[("leaf", "a", "b"), ("comm", "(* ?a ?b)", "(* ?b ?a)")], sum)
            }
        }
    };
}
