//! Reading and printing tuples of expressions that are defined on several tuples each.
//!
//! `[n] -> C[{ A[i] -> [(i + n)] }, { A[i] -> [(0)] }]`; `(C[] : { A[i] : i >= 0 })`;
//! `[B[{ A[i] -> [(i)] }] -> C[]]`.

use std::fmt;
use std::str::FromStr;

use super::multi_union_pw_aff::Domain;
use super::print::union_body;
use super::{MultiUnionPwAff, UnionPwAff};
use crate::parse::token::Tokens;
use crate::{Budget, Error, Space, Tuple, Union};

/// Tuples nest at most this deep.
const DEPTH: usize = 64;

impl MultiUnionPwAff {
    /// Parses a tuple of functions, or one without any and its domain.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the column.
    pub fn parse(text: &str, budget: &Budget) -> Result<Self, Error> {
        let mut reader =
            Reader { text, at: 0, params: Tokens::none(), members: Vec::new(), budget };
        reader.parameters()?;
        let open = reader.take("(");
        let output = reader.tuple(0)?;
        let mut domain = Domain::everywhere();
        if open && reader.take(":") {
            let points = reader.braces(Union::read)?;
            let params = |space: &Space| space.is_set() && space.output == Tuple::default();
            domain = match points.single() {
                Ok(set) if params(set.space()) => Domain::Parameters(set.clone()),
                _ => Domain::Points(points),
            };
        }
        if open && !reader.take(")") {
            return Err(reader.unexpected("`:` or `)`"));
        }
        if !reader.rest().is_empty() {
            return Err(reader.unexpected("the end"));
        }
        let result = Self::of(output, reader.members)?;
        match &domain {
            Domain::Points(points) if !result.members.is_empty() => {
                result.intersect_domain(points, budget)
            }
            Domain::Parameters(given) if !result.members.is_empty() => {
                result.intersect_params(given, budget)
            }
            _ => Ok(Self { domain, ..result }),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Bytes that are read.
    at: usize,
    /// Those of `[n, m] ->`, if the text starts with that.
    params: Tokens,
    members: Vec<UnionPwAff>,
    budget: &'a Budget,
}

impl<'a> Reader<'a> {
    /// Returns what is left, without white space before it.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn unexpected(&mut self, expected: &'static str) -> Error {
        let found: String = self.rest().chars().take(12).collect();
        let found = if found.is_empty() { "end of text".to_owned() } else { found };
        Error::Syntax { column: self.column(), expected: expected.into(), found }
    }

    /// Takes `[n, m] ->` from the beginning: brackets with no others in them before an arrow.
    fn parameters(&mut self) -> Result<(), Error> {
        let text = self.rest();
        let Some(close) = text.find(']').filter(|_| text.starts_with('[')) else { return Ok(()) };
        let after = text[close + 1..].trim_start();
        if text[1..close].contains(['[', '{']) || !after.starts_with("->") {
            return Ok(());
        }
        let end = text.len() - after.len() + 2;
        self.params = Tokens::none().text(&text[..end], self.column())?;
        self.at += end;
        Ok(())
    }

    /// The column where the reader stands.
    fn column(&self) -> usize {
        1 + self.text[..self.at].chars().count()
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let name = &rest[..rest.find(|c| !letter(c)).unwrap_or(rest.len())];
        self.at += name.len();
        name.to_owned()
    }

    fn tuple(&mut self, depth: usize) -> Result<Tuple, Error> {
        if depth == DEPTH {
            return Err(self.unexpected("less nesting"));
        }
        let name = self.name();
        if !self.take("[") {
            return Err(self.unexpected("a tuple"));
        }
        let first = self.members.len();
        if self.take("]") {
            return Ok(Tuple::new(name, Vec::<String>::new()));
        }
        if !self.rest().starts_with('{') {
            let left = self.tuple(depth + 1)?;
            if !self.take("->") {
                return Err(self.unexpected("`->`"));
            }
            let right = self.tuple(depth + 1)?;
            if !self.take("]") {
                return Err(self.unexpected("`]`"));
            }
            return Ok(Tuple { name, ..Tuple::wrapping(left, right) });
        }
        loop {
            let member = self.braces(UnionPwAff::read)?;
            self.members.push(member);
            if self.take("]") {
                return Ok(Tuple::new(name, (first..self.members.len()).map(|i| format!("i{i}"))));
            }
            if !self.take(",") {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    /// Reads what stands in braces, with the parameters before it.
    fn braces<T>(
        &mut self,
        read: impl Fn(Tokens, &Budget) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let rest = self.rest();
        let Some(close) = rest.find('}').filter(|_| rest.starts_with('{')) else {
            return Err(self.unexpected("`{` and a `}` behind it"));
        };
        let tokens = self.params.clone().text(&rest[..=close], self.column())?;
        self.at += close + 1;
        read(tokens, self.budget)
    }
}

impl FromStr for MultiUnionPwAff {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text, &Budget::unlimited())
    }
}

impl MultiUnionPwAff {
    /// Returns the parameters of all members and of the domain.
    pub fn parameters(&self) -> Vec<String> {
        let mut params = match &self.domain {
            _ if !self.members.is_empty() => Vec::new(),
            Domain::Parameters(given) => given.space().params.clone(),
            Domain::Points(points) => points.parameters(),
        };
        for member in &self.members {
            let other = Space { params: member.parameters(), ..Space::default() };
            params = Space { params, ..Space::default() }.joint_params(&other);
        }
        params
    }
}

impl fmt::Display for MultiUnionPwAff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params = self.parameters();
        if !params.is_empty() {
            write!(f, "[{}] -> ", params.join(", "))?;
        }
        let members = self.members.iter().map(|member| union_body(&member.0, &params));
        let mut tuple = String::new();
        self.output.write(&mut tuple, &members.collect::<Vec<_>>())?;
        if !self.members.is_empty() {
            return f.write_str(&tuple);
        }
        let (texts, all): (Vec<String>, bool) = match &self.domain {
            Domain::Points(points) => {
                let texts = points.relations().flat_map(|set| set.aligned(&params).disjuncts());
                (texts.collect(), false)
            }
            Domain::Parameters(given) => {
                let mut texts = given.disjuncts();
                if texts.is_empty() {
                    texts.push("[] : false".to_owned());
                }
                let all = texts.iter().any(|text| text == "[]");
                (texts.iter().map(|text| text.replacen("[] ", "", 1)).collect(), all)
            }
        };
        match all {
            true => f.write_str(&tuple),
            false if texts.is_empty() => write!(f, "({tuple} : {{ }})"),
            false => write!(f, "({tuple} : {{ {} }})", texts.join("; ")),
        }
    }
}
