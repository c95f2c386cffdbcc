//! Times in RFC 3339 format.

use jiff::civil::{DateTime, Time};
use jiff::tz::Offset;
use snell::Timestamp;

/// The format of a time up to its seconds; `0` stands for any digit.
const TO_SECONDS: &[u8] = b"0000-00-00T00:00:00";

/// The length of a time with nanoseconds.
const TO_NANOSECONDS: usize = TO_SECONDS.len() + ".123456789".len();

/// Parses an RFC 3339 time. Digits beyond nanoseconds are cut off, and a time beyond the latest possible one becomes
/// that one.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let (clock, zone) = text.split_at(text.rfind(['Z', 'z', '+', '-'])?);
    let (seconds, fraction) = clock.as_bytes().split_at_checked(TO_SECONDS.len())?;
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        wanted => byte.eq_ignore_ascii_case(wanted),
    };
    let is_fraction = match fraction {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !is_fraction || !seconds.iter().zip(TO_SECONDS).all(fits) {
        return None;
    }
    // The parser reads a leap second as the second before it.
    let at: DateTime = clock[..clock.len().min(TO_NANOSECONDS)].parse().ok()?;
    // Years have four digits here, so no time is too early.
    Some(parse_offset(zone)?.to_timestamp(at).unwrap_or(Timestamp::MAX))
}

/// The parts that people may omit at the end of a time: nothing, the zone, the seconds, or all but the day.
const OMITTABLE_SUFFIXES: [&str; 4] = ["", "Z", ":00Z", "T00:00:00Z"];

/// Parses a time that a person typed: RFC 3339, or a part of it. Without a zone it is UTC, and a day means its start.
pub(crate) fn parse_typed_timestamp(text: &str) -> Option<Timestamp> {
    let text = text.replacen(' ', "T", 1);
    OMITTABLE_SUFFIXES.iter().find_map(|end| parse_timestamp(&format!("{text}{end}")))
}

/// The offset of a zone: `Z`, `+02:00` or `-23:59`.
fn parse_offset(zone: &str) -> Option<Offset> {
    let (sign, time) = match zone.as_bytes() {
        b"Z" | b"z" => return Some(Offset::UTC),
        [b'+', _, _, b':', _, _] => (1, zone[1..].parse::<Time>().ok()?),
        [b'-', _, _, b':', _, _] => (-1, zone[1..].parse::<Time>().ok()?),
        _ => return None,
    };
    Offset::from_seconds(sign * (i32::from(time.hour()) * 60 + i32::from(time.minute())) * 60).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_times_are_parsed() {
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
    fn rfc_3339_times_are_parsed() {
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
