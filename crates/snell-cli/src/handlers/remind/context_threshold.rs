//! Which threshold of context use has been crossed, and whether the agent knows.

/// A context that is emptier by so many points than when its agent was last told has been emptied: from then on the agent
/// is told again. Less may be chance, because the figure goes up and down a little.
const EMPTIED_BY: f64 = 10.0;

/// What becomes of the level that counts as told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThresholdStep {
    /// Nothing.
    Stay,
    /// It rises, and the agent is told.
    Rise { index: usize, level: u8 },
    /// It falls, in silence.
    Fall { level: u8 },
}

/// The step from what was told to how full the context is now. Of several thresholds that were crossed at once the highest
/// counts.
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
