//! The durations of hook runs: exact while there are few different ones, in buckets once there are many.

use std::collections::BTreeMap;
use std::fmt;

/// Up to so many different durations are kept exactly.
const MAX_EXACT_DURATIONS: usize = 20;

/// The number of buckets: the first three of 63 bits decide.
const BUCKET_COUNT: usize = 62 * 4;

/// Runs of the same duration, or nearly so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DurationBucket {
    runs: i64,
    total_us: i64,
}

impl DurationBucket {
    fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.total_us = self.total_us.saturating_add(more.total_us);
    }
}

/// The durations of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DurationHistogram {
    /// By duration, or by the lower bound of a bucket that was stored earlier.
    Exact(BTreeMap<i64, DurationBucket>),
    /// By the first three bits of the duration, the shortest first.
    Bucketed(Vec<DurationBucket>),
}

impl Default for DurationHistogram {
    fn default() -> Self {
        Self::Exact(BTreeMap::new())
    }
}

impl DurationHistogram {
    /// One run.
    pub(super) fn from_single(us: i64) -> Self {
        let mut one = Self::default();
        one.add_bucket(us, DurationBucket { runs: 1, total_us: us });
        one
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (from_us, alike) in other.iter() {
            self.add_bucket(from_us, alike);
        }
    }

    /// Adds the stored form: `from:runs:total`, separated by blanks. Invalid parts are skipped. A month of busy hooks
    /// has more than half a million of these, so this allocates nothing.
    pub(super) fn add_encoded(&mut self, text: &str) {
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
                        self.add_bucket(from_us, DurationBucket { runs, total_us });
                    }
                    (numbers, place, is_sound, is_begun) = ([0; 3], 0, true, false);
                }
                _ => is_sound = false,
            }
        }
    }

    /// The duration at this rank, counted from the shortest; nothing if there are fewer runs.
    pub(super) fn find_rank_value(&self, rank: i64) -> Option<f64> {
        let mut left = rank;
        for (_, alike) in self.iter() {
            left -= alike.runs;
            if left <= 0 {
                return Some(alike.total_us as f64 / alike.runs as f64);
            }
        }
        None
    }

    fn add_bucket(&mut self, from_us: i64, more: DurationBucket) {
        match self {
            Self::Bucketed(kinds) => {
                if let Some(alike) = kinds.get_mut(find_bucket_index(from_us)) {
                    alike.add(more);
                }
            }
            Self::Exact(each) => {
                each.entry(from_us).or_default().add(more);
                if each.len() > MAX_EXACT_DURATIONS {
                    self.merge_into_buckets();
                }
            }
        }
    }

    fn merge_into_buckets(&mut self) {
        let mut many = Self::Bucketed(vec![DurationBucket::default(); BUCKET_COUNT]);
        many.add(self);
        *self = many;
    }

    /// The non-empty buckets, the shortest first.
    fn iter(&self) -> impl Iterator<Item = (i64, DurationBucket)> {
        let (few, many) = match self {
            Self::Exact(each) => (Some(each), None),
            Self::Bucketed(kinds) => (None, Some(kinds)),
        };
        let few = few.into_iter().flatten().map(|(from_us, alike)| (*from_us, *alike));
        let many = many.into_iter().flatten().enumerate();
        let many = many.map(|(kind, alike)| (find_bucket_start(kind), *alike));
        few.chain(many.filter(|(_, alike)| alike.runs > 0))
    }
}

/// The stored form.
impl fmt::Display for DurationHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (from_us, alike)) in self.iter().enumerate() {
            let blank = if number > 0 { " " } else { "" };
            write!(f, "{blank}{from_us}:{}:{}", alike.runs, alike.total_us)?;
        }
        Ok(())
    }
}

/// The bucket of a duration: its first three bits, and the number of bits after them.
fn find_bucket_index(us: i64) -> usize {
    let us = us.max(0);
    let following = (i64::BITS - us.leading_zeros()).saturating_sub(3);
    // Three bits; the first is set if any follow.
    let first = usize::try_from(us >> following).unwrap_or(0);
    first + 4 * following as usize
}

/// The shortest duration of a bucket.
fn find_bucket_start(kind: usize) -> i64 {
    let following = kind.saturating_sub(4) / 4;
    i64::try_from(kind - 4 * following).unwrap_or(0) << following
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_histogram(durations_us: impl IntoIterator<Item = i64>) -> DurationHistogram {
        let mut all = DurationHistogram::default();
        for us in durations_us {
            all.add(&DurationHistogram::from_single(us));
        }
        all
    }

    #[test]
    fn durations_survive_encoding_and_decoding() {
        let cases = [
            build_histogram([]),
            build_histogram([0]),
            build_histogram([5]),
            build_histogram([900, 1000, 1_000_000, 5_000_000_000]),
            build_histogram((0..1000).map(|number| number * 37)),
        ];
        for durations in cases {
            let mut read = DurationHistogram::default();
            read.add_encoded(&durations.to_string());
            assert_eq!(read.to_string(), durations.to_string());
        }
        assert_eq!(build_histogram([900, 1000, 5, 900]).to_string(), "5:1:5 900:2:1800 1000:1:1000");
        for nonsense in ["nonsense 1:x:2 ::", "1:2", "1:2:", ":::", "1:2:3:4", "-1:1:1", " "] {
            let mut read = DurationHistogram::default();
            read.add_encoded(nonsense);
            assert_eq!(read, DurationHistogram::default(), "{nonsense:?}");
        }
    }

    #[test]
    fn many_runs_of_similar_length_share_a_bucket() {
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
            assert_eq!(find_bucket_start(find_bucket_index(us)), from_us, "{us}");
        }
        assert!(find_bucket_index(i64::MAX) < BUCKET_COUNT);
        let (twenty, more) = (build_histogram(1000..1020), build_histogram(1000..1021));
        assert_eq!(twenty.to_string().split(' ').count(), 20);
        assert_eq!(more.to_string(), "896:21:21210");
    }

    #[test]
    fn stored_buckets_stay_buckets() {
        let mut all = build_histogram(1000..1100);
        all.add(&build_histogram([1000]));
        assert_eq!(all.to_string(), "896:25:25276 1024:76:80674");
    }
}
