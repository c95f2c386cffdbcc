//! Times as people read and write them: in the time zone of the user, or in UTC with `--utc`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo};
use snell::{RetentionPeriod, Timestamp};

use super::CommandError;

/// The units of durations, the largest first.
const UNITS: &[(u64, &str)] = &[(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m"), (1, "s")];

/// The time between two moments: `12s`, `3m`, `2h`, `5d`. If the clock was set back, it is `0s`.
pub(crate) fn format_elapsed(from: Timestamp, to: Timestamp) -> String {
    let seconds = u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0);
    let (unit, letter) = UNITS.iter().find(|(unit, _)| seconds >= *unit).unwrap_or(&(1, "s"));
    format!("{}{letter}", seconds / unit)
}

/// The retention period, as `snell.toml` spells it.
pub(crate) fn format_retention(keep: RetentionPeriod) -> String {
    let RetentionPeriod::For(duration) = keep else {
        return "forever".into();
    };
    let seconds = duration.as_secs();
    let (unit, letter) = UNITS.iter().find(|(unit, _)| seconds % unit == 0).unwrap_or(&(1, "s"));
    format!("{}{letter}", seconds / unit)
}

/// Records before this time are removed; nothing if all records are kept.
pub(crate) fn retention_cutoff(keep: RetentionPeriod, now: Timestamp) -> Option<Timestamp> {
    match keep {
        RetentionPeriod::For(duration) => now.checked_sub(duration).ok(),
        RetentionPeriod::Forever => None,
    }
}

static IS_UTC: AtomicBool = AtomicBool::new(false);

/// Shows and reads times in UTC.
pub(crate) fn use_utc() {
    IS_UTC.store(true, Ordering::Relaxed);
}

/// The time zone in which people read times: that of `TZ`, else of the system.
pub(crate) fn display_time_zone() -> TimeZone {
    if IS_UTC.load(Ordering::Relaxed) { TimeZone::UTC } else { TimeZone::system() }
}

/// A time without fractions of a second, with its offset from UTC: `2026-03-01 11:30:00 +01:00`.
pub(crate) fn format_time(time: Timestamp) -> String {
    format_time_in_zone(time, &display_time_zone())
}

fn format_time_in_zone(time: Timestamp, zone: &TimeZone) -> String {
    let zoned = time.to_zoned(zone.clone());
    let form = if zoned.offset().is_zero() { "%Y-%m-%d %H:%M:%S UTC" } else { "%Y-%m-%d %H:%M:%S %:z" };
    zoned.strftime(form).to_string()
}

/// A time without its offset, and without its date if that is today.
pub(crate) fn format_time_short(time: Timestamp, now: Timestamp) -> String {
    format_short_in_zone(time, now, &display_time_zone())
}

fn format_short_in_zone(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (time, now) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let form = if time.date() == now.date() { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    time.strftime(form).to_string()
}

/// Parses a time: an age (`2h`, `3d`), an RFC 3339 time, or a date with or without a time in the user's time zone.
fn parse_time(option: &str, text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    parse_time_in_zone(option, text, now, display_time_zone())
}

fn parse_time_in_zone(option: &str, text: &str, now: Timestamp, zone: TimeZone) -> anyhow::Result<Timestamp> {
    let written = text.parse().ok();
    let in_zone = || text.parse::<DateTime>().ok()?.to_zoned(zone).ok().map(|zoned| zoned.timestamp());
    let before = || now.checked_sub(parse_span(text)?).ok();
    match written.or_else(in_zone).or_else(before) {
        Some(time) => Ok(time),
        None => Err(CommandError::new(format!("{option} is not a time: \"{text}\""))
            .with_hint("use an age (2h, 3d), a date (2025-12-31) or an RFC 3339 time (2025-12-31T10:30:00Z)")
            .into()),
    }
}

/// The end of a day in the user's time zone. A day beyond the last one that can be computed ends at once.
pub(crate) fn end_of_day(day: Date) -> Timestamp {
    let next = day.tomorrow().unwrap_or(day);
    next.to_zoned(display_time_zone()).map_or(Timestamp::MIN, |zoned| zoned.timestamp())
}

/// Parses the time of an option, if it is given.
pub(crate) fn parse_optional_time(
    option: &str,
    text: Option<&str>,
    now: Timestamp,
) -> anyhow::Result<Option<Timestamp>> {
    text.map(|text| parse_time(option, text, now)).transpose()
}

fn parse_span(text: &str) -> Option<Duration> {
    let span: Span = text.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Some(duration.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_timestamp(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn durations_are_shown_in_their_largest_unit() {
        let from = parse_timestamp("2026-03-01T00:00:00Z");
        let cases = [
            ("2026-03-01T00:00:00Z", "0s"),
            ("2026-03-01T00:00:59.9Z", "59s"),
            ("2026-03-01T00:01:00Z", "1m"),
            ("2026-03-01T01:59:00Z", "1h"),
            ("2026-03-08T00:00:00Z", "7d"),
            ("2026-02-01T00:00:00Z", "0s"),
        ];
        for (to, expected) in cases {
            assert_eq!(format_elapsed(from, parse_timestamp(to)), expected, "{to}");
        }
    }

    #[test]
    fn times_are_parsed_in_every_form() {
        let now = parse_timestamp("2026-03-10T12:00:00Z");
        let parse = |text, zone| parse_time_in_zone("--since", text, now, zone).ok();
        let cases = [
            ("2h", Some("2026-03-10T10:00:00Z")),
            ("2h ago", Some("2026-03-10T10:00:00Z")),
            ("1d 12h", Some("2026-03-09T00:00:00Z")),
            ("2w", Some("2026-02-24T12:00:00Z")),
            ("2026-03-01", Some("2026-03-01T00:00:00Z")),
            ("2026-03-01T10:30", Some("2026-03-01T10:30:00Z")),
            ("2026-03-01T10:30:00+02:00", Some("2026-03-01T08:30:00Z")),
            ("yesterday", None),
            ("2", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text, TimeZone::UTC), expected.map(parse_timestamp), "{text}");
        }
        let east = || TimeZone::fixed(jiff::tz::offset(2));
        let cases = [
            ("2h", "2026-03-10T10:00:00Z"),
            ("2026-03-01", "2026-02-28T22:00:00Z"),
            ("2026-03-01T10:30", "2026-03-01T08:30:00Z"),
            ("2026-03-01T10:30:00Z", "2026-03-01T10:30:00Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text, east()), Some(parse_timestamp(expected)), "{text}");
        }
    }

    #[test]
    fn times_are_shown_in_the_zone_with_its_offset() {
        let new_york = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
        let now = parse_timestamp("2026-07-02T03:00:00Z");
        let cases = [
            (&TimeZone::UTC, "2026-07-02T02:59:59.9Z", "2026-07-02 02:59:59 UTC", "02:59:59"),
            (&new_york, "2026-07-02T02:59:59Z", "2026-07-01 22:59:59 -04:00", "22:59:59"),
            (&new_york, "2026-01-02T02:59:59Z", "2026-01-01 21:59:59 -05:00", "2026-01-01 21:59:59"),
        ];
        for (zone, time, whole, short) in cases {
            let time = parse_timestamp(time);
            assert_eq!(format_time_in_zone(time, zone), whole);
            assert_eq!(format_short_in_zone(time, now, zone), short);
        }
    }

    #[test]
    fn retention_is_shown_as_it_is_configured() {
        for text in ["30d", "36h", "90m", "forever"] {
            assert_eq!(format_retention(RetentionPeriod::parse(text).unwrap()), text);
        }
        assert_eq!(format_retention(RetentionPeriod::parse("2w").unwrap()), "14d");
    }
}
