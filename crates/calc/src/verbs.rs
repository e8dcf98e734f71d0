//! Verbs with words between their operands: dependences, schedules, code, files.

use tangram_polyhedral::OptionFault;
use tangram_polyhedral::ast::{Ast, AstOptions, idle_option};
use tangram_polyhedral::flow::{Accesses, Flow};
use tangram_polyhedral::schedule::{Constraints, Options};
use tangram_polyhedral::transform::{Editor, Script};
use tangram_presburger::Union;

use crate::error::Fault;
use crate::evaluate::Evaluator;
use crate::operators::Failure;
use crate::reader::Token;
use crate::unary::unary;
use crate::value::Value;

/// The verbs and what they do.
pub const VERBS: [(&str, &str); 13] = [
    ("any", "`any A [last B] before C under S`: accesses of A that C may see, by schedule S"),
    ("assert", "`assert E;` ends the program if E does not hold"),
    ("codegen", "`codegen S [using O]`: loops for a set, a map to time, or a schedule"),
    (
        "edit",
        "`edit S using \"find band; tile 32 8\" [respecting D]`: a changed schedule tree, checked",
    ),
    ("help", "`help;` lists everything, `help card;` says what one word does"),
    ("last", "`last A [any B] before C under S`: the last accesses of A before those of C"),
    ("parse_file", "`parse_file \"a.c\"`: domain, must writes, may writes, reads, schedule"),
    ("print", "`print E;` prints, as `E;` does"),
    ("read", "`read \"file\"`: the value that a file holds"),
    ("schedule", "`schedule D [respecting V] [coinciding C] [minimizing P]`: a schedule tree"),
    ("source", "`source \"file\";` runs the statements of a file"),
    ("time", "`time E;` prints the elementary steps of E after its value"),
    ("write", "`write \"file\" E;` writes the text of a value"),
];

/// Words between the operands of a verb.
pub(crate) const WORDS: [&str; 5] = ["coinciding", "minimizing", "respecting", "under", "using"];

