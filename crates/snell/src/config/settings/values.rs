//! Readers of values that several tables of settings have: paths, durations, numbers, checked strings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Span;

use super::parse_duration;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

/// The absolute form of a path in a setting. Relative paths and `~` start in the home directory.
pub(super) fn resolve_in_home(path: &Path, home: Option<&Path>) -> PathBuf {
    let below_home = path.strip_prefix("~").unwrap_or(path);
    // Without a home directory the path keeps its `~`, so that an error shows what is missing.
    home.unwrap_or(Path::new("~")).join(below_home)
}

/// The path with `~` as the home directory. Other relative paths stay as they are.
pub(super) fn expand_tilde(path: &Path, home: Option<&Path>) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(_) => resolve_in_home(path, home),
        Err(_) => path.to_owned(),
    }
}

/// The string, if `check` accepts it. Otherwise its message is reported about `key`.
pub(super) fn read_checked_text<T>(
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
    key: &str,
    check: impl FnOnce(String) -> Result<T, UserMessage>,
) -> Option<T> {
    let text = reader.expect_text(node, key)?;
    let about_key = |fault: UserMessage| fault.map_text(|text| format!("\"{key}\" {text}"));
    check(text).map_err(|fault| reader.add_error(node.offset, about_key(fault))).ok()
}

/// The strings of a list that `check` accepts. The others are reported.
pub(super) fn read_checked_texts<T>(
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
    key: &str,
    check: impl Fn(String) -> Result<T, UserMessage>,
) -> Vec<T> {
    let items = reader.read_array(node, &format!("\"{key}\"")).unwrap_or_default();
    items.iter().filter_map(|item| read_checked_text(reader, item, key, &check)).collect()
}

/// A duration with a unit, above 0.
pub(super) fn read_interval(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    default: &str,
    fallback: Fallback,
) -> Option<Duration> {
    let node = fields.get(key)?;
    let text = node.text().unwrap_or_default();
    let interval = parse_duration(text);
    if interval.is_none() {
        let is_zero = text.parse::<Span>().is_ok_and(|span| span.is_zero());
        let wanted = if is_zero { ABOVE_ZERO } else { "a duration with a unit" };
        reader.add_error(node.offset, make_must_be(key, wanted, default, fallback));
    }
    interval
}

const ABOVE_ZERO: &str = "more than 0";

/// The value that applies in place of an invalid one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    Default,
    /// The default, which depends on the profile.
    ProfileDefault,
    /// Nothing: commands that need the value fail.
    Nothing,
}

fn make_must_be(key: &str, wanted: &str, default: &str, fallback: Fallback) -> UserMessage {
    let using = match fallback {
        Fallback::Default => format!(" (using the default, {default})"),
        Fallback::ProfileDefault => " (using the default)".to_owned(),
        Fallback::Nothing => String::new(),
    };
    let message = UserMessage::new(format!("\"{key}\" must be {wanted}{using}"));
    message.with_hint(format!("write a value such as \"{default}\""))
}

pub(super) fn read_count(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    (example, fallback): (u32, Fallback),
) -> Option<u32> {
    let node = fields.get(key)?;
    match node.value {
        NodeValue::Number(number) if number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 => {
            Some(number as u32)
        }
        _ => {
            let using = if fallback == Fallback::Nothing { "" } else { " (using the default)" };
            let message = UserMessage::new(format!("\"{key}\" must be a whole number above 0{using}"));
            reader.add_error(node.offset, message.with_hint(format!("write a number such as {example}")));
            None
        }
    }
}

/// The largest size. An agent cannot use a longer text.
const MAX_SIZE_BYTES: u64 = 16 * 1024 * 1024;

const SIZE_UNITS: [(&str, u64); 5] = [("KiB", 1024), ("MiB", 1024 * 1024), ("KB", 1000), ("MB", 1_000_000), ("B", 1)];

