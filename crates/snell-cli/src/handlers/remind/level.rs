//! Which threshold of context use has been crossed, and whether the agent knows.

/// A context that is emptier by so many points than when its agent was last told has been emptied: from then on the agent
/// is told again. Less may be chance, because the figure goes up and down a little.
const EMPTIED_BY: f64 = 10.0;

/// What becomes of the level that counts as told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Stay,
    /// It rises, and the agent is told.
    Rise { index: usize, level: u8 },
    /// It falls, in silence.
    Fall { level: u8 },
}

/// The step from what was told to how full the context is now. Of several thresholds that were crossed at once the highest
/// counts.
pub(super) fn step(percent: f64, told: u8, thresholds: &[u8]) -> Step {
    let crossed = thresholds
        .iter()
        .rposition(|threshold| percent >= f64::from(*threshold));
    match crossed.map(|index| (index, thresholds[index])) {
        Some((index, level)) if level > told => Step::Rise { index, level },
        Some((_, level)) if level < told && is_emptied(percent, told) => Step::Fall { level },
        None if told > 0 && is_emptied(percent, told) => Step::Fall { level: 0 },
        _ => Step::Stay,
    }
}

fn is_emptied(percent: f64, told: u8) -> bool {
    percent + EMPTIED_BY < f64::from(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_threshold_is_told_once_and_only_the_highest() {
        let rise = |index, level| Step::Rise { index, level };
        let cases = [
            (0.0, 0, Step::Stay),
            (59.99, 0, Step::Stay),
            (60.0, 0, rise(0, 60)),
            (79.9, 0, rise(0, 60)),
            (79.9, 60, Step::Stay),
            (80.0, 60, rise(1, 80)),
            (93.0, 0, rise(2, 90)),
            (100.0, 0, rise(3, 95)),
            (100.0, 95, Step::Stay),
            // A little less is still the same.
            (78.0, 80, Step::Stay),
            (59.0, 60, Step::Stay),
            // A lot less is another context.
            (69.0, 80, Step::Fall { level: 60 }),
            (12.0, 95, Step::Fall { level: 0 }),
            (f64::NAN, 0, Step::Stay),
            (f64::NAN, 80, Step::Stay),
        ];
        for (percent, told, expected) in cases {
            assert_eq!(
                step(percent, told, &[60, 80, 90, 95]),
                expected,
                "{percent} after {told}"
            );
        }
    }
}
