//! Time in equal buckets, for charts.

use std::time::Duration;

use snell::Timestamp;

pub(super) const HOUR: Duration = Duration::from_secs(60 * 60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The start of the bucket of a time. Days begin at midnight UTC.
pub(super) fn floor_to_bucket(at: Timestamp, bucket: Duration) -> Timestamp {
    let seconds = i64::try_from(bucket.as_secs()).unwrap_or(i64::MAX).max(1);
    let begin = at.as_second().div_euclid(seconds) * seconds;
    Timestamp::from_second(begin).unwrap_or(at)
}

/// The starts of `count` buckets up to `last`.
pub(super) fn list_buckets(last: Timestamp, bucket: Duration, count: u32) -> Vec<Timestamp> {
    let ago = |buckets: u32| last.checked_sub(bucket * buckets).unwrap_or(Timestamp::MIN);
    (0..count).rev().map(ago).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_time_is_in_the_bucket_that_began_before_it() {
        let cases = [
            ("2026-03-02T12:34:56Z", HOUR, "2026-03-02T12:00:00Z"),
            ("2026-03-02T12:00:00Z", HOUR, "2026-03-02T12:00:00Z"),
            ("2026-03-02T12:34:56Z", DAY, "2026-03-02T00:00:00Z"),
            ("1969-12-31T23:59:59Z", HOUR, "1969-12-31T23:00:00Z"),
        ];
        for (moment, piece, expected) in cases {
            assert_eq!(floor_to_bucket(parse_time(moment), piece), parse_time(expected), "{moment}");
        }
    }

    #[test]
    fn buckets_end_with_the_last_one() {
        let found = list_buckets(parse_time("2026-03-02T01:00:00Z"), HOUR, 3);
        let expected = ["2026-03-01T23:00:00Z", "2026-03-02T00:00:00Z", "2026-03-02T01:00:00Z"];
        assert_eq!(found, expected.map(parse_time));
    }
}