/// A size in bytes, with a unit. Its default depends on the profile.
pub(super) fn read_size(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    example: &str,
) -> Option<u64> {
    let node = fields.get(key)?;
    let size = node.text().and_then(parse_size);
    match size {
        None => {
            reader.add_error(node.offset, make_must_be(key, "a size with a unit", example, Fallback::ProfileDefault));
        }
        Some(0) => reader.add_error(node.offset, make_must_be(key, ABOVE_ZERO, example, Fallback::ProfileDefault)),
        Some(size) if size > MAX_SIZE_BYTES => {
            reader.add_warning(node.offset, format!("\"{key}\" is too large (using the limit, 16MiB)"));
        }
        Some(_) => {}
    }
    size.filter(|size| *size > 0).map(|size| size.min(MAX_SIZE_BYTES))
}

/// The number of bytes of a text such as `64KiB`. A number that does not fit becomes the largest one.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, factor) =
        SIZE_UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), factor)))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().unwrap_or(u64::MAX);
    Some(number.saturating_mul(*factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::discovery::FileOwner;
    use crate::config::source::ConfigSource;
    use crate::config::spanned::SpannedNode;

    /// The diagnostics of an invalid value.
    fn collect_fault<T>(
        text: &str,
        read: fn(&mut ConfigReader<'_>, &ObjectFields<'_>, &str, &str) -> Option<T>,
        default: &str,
    ) -> String {
        let source = ConfigSource::from_text("snell.toml".into(), text.into());
        let mut reading = ConfigReader::new(&source, FileOwner::User);
        let node = SpannedNode::from_toml(text).unwrap();
        let fields = reading.read_object(&node, "the file").unwrap();
        assert!(read(&mut reading, &fields, "key", default).is_none(), "{text}");
        let faults: Vec<_> = reading.diagnostics.iter().map(ToString::to_string).collect();
        faults.join(", ")
    }

    #[test]
    fn zero_and_a_missing_unit_have_different_messages() {
        let says = |wanted: &str, using: &str, default: &str| {
            format!(
                "snell.toml:1:7: error: \"key\" must be {wanted} (using the default{using}) (hint: write a value such as \
                 \"{default}\")"
            )
        };
        for (text, wanted) in [
            ("'0B'", "more than 0"),
            ("'0 MiB'", "more than 0"),
            ("'0'", "a size with a unit"),
            ("0", "a size with a unit"),
            ("''", "a size with a unit"),
        ] {
            let fault = collect_fault(&format!("key = {text}"), read_size, "64KiB");
            assert_eq!(fault, says(wanted, "", "64KiB"), "{text}");
        }
        for (text, wanted) in [
            ("'0s'", "more than 0"),
            ("'0h 0m'", "more than 0"),
            ("'0'", "a duration with a unit"),
            ("'-5m'", "a duration with a unit"),
            ("0", "a duration with a unit"),
            ("''", "a duration with a unit"),
        ] {
            let fault = collect_fault(
                &format!("key = {text}"),
                |reader, fields, key, default| read_interval(reader, fields, key, default, Fallback::Default),
                "2m",
            );
            assert_eq!(fault, says(wanted, ", 2m", "2m"), "{text}");
        }
    }

    #[test]
    fn a_size_has_a_unit() {
        let cases = [
            ("64KiB", Some(65_536)),
            ("64 KiB", Some(65_536)),
            ("64KB", Some(64_000)),
            ("2MiB", Some(2_097_152)),
            ("2MB", Some(2_000_000)),
            ("1B", Some(1)),
            ("99999999999999999999999MiB", Some(u64::MAX)),
            ("0B", Some(0)),
            ("64", None),
            ("KiB", None),
            ("-1KiB", None),
            ("+1KiB", None),
            ("1.5KiB", None),
            ("64kib", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_size(text), expected, "{text}");
        }
    }

    #[test]
    fn a_relative_path_begins_in_the_home_directory() {
        let cases = [
            ("~/.snell/token", Some("/home/me"), "/home/me/.snell/token"),
            (".snell/token", Some("/home/me"), "/home/me/.snell/token"),
            ("/etc/snell/token", Some("/home/me"), "/etc/snell/token"),
            ("/etc/snell/token", None, "/etc/snell/token"),
            ("token", None, "~/token"),
            ("~/token", None, "~/token"),
        ];
        for (written, home, expected) in cases {
            let path = resolve_in_home(Path::new(written), home.map(Path::new));
            assert_eq!(path, Path::new(expected), "{written} in {home:?}");
        }
    }
}
