//! What each step does.

use tangram_presburger::{Relation, Union};

use super::read::{Operand, ScriptStep, Value};
use crate::transform::{Editor, LoopType, refuse};
use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree};

/// The steps: their names, those that islpy has for them, and what they do.
pub const STEPS: [(&str, &str, &str); 64] = [
    ("root", "root", "goes to the root"),
    ("parent", "parent", "goes to the node above"),
    ("child", "child", "`child 0` goes to a node right below"),
    ("next", "next_sibling", "goes to the next child of the same node"),
    ("previous", "previous_sibling", "goes to the child of the same node before this one"),
    ("find", "", "`find band 1` goes to the second band from here on, in the order of the tree"),
    ("find_mark", "", "`find_mark kernel` goes to a mark from here on"),
    (
        "tile",
        "band_tile",
        "`tile 32 8` splits members into tile and point loops, `tile 32 0` the first",
    ),
    ("strip_mine", "", "`strip_mine 0 32` splits a member in place into blocks and iterations"),
    ("separate_full_tiles", "", "`separate_full_tiles 32 8` gives full tiles code of their own"),
    ("arrange", "", "`arrange 32 0 8 order 0 2 1`: tiles, point loops, the last member innermost"),
    ("diamond", "", "`diamond 8 8` tiles along both sides of the cone of dependences"),
    ("overlap", "", "`overlap 8` computes a producer again inside the tiles of its consumer"),
    ("unroll_and_jam", "", "`unroll_and_jam 4 2` runs iterations side by side in inner loops"),
    ("jam_skewed", "", "`jam_skewed 8 2` runs 8 iterations side by side, each 2 behind the last"),
    ("map_to_units", "", "`map_to_units t0 32 t1 8` gives iterations to units, by parameters"),
    ("unimodular", "", "`unimodular 0 1 1 0` replaces members by sums of them, a row for each"),
    ("shift", "band_shift", "`shift 0 5` adds a number to a member"),
    ("scale", "band_scale", "`scale 0 2` multiplies a member"),
    ("scale_down", "band_scale_down", "`scale_down 0 2` divides a member, rounded down"),
    ("modulo", "band_mod", "`modulo 0 4` replaces a member by its remainder"),
    ("skew", "", "`skew 1 0 2` adds twice member 0 to member 1"),
    ("interchange", "", "`interchange 0 1` exchanges two members"),
    ("wavefront", "", "`wavefront 2` makes the first member the sum of the first two"),
    ("split", "band_split", "`split 1` splits a band: the first member over the others"),
    ("combine", "", "joins a band with the band right below it"),
    ("sink", "band_sink", "moves a band down to the leaves"),
    ("distribute", "", "splits a band over the sequence or set below it"),
    ("distribute_statements", "", "splits a band over the statements below it, where it can"),
    ("fuse", "", "joins the bands below the children of a sequence to one above it"),
    ("reorder", "", "`reorder 1 0` puts the children of a sequence or set in another order"),
    ("group", "", "`group 0 2` makes the first two children one, a sequence of its own"),
    ("splice", "sequence_splice_child", "`splice 0` puts a child's sequence in the child's place"),
    ("splice_all", "sequence_splice_children", "puts all sequences below children in their places"),
    ("order_before", "order_before", "`order_before { S[0] }` runs instances before the others"),
    ("order_after", "order_after", "`order_after { S[0] }` runs instances after the others"),
    ("split_index_set", "", "as `order_before`"),
    ("insert_context", "insert_context", "`insert_context [n] -> { [] : n > 0 }`"),
    ("insert_guard", "insert_guard", "`insert_guard [n] -> { [] : n > 0 }`"),
    ("insert_filter", "insert_filter", "`insert_filter { S[i] }`, which must pass all"),
    ("insert_mark", "insert_mark", "`insert_mark kernel`"),
    ("insert_band", "insert_partial_schedule", "`insert_band { S[i, j] -> [i, j] }`"),
    ("insert_sequence", "insert_sequence", "`insert_sequence { S[i] } { T[i] }`"),
    ("insert_set", "insert_set", "`insert_set { S[i] } { T[i] }`"),
    ("insert_extension", "insert_extension", "`insert_extension { [] -> X[] }`, for what is below"),
    ("insert_extension_before", "", "`insert_extension_before { [] -> X[] }`"),
    ("insert_extension_after", "", "`insert_extension_after { [] -> X[] }`"),
    ("insert_barrier", "", "lets all units wait for each other behind the node"),
    ("insert_expansion", "group", "`insert_expansion G` makes one instance of those of one point"),
    ("graft_before", "graft_before", "`graft_before { [] -> X[] }`, or a tree: runs it before"),
    ("graft_after", "graft_after", "`graft_after { [] -> X[] }`, or a tree: runs it after"),
    ("set_permutable", "band_set_permutable", "`set_permutable 1`, if the band is"),
    ("set_coincident", "band_member_set_coincident", "`set_coincident 0 1`, if the member is"),
    ("set_options", "band_set_ast_build_options", "`set_options { separate[0] }`"),
    ("loop_type", "band_member_set_ast_loop_type", "`loop_type 0 unroll`, or another type"),
    (
        "isolate_loop_type",
        "band_member_set_isolate_ast_loop_type",
        "`isolate_loop_type 0 unroll`, for what the options isolate",
    ),
    ("delete", "delete", "takes a node out; its only child takes its place"),
    ("cut", "cut", "takes away what is below, and the node"),
    ("intersect_domain", "intersect_domain", "`intersect_domain { S[0] }` leaves out all others"),
    (
        "gist_domain_params",
        "gist_domain_params",
        "`gist_domain_params [n] -> { : n > 0 }` drops what is known of parameters",
    ),
    (
        "pullback",
        "pullback_union_pw_multi_aff",
        "`pullback { A[i] -> S[i + 1] }` puts other instances in the place of those there are",
    ),
    ("then", "sequence", "`then TREE` runs another tree behind this one"),
    ("beside", "set", "`beside TREE` runs another tree beside this one, in any order"),
    ("expand", "expand", "`expand { A[i, j] -> S[i] } TREE` lets each instance be several"),
];

