//! How long runs took: each by itself while they are few, and those that are alike together once they are many.

use std::collections::BTreeMap;
use std::fmt;

/// So many different durations are kept as they are.
const MOST_EXACT: usize = 20;

/// More kinds of durations cannot be told apart: 63 bits, of which the first three count.
const MOST_KINDS: usize = 62 * 4;

/// Runs that took the same time, or about the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alike {
    runs: i64,
    total_us: i64,
}

impl Alike {
    fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.total_us = self.total_us.saturating_add(more.total_us);
    }
}

/// How long runs took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Durations {
    /// By how long they took, or by the shortest that they may have taken if they were counted together earlier.
    Few(BTreeMap<i64, Alike>),
    /// By the first three bits of how long they took, the shortest first.
    Many(Vec<Alike>),
}

impl Default for Durations {
    fn default() -> Self {
        Self::Few(BTreeMap::new())
    }
}

impl Durations {
    /// One run.
    pub(super) fn one(us: i64) -> Self {
        let mut one = Self::default();
        one.count(us, Alike { runs: 1, total_us: us });
        one
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (from_us, alike) in other.each() {
            self.count(from_us, alike);
        }
    }

    /// Adds what was written: `from:runs:total`, with blanks between. What cannot be read is passed over. A month of busy
    /// hooks is more than half a million of these, so nothing is made of them on the way.
    pub(super) fn add_written(&mut self, text: &str) {
        let (mut numbers, mut place, mut is_sound, mut is_begun) = ([0_i64; 3], 0, true, false);
        for byte in text.bytes().chain([b' ']) {
            match byte {
                b'0'..=b'9' => {
                    let digit = i64::from(byte - b'0');
                    numbers[place] = numbers[place].saturating_mul(10).saturating_add(digit);
                    is_begun = true;
                }
                b':' if place < 2 && is_begun => (place, is_begun) = (place + 1, false),
                b' ' => {
                    if is_sound && place == 2 && is_begun {
                        let [from_us, runs, total_us] = numbers;
                        self.count(from_us, Alike { runs, total_us });
                    }
                    (numbers, place, is_sound, is_begun) = ([0; 3], 0, true, false);
                }
                _ => is_sound = false,
            }
        }
    }

    /// How long the run took that comes so many places after the shortest, as far as it is known; nothing if there are not
    /// so many.
    pub(super) fn of_rank(&self, rank: i64) -> Option<f64> {
        let mut left = rank;
        for (_, alike) in self.each() {
            left -= alike.runs;
            if left <= 0 {
                return Some(alike.total_us as f64 / alike.runs as f64);
            }
        }
        None
    }

    fn count(&mut self, from_us: i64, more: Alike) {
        match self {
            Self::Many(kinds) => {
                if let Some(alike) = kinds.get_mut(kind(from_us)) {
                    alike.add(more);
                }
            }
            Self::Few(each) => {
                each.entry(from_us).or_default().add(more);
                if each.len() > MOST_EXACT {
                    self.count_together();
                }
            }
        }
    }

    fn count_together(&mut self) {
        let mut many = Self::Many(vec![Alike::default(); MOST_KINDS]);
        many.add(self);
        *self = many;
    }

    /// Those that there are, the shortest first.
    fn each(&self) -> impl Iterator<Item = (i64, Alike)> {
        let (few, many) = match self {
            Self::Few(each) => (Some(each), None),
            Self::Many(kinds) => (None, Some(kinds)),
        };
        let few = few.into_iter().flatten().map(|(from_us, alike)| (*from_us, *alike));
        let many = many.into_iter().flatten().enumerate();
        let many = many.map(|(kind, alike)| (shortest(kind), *alike));
        few.chain(many.filter(|(_, alike)| alike.runs > 0))
    }
}

/// As it is kept.
impl fmt::Display for Durations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (from_us, alike)) in self.each().enumerate() {
            let blank = if number > 0 { " " } else { "" };
            write!(f, "{blank}{from_us}:{}:{}", alike.runs, alike.total_us)?;
        }
        Ok(())
    }
}

/// Which kind a duration is of: its first three bits, and how many follow.
fn kind(us: i64) -> usize {
    let us = us.max(0);
    let following = (i64::BITS - us.leading_zeros()).saturating_sub(3);
    // Three bits, of which the first is set if any follow.
    let first = usize::try_from(us >> following).unwrap_or(0);
    first + 4 * following as usize
}

/// The shortest duration of a kind.
fn shortest(kind: usize) -> i64 {
    let following = kind.saturating_sub(4) / 4;
    i64::try_from(kind - 4 * following).unwrap_or(0) << following
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations_us: impl IntoIterator<Item = i64>) -> Durations {
        let mut all = Durations::default();
        for us in durations_us {
            all.add(&Durations::one(us));
        }
        all
    }

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let cases = [
            of([]),
            of([0]),
            of([5]),
            of([900, 1000, 1_000_000, 5_000_000_000]),
            of((0..1000).map(|number| number * 37)),
        ];
        for durations in cases {
            let mut read = Durations::default();
            read.add_written(&durations.to_string());
            assert_eq!(read.to_string(), durations.to_string());
        }
        assert_eq!(of([900, 1000, 5, 900]).to_string(), "5:1:5 900:2:1800 1000:1:1000");
        for nonsense in ["nonsense 1:x:2 ::", "1:2", "1:2:", ":::", "1:2:3:4", "-1:1:1", " "] {
            let mut read = Durations::default();
            read.add_written(nonsense);
            assert_eq!(read, Durations::default(), "{nonsense:?}");
        }
    }

    #[test]
    fn many_runs_of_about_the_same_length_are_counted_together() {
        let cases = [
            (-5, 0),
            (0, 0),
            (1, 1),
            (7, 7),
            (8, 8),
            (9, 8),
            (10, 10),
            (15, 14),
            (16, 16),
            (19, 16),
            (20, 20),
            (1000, 896),
            (1024, 1024),
            (1_000_000, 917_504),
            (i64::MAX, 7 << 60),
        ];
        for (us, from_us) in cases {
            assert_eq!(shortest(kind(us)), from_us, "{us}");
        }
        assert!(kind(i64::MAX) < MOST_KINDS);
        let (twenty, more) = (of(1000..1020), of(1000..1021));
        assert_eq!(twenty.to_string().split(' ').count(), 20);
        assert_eq!(more.to_string(), "896:21:21210");
    }

    #[test]
    fn what_was_counted_together_once_stays_so() {
        let mut all = of(1000..1100);
        all.add(&of([1000]));
        assert_eq!(all.to_string(), "896:25:25276 1024:76:80674");
    }
}
