//! The sets, relations and the schedule tree of what was read.

use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::scop::{self, Scop};
use tangram_polyhedral::{Band, Member, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use super::relations::{Relations, all_instances, loop_value, statement_name};
use super::{Builder, Item, Raw, Read};
use crate::contraction::update;
use crate::declare::is_integer;
use crate::{Body, Declared, Problem};

impl Builder<'_> {
    /// Makes a part of what was read.
    pub(super) fn assemble(mut self, order: &[Item], budget: &Budget) -> Result<Read, Problem> {
        let params: Vec<String> = std::mem::take(&mut self.params).into_iter().collect();
        let relations = Relations { params, budget };
        let exactly = !self.kept.is_empty();
        let at_start = |error: &dyn std::fmt::Display| self.source.problem(0, error.to_string());
        let facts = self.facts(&relations).map_err(|e| at_start(&e))?;
        let proven = self.proven(&relations.params)?;
        if let Some(proven) = proven.as_ref().filter(|_| exactly) {
            let at = self.statements.first().map_or(0, |raw| raw.at);
            let message = format!(
                "computes in a type that wraps around for some parameters ({proven} alone is right), \
                 and what follows uses variables that the part declares"
            );
            return Err(self.source.problem(at, message));
        }
        let valid = self.delinearise(&relations.params, exactly);
        let proven = match (proven, self.unwrapped.take()) {
            (Some(proven), Some(other)) => {
                Some(proven.intersect(&other, budget).map_err(|e| at_start(&e))?)
            }
            (proven, other) => proven.or(other),
        };
        let valid = match (valid, proven) {
            (Some(valid), Some(proven)) => {
                Some(valid.intersect(&proven, budget).map_err(|e| at_start(&e))?)
            }
            (valid, proven) => valid.or(proven),
        };
        let context = match (&valid, &facts) {
            (Some(valid), Some(facts)) => {
                Some(valid.intersect(facts, budget).map_err(|e| at_start(&e))?)
            }
            (valid, facts) => valid.as_ref().or(facts.as_ref()).cloned(),
        };
        let (mut statements, mut bodies, mut operands) = (Vec::new(), Vec::new(), Vec::new());
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let (mut may, mut kills) = (Vec::new(), Vec::new());
        for (index, raw) in self.statements.iter().enumerate() {
            let failed =
                |error: &dyn std::fmt::Display| self.source.problem(raw.at, error.to_string());
            let name = statement_name(index);
            let set = relations.instances(&name, &raw.loops, raw.conditions.iter().cloned());
            let mut set = set.map_err(|e| failed(&e))?;
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
                for access in accesses {
                    let map = relations.cells(&name, &raw.loops, access);
                    let map =
                        map.and_then(|map| Union::from(map).intersect_domain(&domain, budget));
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
            bodies.push(Body { text: raw.text.clone(), line });
            statements.push(scop::Statement { name, domain: set, update: read.0 });
        }
        let failed = |error: &dyn std::fmt::Display| self.source.problem(0, error.to_string());
        let reads = collected(reads).map_err(|e| failed(&e))?;
        let writes = collected(writes).map_err(|e| failed(&e))?;
        let may = collected(may).and_then(|may| may.union(&writes)).map_err(|e| failed(&e))?;
        let schedule = self.schedule(order, &statements).map_err(|e| failed(&e))?;
        let declared = |name: &String| {
            let unknown = || Declared {
                name: name.clone(),
                element: String::new(),
                extents: Vec::new(),
                local: false,
            };
            self.names.get(name).cloned().unwrap_or_else(unknown)
        };
        let arrays: Vec<Declared> = self.arrays.iter().map(declared).collect();
        let array = |array: &Declared| scop::Array {
            name: array.name.clone(),
            extents: array.extents.iter().map(|extent| extent.parse().ok()).collect(),
            local: array.local,
            kept: self.kept.contains(&array.name),
            shared: false,
            integer: is_integer(&self.names.resolved(&array.element)),
        };
        let scop = Scop {
            context: context.clone(),
            arrays: arrays.iter().map(array).collect(),
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
        Ok(Read { scop, bodies, arrays, types, checks, members, flat, test, operands })
    }

    /// Returns the parameters for which all facts hold; nothing if there are no facts.
    fn facts(&self, relations: &Relations) -> Result<Option<Relation>, tangram_presburger::Error> {
        if self.facts.is_empty() {
            return Ok(None);
        }
        let set = relations.parameters(&self.facts)?;
        // Contradictions are the program's own affair.
        Ok((!set.is_empty(relations.budget)?).then_some(set))
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
                    tree.add(list, NodeKind::Filter(self.instances(&inside)?))
                } else {
                    list
                };
                if let Item::Loop { depth, forwards, body } = item {
                    let value =
                        |at: &usize| loop_value(*at, &self.statements[*at], *depth, *forwards);
                    let schedule = inside.iter().map(value).collect::<Result<Vec<_>, _>>()?;
                    let schedule = Union::collect(schedule)?;
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

    fn instances(&self, statements: &[usize]) -> Result<Union, tangram_presburger::Error> {
        Union::collect(statements.iter().map(|at| all_instances(*at, &self.statements[*at])))
    }
}

fn collected(relations: Vec<Relation>) -> Result<Union, tangram_presburger::Error> {
    Union::collect(relations)
}

/// Generates code that runs `run` where parameters are in a set.
fn test(context: &Relation, budget: &Budget) -> Result<Ast, tangram_polyhedral::Error> {
    let space = Space::set(context.space().params.clone(), Tuple::new("run", [""; 0]));
    let run = Relation::universe(space).intersect_params(context, budget)?;
    let mut tree = ScheduleTree::new(NodeKind::Domain(run.into()));
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
