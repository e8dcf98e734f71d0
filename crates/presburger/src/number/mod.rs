//! Numbers: integers and rational numbers of any size, and values that may be infinite.

mod integer;
mod rational;
mod value;

pub use integer::Integer;
pub(crate) use integer::gcd_big;
pub use rational::Rational;
pub use value::Value;
