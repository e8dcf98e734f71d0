//! The workloads, written once and instantiated for each crate.

/// Makes a module with all workloads over the crate `$engine`.
#[macro_export]
macro_rules! workloads {
    ($module:ident, $engine:ident) => {
        /// The workloads over one engine.
        pub mod $module {
            use ::$engine as engine;
            use engine::{
                define_language, rewrite as rw, Analysis, Applier, ConditionEqual, DidMerge, EGraph, Id, Language,
                Pattern, PatternAst, Rewrite, Runner, SimpleScheduler, Subst, Symbol, SymbolLang, Var,
            };
            use std::collections::BTreeSet;
            use std::time::Duration;
            use $crate::{Run, MATH_EXPRS, MATH_RULES};

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
                    Constant(i32),
                    Symbol(Symbol),
                }
            }

            define_language! {
                enum Dynamic {
                    Leaf(i32),
                    Op(Symbol, Vec<Id>),
                }
            }

            define_language! {
                pub enum Lambda {
                    Bool(bool),
                    Num(i32),
                    "var" = Var(Id),
                    "+" = Add([Id; 2]),
                    "=" = Eq([Id; 2]),
                    "app" = App([Id; 2]),
                    "lam" = Lambda([Id; 2]),
                    "let" = Let([Id; 3]),
                    "fix" = Fix([Id; 2]),
                    "if" = If([Id; 3]),
                    Symbol(Symbol),
                }
            }

            /// Runs rules and measures them from the first search to the last rebuild.
            fn run<L: Language, N: Analysis<L>>(
                runner: Runner<L, N, ()>,
                iterations: usize,
                rules: &[Rewrite<L, N>],
            ) -> Run {
                let runner = runner
                    .with_iter_limit(iterations)
                    .with_node_limit(usize::MAX)
                    .with_time_limit(Duration::from_secs(3600));
                let start = $crate::outside::processor_seconds();
                let runner = runner.run(rules);
                let seconds = $crate::outside::processor_seconds() - start;
                let phases = runner.iterations.iter().fold((0.0, 0.0, 0.0), |sum, it| {
                    (sum.0 + it.search_time, sum.1 + it.apply_time, sum.2 + it.rebuild_time)
                });
                Run {
                    seconds,
                    phases,
                    nodes: runner.egraph.total_number_of_nodes(),
                    classes: runner.egraph.number_of_classes(),
                    iterations: runner.iterations.len(),
                }
            }

            fn pattern_rules<L: Language + engine::FromOp + Send + Sync + 'static>() -> Vec<Rewrite<L, ()>>
            where
                L: std::fmt::Display,
            {
                let pattern = |text: &str| text.parse::<Pattern<L>>().unwrap();
                let rule = |&(name, left, right): &(&str, &str, &str)| {
                    Rewrite::new(name, pattern(left), pattern(right)).unwrap()
                };
                MATH_RULES.iter().map(rule).collect()
            }

            fn math_in<L>(iterations: usize, explain: bool) -> Run
            where
                L: Language + engine::FromOp + Send + Sync + std::fmt::Display + 'static,
            {
                let mut runner = Runner::<L, (), ()>::new(()).with_scheduler(SimpleScheduler);
                if explain {
                    runner = runner.with_explanations_enabled();
                }
                for text in MATH_EXPRS {
                    runner = runner.with_expr(&text.parse().unwrap());
                }
                run(runner, iterations, &pattern_rules::<L>())
            }

            pub fn math(iterations: usize) -> Run {
                math_in::<Math>(iterations, false)
            }

            pub fn math_explained(iterations: usize) -> Run {
                math_in::<Math>(iterations, true)
            }

            pub fn math_symbols(iterations: usize) -> Run {
                math_in::<SymbolLang>(iterations, false)
            }

            pub fn math_dynamic(iterations: usize) -> Run {
                math_in::<Dynamic>(iterations, false)
            }

            fn sum_rules() -> Vec<Rewrite<Math, ()>> {
                vec![
                    rw!("comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
                    rw!("assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
                ]
            }

            fn sum_runner(terms: usize) -> Runner<Math, (), ()> {
                let text = (1..terms).fold("0".to_string(), |sum, term| format!("(+ {term} {sum})"));
                Runner::new(()).with_scheduler(SimpleScheduler).with_expr(&text.parse().unwrap())
            }

            pub fn sums(terms: usize) -> Run {
                run(sum_runner(terms), 100, &sum_rules())
            }

            pub fn sums_explained(terms: usize) -> Run {
                let runner = Runner::<Math, (), ()>::new(()).with_explanations_enabled();
                let text = (1..terms).fold("0".to_string(), |sum, term| format!("(+ {term} {sum})"));
                let runner = runner.with_scheduler(SimpleScheduler).with_expr(&text.parse().unwrap());
                run(runner, 100, &sum_rules())
            }

            #[derive(Default)]
            struct Scope;

            #[derive(Debug)]
            struct Facts {
                free: BTreeSet<Id>,
                value: Option<Lambda>,
            }

            fn number(node: Option<&Lambda>) -> Option<i32> {
                match node? {
                    Lambda::Num(n) => Some(*n),
                    _ => None,
                }
            }

            impl Analysis<Lambda> for Scope {
                type Data = Facts;

                fn merge(&mut self, to: &mut Facts, from: Facts) -> DidMerge {
                    let before = to.free.len();
                    to.free.retain(|name| from.free.contains(name));
                    let free = DidMerge(before != to.free.len(), to.free.len() != from.free.len());
                    let value = match (&to.value, from.value) {
                        (None, Some(value)) => {
                            to.value = Some(value);
                            DidMerge(true, false)
                        }
                        (Some(_), None) => DidMerge(false, true),
                        _ => DidMerge(false, false),
                    };
                    free | value
                }

                fn make(egraph: &mut EGraph<Lambda, Self>, node: &Lambda, _: Id) -> Facts {
                    let value = |id: &Id| egraph[*id].data.value.as_ref();
                    let result = match node {
                        Lambda::Num(_) | Lambda::Bool(_) => Some(node.clone()),
                        Lambda::Add([a, b]) => match (number(value(a)), number(value(b))) {
                            (Some(a), Some(b)) => a.checked_add(b).map(Lambda::Num),
                            _ => None,
                        },
                        Lambda::Eq([a, b]) => match (value(a), value(b)) {
                            (Some(a), Some(b)) => Some(Lambda::Bool(a == b)),
                            _ => None,
                        },
                        _ => None,
                    };
                    let mut free = BTreeSet::new();
                    for child in node.children() {
                        free.extend(&egraph[*child].data.free);
                    }
                    match node {
                        Lambda::Var(v) => _ = free.insert(*v),
                        Lambda::Let([v, e, b]) => {
                            free = egraph[*b].data.free.clone();
                            free.remove(v);
                            free.extend(&egraph[*e].data.free);
                        }
                        Lambda::Lambda([v, b]) | Lambda::Fix([v, b]) => {
                            free = egraph[*b].data.free.clone();
                            free.remove(v);
                        }
                        _ => {}
                    }
                    Facts { free, value: result }
                }

                fn modify(egraph: &mut EGraph<Lambda, Self>, id: Id) {
                    if let Some(value) = egraph[id].data.value.clone() {
                        let value = egraph.add(value);
                        egraph.union(id, value);
                    }
                }
            }

            struct Capture {
                fresh: Var,
                inner: Var,
                term: Var,
                plain: Pattern<Lambda>,
                renamed: Pattern<Lambda>,
            }

            impl Applier<Lambda, Scope> for Capture {
                fn apply_one(
                    &self,
                    egraph: &mut EGraph<Lambda, Scope>,
                    class: Id,
                    subst: &Subst,
                    left: Option<&PatternAst<Lambda>>,
                    name: Symbol,
                ) -> Vec<Id> {
                    if !egraph[subst[self.term]].data.free.contains(&subst[self.inner]) {
                        return self.plain.apply_one(egraph, class, subst, left, name);
                    }
                    let mut subst = subst.clone();
                    let fresh = egraph.add(Lambda::Symbol(format!("_{class}").into()));
                    subst.insert(self.fresh, fresh);
                    self.renamed.apply_one(egraph, class, &subst, left, name)
                }
            }

            fn lambda_rules() -> Vec<Rewrite<Lambda, Scope>> {
                fn var(name: &str) -> Var {
                    name.parse().unwrap()
                }
                fn different(a: &str, b: &str) -> impl Fn(&mut EGraph<Lambda, Scope>, Id, &Subst) -> bool + use<> {
                    let (a, b) = (var(a), var(b));
                    move |egraph, _, subst| egraph.find(subst[a]) != egraph.find(subst[b])
                }
                fn constant(a: &str) -> impl Fn(&mut EGraph<Lambda, Scope>, Id, &Subst) -> bool + use<> {
                    let a = var(a);
                    move |egraph, _, subst| egraph[subst[a]].data.value.is_some()
                }
                vec![
                    rw!("if-true"; "(if true ?t ?e)" => "?t"),
                    rw!("if-false"; "(if false ?t ?e)" => "?e"),
                    rw!("if-elim"; "(if (= (var ?x) ?v) ?t ?e)" => "?e"
                        if ConditionEqual::parse("(let ?x ?v ?t)", "(let ?x ?v ?e)")),
                    rw!("add-comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
                    rw!("add-assoc"; "(+ (+ ?a ?b) ?c)" => "(+ ?a (+ ?b ?c))"),
                    rw!("eq-comm"; "(= ?a ?b)" => "(= ?b ?a)"),
                    rw!("fix"; "(fix ?v ?e)" => "(let ?v (fix ?v ?e) ?e)"),
                    rw!("beta"; "(app (lam ?v ?body) ?e)" => "(let ?v ?e ?body)"),
                    rw!("let-app"; "(let ?v ?e (app ?a ?b))" => "(app (let ?v ?e ?a) (let ?v ?e ?b))"),
                    rw!("let-add"; "(let ?v ?e (+ ?a ?b))" => "(+ (let ?v ?e ?a) (let ?v ?e ?b))"),
                    rw!("let-eq"; "(let ?v ?e (= ?a ?b))" => "(= (let ?v ?e ?a) (let ?v ?e ?b))"),
                    rw!("let-const"; "(let ?v ?e ?c)" => "?c" if constant("?c")),
                    rw!("let-if"; "(let ?v ?e (if ?c ?t ?f))" =>
                        "(if (let ?v ?e ?c) (let ?v ?e ?t) (let ?v ?e ?f))"),
                    rw!("let-var-same"; "(let ?v ?e (var ?v))" => "?e"),
                    rw!("let-var-diff"; "(let ?v ?e (var ?w))" => "(var ?w)" if different("?v", "?w")),
                    rw!("let-lam-same"; "(let ?v ?e (lam ?v ?b))" => "(lam ?v ?b)"),
                    rw!("let-lam-diff"; "(let ?v ?e (lam ?w ?b))" => {
                        Capture {
                            fresh: var("?fresh"),
                            inner: var("?w"),
                            term: var("?e"),
                            plain: "(lam ?w (let ?v ?e ?b))".parse().unwrap(),
                            renamed: "(lam ?fresh (let ?v ?e (let ?w (var ?fresh) ?b)))".parse().unwrap(),
                        }
                    } if different("?v", "?w")),
                ]
            }

            fn lambda(text: &str, iterations: usize) -> Run {
                let runner = Runner::<Lambda, Scope, ()>::new(Scope).with_expr(&text.parse().unwrap());
                run(runner, iterations, &lambda_rules())
            }

            /// The e-graph that a program of the lambda calculus grows to.
            #[allow(dead_code)]
            pub fn lambda_egraph(text: &str, iterations: usize) -> EGraph<Lambda, impl Analysis<Lambda> + use<>> {
                let runner = Runner::<Lambda, Scope, ()>::new(Scope).with_expr(&text.parse().unwrap());
                runner.with_iter_limit(iterations).run(&lambda_rules()).egraph
            }

            /// One of the small terms of egg's tests, by number, with the scheduler that they use.
            pub fn small(number: usize) -> Run {
                let runner = Runner::<Math, (), ()>::new(());
                run(runner.with_expr(&$crate::SMALL[number].1.parse().unwrap()), 8, &pattern_rules::<Math>())
            }

            pub fn fib(iterations: usize) -> Run {
                lambda($crate::FIB, iterations)
            }

            pub fn repeat(iterations: usize) -> Run {
                lambda($crate::REPEAT, iterations)
            }
        }
    };
}
