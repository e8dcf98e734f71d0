//! The sets, relations and the schedule tree of what was read.

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::scop::{self, Scop};
use tangram_polyhedral::{Band, Member, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Relation, Union};

use super::{Builder, Item, Raw, Read};
use crate::Problem;
use crate::access::Access;
use crate::contraction::update;

impl Builder<'_> {
    /// Makes a part of what was read.
    pub(super) fn assemble(mut self, order: &[Item], budget: &Budget) -> Result<Read, Problem> {
        let params: Vec<String> = std::mem::take(&mut self.params).into_iter().collect();
        let prefix =
            if params.is_empty() { String::new() } else { format!("[{}] -> ", params.join(", ")) };
        let exactly = !self.kept.is_empty();
        let at_start = |error: &dyn std::fmt::Display| self.source.problem(0, error.to_string());
        let facts = self.facts(&prefix, budget).map_err(|e| at_start(&e))?;
        let valid = self.delinearise(&prefix, exactly);
        let context = match (&valid, &facts) {
            (Some(valid), Some(facts)) => {
                Some(valid.intersect(facts, budget).map_err(|e| at_start(&e))?)
            }
            (valid, facts) => valid.as_ref().or(facts.as_ref()).cloned(),
        };
        let (mut statements, mut operands) = (Vec::new(), Vec::new());
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let (mut may, mut kills) = (Vec::new(), Vec::new());
        for (index, raw) in self.statements.iter().enumerate() {
            let failed =
                |error: &dyn std::fmt::Display| self.source.problem(raw.at, error.to_string());
            let name = format!("S{index}");
            let instance = format!("{name}[{}]", raw.loops.join(", "));
            let parse = |body: &str, conditions: &str| {
                let such =
                    if conditions.is_empty() { String::new() } else { format!(" : {conditions}") };
                Union::parse(&format!("{prefix}{{ {body}{such} }}"), budget)
            };
            let all: Vec<String> = raw.conditions.iter().map(|c| format!("({c})")).collect();
            let domain = parse(&instance, &all.join(" and ")).map_err(|e| failed(&e))?;
            let mut set = domain.single().map_err(|e| failed(&e))?.clone();
            if let Some(context) = &context {
                set = set.intersect_params(context, budget).map_err(|e| failed(&e))?;
            }
            let domain = Union::collect([set.clone()]).map_err(|e| failed(&e))?;
            for (accesses, union) in [
                (&raw.accesses.reads, &mut reads),
                (&raw.accesses.writes, &mut writes),
                (&raw.accesses.may_writes, &mut may),
                (&raw.accesses.kills, &mut kills),
            ] {
                for Access { cells, condition, .. } in accesses {
                    let map = parse(&format!("{instance} -> {cells}"), condition);
                    let map = map.and_then(|map| map.intersect_domain(&domain, budget));
                    union.extend(map.map_err(|e| failed(&e))?.relations().cloned());
                }
            }
            let line = self.source.line(raw.at);
            let element = |name: &str| {
                let array = self.names.get(name)?;
                Some(self.names.resolved(&array.element))
            };
            let read = update(&raw.text, &raw.loops, &element).unzip();
            operands.push(read.1);
            let text = raw.text.clone();
            statements.push(scop::Statement { name, domain: set, text, line, update: read.0 });
        }
        let failed = |error: &dyn std::fmt::Display| self.source.problem(0, error.to_string());
        let reads = collected(reads).map_err(|e| failed(&e))?;
        let writes = collected(writes).map_err(|e| failed(&e))?;
        let may = collected(may).and_then(|may| may.union(&writes)).map_err(|e| failed(&e))?;
        let schedule = self.schedule(order, &statements).map_err(|e| failed(&e))?;
        let array = |name: &String| {
            let unknown = || scop::Array {
                name: name.clone(),
                element: String::new(),
                extents: Vec::new(),
                local: false,
                kept: false,
            };
            let array = self.names.get(name).cloned().unwrap_or_else(unknown);
            scop::Array { kept: self.kept.contains(name), ..array }
        };
        let scop = Scop {
            context: context.clone(),
            arrays: self.arrays.iter().map(array).collect(),
            statements,
            reads,
            may_writes: may,
            must_writes: writes,
            kills: collected(kills).map_err(|e| failed(&e))?,
            schedule,
        };
        scop.check(budget).map_err(|e| failed(&e))?;
        // What holds anyway needs no test.
        let tested = match (valid, &facts) {
            (Some(valid), Some(facts)) => Some(valid.gist(facts, budget).map_err(|e| failed(&e))?),
            (valid, _) => valid,
        };
        let test = tested.map(|valid| test(&valid, budget)).transpose();
        let test = test.map_err(|e| failed(&e))?;
        let resolved = |raw: &Raw| raw.types.iter().map(|t| self.names.resolved(t)).collect();
        let types = self.statements.iter().map(resolved).collect();
        let checks = self.checks;
        let (members, flat) = (self.members, self.flat);
        Ok(Read { scop, types, checks, members, flat, test, operands })
    }

    /// Returns the parameters for which all facts hold; nothing if there are no facts.
    fn facts(
        &self,
        prefix: &str,
        budget: &Budget,
    ) -> Result<Option<Relation>, tangram_presburger::Error> {
        if self.facts.is_empty() {
            return Ok(None);
        }
        let all: Vec<String> = self.facts.iter().map(|fact| format!("({fact})")).collect();
        let set = Relation::parse(&format!("{prefix}{{ : {} }}", all.join(" and ")), budget)?;
        // Contradictions are the program's own affair.
        Ok((!set.is_empty(budget)?).then_some(set))
    }

    fn schedule(
        &self,
        order: &[Item],
        statements: &[scop::Statement],
    ) -> Result<ScheduleTree, tangram_presburger::Error> {
        let domain = Union::collect(statements.iter().map(|statement| statement.domain.clone()))?;
        let mut tree = ScheduleTree::new(NodeKind::Domain(domain));
        let mut open = vec![(tree.root(), order)];
        while let Some((parent, items)) = open.pop() {
            let several = items.len() > 1;
            let list = if several { tree.add(parent, NodeKind::Sequence) } else { parent };
            for item in items {
                let inside = within(item);
                let place = if several {
                    tree.add(list, NodeKind::Filter(self.instances(&inside, |_| String::new())?))
                } else {
                    list
                };
                if let Item::Loop { depth, forwards, body } = item {
                    let sign = if *forwards { "" } else { "-" };
                    let value = |raw: &Raw| format!(" -> [{sign}{}]", raw.loops[*depth]);
                    let schedule = self.instances(&inside, value)?;
                    let band = Band {
                        members: vec![Member { schedule, coincident: false }],
                        permutable: false,
                        options: Union::empty(),
                    };
                    open.push((tree.add(place, NodeKind::Band(band)), body));
                }
            }
        }
        tree.close();
        Ok(tree)
    }

    fn instances(
        &self,
        statements: &[usize],
        rest: impl Fn(&Raw) -> String,
    ) -> Result<Union, tangram_presburger::Error> {
        let piece = |index: &usize| {
            let raw = &self.statements[*index];
            format!("S{index}[{}]{}", raw.loops.join(", "), rest(raw))
        };
        let pieces: Vec<String> = statements.iter().map(piece).collect();
        Union::parse(&format!("{{ {} }}", pieces.join("; ")), &Budget::unlimited())
    }
}

fn collected(relations: Vec<Relation>) -> Result<Union, tangram_presburger::Error> {
    Union::collect(relations)
}

/// Generates code that runs `run` where parameters are in a set.
fn test(context: &Relation, budget: &Budget) -> Result<Ast, tangram_polyhedral::Error> {
    let all = context.space().params.join(", ");
    let run = Union::parse(&format!("[{all}] -> {{ run[] }}"), budget)?;
    let mut tree = ScheduleTree::new(NodeKind::Domain(run.intersect_params(context, budget)?));
    tree.close();
    Ast::of_tree(&tree, None, &AstOptions::default(), budget)
}

/// Lists the statements of an item.
fn within(item: &Item) -> Vec<usize> {
    let (mut found, mut open) = (Vec::new(), vec![item]);
    while let Some(item) = open.pop() {
        match item {
            Item::Statement(index) => found.push(*index),
            Item::Loop { body, .. } => open.extend(body),
        }
    }
    found.sort_unstable();
    found
}
