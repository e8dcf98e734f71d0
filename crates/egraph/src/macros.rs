//! The macros that make languages and rules.

/// Makes an enum that is a [`Language`](crate::Language), with [`Display`](std::fmt::Display) and
/// [`FromOp`](crate::FromOp).
///
/// A variant is one of
/// - `"pi" = Pi`: an operator without children,
/// - `"+" = Add([Id; 2])`: an operator over children of a type that is
///   [`LanguageChildren`](crate::LanguageChildren),
/// - `Num(i32)`: data without children; any text that parses as the data is this operator,
/// - `Call(Symbol, Box<[Id]>)`: data and children.
///
/// Texts are tried from the first variant to the last. The enum may be generic; bounds go into a
/// `where` clause after the braces.
///
/// ```
/// use tangram_egraph::{Id, Language, RecExpr, Symbol, define_language};
///
/// define_language! {
///     /// Sums over numbers and names.
///     pub enum Sum {
///         Num(i32),
///         "+" = Add([Id; 2]),
///         "sum" = Sum(Box<[Id]>),
///         Call(Symbol, Vec<Id>),
///     }
/// }
///
/// let expr: RecExpr<Sum> = "(sum (+ 1 x) (f 2 3))".parse().unwrap();
/// assert_eq!(expr[0.into()], Sum::Num(1));
/// assert_eq!(expr[expr.root()].len(), 2);
/// ```
#[macro_export]
macro_rules! define_language {
    (
        $(#[$meta:meta])* $vis:vis enum $name:ident $(<$($param:ident),* $(,)?>)? { $($variants:tt)* }
        $(where $($bounds:tt)*)?
    ) => {
        $crate::__define_language! {
            @munch [$(#[$meta])* $vis] $name [$($($param),*)?] [$($($bounds)*)?]
            [] [] [] [] [] [] $($variants)*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __define_language {
    (@munch $head:tt $name:ident $params:tt $bounds:tt
        $decl:tt $same:tt $kids:tt $kids_mut:tt $show:tt $read:tt
    ) => {
        $crate::__define_language! {
            @emit $head $name $params $bounds $decl $same $kids $kids_mut $show $read
        }
    };
    (@munch $head:tt $name:ident $params:tt $bounds:tt
        [$($decl:tt)*] [$($same:tt)*] [$($kids:tt)*] [$($kids_mut:tt)*] [$($show:tt)*] [$($read:tt)*]
        $text:literal = $variant:ident $(, $($rest:tt)*)?
    ) => {
        $crate::__define_language! {
            @munch $head $name $params $bounds
            [$($decl)* $variant,]
            [$($same)* ($name::$variant, $name::$variant) => true,]
            [$($kids)* $name::$variant => &[],]
            [$($kids_mut)* $name::$variant => &mut [],]
            [$($show)* ($name::$variant, f) => f.write_str($text),]
            [$($read)* ($text, children) if children.is_empty() => Ok($name::$variant),]
            $($($rest)*)?
        }
    };
    (@munch $head:tt $name:ident $params:tt $bounds:tt
        [$($decl:tt)*] [$($same:tt)*] [$($kids:tt)*] [$($kids_mut:tt)*] [$($show:tt)*] [$($read:tt)*]
        $text:literal = $variant:ident ($ids:ty) $(, $($rest:tt)*)?
    ) => {
        $crate::__define_language! {
            @munch $head $name $params $bounds
            [$($decl)* $variant($ids),]
            [$($same)* ($name::$variant(left), $name::$variant(right)) =>
                $crate::LanguageChildren::len(left) == $crate::LanguageChildren::len(right),]
            [$($kids)* $name::$variant(ids) => $crate::LanguageChildren::as_slice(ids),]
            [$($kids_mut)* $name::$variant(ids) => $crate::LanguageChildren::as_mut_slice(ids),]
            [$($show)* ($name::$variant(..), f) => f.write_str($text),]
            [$($read)* ($text, children)
                if <$ids as $crate::LanguageChildren>::can_be_length(children.len()) =>
                Ok($name::$variant(<$ids as $crate::LanguageChildren>::from_vec(children))),]
            $($($rest)*)?
        }
    };
    (@munch $head:tt $name:ident $params:tt $bounds:tt
        [$($decl:tt)*] [$($same:tt)*] [$($kids:tt)*] [$($kids_mut:tt)*] [$($show:tt)*] [$($read:tt)*]
        $variant:ident ($data:ty) $(, $($rest:tt)*)?
    ) => {
        $crate::__define_language! {
            @munch $head $name $params $bounds
            [$($decl)* $variant($data),]
            [$($same)* ($name::$variant(left), $name::$variant(right)) => left == right,]
            [$($kids)* $name::$variant(_) => &[],]
            [$($kids_mut)* $name::$variant(_) => &mut [],]
            [$($show)* ($name::$variant(data), f) => ::std::fmt::Display::fmt(data, f),]
            [$($read)* (op, children) if children.is_empty() && op.parse::<$data>().is_ok() =>
                Ok($name::$variant(op.parse().unwrap())),]
            $($($rest)*)?
        }
    };
    (@munch $head:tt $name:ident $params:tt $bounds:tt
        [$($decl:tt)*] [$($same:tt)*] [$($kids:tt)*] [$($kids_mut:tt)*] [$($show:tt)*] [$($read:tt)*]
        $variant:ident ($data:ty, $ids:ty) $(, $($rest:tt)*)?
    ) => {
        $crate::__define_language! {
            @munch $head $name $params $bounds
            [$($decl)* $variant($data, $ids),]
            [$($same)* ($name::$variant(data, left), $name::$variant(other, right)) => data == other
                && $crate::LanguageChildren::len(left) == $crate::LanguageChildren::len(right),]
            [$($kids)* $name::$variant(_, ids) => $crate::LanguageChildren::as_slice(ids),]
            [$($kids_mut)* $name::$variant(_, ids) => $crate::LanguageChildren::as_mut_slice(ids),]
            [$($show)* ($name::$variant(data, _), f) => ::std::fmt::Display::fmt(data, f),]
            [$($read)* (op, children)
                if <$ids as $crate::LanguageChildren>::can_be_length(children.len())
                    && op.parse::<$data>().is_ok() =>
                Ok($name::$variant(
                    op.parse().unwrap(),
                    <$ids as $crate::LanguageChildren>::from_vec(children),
                )),]
            $($($rest)*)?
        }
    };
    (@emit [$(#[$meta:meta])* $vis:vis] $name:ident [$($param:ident),*] [$($bounds:tt)*]
        [$($decl:tt)*] [$($same:tt)*] [$($kids:tt)*] [$($kids_mut:tt)*] [$($show:tt)*] [$($read:tt)*]
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        $vis enum $name<$($param),*> { $($decl)* }

        impl<$($param),*> $crate::Language for $name<$($param),*> where $($bounds)* {
            type Discriminant = ::std::mem::Discriminant<Self>;

            #[inline(always)]
            fn discriminant(&self) -> Self::Discriminant {
                ::std::mem::discriminant(self)
            }

            #[inline(always)]
            fn matches(&self, other: &Self) -> bool {
                #[allow(unreachable_patterns)]
                match (self, other) { $($same)* _ => false }
            }

            #[inline(always)]
            fn __matches_equal() -> bool {
                true
            }

            fn children(&self) -> &[$crate::Id] {
                match self { $($kids)* }
            }

            fn children_mut(&mut self) -> &mut [$crate::Id] {
                match self { $($kids_mut)* }
            }
        }

        impl<$($param),*> ::std::fmt::Display for $name<$($param),*> where $($bounds)* {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match (self, f) { $($show)* }
            }
        }

        impl<$($param),*> $crate::FromOp for $name<$($param),*> where $($bounds)* {
            type Error = $crate::FromOpError;

            fn from_op(
                op: &str,
                children: ::std::vec::Vec<$crate::Id>,
            ) -> ::std::result::Result<Self, Self::Error> {
                match (op, children) {
                    $($read)*
                    #[allow(unreachable_patterns)]
                    (op, children) => Err($crate::FromOpError::new(op, children)),
                }
            }
        }
    };
}

/// Makes a [`Rewrite`](crate::Rewrite).
///
/// `rewrite!("name"; left => right)` with any number of `if condition` after it. A string literal
/// on a side is parsed as a [`Pattern`](crate::Pattern); anything else is a single token tree that
/// is a [`Searcher`](crate::Searcher) or an [`Applier`](crate::Applier). `<=>` makes a vector of
/// two rules, the second with `-rev` behind its name.
///
/// Panics if a side does not parse, or if the right side has a variable that the left side lacks.
///
/// ```
/// use tangram_egraph::{EGraph, Id, Rewrite, Subst, SymbolLang, rewrite};
///
/// fn known(var: &str) -> impl Fn(&mut EGraph<SymbolLang, ()>, Id, &Subst) -> bool {
///     let var = var.parse().unwrap();
///     move |_, _, subst| subst.get(var).is_some()
/// }
/// let mut rules: Vec<Rewrite<SymbolLang, ()>> = vec![
///     rewrite!("commute"; "(+ ?a ?b)" => "(+ ?b ?a)"),
///     rewrite!("double"; "(+ ?a ?a)" => "(* 2 ?a)" if known("?a")),
/// ];
/// rules.extend(rewrite!("zero"; "(+ ?a 0)" <=> "?a"));
/// assert_eq!(rules[3].name.as_str(), "zero-rev");
/// ```
#[macro_export]
macro_rules! rewrite {
    ($name:expr; $left:tt => $right:tt $(if $condition:expr)*) => {{
        let left = $crate::__rewrite!(@parse Pattern $left);
        let right = $crate::__rewrite!(@parse Pattern $right);
        let applier = $crate::__rewrite!(@applier right; $($condition,)*);
        $crate::Rewrite::new($name.to_string(), left, applier).unwrap()
    }};
    ($name:expr; $left:tt <=> $right:tt $(if $condition:expr)*) => {{
        let name = $name.to_string();
        let reverse = format!("{name}-rev");
        vec![
            $crate::rewrite!(name; $left => $right $(if $condition)*),
            $crate::rewrite!(reverse; $right => $left $(if $condition)*),
        ]
    }};
}

/// Makes a [`Rewrite`](crate::Rewrite) between [`MultiPattern`](crate::MultiPattern)s.
///
/// ```
/// use tangram_egraph::{Rewrite, SymbolLang, multi_rewrite};
/// let rule: Rewrite<SymbolLang, ()> = multi_rewrite!(
///     "transitive"; "?t = true = (less ?a ?b) = (less ?b ?c)" => "?t = (less ?a ?c)"
/// );
/// assert_eq!(rule.name.as_str(), "transitive");
/// ```
#[macro_export]
macro_rules! multi_rewrite {
    ($name:expr; $left:tt => $right:tt) => {{
        let left = $crate::__rewrite!(@parse MultiPattern $left);
        let right = $crate::__rewrite!(@parse MultiPattern $right);
        $crate::Rewrite::new($name.to_string(), left, right).unwrap()
    }};
}

// Macros of other crates call these arms, so they are those that egg has.
#[doc(hidden)]
#[macro_export]
macro_rules! __rewrite {
    (@parse $kind:ident $text:literal) => {
        $text.parse::<$crate::$kind<_>>().unwrap()
    };
    (@parse $kind:ident $side:expr) => {
        $side
    };
    (@applier $applier:expr;) => {
        $applier
    };
    (@applier $applier:expr; $first:expr, $($rest:expr,)*) => {
        $crate::ConditionalApplier {
            condition: $first,
            applier: $crate::__rewrite!(@applier $applier; $($rest,)*),
        }
    };
}
