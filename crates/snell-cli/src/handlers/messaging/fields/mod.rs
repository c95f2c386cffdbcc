//! Classifies the fields of a tool's input by their names.

use super::words::{self, has_any_word, split_words};

/// The purpose of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRole {
    /// The recipients of the call.
    Recipient { takes_names: bool },
    /// The name of a recipient. It is used if no other field has a recipient.
    RecipientName,
    /// A channel, or the kind of channel by which a recipient is reached.
    Channel,
    /// A webhook. Its readers are the recipients.
    Webhook,
    /// A recipient, or the name under which the sender appears in a channel.
    Username,
    /// A telephone number, or any other.
    Number,
    /// The account that sends, or where answers go.
    Sender,
    /// Content. Objects in it may be whole messages.
    Prose,
    /// Parts of the content, which are not searched.
    Data,
    /// A whole message with its headers.
    Raw,
    /// The id of a thing, not of a recipient.
    Reference,
    /// Any other field.
    Other,
}

/// A field name without case and separators: `toRecipients`, `to_recipients` and `To-Recipients` are equal.
pub(super) fn normalize_field_name(name: &str) -> String {
    let counts = |c: &char| !matches!(c, '_' | '-' | ' ' | '.' | '[' | ']');
    name.chars().filter(counts).flat_map(char::to_lowercase).collect()
}

/// The purpose of a field with this name.
pub(super) fn classify_field(name: &str) -> FieldRole {
    let plain = normalize_field_name(name);
    let words = split_field_words(name);
    let has = |list: &[&str]| has_any_word(&words, list);
    let is = |list: &[&str]| list.contains(&plain.as_str());
    let replies = words.windows(2).any(|pair| pair == ["reply", "to"]);
    let is_name = words.last().is_some_and(|last| last == "name") && has(words::NAME_FIELD_WORDS);
    let is_phone = has(words::PHONE_WORDS)
        && ![words::PROSE_WORDS, words::NON_RECIPIENT_WORDS, words::AMOUNT_WORDS].into_iter().any(has);
    let is_recipient = is(words::RECIPIENT_FIELDS) || is_phone || is_recipient_field(name);
    let takes_names = has(words::NAME_FIELD_WORDS) && !has(words::ADDRESS_KINDS);
    let is_reference = has(words::REFERENCE_WORDS) || (has(&["id", "ids"]) && has(words::REFERENCED_NOUNS));
    let tests = [
        (has(words::RAW_MESSAGE_WORDS), FieldRole::Raw),
        (has(words::SENDER_WORDS) || is(words::SENDER_FIELDS) || replies, FieldRole::Sender),
        (has(words::DATA_WORDS), FieldRole::Data),
        (is(words::CHANNEL_FIELDS), FieldRole::Channel),
        (is(words::WEBHOOK_FIELDS), FieldRole::Webhook),
        (is(&["username"]), FieldRole::Username),
        (is(words::NUMBER_FIELDS), FieldRole::Number),
        (is_name, FieldRole::RecipientName),
        (is_recipient, FieldRole::Recipient { takes_names }),
        (is_reference, FieldRole::Reference),
        (has(words::PROSE_WORDS), FieldRole::Prose),
    ];
    tests.into_iter().find(|(holds, _)| *holds).map_or(FieldRole::Other, |(_, role)| role)
}

/// Whether a field is for recipients by its name: `to`, `cc_emails`, `bccRecipients`, `hidden_recipients`.
pub(super) fn is_recipient_field(name: &str) -> bool {
    let words = split_field_words(name);
    let Some(last) = words.iter().rposition(|word| words::DIRECTION_WORDS.contains(&word.as_str())) else {
        return is_glued_direction(&normalize_field_name(name));
    };
    let after = &words[last + 1..];
    let is_card = words.windows(2).any(|pair| pair[0] == "cc" && pair[1].starts_with("number"));
    // `time_to_live`, `path_to_file`: inside a name, `to` needs a kind of address after it.
    let is_inside = words[last] == "to" && last > 0 && !after.is_empty();
    !is_card
        && !has_any_word(after, words::NON_RECIPIENT_WORDS)
        && !has_any_word(&words, words::AMOUNT_WORDS)
        && (!is_inside || after.iter().all(|word| words::ADDRESS_KINDS.contains(&word.as_str())))
}

fn is_glued_direction(plain: &str) -> bool {
    let is_kind_of =
        |direction: &&str| plain.strip_prefix(*direction).is_some_and(|kind| words::GLUED_KINDS.contains(&kind));
    words::GLUED_DIRECTIONS.iter().any(is_kind_of)
}

/// The words of a field's name; `to1` and `to_2` are `to`.
fn split_field_words(name: &str) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let words = split_words(name).into_iter();
    let words = words.map(|word| word.trim_end_matches(is_digit).to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests;
