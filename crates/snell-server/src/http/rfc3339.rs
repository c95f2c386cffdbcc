//! Times as RFC 3339 writes them, and nothing else.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use snell::Timestamp;

/// How long a time is up to its seconds.
const TO_SECONDS: usize = "2025-12-31T10:30:00".len();

/// Reads an RFC 3339 time. What is finer than a nanosecond is cut off, and what is later than the latest time that can be
/// kept counts as that one: it is yet to come either way.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let (head, rest) = text.split_at_checked(TO_SECONDS)?;
    let head = head.as_bytes();
    let part = |from: usize, to: usize| parse_digits(&head[from..to]);
    let marks = [(4, "-"), (7, "-"), (10, "Tt"), (13, ":"), (16, ":")];
    if !marks.iter().all(|(at, marks)| marks.as_bytes().contains(&head[*at])) {
        return None;
    }
    let date = Date::new(part(0, 4)?, part(5, 7)?.try_into().ok()?, part(8, 10)?.try_into().ok()?).ok()?;
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    // A second that was put in between two days counts as the one before it.
    let second = if second == 60 { 59 } else { second };
    let (nanosecond, zone) = parse_fraction(rest)?;
    let offset = parse_offset(zone)?;
    let small = |number: i16| i8::try_from(number).ok();
    let time = Time::new(small(hour)?, small(minute)?, small(second)?, nanosecond).ok()?;
    // Years have four figures here, so there is no time too early.
    let at = offset.to_timestamp(DateTime::from_parts(date, time));
    Some(at.unwrap_or(Timestamp::MAX))
}

/// What may be left out at the end of a time that somebody types: nothing, the zone, the seconds, all but the day.
const OMITTABLE_SUFFIXES: [&str; 4] = ["", "Z", ":00Z", "T00:00:00Z"];

/// Reads a time as people type it: as the standard writes it, or with less. Without a zone it is UTC, and a day means when it
/// begins.
pub(crate) fn parse_typed_timestamp(text: &str) -> Option<Timestamp> {
    let text = text.replacen(' ', "T", 1);
    OMITTABLE_SUFFIXES.iter().find_map(|end| parse_timestamp(&format!("{text}{end}")))
}

/// A number of nothing but figures.
fn parse_digits(figures: &[u8]) -> Option<i16> {
    let add = |number: i16, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i16::from(byte - b'0'));
    figures.iter().try_fold(0, add)
}

/// The nanoseconds, and what stands after them.
fn parse_fraction(rest: &str) -> Option<(i32, &str)> {
    let Some(figures) = rest.strip_prefix('.') else {
        return Some((0, rest));
    };
    let end = figures.find(|c: char| !c.is_ascii_digit())?;
    let (figures, zone) = figures.split_at(end);
    let kept = &figures[..figures.len().min(9)];
    let nanoseconds = format!("{kept:0<9}").parse().ok().filter(|_| !kept.is_empty())?;
    Some((nanoseconds, zone))
}

fn parse_offset(zone: &str) -> Option<Offset> {
    let sign = match zone.as_bytes() {
        b"Z" | b"z" => return Some(Offset::UTC),
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let (hours, minutes) = (parse_digits(&zone.as_bytes()[1..3])?, parse_digits(&zone.as_bytes()[4..6])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (i32::from(hours) * 60 + i32::from(minutes)) * 60;
    Offset::from_seconds(sign * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        let cases = [
            ("2026-03-01", Some("2026-03-01T00:00:00Z")),
            ("2026-03-01T12:30", Some("2026-03-01T12:30:00Z")),
            ("2026-03-01 12:30", Some("2026-03-01T12:30:00Z")),
            ("2026-03-01 12:30:15", Some("2026-03-01T12:30:15Z")),
            ("2026-03-01 12:30:15.5", Some("2026-03-01T12:30:15.5Z")),
            ("2026-03-01 12:30:15+02:00", Some("2026-03-01T10:30:15Z")),
            ("2026-03-01T12:30:15Z", Some("2026-03-01T12:30:15Z")),
            ("2026-02-30", None),
            ("2026-03", None),
            ("2026-03-01T12", None),
            ("12:30", None),
            ("2026-03-01 ", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = parse_typed_timestamp(text).map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn times_are_read_as_the_standard_writes_them() {
        let latest = Timestamp::MAX.to_string();
        let cases = [
            ("2025-12-31T10:30:00Z", Some("2025-12-31T10:30:00Z")),
            ("2025-12-31t10:30:00z", Some("2025-12-31T10:30:00Z")),
            ("2025-12-31T10:30:00+02:00", Some("2025-12-31T08:30:00Z")),
            ("2025-12-31T10:30:00-23:59", Some("2026-01-01T10:29:00Z")),
            ("2025-12-31T10:30:00.5Z", Some("2025-12-31T10:30:00.5Z")),
            ("2025-12-31T10:30:00.123456789Z", Some("2025-12-31T10:30:00.123456789Z")),
            ("2025-12-31T10:30:00.1234567899999Z", Some("2025-12-31T10:30:00.123456789Z")),
            ("2016-12-31T23:59:60Z", Some("2016-12-31T23:59:59Z")),
            ("2024-02-29T00:00:00Z", Some("2024-02-29T00:00:00Z")),
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59Z", Some(latest.as_str())),
            ("9999-12-31T23:59:59-23:59", Some(latest.as_str())),
            ("2025-02-29T00:00:00Z", None),
            ("2025-13-01T00:00:00Z", None),
            ("2025-12-31T24:00:00Z", None),
            ("2025-12-31T10:60:00Z", None),
            ("2025-12-31T10:30:61Z", None),
            ("2025-12-31T10:30:00", None),
            ("2025-12-31T10:30Z", None),
            ("2025-12-31 10:30:00Z", None),
            ("2025-12-31T10:30:00.Z", None),
            ("2025-12-31T10:30:00.5", None),
            ("2025-12-31T10:30:00,5Z", None),
            ("2025-12-31T10:30:00+25:00", None),
            ("2025-12-31T10:30:00+02:60", None),
            ("2025-12-31T10:30:00+0200", None),
            ("2025-12-31T10:30:00+02", None),
            ("2025-12-31T10:30:00Z[UTC]", None),
            ("2025-12-31T10:30:00+00:00[UTC]", None),
            ("2025-12-31T10:30:0éZ", None),
            ("+002025-12-31T10:30:00Z", None),
            ("20251231T103000Z", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = parse_timestamp(text).map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
