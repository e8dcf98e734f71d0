//! What expressions of a rule mean while its instance is being made.

use super::{Draft, Frame, Item};
use crate::ast::{PatId, PatternKind, SymId};
use crate::eval::{AttrValue, Env};
use crate::matching::{of_op, of_value};
use crate::rules::NativeArgument;

impl Env for Draft<'_> {
    fn symbol(&self, symbol: SymId) -> Option<AttrValue> {
        if let Some((_, value)) = self.symbols.iter().rev().find(|(known, _)| *known == symbol) {
            return value.clone();
        }
        let mut frame = self.at;
        while let Frame { variadic: Some(id), index, parent } = self.frames[frame] {
            if let PatternKind::Variadic { index: Some(bound), .. } =
                self.plan.rule().pattern(id).kind
                && bound == symbol
            {
                return Some(AttrValue::Int(index as i64));
            }
            frame = parent;
        }
        None
    }

    fn bind(&mut self, symbol: SymId, value: Option<AttrValue>) {
        self.symbols.retain(|(known, _)| *known != symbol);
        self.symbols.extend(value.map(|value| (symbol, Some(value))));
    }

    fn access(&self, id: PatId, path: &[(PatId, usize)], name: &str) -> Option<AttrValue> {
        let frame = self.along(path)?;
        let key = self.resolve(frame, id);
        if name == "length"
            && let Some(branches) = self.branches.get(&key)
        {
            return Some(AttrValue::Int(branches.len() as i64));
        }
        let (op, value) = match self.made.get(&key)? {
            Item::One(value) => (self.module.def_op(*value), Some(*value)),
            Item::Results(op) => (Some(*op), self.module.results(*op).next()),
            Item::Many(values) if name == "length" => {
                return Some(AttrValue::Int(values.len() as i64));
            }
            Item::Many(_) => return None,
        };
        let of_value = value.and_then(|value| of_value(&self.module, value, name));
        of_value.or_else(|| of_op(&self.module, op?, name))
    }

    fn option(&self, alternative: PatId) -> Option<usize> {
        self.options.get(&alternative).copied()
    }

    fn native(&self, name: &str, args: &[Result<PatId, AttrValue>]) -> Option<AttrValue> {
        let value = |arg: &Result<PatId, AttrValue>| match arg {
            Err(value) => Some(NativeArgument::Attribute(value.clone())),
            Ok(id) => match self.made.get(&self.resolve(self.at, *id))? {
                Item::One(value) => Some(NativeArgument::Value(*value)),
                _ => None,
            },
        };
        let args = args.iter().map(value).collect::<Option<Vec<_>>>()?;
        self.natives.attribute(name, &self.module, &args)
    }
}
