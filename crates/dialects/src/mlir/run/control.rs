//! Regions, branches, loops, conditions and calls.

use tangram_affine::AffineMap;
use tangram_ir::{AttrData, Block, Op, Region};

use super::{Datum, MAX_NESTING, Machine, Result, Trap};

impl Machine<'_> {
    /// Calls `function`.
    pub(super) fn call(&mut self, function: Op, args: Vec<Datum>) -> Result<Vec<Datum>> {
        let region = self.module.regions(function).first();
        let region = *region.ok_or_else(|| self.unsupported(function))?;
        Ok(self.region(function, region, args)?.1)
    }

    /// Runs `region`; returns its terminator, which leaves it, and the operands of that.
    pub(super) fn region(
        &mut self,
        parent: Op,
        region: Region,
        args: Vec<Datum>,
    ) -> Result<(Op, Vec<Datum>)> {
        if self.nesting == MAX_NESTING {
            return Err(Trap::Nesting);
        }
        self.nesting += 1;
        let entry = self.module.first_block(region);
        let mut block = entry.ok_or_else(|| self.unsupported(parent))?;
        let mut args = args;
        loop {
            let end = self.block(parent, block, args)?;
            if self.module.successors(end).is_empty() {
                self.nesting -= 1;
                return Ok((end, self.operands(end)?));
            }
            (block, args) = self.branch(end)?;
        }
    }

    /// Runs the operations of `block` but the last, which is returned.
    fn block(&mut self, parent: Op, block: Block, args: Vec<Datum>) -> Result<Op> {
        let module = self.module;
        if module.args(block).len() != args.len() {
            return Err(self.unsupported(parent));
        }
        self.values.extend(module.args(block).iter().copied().zip(args));
        let end = module.last_op(block).ok_or_else(|| self.unsupported(parent))?;
        for op in module.ops(block).take_while(|&op| op != end) {
            self.step(op)?;
        }
        self.left = self.left.checked_sub(1).ok_or(Trap::Budget(self.budget))?;
        Ok(end)
    }

    /// Where a branch goes, and with what.
    fn branch(&self, op: Op) -> Result<(Block, Vec<Datum>)> {
        let module = self.module;
        let operands = self.operands(op)?;
        let wrong = || self.unsupported(op);
        let at = match (module.name_text(op), operands.first()) {
            ("cf.br", _) => 0,
            ("cf.cond_br", Some(Datum::Int(flag))) => usize::from(*flag == 0),
            ("cf.switch", Some(&Datum::Int(flag))) => {
                let cases = match module.attr(op, "case_values") {
                    None => Vec::new(),
                    Some(attr) => {
                        let count = module.successors(op).len() - 1;
                        let cases =
                            crate::mlir::fold::number::integers(module.context(), attr, count);
                        cases.ok_or_else(wrong)?
                    }
                };
                cases.iter().position(|&case| case == flag).map_or(0, |i| i + 1)
            }
            _ => return Err(wrong()),
        };
        let ranges = module.successor_operands(op).ok_or_else(wrong)?;
        let range = ranges.get(at).cloned().ok_or_else(wrong)?;
        let target = *module.successors(op).get(at).ok_or_else(wrong)?;
        Ok((target, operands[range].to_vec()))
    }

    /// Runs an operation with regions, or a call.
    pub(super) fn control(&mut self, op: Op, operands: Vec<Datum>) -> Result<Vec<Datum>> {
        match self.module.name_text(op) {
            "func.call" => {
                let callee = self.callee(op).ok_or_else(|| self.unsupported(op))?;
                // What the caller knows is not overwritten by a call of itself.
                let saved = self.values.clone();
                let results = self.call(callee, operands);
                self.values = saved;
                results
            }
            "scf.if" => {
                let holds = matches!(operands.first(), Some(Datum::Int(flag)) if *flag != 0);
                self.either(op, holds)
            }
            "affine.if" => {
                let set = self.module.attr(op, "condition");
                let set = set.and_then(|attr| self.module.context().as_integer_set(attr));
                let set = set.ok_or_else(|| self.unsupported(op))?;
                let point = self.ints(op, &operands)?;
                let holds = set.contains(&point).ok_or_else(|| self.unsupported(op))?;
                self.either(op, holds)
            }
            "scf.for" => {
                let [low, high, step, inits @ ..] = &operands[..] else {
                    return Err(self.unsupported(op));
                };
                let bounds = self.ints(op, &[low.clone(), high.clone(), step.clone()])?;
                self.count(op, [bounds[0], bounds[1], bounds[2]], inits.to_vec())
            }
            "affine.for" => self.affine_for(op, &operands),
            "scf.parallel" => self.parallel(op, &operands),
            "scf.forall" => self.forall(op, &operands),
            "affine.parallel" => self.affine_parallel(op, &operands),
            "scf.while" => self.repeat(op, operands),
            "scf.execute_region" => Ok(self.region(op, self.module.region(op, 0), Vec::new())?.1),
            "scf.index_switch" => {
                let cases = self.module.attr(op, "cases");
                let cases = cases.and_then(|attr| self.module.context().as_i64s(attr));
                let index = self.ints(op, &operands)?[0];
                let at = cases.unwrap_or_default().iter().position(|&case| case == index);
                let region = self.module.region(op, at.map_or(0, |i| i + 1));
                Ok(self.region(op, region, Vec::new())?.1)
            }
            _ => Err(self.unsupported(op)),
        }
    }

    fn callee(&self, op: Op) -> Option<Op> {
        let context = self.module.context();
        let AttrData::Symbol(path) = context.attr_data(self.module.attr(op, "callee")?) else {
            return None;
        };
        let name = context.text(*path.first()?);
        let called = |&found: &Op| {
            let attr = self.module.attr(found, "sym_name");
            attr.and_then(|attr| context.as_text(attr)) == Some(name)
        };
        self.module.ops(self.module.body()).find(called)
    }

    pub(super) fn map(&self, op: Op, attr: &str) -> Result<AffineMap> {
        let attr = self.module.attr(op, attr);
        let map = attr.and_then(|attr| self.module.context().as_affine_map(attr)).cloned();
        map.ok_or_else(|| self.unsupported(op))
    }

    fn either(&mut self, op: Op, holds: bool) -> Result<Vec<Datum>> {
        let region = self.module.regions(op).get(usize::from(!holds)).copied();
        match region.filter(|&region| self.module.first_block(region).is_some()) {
            Some(region) => Ok(self.region(op, region, Vec::new())?.1),
            None => Ok(Vec::new()),
        }
    }

    fn affine_for(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let (lower, upper) = (self.map(op, "lowerBoundMap")?, self.map(op, "upperBoundMap")?);
        let low = lower.inputs();
        let high = low + upper.inputs();
        let bound = |map: &AffineMap, operands: &[Datum]| -> Result<Vec<i64>> {
            let point = self.ints(op, operands)?;
            map.evaluate(&point).ok_or_else(|| self.unsupported(op))
        };
        let first = bound(&lower, &operands[..low])?.into_iter().max();
        let last = bound(&upper, &operands[low..high])?.into_iter().min();
        let step = self.module.attr(op, "step").and_then(|a| self.module.context().as_i64(a));
        let (Some(first), Some(last), Some(step)) = (first, last, step) else {
            return Err(self.unsupported(op));
        };
        self.count(op, [first, last, step], operands[high..].to_vec())
    }

    fn count(
        &mut self,
        op: Op,
        [low, high, step]: [i64; 3],
        inits: Vec<Datum>,
    ) -> Result<Vec<Datum>> {
        if step <= 0 {
            return Err(self.undefined(op));
        }
        let body = self.module.region(op, 0);
        let (mut at, mut carried) = (low, inits);
        while at < high {
            let mut args = vec![Datum::Int(at.into())];
            args.append(&mut carried);
            carried = self.region(op, body, args)?.1;
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        Ok(carried)
    }

    fn repeat(&mut self, op: Op, inits: Vec<Datum>) -> Result<Vec<Datum>> {
        let (before, after) = (self.module.region(op, 0), self.module.region(op, 1));
        let mut carried = inits;
        loop {
            let mut tested = self.region(op, before, carried)?.1;
            if tested.is_empty() {
                return Err(self.unsupported(op));
            }
            let rest = tested.split_off(1);
            if matches!(tested[0], Datum::Int(0)) {
                return Ok(rest);
            }
            carried = self.region(op, after, rest)?.1;
        }
    }
}
