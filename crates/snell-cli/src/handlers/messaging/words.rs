//! Words in names of tools and fields: the lists of `data/messaging.toml` as constants, and how a name is split.

include!(concat!(env!("OUT_DIR"), "/messaging_words.rs"));

/// The effect of a verb on messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolVerb {
    Sends,
    /// It creates something. A messenger sends it as soon as it is created.
    Creates,
    DoesNotSend,
}

/// The class of a word, if it is a known verb.
pub(super) fn classify_verb(word: &str) -> Option<ToolVerb> {
    [(SEND_VERBS, ToolVerb::Sends), (CREATE_VERBS, ToolVerb::Creates), (NON_SENDING_VERBS, ToolVerb::DoesNotSend)]
        .into_iter()
        .find(|(words, _)| words.contains(&word))
        .map(|(_, verb)| verb)
}

/// The words of a name, in lower case: `sendSMSTo`, `send-sms-to` and `SEND_SMS_TO` have the same.
pub(super) fn split_words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().flat_map(split_glued_verb).collect()
}

pub(super) fn has_any_word(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// `sendmail` is two words.
fn split_glued_verb(word: String) -> Vec<String> {
    let glued = ["send", "post"].into_iter().find_map(|verb| {
        let rest = word.strip_prefix(verb)?;
        MESSAGE_NOUNS.contains(&rest).then(|| vec![verb.to_owned(), rest.to_owned()])
    });
    glued.unwrap_or_else(|| vec![word])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words_however_they_are_written() {
        let cases = [
            ("sendSMSTo", "send sms to"),
            ("send-sms_to", "send sms to"),
            ("SEND_SMS_TO", "send sms to"),
            ("V2010--CreateMessage", "v2010 create message"),
            ("sendmail", "send mail"),
            ("postmark", "postmark"),
            ("__", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(split_words(name).join(" "), expected, "{name}");
        }
    }
}
