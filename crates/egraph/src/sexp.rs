//! Reading and laying out s-expressions, without recursion.

use thiserror::Error;

/// What is wrong with the text of an s-expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SexpError {
    /// The text ends inside a list.
    #[error("expected `)`, found the end of the text")]
    Unclosed,
    /// The text ends inside a quoted atom.
    #[error("expected a closing quote, found the end of the text")]
    UnclosedQuote,
    /// Something follows the expression.
    #[error("expected the end of the text, found `{0}`")]
    Trailing(String),
}

/// A token: brackets, or an atom without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Open,
    Close,
    Atom(String),
}

/// Splits a text into tokens. `;` starts a comment up to the end of the line.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SexpError> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(&first) = rest.peek() {
        match first {
            '(' => tokens.push(Token::Open),
            ')' => tokens.push(Token::Close),
            ';' => while rest.next_if(|&c| c != '\n').is_some() {},
            '"' => {
                rest.next();
                tokens.push(Token::Atom(quoted(&mut rest)?));
                continue;
            }
            _ if first.is_whitespace() => {}
            _ => {
                let mut atom = String::new();
                let inside = |c: &char| !c.is_whitespace() && !matches!(c, '(' | ')');
                while let Some(c) = rest.next_if(inside) {
                    atom.push(c);
                }
                tokens.push(Token::Atom(atom));
                continue;
            }
        }
        rest.next();
    }
    Ok(tokens)
}

fn quoted(rest: &mut impl Iterator<Item = char>) -> Result<String, SexpError> {
    let mut atom = String::new();
    loop {
        match rest.next() {
            None => return Err(SexpError::UnclosedQuote),
            Some('"') => return Ok(atom),
            Some('\\') => atom.extend(rest.next()),
            Some(c) => atom.push(c),
        }
    }
}

/// One step of writing an expression.
enum Write {
    Node(usize),
    Text(&'static str),
    Newline(usize),
}

/// A tree to lay out: texts and children, children before their parents.
pub(crate) struct Layout {
    /// The text of each node and the indices of its children.
    pub(crate) nodes: Vec<(String, Vec<usize>)>,
}

impl Layout {
    /// Writes the tree below `root` on one line.
    pub(crate) fn line(&self, root: usize) -> String {
        self.write(root, None)
    }

    /// Writes the tree below `root`, breaking lists that do not fit into `width` columns.
    pub(crate) fn pretty(&self, root: usize, width: usize) -> String {
        self.write(root, Some(width))
    }

    /// Writes lines `name = term` for the parts that are used more than once, leaves apart, each before
    /// those that name it, and the terms below `roots`: together linear in the nodes.
    pub(crate) fn shared(mut self, roots: &[usize]) -> (Vec<String>, Vec<String>) {
        let mut uses = vec![0usize; self.nodes.len()];
        let kids = self.nodes.iter().flat_map(|(_, kids)| kids);
        kids.chain(roots).for_each(|&kid| uses[kid] += 1);
        let mut bindings = Vec::new();
        for node in 0..self.nodes.len() {
            if uses[node] > 1 && !self.nodes[node].1.is_empty() {
                let name = format!("%{}", bindings.len());
                bindings.push(format!("{name} = {}", self.line(node)));
                self.nodes[node] = (name, Vec::new());
            }
        }
        let roots = roots.iter().map(|&root| self.line(root)).collect();
        (bindings, roots)
    }

    /// Returns the lengths of all subtrees on one line.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (text, kids) in &self.nodes {
            let brackets = if kids.is_empty() { 0 } else { 2 };
            let inner = kids
                .iter()
                .fold(0usize, |sum, &kid| sum.saturating_add(lengths[kid]).saturating_add(1));
            lengths.push(inner.saturating_add(text.len() + brackets));
        }
        lengths
    }

    fn write(&self, root: usize, width: Option<usize>) -> String {
        let lengths = width.map(|_| self.lengths()).unwrap_or_default();
        let mut out = String::new();
        let mut column = 0;
        // Every list under way, with the indentation of its children if it is broken.
        let mut todo = vec![(Write::Node(root), 0)];
        while let Some((write, indent)) = todo.pop() {
            match write {
                Write::Text(text) => {
                    out.push_str(text);
                    column += text.len();
                }
                Write::Newline(indent) => {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                }
                Write::Node(node) => {
                    let (text, kids) = &self.nodes[node];
                    if kids.is_empty() {
                        out.push_str(text);
                        column += text.len();
                        continue;
                    }
                    let fits =
                        width.is_none_or(|width| column.saturating_add(lengths[node]) <= width);
                    out.push('(');
                    out.push_str(text);
                    column += 1 + text.len();
                    todo.push((Write::Text(")"), indent));
                    let deeper = if fits { indent } else { indent + 2 };
                    for &kid in kids.iter().rev() {
                        todo.push((Write::Node(kid), deeper));
                        todo.push(match fits {
                            true => (Write::Text(" "), deeper),
                            false => (Write::Newline(deeper), deeper),
                        });
                    }
                }
            }
        }
        out
    }
}
