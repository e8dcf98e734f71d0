//! Compiles left-hand sides into straight-line programs over class registers.
//!
//! Register 0 holds the class of the match. Binding a node of a class writes the classes of its
//! children into fresh registers, so programs of patterns that start alike are equal up to where
//! they differ, and a [`RuleSet`](super::RuleSet) can share that part. For
//! `(+ (* ?a ?b) (* ?a ?c))`:
//!
//! ```text
//! bind r0 +  -> r1 r2     has r2 *     bind r1 * -> r3 r4     bind r2 * -> r5 r6     same r3 r5
//! ```

use super::term::{Atom, Term};

/// One step of matching.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Instruction {
    /// For each node of class `reg` with operator `op`: its children go to `out..`.
    Bind { reg: u32, op: u32, out: u32 },
    /// For each node with operator `op` anywhere: its class goes to `out`, its children after.
    Scan { op: u32, out: u32 },
    /// For each class anywhere.
    Each { out: u32 },
    /// Goes on if the two registers hold the same class.
    Same { left: u32, right: u32 },
    /// Goes on if the register holds the class of a term without variables.
    Ground { reg: u32, term: Term },
    /// Goes on if the class in the register has a node with operator `op`.
    Has { reg: u32, op: u32 },
}

impl Program {
    /// Returns the operator whose nodes the program begins with, if it begins so.
    pub(crate) fn scanned(&self) -> Option<u32> {
        match self.steps.first() {
            Some(Instruction::Scan { op, .. }) => Some(*op),
            _ => None,
        }
    }

    /// Returns this program with other operators, by their numbers here.
    pub(crate) fn with_ops(&self, ops: &[u32]) -> Program {
        let mut program = self.clone();
        program.steps = self.steps.iter().map(|step| step.with_ops(ops)).collect();
        for witness in &mut program.witnesses {
            if let Witness::Ground(term) = witness {
                term.replace_ops(ops);
            }
        }
        program
    }
}

impl Instruction {
    /// Returns this step with other operators.
    pub(crate) fn with_ops(&self, ops: &[u32]) -> Instruction {
        let mut step = self.clone();
        match &mut step {
            Instruction::Bind { op, .. }
            | Instruction::Scan { op, .. }
            | Instruction::Has { op, .. } => {
                *op = ops[*op as usize];
            }
            Instruction::Ground { term, .. } => term.replace_ops(ops),
            Instruction::Each { .. } | Instruction::Same { .. } => {}
        }
        step
    }

    /// Tells whether the step may succeed more than once.
    pub(crate) fn branches(&self) -> bool {
        matches!(
            self,
            Instruction::Bind { .. } | Instruction::Scan { .. } | Instruction::Each { .. }
        )
    }
}

/// Where a match row takes the node of an operator atom from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Witness {
    /// The node bound by the n-th branching step.
    Bound(u32),
    /// A subterm without variables, looked up again.
    Ground(Term),
}

/// A compiled left-hand side: one term, or several that share variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Instruction>,
    /// The register of each variable.
    pub(crate) vars: Vec<u32>,
    /// The node of each operator atom, over all terms in order.
    pub(crate) witnesses: Vec<Witness>,
    pub(crate) registers: u32,
    /// The number of branching steps.
    pub(crate) branches: u32,
    /// For each step, whether one behind it can make a match newer: it branches, or looks a term
    /// up.
    pub(crate) deeper: Vec<bool>,
    /// For each step, whether no later one branches, so that only checks come behind it.
    pub(crate) last: Vec<bool>,
    /// The steps that look terms up.
    pub(crate) grounds: Vec<usize>,
}

/// What becomes of subterms without variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// All of them are looked up.
    LookUp,
    /// Leaves are matched like other nodes, for operators that match more than themselves.
    BindLeaves,
}

/// Compiles one pattern.
pub(crate) fn compile(term: &Term) -> Program {
    compile_all(&[(None, term)], Ground::LookUp)
}

/// Compiles terms that share variables; a clause names the variable that its root is bound to.
///
/// The first clause starts the match, so its root's class is register 0.
pub(crate) fn compile_all(clauses: &[(Option<u32>, &Term)], ground: Ground) -> Program {
    let vars = clauses.iter().map(|(var, term)| {
        let named = var.map_or(0, |var| var as usize + 1);
        named.max(term.var_count())
    });
    let mut compiler = Compiler {
        program: Program::default(),
        vars: vec![None; vars.max().unwrap_or(0)],
        branches: 0,
        ground,
    };
    for (name, term) in clauses {
        compiler.clause(*name, term);
    }
    let mut program = compiler.program;
    program.vars = compiler.vars.iter().map(|reg| reg.unwrap_or(0)).collect();
    program.branches = compiler.branches;
    let looks_up = |(_, step): &(usize, &Instruction)| matches!(step, Instruction::Ground { .. });
    program.grounds = program.steps.iter().enumerate().filter(looks_up).map(|(at, _)| at).collect();
    let (mut deeper, mut last) = (false, true);
    program.deeper = vec![false; program.steps.len()];
    program.last = vec![false; program.steps.len()];
    let places = program.deeper.iter_mut().zip(&mut program.last);
    for ((is_deeper, is_last), step) in places.zip(&program.steps).rev() {
        (*is_deeper, *is_last) = (deeper, last);
        deeper |= step.branches() || matches!(step, Instruction::Ground { .. });
        last &= !step.branches();
    }
    program
}

