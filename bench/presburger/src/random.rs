//! Pairs of relations drawn by chance, the same in every run.
//!
//! Each is a union of one to three conjunctions over `[i, j] -> [k, l]` and a parameter: bounds of
//! each dimension, a few inequalities with small coefficients, now and then an equation or a
//! remainder. What they look like depends on isl's notation alone, not on how either side works.

/// How many pairs there are.
const PAIRS: usize = 40;

/// A linear congruential generator.
struct Draw(u64);

impl Draw {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    fn sum(&mut self) -> String {
        let terms = ["n", "i", "j", "k", "l"].map(|name| format!("{}{name}", self.next(-2, 2)));
        format!("{} + {}", terms.join(" + "), self.next(-4, 8))
    }

    fn conjunction(&mut self) -> String {
        let mut facts = Vec::new();
        for name in ["i", "j", "k", "l"] {
            let low = self.next(-3, 3);
            let high = match self.next(0, 2) {
                0 => "n".to_owned(),
                _ => self.next(4, 12).to_string(),
            };
            facts.push(format!("{low} <= {name} <= {high}"));
        }
        for _ in 0..self.next(0, 2) {
            facts.push(format!("{} >= 0", self.sum()));
        }
        match self.next(0, 5) {
            0 => facts.push(format!("{} = 0", self.sum())),
            1 => facts.push(format!("({}) mod {} = 0", self.sum(), self.next(2, 4))),
            _ => {}
        }
        format!("[i, j] -> [k, l] : {}", facts.join(" and "))
    }

    fn relation(&mut self) -> String {
        let parts: Vec<String> = (0..self.next(1, 3)).map(|_| self.conjunction()).collect();
        format!("[n] -> {{ {} }}", parts.join("; "))
    }
}

/// Draws the pairs.
pub fn pairs() -> Vec<[String; 2]> {
    let mut draw = Draw(20_261_122);
    (0..PAIRS).map(|_| [draw.relation(), draw.relation()]).collect()
}
