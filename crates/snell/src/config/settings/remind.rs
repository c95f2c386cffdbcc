//! `[remind]`: when Snell reminds an agent.

use std::time::Duration;

use super::values::{Fallback, read_interval};
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::UserMessage;

/// The default mode of a session: a person watches it.
const INTERACTIVE: &str = "interactive";

const THRESHOLDS: [u8; 4] = [60, 80, 90, 95];
const STATUS_AFTER: Duration = Duration::from_secs(120);

/// When Snell reminds an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemindSettings {
    thresholds: Option<[u8; 4]>,
    autonomous_thresholds: Option<[u8; 4]>,
    status_after: Option<Duration>,
}

/// The keys of `[remind]`.
pub(super) const REMIND_KEYS: &[&str] = &["thresholds", "autonomous_thresholds", "status_after"];

impl RemindSettings {
    /// The context usage, in percent, at which Snell reminds an agent in this mode: four ascending steps.
    pub fn thresholds(&self, mode: Option<&str>) -> [u8; 4] {
        let usual = self.thresholds.unwrap_or(THRESHOLDS);
        if mode.is_none_or(|mode| mode == INTERACTIVE) {
            return usual;
        }
        self.autonomous_thresholds.unwrap_or(usual)
    }

    /// How long a session may have no status before Snell reminds its agent.
    pub fn status_after(&self) -> Duration {
        self.status_after.unwrap_or(STATUS_AFTER)
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(self, earlier: Self) -> Self {
        Self {
            thresholds: self.thresholds.or(earlier.thresholds),
            autonomous_thresholds: self.autonomous_thresholds.or(earlier.autonomous_thresholds),
            status_after: self.status_after.or(earlier.status_after),
        }
    }
}

pub(super) fn read_remind(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> RemindSettings {
    let Some(fields) = reader.read_table(node, "[remind]", REMIND_KEYS) else {
        return RemindSettings::default();
    };
    RemindSettings {
        thresholds: read_thresholds(reader, &fields, "thresholds"),
        autonomous_thresholds: read_thresholds(reader, &fields, "autonomous_thresholds"),
        status_after: read_interval(reader, &fields, "status_after", "2m", Fallback::Default),
    }
}

fn read_thresholds(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str) -> Option<[u8; 4]> {
    let node = fields.get(key)?;
    let percent = |item: &SpannedNode| match item.value {
        NodeValue::Number(number) if (1.0..=100.0).contains(&number) && number.fract() == 0.0 => Some(number as u8),
        _ => None,
    };
    let steps: Option<Vec<u8>> = match &node.value {
        NodeValue::Array(items) => items.iter().map(percent).collect(),
        _ => None,
    };
    let steps = steps.and_then(|steps| <[u8; 4]>::try_from(steps).ok());
    let steps = steps.filter(|steps| steps.is_sorted_by(|a, b| a < b));
    if steps.is_none() {
        let text = format!("\"{key}\" must be four percentages in ascending order (using the default)");
        let hint = "write a list such as [60, 80, 90, 95]";
        reader.add_error(node.offset, UserMessage::new(text).with_hint(hint));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_autonomous_sessions_have_their_own_thresholds() {
        let settings = RemindSettings { autonomous_thresholds: Some([40, 50, 60, 70]), ..RemindSettings::default() };
        let cases = [
            (None, [60, 80, 90, 95]),
            (Some("interactive"), [60, 80, 90, 95]),
            (Some("mission"), [40, 50, 60, 70]),
            (Some("background"), [40, 50, 60, 70]),
        ];
        for (mode, expected) in cases {
            assert_eq!(settings.thresholds(mode), expected, "{mode:?}");
        }
        assert_eq!(RemindSettings::default().thresholds(Some("mission")), THRESHOLDS);
    }
}
