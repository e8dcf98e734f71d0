//! Random schedule trees of every kind of node.

use std::collections::BTreeMap;

use super::condition::{Condition, Piecewise};
use super::{Dice, PARAMETER, Timed, points};

/// A statement: its name and how many dimensions it has.
type Statement = (String, usize);

/// A statement; its copies by their name, how many there are at most, and under what condition.
type Copies = (Statement, Option<(String, i128, Condition)>);

#[derive(Debug)]
enum Kind {
    /// Members, each with a value for every statement; the options of code generation.
    Band(Vec<Vec<(Statement, Piecewise)>>, String),
    /// Whether the children are in order, and what each of them takes.
    List(bool, Vec<Vec<(Statement, Condition)>>),
    Filter(Vec<(Statement, Condition)>),
    Mark,
    /// Says what is known anyway, on so many outer dimensions.
    Context(usize),
    Guard(usize, Condition),
    Extension(usize, Statement, Vec<i128>, Condition),
    /// For each statement, itself or its copies under a condition and their number.
    Expansion(Vec<Copies>),
    Leaf,
}

#[derive(Debug)]
struct Branch {
    kind: Kind,
    children: Vec<Branch>,
}

/// A random tree with the instances at its root.
#[derive(Debug)]
pub struct RandomTree {
    roots: Vec<(Statement, Vec<i128>, Condition)>,
    top: Branch,
}

/// What is on its way down the tree.
#[derive(Clone)]
struct Item {
    statement: Statement,
    instance: Vec<i128>,
    /// The values of bands.
    outer: Vec<i128>,
    /// These and the positions in lists.
    point: Vec<i128>,
}

struct Grower<'a> {
    dice: &'a mut Dice,
    /// Makes names of statements.
    count: usize,
}

fn names(first: &str, count: usize) -> Vec<String> {
    (0..count).map(|index| format!("{first}{index}")).collect()
}

fn with_parameter(names: Vec<String>) -> Vec<String> {
    [vec![PARAMETER.to_owned()], names].concat()
}

fn values(parameter: i128, point: &[i128]) -> Vec<i128> {
    [&[parameter], point].concat()
}