/// Applies a step at a node; returns the node that it leads to.
pub(super) fn apply(editor: &mut Editor<'_>, at: Node, step: &ScriptStep) -> Result<Node, Error> {
    let mut given = Operands { step, next: 0, editor_budget: editor.budget };
    // `group` is a name of ours, and islpy's for another step.
    let own = STEPS.iter().find(|(name, ..)| *name == step.name);
    let Some((name, ..)) = own.or_else(|| STEPS.iter().find(|(_, isl, _)| *isl == step.name))
    else {
        let (line, column, found) = (step.line, step.column, step.name.clone());
        return Err(Error::Key { line, column, found, known: names() });
    };
    let to = match go(editor, at, name, &mut given)? {
        Some(to) => to,
        None => match members(editor, at, name, &mut given)? {
            Some(to) => to,
            None => match whole(editor, at, name, &mut given)? {
                Some(to) => to,
                None => nodes(editor, at, name, &mut given)?,
            },
        },
    };
    given.end()?;
    Ok(to)
}

fn names() -> &'static [&'static str] {
    const NAMES: [&str; STEPS.len()] = {
        let mut names = [""; STEPS.len()];
        let mut index = 0;
        while index < STEPS.len() {
            names[index] = STEPS[index].0;
            index += 1;
        }
        names
    };
    &NAMES
}

