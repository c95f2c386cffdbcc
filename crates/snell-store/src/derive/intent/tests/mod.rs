mod cases;

use proptest::prelude::*;

use super::*;

#[test]
fn the_last_message_determines_the_intent_of_a_turn() {
    let wrong: Vec<_> = cases::CASES
        .iter()
        .filter(|(expected, text)| classify_last_words(text) != *expected)
        .map(|(expected, text)| format!("{text:?} is {expected:?}, read as {:?}", classify_last_words(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_intent_is_parsed_from_its_word_only() {
    for intent in TurnIntent::ALL.iter().copied() {
        assert_eq!(TurnIntent::parse(intent.as_str()), Some(intent));
        assert_eq!(serde_json::to_value(intent).unwrap(), intent.as_str());
    }
    assert_eq!(TurnIntent::parse("Command"), None);
}

#[test]
fn a_text_of_megabytes_is_read_by_its_end() {
    let mut text = "\"“`(?[\n> ".repeat(200_000);
    text.push_str("\n\nShould I go on?");
    assert_eq!(classify_last_words(&text), TurnIntent::Question);
}

proptest! {
    #[test]
    fn any_text_has_an_intent_of_an_agent(text in r#"([a-zé？。か\n .:?!`"“”'>#*|()\[\]-]|```|1\.|https://x){0,80}"#) {
        let intent = classify_last_words(&text);
        prop_assert!(matches!(intent, TurnIntent::Question | TurnIntent::Progress | TurnIntent::Completion));
    }

    #[test]
    fn code_after_a_question_changes_nothing(code in "[a-z?. \n]{0,60}") {
        let text = format!("I found two ways. Which one do you prefer?\n\n```rust\n{code}\n```\n");
        prop_assert_eq!(classify_last_words(&text), TurnIntent::Question);
    }
}