impl Grower<'_> {
    fn statement(&mut self, name: &str, dims: usize) -> Statement {
        self.count += 1;
        (format!("{name}{}", self.count), dims)
    }

    fn branch(&mut self, live: &[Statement], outer: usize, left: usize) -> Branch {
        if left == 0 || (live.is_empty() && self.dice.chance(50)) {
            return Branch { kind: Kind::Leaf, children: Vec::new() };
        }
        let (kind, below): (Kind, Vec<Vec<Statement>>) = match self.dice.roll(20) {
            0..=7 if outer < 4 => return self.band(live, outer, left),
            0..=11 => self.list(live),
            12 => (Kind::Filter(self.conditions(live)), vec![live.to_vec()]),
            13 => (Kind::Mark, vec![live.to_vec()]),
            14 => {
                let dims = if self.dice.chance(50) { 0 } else { outer };
                (Kind::Context(dims), vec![live.to_vec()])
            }
            15 | 16 => {
                let dims = if self.dice.chance(30) { 0 } else { outer };
                let guard = Condition::random(self.dice, 1 + dims);
                (Kind::Guard(dims, guard), vec![live.to_vec()])
            }
            17 | 18 => {
                let dims = 1 + self.dice.roll(2);
                let new = self.statement("X", dims);
                let sizes = (0..new.1).map(|_| self.dice.between(1, 3)).collect();
                let condition = Condition::random(self.dice, 1 + outer + new.1);
                let below = [live, std::slice::from_ref(&new)].concat();
                (Kind::Extension(outer, new, sizes, condition), vec![below])
            }
            _ => self.expansion(live),
        };
        let children = below.iter().map(|live| self.branch(live, outer, left - 1)).collect();
        Branch { kind, children }
    }

    fn band(&mut self, live: &[Statement], outer: usize, left: usize) -> Branch {
        let count = 1 + self.dice.roll(2);
        let member = |grower: &mut Self| {
            let value = |s: &Statement| (s.clone(), Piecewise::random(grower.dice, 1 + s.1));
            live.iter().map(value).collect()
        };
        let members: Vec<_> = (0..count).map(|_| member(self)).collect();
        let options = match self.dice.roll(8) {
            0 => format!("separate[{}]", self.dice.roll(count)),
            1 => format!("atomic[{}]", self.dice.roll(count)),
            2 => format!("unroll[{}]", self.dice.roll(count)),
            3 => {
                let (above, own) = (names("o", outer), names("m", count));
                let all = with_parameter([above.clone(), own.clone()].concat());
                let condition = Condition::random(self.dice, all.len()).text(&all);
                format!("isolate[[{}] -> [{}]] : {condition}", above.join(", "), own.join(", "))
            }
            _ => String::new(),
        };
        let children = vec![self.branch(live, outer + count, left - 1)];
        Branch { kind: Kind::Band(members, options), children }
    }

    fn conditions(&mut self, live: &[Statement]) -> Vec<(Statement, Condition)> {
        live.iter().map(|s| (s.clone(), Condition::random(self.dice, 1 + s.1))).collect()
    }

    fn list(&mut self, live: &[Statement]) -> (Kind, Vec<Vec<Statement>>) {
        let mut parts = vec![Vec::new(), Vec::new()];
        for (statement, condition) in self.conditions(live) {
            match self.dice.roll(4) {
                0 => parts[0].push((statement, Condition::always())),
                1 => parts[1].push((statement, Condition::always())),
                _ => {
                    parts[1].push((statement.clone(), condition.not()));
                    parts[0].push((statement, condition));
                }
            }
        }
        if self.dice.chance(10) {
            parts.push(Vec::new());
        }
        let below =
            parts.iter().map(|part| part.iter().map(|(s, _)| s.clone()).collect()).collect();
        (Kind::List(self.dice.chance(70), parts), below)
    }

    fn expansion(&mut self, live: &[Statement]) -> (Kind, Vec<Vec<Statement>>) {
        let (mut copies, mut below) = (Vec::new(), Vec::new());
        for statement in live {
            if self.dice.chance(30) {
                copies.push((statement.clone(), None));
                below.push(statement.clone());
                continue;
            }
            let new = self.statement("E", statement.1 + 1);
            let condition = Condition::random(self.dice, 1 + new.1);
            copies.push((
                statement.clone(),
                Some((new.0.clone(), self.dice.between(1, 3), condition)),
            ));
            below.push(new);
        }
        (Kind::Expansion(copies), vec![below])
    }
}

impl RandomTree {
    pub fn new(dice: &mut Dice) -> Self {
        let mut grower = Grower { dice, count: 0 };
        let mut roots = Vec::new();
        for _ in 0..1 + grower.dice.roll(2) {
            let dims = 1 + grower.dice.roll(2);
            let statement = grower.statement("S", dims);
            let sizes = (0..dims).map(|_| grower.dice.between(2, 5)).collect();
            let condition = Condition::random(grower.dice, 1 + dims);
            roots.push((statement, sizes, condition));
        }
        let live: Vec<Statement> = roots.iter().map(|(s, ..)| s.clone()).collect();
        let depth = 2 + grower.dice.roll(4);
        let top = grower.branch(&live, 0, depth);
        Self { roots, top }
    }

    /// Whether a node for which `wanted` holds is in the tree.
    fn any(&self, wanted: impl Fn(&Kind) -> bool) -> bool {
        let mut open = vec![&self.top];
        while let Some(branch) = open.pop() {
            if wanted(&branch.kind) {
                return true;
            }
            open.extend(&branch.children);
        }
        false
    }

    /// Whether some order is open.
    pub fn has_set(&self) -> bool {
        self.any(|kind| matches!(kind, Kind::List(false, _)))
    }

    /// Whether conditions stand in the tree that its map does not have.
    pub fn has_guard(&self) -> bool {
        self.any(|kind| matches!(kind, Kind::Guard(..)))
    }

    /// Whether instances come and go, which isl's map does not show.
    pub fn changes_instances(&self) -> bool {
        self.any(|kind| matches!(kind, Kind::Expansion(_) | Kind::Extension(..) | Kind::Filter(_)))
    }