/// Steps that change nothing.
fn go(
    editor: &Editor<'_>,
    at: Node,
    name: &str,
    given: &mut Operands<'_>,
) -> Result<Option<Node>, Error> {
    let tree = editor.tree();
    let sibling = |by: isize| {
        let parent = tree.parent(at)?;
        let position = tree.children(parent).position(|child| child == at)?;
        tree.children(parent).nth(position.checked_add_signed(by)?)
    };
    let found = match name {
        "root" => Some(tree.root()),
        "parent" => tree.parent(at),
        "child" => tree.children(at).nth(given.index_or(0)?),
        "next" => sibling(1),
        "previous" => sibling(-1),
        "find" => {
            let kind = given.name()?;
            let skip = given.index_or(0)?;
            below(editor, at).filter(|node| tree.kind(*node).name() == kind).nth(skip)
        }
        "find_mark" => {
            let mark = given.name()?;
            below(editor, at)
                .find(|node| matches!(tree.kind(*node), NodeKind::Mark(name) if *name == mark))
        }
        _ => return Ok(None),
    };
    match found {
        Some(node) => Ok(Some(node)),
        None => refuse(at, "a node with such a one beside, above or below it"),
    }
}

/// A node and all below it, each before those below it.
fn below<'a>(editor: &'a Editor<'_>, at: Node) -> impl Iterator<Item = Node> + use<'a> {
    let tree = editor.tree();
    let mut open = vec![at];
    std::iter::from_fn(move || {
        let node = open.pop()?;
        let children: Vec<Node> = tree.children(node).collect();
        open.extend(children.into_iter().rev());
        Some(node)
    })
}

/// Steps on members of a band.
fn members(
    editor: &mut Editor<'_>,
    at: Node,
    name: &str,
    given: &mut Operands<'_>,
) -> Result<Option<Node>, Error> {
    Ok(Some(match name {
        "tile" => editor.tile(at, &given.numbers()?)?,
        "strip_mine" => editor.strip_mine(at, given.index()?, given.number()?)?,
        "separate_full_tiles" => editor.separate_full_tiles(at, &given.numbers()?)?,
        "arrange" => {
            let sizes = given.numbers()?.into_iter().map(|size| (size != 0).then_some(size));
            let sizes: Vec<Option<i128>> = sizes.collect();
            given.keyword("order")?;
            editor.arrange(at, &sizes, &given.indices()?)?
        }
        "diamond" => editor.diamond(at, &given.numbers()?)?,
        "unroll_and_jam" => editor.unroll_and_jam(at, &given.numbers()?)?,
        "jam_skewed" => editor.jam_skewed(at, given.number()?, given.number()?)?,
        "map_to_units" => {
            let (mut names, mut sizes) = (Vec::new(), Vec::new());
            while given.more() {
                names.push(given.name()?);
                sizes.push(given.number()?);
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            editor.map_to_units(at, &names, &sizes)?
        }
        "unimodular" => {
            let members = editor.band(at)?.members.len();
            editor.unimodular(at, &given.rows(members)?)?
        }
        "shift" => editor.shift(at, given.index()?, given.number()?)?,
        "scale" => editor.scale(at, given.index()?, given.number()?)?,
        "scale_down" => editor.scale_down(at, given.index()?, given.number()?)?,
        "modulo" => editor.modulo(at, given.index()?, given.number()?)?,
        "skew" => editor.skew(at, given.index()?, given.index()?, given.number()?)?,
        "interchange" => editor.interchange(at, given.index()?, given.index()?)?,
        "wavefront" => editor.wavefront(at, given.index()?)?,
        "split" => editor.split(at, given.index()?)?,
        "combine" => editor.combine(at)?,
        "set_permutable" => editor.set_permutable(at, given.number()? != 0)?,
        "set_coincident" => editor.set_coincident(at, given.index()?, given.number()? != 0)?,
        "set_options" => editor.set_options(at, given.union()?)?,
        "loop_type" => editor.set_loop_type(at, given.index()?, given.loop_type()?)?,
        "isolate_loop_type" => {
            editor.set_isolate_loop_type(at, given.index()?, given.loop_type()?)?
        }
        _ => return Ok(None),
    }))
}

/// Steps on the instances of the tree, and with other trees.
fn whole(
    editor: &mut Editor<'_>,
    at: Node,
    name: &str,
    given: &mut Operands<'_>,
) -> Result<Option<Node>, Error> {
    Ok(Some(match name {
        "intersect_domain" => editor.intersect_domain(&given.union()?)?,
        "gist_domain_params" => editor.gist_domain_params(&given.relation()?)?,
        "pullback" => editor.pullback(&given.union()?)?,
        "then" => editor.then(&given.tree()?)?,
        "beside" => editor.beside(&given.tree()?)?,
        "expand" => editor.expand(&given.union()?, &given.tree()?)?,
        "graft_before" | "graft_after" => {
            let before = name == "graft_before";
            match given.is_tree() {
                true => editor.graft(at, &given.tree()?, before)?,
                false => editor.insert_extension(at, given.union()?, before)?,
            }
        }
        _ => return Ok(None),
    }))
}

/// Steps that put nodes into the tree, take them out, or move them.
fn nodes(
    editor: &mut Editor<'_>,
    at: Node,
    name: &str,
    given: &mut Operands<'_>,
) -> Result<Node, Error> {
    match name {
        "overlap" => editor.overlap(at, &given.numbers()?),
        "sink" => editor.sink(at),
        "distribute" => editor.distribute(at),
        "distribute_statements" => editor.distribute_statements(at),
        "fuse" => editor.fuse(at),
        "reorder" => editor.reorder(at, &given.indices()?),
        "group" => editor.group(at, given.index()?..given.index()?),
        "splice" => editor.splice(at, given.index()?),
        "splice_all" => editor.splice_all(at),
        "order_before" => editor.order_before(at, &given.union()?),
        "order_after" => editor.order_after(at, &given.union()?),
        "split_index_set" => editor.split_index_set(at, &given.union()?),
        "insert_context" => editor.insert_context(at, given.relation()?),
        "insert_guard" => editor.insert_guard(at, given.relation()?),
        "insert_filter" => editor.insert_filter(at, given.union()?),
        "insert_mark" => editor.insert_mark(at, given.name()?),
        "insert_band" => editor.insert_band(at, given.band()?),
        "insert_sequence" => editor.insert_sequence(at, given.unions()?),
        "insert_set" => editor.insert_set(at, given.unions()?),
        "insert_extension" => editor.extend(at, given.union()?),
        "insert_barrier" => editor.insert_barrier(at),
        "insert_expansion" => editor.insert_expansion(at, &given.name()?),
        "insert_extension_before" => editor.insert_extension(at, given.union()?, true),
        "insert_extension_after" => editor.insert_extension(at, given.union()?, false),
        "delete" => editor.delete(at),
        _ => editor.cut(at),
    }
}

/// The operands of a step that are still to be read.
struct Operands<'a> {
    step: &'a ScriptStep,
    next: usize,
    editor_budget: &'a tangram_presburger::Budget,
}

