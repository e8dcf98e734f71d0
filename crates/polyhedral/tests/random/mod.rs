//! Random schedules with what they run, found by going through all points of small boxes.
//!
//! Nothing here uses the crates under test: conditions and values are text on one side and
//! are evaluated on the other.

// Each test uses a part of this.
#![allow(dead_code)]

pub mod condition;
pub mod maps;
pub mod trees;

/// The only parameter.
pub const PARAMETER: &str = "N";

/// A call: the statement and its instance.
pub type Instance = (String, Vec<i128>);

/// An instance at a point of the schedule.
pub type Timed = (Vec<i128>, Instance);

/// Numbers without end that a seed decides (splitmix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        (self.next() >> 33) as usize % sides
    }

    pub fn between(&mut self, least: i128, greatest: i128) -> i128 {
        least + self.roll((greatest - least + 1) as usize) as i128
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }
}

/// All points of the box of `[0, size)` in each dimension.
pub fn points(sizes: &[i128]) -> Vec<Vec<i128>> {
    sizes.iter().fold(vec![Vec::new()], |all, size| {
        let grown = |point: &Vec<i128>| {
            let point = point.clone();
            (0..*size).map(move |value| [point.clone(), vec![value]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(grown).collect()
    })
}

/// Compares calls with what is due; instances at one point may run in any order, and with
/// `any_order` all may.
pub fn compare(ran: &[Instance], due: &[Timed], any_order: bool) -> Result<(), String> {
    if ran.len() != due.len() {
        return Err(format!("{} calls, {} are due", ran.len(), due.len()));
    }
    let mut due = due.to_vec();
    if any_order {
        due.iter_mut().for_each(|(point, _)| point.clear());
    }
    due.sort();
    let mut start = 0;
    while start < due.len() {
        let end = start + due[start..].iter().take_while(|one| one.0 == due[start].0).count();
        let mut here = ran[start..end].to_vec();
        here.sort();
        if let Some((ran, (point, due))) =
            here.iter().zip(&due[start..end]).find(|(ran, due)| **ran != due.1)
        {
            return Err(format!("{ran:?} ran where {due:?} is due, at {point:?}"));
        }
        start = end;
    }
    Ok(())
}
