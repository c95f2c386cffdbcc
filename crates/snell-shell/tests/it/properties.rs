//! Properties of every text.

use proptest::prelude::*;
use snell_shell::{parse, parse_counting_steps};
use snell_test_support::scripts::{any_mutilated_script, any_token_soup};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any_token_soup(), any_mutilated_script(), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn places_lie_in_the_text_and_between_characters(text in any_text()) {
        let parsed = parse(&text);
        for span in parse_spans(&format!("{parsed:?}")) {
            prop_assert!(span.0 <= span.1, "{span:?}");
            prop_assert!(text.get(span.0..span.1).is_some(), "{span:?} in {text:?}");
        }
        for problem in &parsed.problems {
            prop_assert!(problem.runs_until.is_none_or(|at| text.is_char_boundary(at) && at <= text.len()));
        }
    }

    #[test]
    fn work_stays_in_proportion_to_the_length(text in any_text(), times in 1..20_usize) {
        let text = text.repeat(times);
        let steps = parse_counting_steps(&text).1;
        prop_assert!(steps <= 32 * (text.len() as u64 + 1), "{steps} steps for {} bytes", text.len());
    }

    #[test]
    fn a_line_after_a_whole_text_does_not_change_it(text in any_mutilated_script()) {
        let before = parse(&text);
        if !before.problems.is_empty() || text.ends_with('\\') {
            return Ok(());
        }
        let after = parse(&format!("{text}\nz"));
        prop_assert_eq!(after.problems.len(), 0);
        prop_assert_eq!(&after.script.items[..before.script.items.len()], &before.script.items[..]);
        prop_assert_eq!(after.script.items.len(), before.script.items.len() + 1);
    }
}

/// All positions in the printed form of a tree.
fn parse_spans(debug: &str) -> Vec<(usize, usize)> {
    let numbers = |text: &str| {
        let (start, rest) = text.split_once("..")?;
        let end: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((start.parse().ok()?, end.parse().ok()?))
    };
    debug.split("span: ").skip(1).filter_map(numbers).collect()
}