struct Compiler {
    program: Program,
    vars: Vec<Option<u32>>,
    branches: u32,
    ground: Ground,
}

/// The state of compiling one clause.
struct Clause<'a> {
    term: &'a Term,
    ground: Vec<bool>,
    witness: Vec<Option<Witness>>,
    /// Operator atoms to be matched, with the register of their class.
    todo: Vec<(u32, usize)>,
}

impl Compiler {
    fn clause(&mut self, name: Option<u32>, term: &Term) {
        let Some(root) = term.root() else { return };
        let mut ground = term.ground();
        if self.ground == Ground::BindLeaves {
            for (ground, atom) in ground.iter_mut().zip(&term.atoms) {
                *ground &= matches!(atom, Atom::Node(_, kids) if !kids.is_empty());
            }
        }
        let mut clause =
            Clause { term, ground, witness: vec![None; term.atoms.len()], todo: Vec::new() };
        let known = name.and_then(|var| self.vars[var as usize]);
        let reg = known.unwrap_or(self.program.registers);
        if let Some(var) = name {
            self.vars[var as usize] = Some(reg);
        }
        match (&term.atoms[root], known) {
            (Atom::Var(var), _) => {
                self.open_variable(reg, *var, known.is_none());
                return;
            }
            (Atom::Node(op, kids), None) => {
                let out = self.alloc(kids.len() + 1);
                let (op, at) = (op.0, self.branch());
                self.program.steps.push(Instruction::Scan { op, out });
                clause.witness[root] = Some(Witness::Bound(at));
                self.children(&mut clause, kids, out + 1);
            }
            (Atom::Node(..), Some(reg)) => clause.todo.push((reg, root)),
        }
        while let Some((reg, atom)) = clause.next() {
            self.bind(&mut clause, reg, atom);
        }
        self.finish(clause);
    }

    fn open_variable(&mut self, reg: u32, var: u32, fresh: bool) {
        if fresh {
            let out = self.alloc(1);
            self.branch();
            self.program.steps.push(Instruction::Each { out });
        }
        self.variable(reg, var);
    }

    fn alloc(&mut self, count: usize) -> u32 {
        let out = self.program.registers;
        self.program.registers += count as u32;
        out
    }

    fn branch(&mut self) -> u32 {
        self.branches += 1;
        self.branches - 1
    }

    fn variable(&mut self, reg: u32, var: u32) {
        match self.vars[var as usize] {
            Some(left) if left != reg => {
                let step = Instruction::Same { left, right: reg };
                self.program.steps.push(step);
            }
            Some(_) => {}
            None => self.vars[var as usize] = Some(reg),
        }
    }

    fn bind(&mut self, clause: &mut Clause<'_>, reg: u32, atom: usize) {
        let term = clause.term;
        let Atom::Node(op, kids) = &term.atoms[atom] else {
            return;
        };
        let out = self.alloc(kids.len());
        let at = self.branch();
        self.program.steps.push(Instruction::Bind { reg, op: op.0, out });
        clause.witness[atom] = Some(Witness::Bound(at));
        self.children(clause, kids, out);
    }

    /// Emits the checks on fresh registers and queues the operator atoms among them.
    fn children(&mut self, clause: &mut Clause<'_>, kids: &[u32], out: u32) {
        let term = clause.term;
        let queued = clause.todo.len();
        for (reg, &kid) in (out..).zip(kids) {
            let kid = kid as usize;
            match &term.atoms[kid] {
                Atom::Var(var) => self.variable(reg, *var),
                Atom::Node(..) if clause.ground[kid] => {
                    let term = term.subterm(kid);
                    self.program.steps.push(Instruction::Ground { reg, term });
                }
                Atom::Node(..) => clause.todo.push((reg, kid)),
            }
        }
        for &(reg, atom) in clause.todo.iter().skip(queued.max(1)) {
            if let Atom::Node(op, _) = &term.atoms[atom] {
                self.program.steps.push(Instruction::Has { reg, op: op.0 });
            }
        }
    }

    fn finish(&mut self, clause: Clause<'_>) {
        for (index, atom) in clause.term.atoms.iter().enumerate() {
            if let Atom::Node(..) = atom {
                let witness = clause.witness[index].clone();
                let ground = || Witness::Ground(clause.term.subterm(index));
                self.program.witnesses.push(witness.unwrap_or_else(ground));
            }
        }
    }
}

impl Clause<'_> {
    fn next(&mut self) -> Option<(u32, usize)> {
        (!self.todo.is_empty()).then(|| self.todo.remove(0))
    }
}