impl Evaluator<'_> {
    /// Reads an expression that starts with a verb, if one stands here.
    pub(crate) fn verb(&mut self) -> Result<Option<Value>, Fault> {
        let place = self.place();
        let Token::Name(name) = self.peek() else { return Ok(None) };
        let name = name.clone();
        let followed_by_text = matches!(self.second(), Token::Text(_));
        let verb: fn(&mut Self, usize) -> Result<Value, Fault> = match name.as_str() {
            "any" => Self::any,
            "last" => Self::last,
            "schedule" => Self::schedule,
            "codegen" => Self::codegen,
            "edit" => Self::edit,
            "read" => Self::read,
            "parse_file" => Self::parse_file,
            "plot" if followed_by_text => |of, place| of.plot(place, Self::operand),
            _ => return Ok(None),
        };
        if self.session.value(&name).is_some() {
            return Ok(None);
        }
        self.at += 1;
        verb(self, place).map(Some)
    }

    /// Skips a word, if it is here.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        self.at += usize::from(found);
        found
    }

    fn need_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// Reads an operand that is a set or relation; a schedule is its map.
    fn union(&mut self) -> Result<Union, Fault> {
        let place = self.place();
        match self.operand()?.result() {
            Value::Union(union) => Ok(union),
            Value::Schedule(tree) => {
                tree.to_map(&self.budget).map_err(|error| Failure::from(error).at(place))
            }
            other => {
                let message = format!("expected a set or map, found a {}", other.kind());
                Err(Fault::new(place, message))
            }
        }
    }

    /// `any A [last B] before C under S`.
    fn any(&mut self, place: usize) -> Result<Value, Fault> {
        let may_source = self.union()?;
        let must_source = if self.word("last") { self.union()? } else { Union::empty() };
        let accesses = self.under(must_source, may_source)?;
        let flow = self.flow(&accesses, place)?;
        self.sources(&flow.may_dependence, place).map(Value::Union)
    }

    /// `last A [any B] before C under S`.
    fn last(&mut self, place: usize) -> Result<Value, Fault> {
        let must_source = self.union()?;
        let uncertain = self.word("any");
        let may_source = if uncertain { self.union()? } else { Union::empty() };
        let accesses = self.under(must_source, may_source)?;
        let flow = self.flow(&accesses, place)?;
        if uncertain {
            return self.sources(&flow.may_dependence, place).map(Value::Union);
        }
        let last = self.sources(&flow.must_dependence, place)?;
        Ok(Value::List(vec![Value::Union(last), Value::Union(flow.must_no_source)]))
    }

    /// Reads `before C under S`.
    fn under(&mut self, must_source: Union, may_source: Union) -> Result<Accesses, Fault> {
        self.need_word("before")?;
        let sink = self.union()?;
        self.need_word("under")?;
        let schedule = self.union()?;
        Ok(Accesses { sink, must_source, may_source, schedule, ..Accesses::default() })
    }

    fn flow(&self, accesses: &Accesses, place: usize) -> Result<Flow, Fault> {
        accesses.flow(&self.budget).map_err(|error| Failure::from(error).at(place))
    }

    /// Drops the cell from source to `[sink -> cell]`.
    fn sources(&self, dependence: &Union, place: usize) -> Result<Union, Fault> {
        let sinks = || {
            let pairs = dependence.range(&self.budget)?.unwrap()?;
            dependence.apply_range(&pairs.domain_map()?, &self.budget)
        };
        sinks().map_err(|error| Failure::from(error).at(place))
    }

    /// `schedule D [respecting V] [coinciding C] [minimizing P]`, in any order.
    fn schedule(&mut self, place: usize) -> Result<Value, Fault> {
        let mut constraints = Constraints { domain: self.union()?, ..Constraints::default() };
        loop {
            let here = self.place();
            let words = ["respecting", "coinciding", "minimizing"];
            let Some(index) = words.iter().position(|word| self.word(word)) else { break };
            let more = self.union()?;
            let known = match index {
                0 => &mut constraints.validity,
                1 => &mut constraints.coincidence,
                _ => &mut constraints.proximity,
            };
            *known = known.union(&more).map_err(|error| Failure::from(error).at(here))?;
        }
        let found = constraints.schedule(&Options::default(), None, &self.budget);
        let found = found.map_err(|error| Failure::from(error).at(place))?;
        Ok(Value::Schedule(Box::new(found.tree)))
    }

    /// `edit S using "steps" [respecting D]`.
    fn edit(&mut self, place: usize) -> Result<Value, Fault> {
        let tree = match self.operand()?.result() {
            Value::Schedule(tree) => *tree,
            other => {
                let message = format!("expected a schedule, found a {}", other.kind());
                return Err(Fault::new(place, message));
            }
        };
        self.need_word("using")?;
        let at = self.place();
        let Token::Text(steps) = self.peek().clone() else {
            return Err(self.unexpected("steps between `\"`"));
        };
        self.at += 1;
        let dependences = if self.word("respecting") { self.union()? } else { Union::empty() };
        let edited = || {
            let script = Script::parse(&steps)?;
            let mut editor = Editor::new(tree, dependences, &self.budget)?;
            let root = editor.tree().root();
            script.apply(&mut editor, root)?;
            Ok(Value::Schedule(Box::new(editor.finish()?)))
        };
        edited().map_err(|error: tangram_polyhedral::Error| Failure::from(error).at(at))
    }

    /// `codegen S [using O]`.
    fn codegen(&mut self, place: usize) -> Result<Value, Fault> {
        let schedule = self.operand()?.result();
        let using = self.place();
        let given = self.word("using");
        let from = self.at;
        let choices = if given { self.union()? } else { Union::empty() };
        if given && matches!(schedule, Value::Schedule(_)) {
            let message = "`using` is for maps: the bands of a schedule tree have their options";
            return Err(Fault::new(using, message));
        }
        let (options, budget) = (AstOptions::default(), &self.budget);
        let code = match schedule {
            Value::Schedule(tree) => Ast::of_tree(&tree, None, &options, budget),
            Value::Union(union) => {
                let sets = union.relations().all(tangram_presburger::Relation::is_set);
                let map = if sets { union.identity(budget) } else { Ok(union) };
                let map = map.map_err(|error| Failure::from(error).at(place))?;
                if let Some(fault) = idle_option(&choices, &map) {
                    return Err(Fault::new(self.place_of(&fault, from), fault.to_string()));
                }
                Ast::of_map(&map, None, &choices, &options, budget)
            }
            other => {
                let message =
                    format!("expected a schedule, set or map to time, found a {}", other.kind());
                return Err(Fault::new(place, message));
            }
        };
        let code = code.map_err(|error| match &error {
            tangram_polyhedral::Error::Option(fault) => {
                Fault::new(self.place_of(fault, from), fault.to_string())
            }
            _ => Failure::from(error).at(place),
        })?;
        Ok(Value::Text(code.to_string().trim_end().to_owned()))
    }

    /// Returns where an option stands in what was read since a token, if it is written out there.
    fn place_of(&self, fault: &OptionFault, from: usize) -> usize {
        let read = &self.tokens[from..self.at];
        let written = read.iter().find_map(|(token, at)| match token {
            Token::Set(text) => fault.place_in(text).map(|inside| at + inside),
            _ => None,
        });
        written.unwrap_or(self.tokens[from].1)
    }

    /// Reads a text, the name of a file.
    pub(crate) fn file(&mut self) -> Result<(String, usize), Fault> {
        let place = self.place();
        let Token::Text(path) = self.peek().clone() else {
            return Err(self.unexpected("the name of a file between `\"`"));
        };
        self.at += 1;
        Ok((path, place))
    }

    /// `read "file"`: one expression.
    fn read(&mut self, _: usize) -> Result<Value, Fault> {
        let (path, place) = self.file()?;
        let text = self.session.host(place)?.read(&path);
        let text = text.map_err(|message| Fault::new(place, message))?;
        let tree = || tangram_polyhedral::ScheduleTree::parse(&text, &self.budget);
        let value = self.session.expression(&text);
        match (value, text.trim_start().starts_with("domain")) {
            (_, true) => match tree() {
                Ok(tree) => Ok(Value::Schedule(Box::new(tree))),
                Err(error) => Err(Fault::new(place, format!("{path}: {error}"))),
            },
            (Ok(value), false) => Ok(value),
            (Err(error), false) => {
                let (line, column) = (error.line, error.column);
                let message = format!("{path}:{line}:{column}: {}", error.message);
                Err(Fault::new(place, message))
            }
        }
    }

    /// `parse_file "a.c"`.
    fn parse_file(&mut self, _: usize) -> Result<Value, Fault> {
        let (path, place) = self.file()?;
        let scop = self.session.host(place)?.scop(&path, &self.budget);
        let scop = scop.map_err(|message| Fault::new(place, message))?;
        let domain = scop.domain().map_err(|error| Failure::from(error).at(place))?;
        let maps = [domain, scop.must_writes, scop.may_writes, scop.reads];
        let mut items: Vec<Value> = maps.into_iter().map(Value::Union).collect();
        items.push(Value::Schedule(Box::new(scop.schedule)));
        Ok(Value::List(items))
    }

    /// `plot X`, or `plot "file" X`, which writes the picture and gives the name of the file.
    pub(crate) fn plot(
        &mut self,
        place: usize,
        of: fn(&mut Self) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let target = match self.peek() {
            Token::Text(_) => Some(self.file()?),
            _ => None,
        };
        let value = of(self)?;
        let picture = unary("plot", value, &self.budget).map_err(|error| error.at(place))?;
        let Some((path, at)) = target else { return Ok(picture) };
        let written = self.session.host(at)?.write(&path, &picture.to_string());
        written.map_err(|message| Fault::new(at, message))?;
        Ok(Value::Text(path))
    }
}
