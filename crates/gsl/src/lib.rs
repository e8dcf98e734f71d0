//! GSL, the graph substitution language: syntax, checking, matching, mapping, verification.
//!
//! A rule says which graph of operations another one may take the place of. It is read
//! ([`text`]), checked against the definitions of operations ([`check`]), verified on instances
//! ([`verify`]) and compiled ([`rules`]); a compiled rule is a pattern for every driver.
//!
//! ```
//! use tangram_gsl::rules::{CompiledRule, Options};
//! use tangram_gsl::schema::NnSchema;
//! use tangram_rewrite::{GreedyConfig, PatternSet, greedy};
//!
//! let rule = "rule relu-twice { let x = *; match relu(relu(x)); rewrite relu(x); }";
//! let rule = tangram_gsl::text::parse(rule)?.remove(0);
//! let context = tangram_dialects::context();
//! let schema = NnSchema::new(&context);
//! let rule = CompiledRule::new(&rule, &context, &schema, &Options::default(), &|_| true)?;
//!
//! let source = r#"
//!     %x = "test.source"() : () -> tensor<4xf32>
//!     %0 = "nn.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
//!     %1 = "nn.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
//!     "test.sink"(%1) : (tensor<4xf32>) -> ()
//! "#;
//! let mut module = tangram_ir::text::parse(source, "f.mlir", context).expect("a right program");
//! let mut set = PatternSet::new();
//! set.add(rule);
//! let (root, set) = (module.root(), set.freeze());
//! let report = greedy::apply(&mut module, root, &set, &GreedyConfig::default());
//! assert_eq!(report.rewrites, 1);
//! assert_eq!(tangram_ir::text::print(&module).matches("nn.relu").count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analysis;
pub mod ast;
pub mod check;
pub mod definition;
pub mod diagnostic;
pub mod eval;
pub mod import;
mod mapping;
pub mod matching;
pub mod plan;
pub mod rules;
pub mod schema;
pub mod text;
pub mod verify;
