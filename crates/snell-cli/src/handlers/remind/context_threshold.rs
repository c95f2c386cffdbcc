//! Which threshold of context usage was crossed since the last reminder.

/// If the usage fell by this many points since the last reminder, the context was emptied, and reminders start again. A smaller
/// fall may be noise.
const EMPTIED_BY: f64 = 10.0;

/// The change of the last reminded level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThresholdStep {
    /// No change.
    Stay,
    /// It rises, and the agent gets a reminder.
    Rise { index: usize, level: u8 },
    /// It falls, without a reminder.
    Fall { level: u8 },
}

/// The step from the last reminded level to the current usage. If several thresholds were crossed at once, the highest is used.
pub(super) fn next_threshold_step(percent: f64, told: u8, thresholds: &[u8]) -> ThresholdStep {
    let crossed = thresholds.iter().rposition(|threshold| percent >= f64::from(*threshold));
    match crossed.map(|index| (index, thresholds[index])) {
        Some((index, level)) if level > told => ThresholdStep::Rise { index, level },
        Some((_, level)) if level < told && is_context_emptied(percent, told) => ThresholdStep::Fall { level },
        None if told > 0 && is_context_emptied(percent, told) => ThresholdStep::Fall { level: 0 },
        _ => ThresholdStep::Stay,
    }
}

fn is_context_emptied(percent: f64, told: u8) -> bool {
    percent + EMPTIED_BY < f64::from(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_threshold_is_told_once_and_only_the_highest() {
        let rise = |index, level| ThresholdStep::Rise { index, level };
        let cases = [
            (0.0, 0, ThresholdStep::Stay),
            (59.99, 0, ThresholdStep::Stay),
            (60.0, 0, rise(0, 60)),
            (79.9, 0, rise(0, 60)),
            (79.9, 60, ThresholdStep::Stay),
            (80.0, 60, rise(1, 80)),
            (93.0, 0, rise(2, 90)),
            (100.0, 0, rise(3, 95)),
            (100.0, 95, ThresholdStep::Stay),
            // A little less is still the same.
            (78.0, 80, ThresholdStep::Stay),
            (59.0, 60, ThresholdStep::Stay),
            // A lot less is another context.
            (69.0, 80, ThresholdStep::Fall { level: 60 }),
            (12.0, 95, ThresholdStep::Fall { level: 0 }),
            (f64::NAN, 0, ThresholdStep::Stay),
            (f64::NAN, 80, ThresholdStep::Stay),
        ];
        for (percent, told, expected) in cases {
            assert_eq!(next_threshold_step(percent, told, &[60, 80, 90, 95]), expected, "{percent} after {told}");
        }
    }
}