    /// The tree in isl's notation.
    pub fn text(&self) -> String {
        let part = |(statement, sizes, condition): &(Statement, Vec<i128>, Condition)| {
            let tuple = names("i", statement.1);
            let bounds: String = tuple
                .iter()
                .zip(sizes)
                .map(|(i, size)| format!("0 <= {i} < {size} and "))
                .collect();
            let condition = condition.text(&with_parameter(tuple.clone()));
            format!("{}[{}] : {bounds}{condition}", statement.0, tuple.join(", "))
        };
        let domain: Vec<String> = self.roots.iter().map(part).collect();
        let mut text = format!("domain: \"[N] -> {{ {} }}\"\n", domain.join("; "));
        write(&self.top, 0, &mut text);
        text
    }

    /// All calls for a value of the parameter, and when.
    pub fn due(&self, parameter: i128) -> Vec<Timed> {
        let mut items = Vec::new();
        for (statement, sizes, condition) in &self.roots {
            for instance in points(sizes) {
                if condition.holds(&values(parameter, &instance)) {
                    let (outer, point) = (Vec::new(), Vec::new());
                    items.push(Item { statement: statement.clone(), instance, outer, point });
                }
            }
        }
        let mut due = Vec::new();
        run(&self.top, parameter, items, &mut due);
        due
    }
}

fn taken(filter: &[(Statement, Condition)], item: &Item, parameter: i128) -> bool {
    let wanted = |(s, condition): &(Statement, Condition)| {
        *s == item.statement && condition.holds(&values(parameter, &item.instance))
    };
    filter.iter().any(wanted)
}

fn run(branch: &Branch, parameter: i128, mut items: Vec<Item>, due: &mut Vec<Timed>) {
    match &branch.kind {
        Kind::Leaf => {
            due.extend(
                items.into_iter().map(|item| (item.point, (item.statement.0, item.instance))),
            );
            return;
        }
        Kind::List(_, parts) => {
            for (position, (part, child)) in parts.iter().zip(&branch.children).enumerate() {
                let mut own: Vec<Item> =
                    items.iter().filter(|item| taken(part, item, parameter)).cloned().collect();
                own.iter_mut().for_each(|item| item.point.push(position as i128));
                run(child, parameter, own, due);
            }
            return;
        }
        Kind::Band(members, _) => {
            for item in &mut items {
                let at = values(parameter, &item.instance);
                for member in members {
                    let own = member.iter().find(|(s, _)| *s == item.statement);
                    let value = own.map_or(0, |(_, value)| value.value(&at));
                    item.outer.push(value);
                    item.point.push(value);
                }
            }
        }
        Kind::Filter(filter) => items.retain(|item| taken(filter, item, parameter)),
        Kind::Mark | Kind::Context(_) => {}
        Kind::Guard(dims, condition) => {
            items.retain(|item| condition.holds(&values(parameter, &item.outer[..*dims])));
        }
        Kind::Extension(_, statement, sizes, condition) => {
            // Once for each iteration of the loops around.
            let around: BTreeMap<Vec<i128>, Vec<i128>> =
                items.iter().map(|item| (item.outer.clone(), item.point.clone())).collect();
            for (outer, point) in around {
                for instance in points(sizes) {
                    let at = values(parameter, &[&outer[..], &instance].concat());
                    if condition.holds(&at) {
                        let (statement, outer, point) =
                            (statement.clone(), outer.clone(), point.clone());
                        items.push(Item { statement, instance, outer, point });
                    }
                }
            }
        }
        Kind::Expansion(copies) => {
            items = items.iter().flat_map(|i| copied(i, copies, parameter)).collect()
        }
    }
    branch.children.iter().for_each(|child| run(child, parameter, items.clone(), due));
}

fn copied(item: &Item, copies: &[Copies], parameter: i128) -> Vec<Item> {
    let own = copies.iter().find(|(statement, _)| *statement == item.statement);
    let Some((_, Some((name, count, condition)))) = own else { return vec![item.clone()] };
    let copy = |index: i128| {
        let instance = [&item.instance[..], &[index]].concat();
        let statement = (name.clone(), instance.len());
        (index == 0 || condition.holds(&values(parameter, &instance))).then(|| Item {
            statement,
            instance,
            ..item.clone()
        })
    };
    (0..*count).filter_map(copy).collect()
}

