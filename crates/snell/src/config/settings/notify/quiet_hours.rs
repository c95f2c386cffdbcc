//! The time of the day in which no notices are sent.

use crate::diagnostic::UserMessage;

/// A part of the day, in local time. It may go past midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    from_minute: u16,
    until_minute: u16,
}

impl QuietHours {
    /// Parses a text such as `22:00-07:00`.
    pub(super) fn parse(text: &str) -> Result<Self, UserMessage> {
        let hours = text.split_once('-').and_then(|(from, until)| {
            let (from_minute, until_minute) = (parse_minute(from.trim())?, parse_minute(until.trim())?);
            (from_minute != until_minute).then_some(Self { from_minute, until_minute })
        });
        hours.ok_or_else(|| UserMessage::new("must be two times of the day").with_hint("write \"22:00-07:00\""))
    }

    /// Whether a local time is in it. The first minute is, the last one is not.
    pub fn contains(self, hour: u8, minute: u8) -> bool {
        let now = u16::from(hour) * 60 + u16::from(minute);
        if self.from_minute < self.until_minute {
            (self.from_minute..self.until_minute).contains(&now)
        } else {
            now >= self.from_minute || now < self.until_minute
        }
    }
}

/// The minute of the day of a text such as `07:30`.
fn parse_minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number = |digits: &str, limit: u16| {
        let is_number = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u16>().ok().filter(|number| is_number && *number < limit)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_may_go_past_midnight() {
        let cases = [
            ("22:00-07:00", (21, 59), Some(false)),
            ("22:00-07:00", (22, 0), Some(true)),
            ("22:00-07:00", (0, 0), Some(true)),
            ("22:00-07:00", (6, 59), Some(true)),
            ("22:00-07:00", (7, 0), Some(false)),
            ("9:00 - 17:30", (17, 29), Some(true)),
            ("9:00 - 17:30", (17, 30), Some(false)),
            ("22:00-22:00", (0, 0), None),
            ("24:00-07:00", (0, 0), None),
            ("22:60-07:00", (0, 0), None),
            ("+2:00-07:00", (0, 0), None),
            ("22-7", (0, 0), None),
            ("", (0, 0), None),
        ];
        for (text, (hour, minute), expected) in cases {
            let found = QuietHours::parse(text).ok().map(|hours| hours.contains(hour, minute));
            assert_eq!(found, expected, "{text} at {hour}:{minute}");
        }
    }
}
