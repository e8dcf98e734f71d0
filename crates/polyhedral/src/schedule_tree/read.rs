//! Reading isl's YAML.

use tangram_presburger::{Budget, Relation, Union};

use crate::yaml::Document;
use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree};

impl ScheduleTree {
    /// Parses isl's YAML form of a schedule tree; leaves are not written.
    ///
    /// Only the text is checked; [`Self::check`] says whether the tree is well-formed.
    ///
    /// # Errors
    /// [`Error::Structure`] and [`Error::Notation`] with the line.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        Ok(Self::parse_with_places(text, budget)?.0)
    }

    /// Parses as [`Self::parse`]; also returns line and column, from 1, of each node that is
    /// written, by [`Node::index`].
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with_places(
        text: &str,
        budget: &Budget,
    ) -> Result<(Self, Vec<(usize, usize)>), Error> {
        let document = Document::parse(text)?;
        Self::read(&document, document.root(), budget)
    }

    /// Reads the tree in a value of a document.
    pub(crate) fn from_value(
        document: &Document,
        root: usize,
        budget: &Budget,
    ) -> Result<Self, Error> {
        Ok(Self::read(document, root, budget)?.0)
    }

    fn read(
        document: &Document,
        root: usize,
        budget: &Budget,
    ) -> Result<(Self, Vec<(usize, usize)>), Error> {
        let mut places = Vec::new();
        let mut tree = Self { nodes: Vec::new() };
        let mut open: Vec<(usize, Option<Node>)> = vec![(root, None)];
        while let Some((value, parent)) = open.pop() {
            let (kind, children) = Reader { document, budget }.node(value)?;
            let node = tree.push(parent, kind);
            places.push((document.value(value).line, document.value(value).column));
            open.extend(children.into_iter().rev().map(|child| (child, Some(node))));
        }
        tree.close();
        Ok((tree, places))
    }
}

/// The keys of nodes.
const KEYS: [&str; 16] = [
    "child",
    "coincident",
    "context",
    "contraction",
    "domain",
    "expansion",
    "extension",
    "filter",
    "guard",
    "leaf",
    "mark",
    "options",
    "permutable",
    "schedule",
    "sequence",
    "set",
];

/// Reads sets and relations out of a document.
pub(crate) struct Reader<'a> {
    pub document: &'a Document,
    pub budget: &'a Budget,
}

impl Reader<'_> {
    /// Reads one node and says which values hold its children.
    fn node(&self, value: usize) -> Result<(NodeKind, Vec<usize>), Error> {
        let entries = self.document.entries(value)?;
        let mut found = None;
        let mut children = Vec::new();
        let mut contraction = None;
        for (key, value) in entries {
            let kind = match key.as_str() {
                "child" => {
                    children = vec![*value];
                    continue;
                }
                "permutable" | "coincident" | "options" => continue,
                "contraction" => {
                    contraction = Some(self.union(key, *value)?);
                    continue;
                }
                "domain" => NodeKind::Domain(self.union(key, *value)?),
                "context" => NodeKind::Context(self.relation(key, *value)?),
                "schedule" => NodeKind::Band(self.band(entries, *value)?),
                "filter" => NodeKind::Filter(self.union(key, *value)?),
                "mark" => NodeKind::Mark(self.document.text(*value)?.to_owned()),
                "extension" => NodeKind::Extension(self.union(key, *value)?),
                "guard" => NodeKind::Guard(self.relation(key, *value)?),
                "expansion" => NodeKind::Expansion {
                    contraction: Union::empty(),
                    expansion: self.union(key, *value)?,
                },
                "sequence" | "set" => {
                    children = self.document.items(*value)?.to_vec();
                    if key == "set" { NodeKind::Set } else { NodeKind::Sequence }
                }
                "leaf" => NodeKind::Leaf,
                _ => return Err(self.document.unknown_key(key, *value, &KEYS)),
            };
            if found.replace(kind).is_some() {
                return Err(self.document.wrong(*value, "one kind of node"));
            }
        }
        let expected = "a node: domain, context, schedule, sequence, set, filter, mark, \
                        extension, contraction and expansion, guard";
        let mut kind = found.ok_or_else(|| self.document.wrong(value, expected))?;
        match (&mut kind, contraction) {
            (NodeKind::Expansion { contraction, .. }, Some(given)) => *contraction = given,
            (NodeKind::Expansion { .. }, None) | (_, Some(_)) => {
                return Err(self.document.wrong(value, "contraction and expansion together"));
            }
            _ => {}
        }
        Ok((kind, children))
    }

    pub fn union(&self, key: &str, value: usize) -> Result<Union, Error> {
        self.parse(key, value, self.document.text(value)?)
    }

    /// Reads the only relation of a text; isl lets a context be an empty union.
    pub fn relation(&self, key: &str, value: usize) -> Result<Relation, Error> {
        let all = self.union(key, value)?;
        all.single().cloned().map_err(|error| self.notation(key, value, error))
    }

    fn parse(&self, key: &str, value: usize, text: &str) -> Result<Union, Error> {
        Union::parse(text, self.budget).map_err(|error| self.notation(key, value, error))
    }

    fn notation(&self, key: &str, value: usize, error: tangram_presburger::Error) -> Error {
        let column = match error {
            // Members of bands are read one by one.
            tangram_presburger::Error::Syntax { column, .. } if key != "schedule" => {
                self.document.column_in(value, column)
            }
            _ => self.document.value(value).column,
        };
        let line = self.document.value(value).line;
        Error::Notation { line, column, key: key.to_owned(), error }
    }

    fn band(&self, entries: &[(String, usize)], schedule: usize) -> Result<Band, Error> {
        let get = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let text = self.document.text(schedule)?;
        let parts = split_members(text)
            .ok_or_else(|| self.document.wrong(schedule, "`[{ .. }, { .. }]`"))?;
        let coincident = match get("coincident") {
            Some(value) => {
                let items = self.document.items(value)?;
                items.iter().map(|item| self.flag(*item)).collect::<Result<Vec<_>, _>>()?
            }
            None => Vec::new(),
        };
        if coincident.len() > parts.len() {
            return Err(self.document.wrong(schedule, "a member for each coincident flag"));
        }
        let member = |(index, part): (usize, &String)| {
            Ok(Member {
                schedule: self.parse("schedule", schedule, part)?,
                coincident: coincident.get(index).copied().unwrap_or(false),
            })
        };
        Ok(Band {
            members: parts.iter().enumerate().map(member).collect::<Result<_, Error>>()?,
            permutable: get("permutable").map_or(Ok(false), |value| self.flag(value))?,
            options: get("options")
                .map_or(Ok(Union::empty()), |value| self.union("options", value))?,
        })
    }

    fn flag(&self, value: usize) -> Result<bool, Error> {
        match self.document.text(value)? {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.document.wrong(value, "0 or 1")),
        }
    }
}

/// Splits `[N] -> L[{ .. }, { .. }]` into one text for each member, with the parameters.
fn split_members(text: &str) -> Option<Vec<String>> {
    let brace = text.find('{').unwrap_or(text.len());
    let open = match text[..brace].rfind('[') {
        Some(open) if brace < text.len() => open,
        _ => text.rfind('[')?,
    };
    let arrow = text[..open].find("->");
    let prefix = arrow.map_or("", |at| &text[..at + 2]);
    let inner = text[open + 1..].trim_end().strip_suffix(']')?;
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(format!("{prefix} {}", &inner[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inner[start..].trim().is_empty() {
        parts.push(format!("{prefix} {}", &inner[start..]));
    }
    Some(parts)
}