impl Operands<'_> {
    fn more(&self) -> bool {
        self.next < self.step.operands.len()
    }

    fn wrong(&self, expected: &'static str) -> Error {
        let Some(Operand { line, column, value }) = self.step.operands.get(self.next) else {
            let (line, column) = (self.step.line, self.step.column);
            let found = format!("{} without more", self.step.name);
            return Error::Structure { line, column, expected, found };
        };
        let found = match value {
            Value::Number(number) => number.to_string(),
            Value::Name(text) | Value::Text(text) => text.clone(),
        };
        Error::Structure { line: *line, column: *column, expected, found }
    }

    fn take<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Error> {
        let operand = self.step.operands.get(self.next);
        let value = operand.and_then(|operand| read(&operand.value));
        let value = value.ok_or_else(|| self.wrong(expected))?;
        self.next += 1;
        Ok(value)
    }

    fn end(&self) -> Result<(), Error> {
        if self.more() { Err(self.wrong("the end of the step")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<i128, Error> {
        self.take("an integer", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    fn index(&mut self) -> Result<usize, Error> {
        self.take("an integer from 0 on", |value| match value {
            Value::Number(number) => usize::try_from(*number).ok(),
            _ => None,
        })
    }

    fn index_or(&mut self, default: usize) -> Result<usize, Error> {
        if self.more() { self.index() } else { Ok(default) }
    }

    /// Reads integers as far as there are.
    fn numbers(&mut self) -> Result<Vec<i128>, Error> {
        let mut numbers = vec![self.number()?];
        while let Some(Operand { value: Value::Number(_), .. }) = self.step.operands.get(self.next)
        {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    fn indices(&mut self) -> Result<Vec<usize>, Error> {
        let mut indices = vec![self.index()?];
        while self.more() {
            indices.push(self.index()?);
        }
        Ok(indices)
    }

    fn name(&mut self) -> Result<String, Error> {
        self.take("a name", |value| match value {
            Value::Name(text) | Value::Text(text) => Some(text.clone()),
            Value::Number(_) => None,
        })
    }

    fn keyword(&mut self, word: &'static str) -> Result<(), Error> {
        self.take(word, |value| matches!(value, Value::Name(name) if name == word).then_some(()))
    }

    fn loop_type(&mut self) -> Result<LoopType, Error> {
        self.take("default, atomic, unroll or separate", |value| match value {
            Value::Name(name) => {
                LoopType::ALL.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind)
            }
            _ => None,
        })
    }

    /// Reads as many rows as there are members: of factors, or of a constant and factors.
    fn rows(&mut self, members: usize) -> Result<Vec<Vec<i128>>, Error> {
        let numbers = self.numbers()?;
        let with_constants = numbers.len() == members * (members + 1);
        let rows = numbers.chunks(if with_constants { members + 1 } else { members.max(1) });
        let row = |row: &[i128]| if with_constants { row.to_vec() } else { [&[0], row].concat() };
        Ok(rows.map(row).collect())
    }

    fn union(&mut self) -> Result<Union, Error> {
        let operand = self.step.operands.get(self.next);
        let Some(Operand { line, column, value: Value::Text(text) }) = operand else {
            return Err(self.wrong("a set or map"));
        };
        self.next += 1;
        let (key, line) = (self.step.name.clone(), *line);
        Union::parse(text, self.editor_budget).map_err(|error| {
            let inner = match &error {
                tangram_presburger::Error::Syntax { column, .. } if !text.contains('\n') => {
                    column - 1
                }
                _ => 0,
            };
            Error::Notation { line, column: column + inner, key, error }
        })
    }

    /// Returns whether the next operand is a tree, and no set or map.
    fn is_tree(&self) -> bool {
        let operand = self.step.operands.get(self.next);
        let Some(Operand { value: Value::Text(text), .. }) = operand else { return false };
        let text = text.trim_start().trim_start_matches('{').trim_start();
        ["domain", "extension"].iter().any(|key| {
            text.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    }

    /// Reads a tree in isl's YAML.
    fn tree(&mut self) -> Result<ScheduleTree, Error> {
        if !self.is_tree() {
            return Err(self.wrong("a schedule tree: `{ domain: \"..\", child: .. }`"));
        }
        let Some(Operand { line, column, value: Value::Text(text) }) =
            self.step.operands.get(self.next)
        else {
            return Err(self.wrong("a schedule tree"));
        };
        self.next += 1;
        let tree = ScheduleTree::parse(text, self.editor_budget).and_then(|tree| {
            tree.check(self.editor_budget)?;
            Ok(tree)
        });
        // Places in it begin where it does.
        tree.map_err(|error| error.moved(*line, *column))
    }

    fn unions(&mut self) -> Result<Vec<Union>, Error> {
        let mut unions = vec![self.union()?];
        while self.more() {
            unions.push(self.union()?);
        }
        Ok(unions)
    }

    fn relation(&mut self) -> Result<Relation, Error> {
        Ok(self.union()?.single()?.clone())
    }

    /// Reads a band of one map with all members, or of a map for each.
    fn band(&mut self) -> Result<Band, Error> {
        let mut members = Vec::new();
        for map in self.unions()? {
            for schedule in crate::schedule_tree::members_of(&map, self.editor_budget)? {
                members.push(Member { schedule, coincident: false });
            }
        }
        Ok(Band { members, permutable: false, options: Union::empty() })
    }
}
