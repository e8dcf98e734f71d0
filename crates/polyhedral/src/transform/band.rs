//! Other members for a band.

use crate::Conjunction;
use tangram_presburger::{Relation, Space, Tuple, Union};

use super::{Editor, refuse};
use crate::{Band, Error, Member, Node, NodeKind};

impl Editor<'_> {
    fn rebuild(&mut self, node: Node, members: Vec<Union>) -> Result<Node, Error> {
        let options = self.band(node)?.options.clone();
        let member = |schedule| Member { schedule, coincident: false };
        let members = members.into_iter().map(member).collect();
        let below = self.children(node);
        self.replace_by_bands(node, vec![Band { members, permutable: false, options }], below)
    }

    /// Replaces the members by rows over them: `rows[i] = [constant, factors..]`.
    ///
    /// The factors form a square matrix; its determinant must be 1 or -1.
    /// Interchange, reversal and skewing are such maps.
    ///
    /// # Errors
    /// [`Error::Operand`] for another matrix, [`Error::Illegal`] if a dependence would run
    /// backwards.
    pub fn unimodular(&mut self, node: Node, rows: &[Vec<i128>]) -> Result<Node, Error> {
        let count = self.band(node)?.members.len();
        let square = rows.len() == count && rows.iter().all(|row| row.len() == 1 + count);
        let matrix = rows.iter().map(|row| row.get(1..).unwrap_or_default().to_vec()).collect();
        if !square || determinant(matrix).is_none_or(|value| value.abs() != 1) {
            return refuse(node, "a unimodular matrix, one row for each member");
        }
        self.combine_members(node, rows)
    }

    /// Replaces members by sums of them, without asking for the determinant.
    fn combine_members(&mut self, node: Node, rows: &[Vec<i128>]) -> Result<Node, Error> {
        let members = self.sums(node, rows)?;
        self.rebuild(node, members)
    }

    /// Returns sums of members.
    pub(super) fn sums(&self, node: Node, rows: &[Vec<i128>]) -> Result<Vec<Union>, Error> {
        let band = self.band(node)?;
        let mut all = band.members[0].schedule.clone();
        for member in &band.members[1..] {
            all = all.flat_range_product(&member.schedule, self.budget)?;
        }
        let count = band.members.len();
        let mut members = Vec::new();
        for row in rows {
            let mut equation = row.clone();
            equation.push(-1);
            let space = Space::map(Vec::new(), Tuple::anonymous(count), Tuple::anonymous(1));
            let part = Conjunction { equalities: vec![equation], ..Conjunction::default() };
            let sum = Relation::from_conjunctions(space, &[part])?;
            members.push(all.apply_range(&sum.into(), self.budget)?);
        }
        Ok(members)
    }

    pub(super) fn identity(&self, node: Node) -> Result<Vec<Vec<i128>>, Error> {
        let count = self.band(node)?.members.len();
        let row = |at| (0..=count).map(|col| i128::from(col == at + 1)).collect();
        Ok((0..count).map(row).collect())
    }

    fn with_row(
        &mut self,
        node: Node,
        member: usize,
        change: impl FnOnce(&mut Vec<i128>),
    ) -> Result<Node, Error> {
        let mut rows = self.identity(node)?;
        let Some(row) = rows.get_mut(member) else {
            return refuse(node, "a band with such a member");
        };
        change(row);
        self.combine_members(node, &rows)
    }

    /// Adds a constant to a member.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member.
    pub fn shift(&mut self, node: Node, member: usize, by: i128) -> Result<Node, Error> {
        self.with_row(node, member, |row| row[0] = by)
    }

    /// Multiplies a member by a positive factor.
    ///
    /// # Errors
    /// [`Error::Operand`] if there is no such member or the factor is not positive.
    pub fn scale(&mut self, node: Node, member: usize, factor: i128) -> Result<Node, Error> {
        if factor <= 0 {
            return refuse(node, "a positive factor");
        }
        self.with_row(node, member, |row| row[1 + member] = factor)
    }

    /// Adds `factor` times member `source` to member `member`.
    ///
    /// # Errors
    /// [`Error::Illegal`] if a dependence would run backwards.
    pub fn skew(
        &mut self,
        node: Node,
        member: usize,
        source: usize,
        factor: i128,
    ) -> Result<Node, Error> {
        if source == member || source >= self.band(node)?.members.len() {
            return refuse(node, "two members of the band");
        }
        self.with_row(node, member, |row| row[1 + source] = factor)
    }

    /// Exchanges two members.
    ///
    /// # Errors
    /// [`Error::Illegal`] if a dependence would run backwards.
    pub fn interchange(&mut self, node: Node, a: usize, b: usize) -> Result<Node, Error> {
        let mut rows = self.identity(node)?;
        if a >= rows.len() || b >= rows.len() {
            return refuse(node, "two members of the band");
        }
        rows.swap(a, b);
        self.combine_members(node, &rows)
    }

    /// Makes the first member run over wavefronts: the sum of the first `members`.
    ///
    /// The inner ones of a permutable band are then parallel.
    ///
    /// # Errors
    /// [`Error::Operand`] for a band that is not permutable or too short.
    pub fn wavefront(&mut self, node: Node, members: usize) -> Result<Node, Error> {
        let band = self.band(node)?;
        if !band.permutable || members < 2 || members > band.members.len() {
            return refuse(node, "a permutable band of so many members");
        }
        self.with_row(node, 0, |row| row[1..=members].fill(1))
    }

    /// Splits a band in two: the first `at` members over the others.
    ///
    /// # Errors
    /// [`Error::Operand`] if a part would be empty.
    pub fn split(&mut self, node: Node, at: usize) -> Result<Node, Error> {
        let band = self.band(node)?.clone();
        if at == 0 || at >= band.members.len() {
            return refuse(node, "a band with members on both sides");
        }
        let mut outer = band;
        let inner = Band {
            members: outer.members.split_off(at),
            permutable: outer.permutable,
            options: Union::empty(),
        };
        let below = self.children(node);
        self.replace_by_bands(node, vec![outer, inner], below)
    }

    /// Combines a band with the band that is its only child.
    ///
    /// # Errors
    /// [`Error::Operand`] if the child is none.
    pub fn combine(&mut self, node: Node) -> Result<Node, Error> {
        let mut band = self.band(node)?.clone();
        let child = self.tree.children(node).next();
        let inner = child.map(|child| (child, self.tree.kind(child).clone()));
        let Some((child, NodeKind::Band(inner))) = inner else {
            return refuse(node, "a band over a band");
        };
        band.members.extend(inner.members);
        let below = self.children(child);
        self.replace_by_bands(node, vec![band], below)
    }
}

/// Computes a determinant by fraction-free elimination; nothing if it overflows.
fn determinant(mut matrix: Vec<Vec<i128>>) -> Option<i128> {
    let size = matrix.len();
    let (mut sign, mut previous) = (1, 1_i128);
    for step in 0..size.saturating_sub(1) {
        let Some(pivot) = (step..size).find(|row| matrix[*row][step] != 0) else {
            return Some(0);
        };
        if pivot != step {
            matrix.swap(pivot, step);
            sign = -sign;
        }
        for row in step + 1..size {
            for col in step + 1..size {
                let a = matrix[row][col].checked_mul(matrix[step][step])?;
                let b = matrix[row][step].checked_mul(matrix[step][col])?;
                matrix[row][col] = a.checked_sub(b)? / previous;
            }
        }
        previous = matrix[step][step];
    }
    Some(matrix.last().and_then(|row| row.last()).map_or(1, |value| sign * value))
}
