//! Workloads of other kinds than those that the engine was made faster with: intervals of integers,
//! strings on the heap, and known bits, each as an analysis that rules read.
//!
//! Written once and instantiated for each crate.

/// Makes a module with these workloads over the crate `$engine`.
#[macro_export]
macro_rules! kinds {
    ($module:ident, $engine:ident) => {
        /// The workloads of other kinds over one engine.
        pub mod $module {
            use ::$engine as engine;
            use engine::{
                define_language, rewrite as rw, Analysis, BackoffScheduler, DidMerge, EGraph, Id, Language, Rewrite,
                RewriteScheduler, Runner, SearchMatches, SimpleScheduler, Subst, Symbol,
            };
            use std::time::Duration;
            use $crate::outside::processor_seconds;
            use $crate::Run;

            fn run<L: Language, N: Analysis<L>>(runner: Runner<L, N, ()>, iterations: usize, rules: &[Rewrite<L, N>]) -> Run {
                let runner = runner
                    .with_iter_limit(iterations)
                    .with_node_limit(usize::MAX)
                    .with_time_limit(Duration::from_secs(3600));
                let start = processor_seconds();
                let runner = runner.run(rules);
                let seconds = processor_seconds() - start;
                let (nodes, classes) = (runner.egraph.total_number_of_nodes(), runner.egraph.number_of_classes());
                Run { seconds, phases: (0.0, 0.0, 0.0), nodes, classes, iterations: runner.iterations.len() }
            }

            define_language! {
                enum Range {
                    "+" = Add([Id; 2]),
                    "-" = Sub([Id; 2]),
                    "*" = Mul([Id; 2]),
                    "min" = Min([Id; 2]),
                    "max" = Max([Id; 2]),
                    "abs" = Abs(Id),
                    "neg" = Neg(Id),
                    Num(i64),
                    Name(Symbol),
                }
            }

            /// The least and the largest value; names are bytes.
            #[derive(Clone, Default)]
            pub struct Intervals;

            impl Analysis<Range> for Intervals {
                type Data = (i64, i64);

                fn make(egraph: &mut EGraph<Range, Self>, node: &Range, _: Id) -> (i64, i64) {
                    let of = |id: &Id| egraph[*id].data;
                    match node {
                        Range::Num(n) => (*n, *n),
                        Range::Name(_) => (0, 255),
                        Range::Add([a, b]) => (of(a).0.saturating_add(of(b).0), of(a).1.saturating_add(of(b).1)),
                        Range::Sub([a, b]) => (of(a).0.saturating_sub(of(b).1), of(a).1.saturating_sub(of(b).0)),
                        Range::Mul([a, b]) => {
                            let (a, b) = (of(a), of(b));
                            let all = [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
                            (all.into_iter().min().unwrap(), all.into_iter().max().unwrap())
                        }
                        Range::Min([a, b]) => (of(a).0.min(of(b).0), of(a).1.min(of(b).1)),
                        Range::Max([a, b]) => (of(a).0.max(of(b).0), of(a).1.max(of(b).1)),
                        Range::Neg(a) => (of(a).1.saturating_neg(), of(a).0.saturating_neg()),
                        Range::Abs(a) => match of(a) {
                            (low, high) if low >= 0 => (low, high),
                            (low, high) if high <= 0 => (high.saturating_neg(), low.saturating_neg()),
                            (low, high) => (0, high.max(low.saturating_neg())),
                        },
                    }
                }

                fn merge(&mut self, to: &mut (i64, i64), from: (i64, i64)) -> DidMerge {
                    let both = (to.0.max(from.0), to.1.min(from.1));
                    let did = DidMerge(both != *to, both != from);
                    *to = both;
                    did
                }
            }

            fn range_rules() -> Vec<Rewrite<Range, Intervals>> {
                fn below(a: &str, b: &str) -> impl Fn(&mut EGraph<Range, Intervals>, Id, &Subst) -> bool + use<> {
                    let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
                    move |egraph, _, subst| egraph[subst[a]].data.1 <= egraph[subst[b]].data.0
                }
                fn positive(a: &str) -> impl Fn(&mut EGraph<Range, Intervals>, Id, &Subst) -> bool + use<> {
                    let a = a.parse().unwrap();
                    move |egraph, _, subst| egraph[subst[a]].data.0 >= 0
                }
                vec![
                    rw!("add-comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
                    rw!("add-assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
                    rw!("min-comm"; "(min ?a ?b)" => "(min ?b ?a)"),
                    rw!("max-comm"; "(max ?a ?b)" => "(max ?b ?a)"),
                    rw!("min-assoc"; "(min ?a (min ?b ?c))" => "(min (min ?a ?b) ?c)"),
                    rw!("add-min"; "(+ ?a (min ?b ?c))" => "(min (+ ?a ?b) (+ ?a ?c))"),
                    rw!("min-below"; "(min ?a ?b)" => "?a" if below("?a", "?b")),
                    rw!("max-below"; "(max ?a ?b)" => "?b" if below("?a", "?b")),
                    rw!("abs"; "(abs ?a)" => "?a" if positive("?a")),
                    rw!("abs-neg"; "(abs (neg ?a))" => "(abs ?a)"),
                    rw!("sub"; "(- ?a ?b)" => "(+ ?a (neg ?b))"),
                    rw!("neg-neg"; "(neg (neg ?a))" => "?a"),
                    rw!("neg-add"; "(neg (+ ?a ?b))" => "(+ (neg ?a) (neg ?b))"),
                    rw!("mul-neg"; "(* ?a (neg ?b))" => "(neg (* ?a ?b))"),
                    rw!("cancel"; "(+ ?a (neg ?a))" => "0"),
                    rw!("zero"; "(+ ?a 0)" => "?a"),
                    rw!("scale-max"; "(* ?a (max ?b ?c))" => "(max (* ?a ?b) (* ?a ?c))" if positive("?a")),
                ]
            }

            const RANGE: &str = "(+ (min x (+ y 1)) (+ (neg z) (+ (max w 3) (+ (abs (neg x)) (- (* y (max w z)) (* y (neg x)))))))";

            fn range_runner() -> Runner<Range, Intervals, ()> {
                Runner::new(Intervals).with_expr(&RANGE.parse().unwrap())
            }

            pub fn intervals(iterations: usize) -> Run {
                run(range_runner().with_scheduler(SimpleScheduler), iterations, &range_rules())
            }

            /// Keeps the first matches of each rule, as schedulers with a budget do.
            struct Budget(usize);

            impl<L: Language, N: Analysis<L>> RewriteScheduler<L, N> for Budget {
                fn search_rewrite<'a>(&mut self, iteration: usize, egraph: &EGraph<L, N>, rewrite: &'a Rewrite<L, N>) -> Vec<SearchMatches<'a, L>> {
                    let matches = rewrite.search(egraph);
                    let count: usize = matches.iter().map(|found| found.substs.len()).sum();
                    match count > self.0 << iteration {
                        true => Vec::new(),
                        false => matches,
                    }
                }
            }

            pub fn own_intervals(iterations: usize) -> Run {
                run(range_runner().with_scheduler(Budget(16)), iterations, &range_rules())
            }

            define_language! {
                enum Text {
                    "cat" = Cat([Id; 2]),
                    "len" = Len(Id),
                    "rev" = Rev(Id),
                    "upper" = Upper(Id),
                    "cons" = Cons([Id; 2]),
                    "join" = Join(Id),
                    "+" = Add([Id; 2]),
                    "nil" = Nil,
                    Num(usize),
                    Str(String),
                }
            }

            #[derive(Clone, Debug, PartialEq)]
            pub enum Known {
                Nothing,
                Number(usize),
                String(String),
            }

            /// The value of what is constant.
            #[derive(Clone, Default)]
            pub struct Constants;

            impl Analysis<Text> for Constants {
                type Data = Known;

                fn make(egraph: &mut EGraph<Text, Self>, node: &Text, _: Id) -> Known {
                    let of = |id: &Id| &egraph[*id].data;
                    match node {
                        Text::Num(n) => Known::Number(*n),
                        Text::Str(text) if !text.starts_with('$') => Known::String(text.clone()),
                        Text::Len(a) => match of(a) {
                            Known::String(text) => Known::Number(text.len()),
                            _ => Known::Nothing,
                        },
                        Text::Rev(a) => match of(a) {
                            Known::String(text) => Known::String(text.chars().rev().collect()),
                            _ => Known::Nothing,
                        },
                        Text::Upper(a) => match of(a) {
                            Known::String(text) => Known::String(text.to_uppercase()),
                            _ => Known::Nothing,
                        },
                        Text::Cat([a, b]) => match (of(a), of(b)) {
                            (Known::String(a), Known::String(b)) => Known::String(format!("{a}{b}")),
                            _ => Known::Nothing,
                        },
                        Text::Add([a, b]) => match (of(a), of(b)) {
                            (Known::Number(a), Known::Number(b)) => Known::Number(a + b),
                            _ => Known::Nothing,
                        },
                        _ => Known::Nothing,
                    }
                }

                fn merge(&mut self, to: &mut Known, from: Known) -> DidMerge {
                    match (&*to, from) {
                        (Known::Nothing, Known::Nothing) => DidMerge(false, false),
                        (Known::Nothing, from) => {
                            *to = from;
                            DidMerge(true, false)
                        }
                        (_, Known::Nothing) => DidMerge(false, true),
                        _ => DidMerge(false, false),
                    }
                }

                fn modify(egraph: &mut EGraph<Text, Self>, id: Id) {
                    let constant = match &egraph[id].data {
                        Known::Nothing => return,
                        Known::Number(n) => Text::Num(*n),
                        Known::String(text) => Text::Str(text.clone()),
                    };
                    let constant = egraph.add(constant);
                    egraph.union(id, constant);
                }
            }

            fn text_rules() -> Vec<Rewrite<Text, Constants>> {
                vec![
                    rw!("cat-assoc"; "(cat ?a (cat ?b ?c))" => "(cat (cat ?a ?b) ?c)"),
                    rw!("cat-back"; "(cat (cat ?a ?b) ?c)" => "(cat ?a (cat ?b ?c))"),
                    rw!("len-cat"; "(len (cat ?a ?b))" => "(+ (len ?a) (len ?b))"),
                    rw!("len-rev"; "(len (rev ?a))" => "(len ?a)"),
                    rw!("len-upper"; "(len (upper ?a))" => "(len ?a)"),
                    rw!("rev-cat"; "(rev (cat ?a ?b))" => "(cat (rev ?b) (rev ?a))"),
                    rw!("rev-rev"; "(rev (rev ?a))" => "?a"),
                    rw!("upper-cat"; "(upper (cat ?a ?b))" => "(cat (upper ?a) (upper ?b))"),
                    rw!("upper-rev"; "(upper (rev ?a))" => "(rev (upper ?a))"),
                    rw!("join-cons"; "(join (cons ?a ?b))" => "(cat ?a (join ?b))"),
                    rw!("join-nil"; "(join nil)" => "end"),
                    rw!("add-comm"; "(+ ?a ?b)" => "(+ ?b ?a)"),
                    rw!("add-assoc"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
                ]
            }

            const TEXT: &str = "(len (upper (rev (join (cons $user (cons at (cons (upper $host) (cons dot (cons (rev $top) (cons com nil))))))))))";

            pub fn strings(iterations: usize) -> Run {
                let runner = Runner::<Text, Constants, ()>::new(Constants).with_scheduler(SimpleScheduler);
                run(runner.with_expr(&TEXT.parse().unwrap()), iterations, &text_rules())
            }

            define_language! {
                enum Bits {
                    "&" = And([Id; 2]),
                    "|" = Or([Id; 2]),
                    "^" = Xor([Id; 2]),
                    "~" = Not(Id),
                    "<<" = Shl([Id; 2]),
                    ">>" = Shr([Id; 2]),
                    "?" = If([Id; 3]),
                    Word(u32),
                    Name(Symbol),
                }
            }

            /// The bits that are known to be 0, and those that are known to be 1.
            #[derive(Clone, Default)]
            pub struct KnownBits;

            impl Analysis<Bits> for KnownBits {
                type Data = (u32, u32);

                fn make(egraph: &mut EGraph<Bits, Self>, node: &Bits, _: Id) -> (u32, u32) {
                    let of = |id: &Id| egraph[*id].data;
                    let constant = |id: &Id| (of(id).0 | of(id).1 == u32::MAX).then(|| of(id).1);
                    match node {
                        Bits::Word(word) => (!word, *word),
                        Bits::Name(_) => (0, 0),
                        Bits::And([a, b]) => (of(a).0 | of(b).0, of(a).1 & of(b).1),
                        Bits::Or([a, b]) => (of(a).0 & of(b).0, of(a).1 | of(b).1),
                        Bits::Xor([a, b]) => {
                            let (a, b) = (of(a), of(b));
                            (a.0 & b.0 | a.1 & b.1, a.0 & b.1 | a.1 & b.0)
                        }
                        Bits::Not(a) => (of(a).1, of(a).0),
                        Bits::Shl([a, b]) => match constant(b) {
                            Some(by @ 0..32) => (of(a).0 << by | ((1 << by) - 1), of(a).1 << by),
                            _ => (0, 0),
                        },
                        Bits::Shr([a, b]) => match constant(b) {
                            Some(by @ 1..32) => (of(a).0 >> by | !(u32::MAX >> by), of(a).1 >> by),
                            _ => (0, 0),
                        },
                        Bits::If([_, a, b]) => (of(a).0 & of(b).0, of(a).1 & of(b).1),
                    }
                }

                fn merge(&mut self, to: &mut (u32, u32), from: (u32, u32)) -> DidMerge {
                    let both = (to.0 | from.0, to.1 | from.1);
                    let did = DidMerge(both != *to, both != from);
                    *to = both;
                    did
                }

                fn modify(egraph: &mut EGraph<Bits, Self>, id: Id) {
                    let (zero, one) = egraph[id].data;
                    if zero | one == u32::MAX {
                        let word = egraph.add(Bits::Word(one));
                        egraph.union(id, word);
                    }
                }
            }

            fn bit_rules() -> Vec<Rewrite<Bits, KnownBits>> {
                fn covered(a: &str, b: &str) -> impl Fn(&mut EGraph<Bits, KnownBits>, Id, &Subst) -> bool + use<> {
                    let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
                    // Where `a` may be 1, `b` is.
                    move |egraph, _, subst| !egraph[subst[a]].data.0 & !egraph[subst[b]].data.1 == 0
                }
                fn apart(a: &str, b: &str) -> impl Fn(&mut EGraph<Bits, KnownBits>, Id, &Subst) -> bool + use<> {
                    let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
                    move |egraph, _, subst| egraph[subst[a]].data.0 | egraph[subst[b]].data.0 == u32::MAX
                }
                vec![
                    rw!("and-comm"; "(& ?a ?b)" => "(& ?b ?a)"),
                    rw!("or-comm"; "(| ?a ?b)" => "(| ?b ?a)"),
                    rw!("xor-comm"; "(^ ?a ?b)" => "(^ ?b ?a)"),
                    rw!("and-assoc"; "(& ?a (& ?b ?c))" => "(& (& ?a ?b) ?c)"),
                    rw!("or-assoc"; "(| ?a (| ?b ?c))" => "(| (| ?a ?b) ?c)"),
                    rw!("and-or"; "(& ?a (| ?b ?c))" => "(| (& ?a ?b) (& ?a ?c))"),
                    rw!("not-not"; "(~ (~ ?a))" => "?a"),
                    rw!("de-morgan"; "(~ (& ?a ?b))" => "(| (~ ?a) (~ ?b))"),
                    rw!("xor-self"; "(^ ?a ?a)" => "0"),
                    rw!("and-not"; "(& ?a (~ ?a))" => "0"),
                    rw!("and-covered"; "(& ?a ?b)" => "?a" if covered("?a", "?b")),
                    rw!("or-covered"; "(| ?a ?b)" => "?b" if covered("?a", "?b")),
                    rw!("or-xor"; "(| ?a ?b)" => "(^ ?a ?b)" if apart("?a", "?b")),
                    rw!("shift-or"; "(<< (| ?a ?b) ?c)" => "(| (<< ?a ?c) (<< ?b ?c))"),
                    rw!("shift-and"; "(>> (& ?a ?b) ?c)" => "(& (>> ?a ?c) (>> ?b ?c))"),
                    rw!("if-same"; "(? ?c ?a ?a)" => "?a"),
                    rw!("if-and"; "(& ?x (? ?c ?a ?b))" => "(? ?c (& ?x ?a) (& ?x ?b))"),
                ]
            }

            const BITS: &str = "(| (& (<< (| (& x 255) (& y 3840)) 8) (| (~ (& z 15)) w)) (>> (& (? c (& x 65535) (^ x y)) (| 4080 (& w 61440))) 4))";

            pub fn bits(iterations: usize) -> Run {
                let runner = Runner::<Bits, KnownBits, ()>::new(KnownBits).with_expr(&BITS.parse().unwrap());
                let scheduler = BackoffScheduler::default().with_initial_match_limit(100_000);
                run(runner.with_scheduler(scheduler), iterations, &bit_rules())
            }
        }
    };
}