fn filter(parts: &[(Statement, Condition)]) -> String {
    let part = |((name, dims), condition): &(Statement, Condition)| {
        let tuple = names("i", *dims);
        format!("{name}[{}] : {}", tuple.join(", "), condition.text(&with_parameter(tuple)))
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("[N] -> {{ {} }}", parts.join("; "))
}

fn band(members: &[Vec<(Statement, Piecewise)>]) -> String {
    let member = |values: &Vec<(Statement, Piecewise)>| {
        let mut pieces = Vec::new();
        for ((name, dims), value) in values {
            let tuple = names("i", *dims);
            for (value, condition) in value.texts(&with_parameter(tuple.clone())) {
                pieces.push(format!("{name}[{}] -> [{value}] : {condition}", tuple.join(", ")));
            }
        }
        format!("{{ {} }}", pieces.join("; "))
    };
    let members: Vec<String> = members.iter().map(member).collect();
    format!("[N] -> [{}]", members.join(", "))
}

fn expansion(copies: &[Copies]) -> (String, String) {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for ((name, dims), copy) in copies {
        let old = names("i", *dims);
        let tuple = old.join(", ");
        let Some((new, count, condition)) = copy else {
            there.push(format!("{name}[{tuple}] -> {name}[{tuple}]"));
            back.push(format!("{name}[{tuple}] -> {name}[{tuple}]"));
            continue;
        };
        let condition = condition.text(&with_parameter([old, vec!["k".to_owned()]].concat()));
        there.push(format!(
            "{name}[{tuple}] -> {new}[{tuple}, k] : 0 <= k < {count} and (k = 0 or {condition})"
        ));
        back.push(format!("{new}[{tuple}, k] -> {name}[{tuple}]"));
    }
    (format!("[N] -> {{ {} }}", back.join("; ")), format!("[N] -> {{ {} }}", there.join("; ")))
}

/// Writes a branch as the value of `child`, `level` steps in.
fn write(branch: &Branch, level: usize, text: &mut String) {
    if matches!(branch.kind, Kind::Leaf) {
        return;
    }
    let pad = "  ".repeat(level + 1);
    text.push_str(&format!("{}child:\n", "  ".repeat(level)));
    let lines = match &branch.kind {
        Kind::Band(members, options) => {
            let mut lines = format!("{pad}schedule: \"{}\"\n", band(members));
            if !options.is_empty() {
                lines += &format!("{pad}options: \"[N] -> {{ {options} }}\"\n");
            }
            lines
        }
        Kind::List(ordered, parts) => {
            text.push_str(&format!("{pad}{}:\n", if *ordered { "sequence" } else { "set" }));
            for (part, child) in parts.iter().zip(&branch.children) {
                text.push_str(&format!("{pad}- filter: \"{}\"\n", filter(part)));
                write(child, level + 2, text);
            }
            return;
        }
        Kind::Filter(parts) => format!("{pad}filter: \"{}\"\n", filter(parts)),
        Kind::Mark => format!("{pad}mark: \"here\"\n"),
        Kind::Context(dims) => {
            let outer = names("o", *dims);
            let known: String = outer.iter().map(|o| format!(" and -99 <= {o} <= 99")).collect();
            format!("{pad}context: \"[N] -> {{ [{}] : 0 <= N <= 5{known} }}\"\n", outer.join(", "))
        }
        Kind::Guard(dims, condition) => {
            let outer = names("o", *dims);
            let condition = condition.text(&with_parameter(outer.clone()));
            format!("{pad}guard: \"[N] -> {{ [{}] : {condition} }}\"\n", outer.join(", "))
        }
        Kind::Extension(dims, (name, own), sizes, condition) => {
            let (outer, tuple) = (names("o", *dims), names("x", *own));
            let bounds: String = tuple
                .iter()
                .zip(sizes)
                .map(|(x, size)| format!("0 <= {x} < {size} and "))
                .collect();
            let condition =
                condition.text(&with_parameter([outer.clone(), tuple.clone()].concat()));
            let (outer, tuple) = (outer.join(", "), tuple.join(", "));
            format!(
                "{pad}extension: \"[N] -> {{ [{outer}] -> {name}[{tuple}] : {bounds}{condition} }}\"\n"
            )
        }
        Kind::Expansion(copies) => {
            let (contraction, expansion) = expansion(copies);
            format!("{pad}contraction: \"{contraction}\"\n{pad}expansion: \"{expansion}\"\n")
        }
        Kind::Leaf => String::new(),
    };
    text.push_str(&lines);
    branch.children.iter().for_each(|child| write(child, level + 1, text));
}
