//! What a field of a tool's input is for, by its name.

use super::field_words::{
    ADDRESS_KINDS, AMOUNT_WORDS, DATA_WORDS, DIRECTION_WORDS, GLUED_DIRECTIONS, GLUED_KINDS, NAME_FIELD_WORDS,
    NON_RECIPIENT_WORDS, PHONE_WORDS, PROSE_WORDS, RAW_MESSAGE_WORDS, RECIPIENT_FIELDS, REFERENCE_WORDS,
    REFERENCED_NOUNS, SENDER_FIELDS, SENDER_WORDS,
};
use super::tool_words::split_words;

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldRole {
    /// Whom the call addresses.
    Recipient { takes_names: bool },
    /// How somebody is called who is addressed elsewhere. Where nobody is, it is all there is.
    RecipientName,
    /// A channel, or by which kind of channel somebody is addressed.
    Channel,
    /// A webhook: it addresses those who read it.
    Webhook,
    /// Somebody, or under which name something is put into a channel.
    Username,
    /// A telephone number, or any other.
    Number,
    /// The account that sends, or where answers go.
    Sender,
    /// What is said. Objects in it may be whole messages.
    Prose,
    /// Parts of what is said, whatever they contain.
    Data,
    /// A whole message as it travels.
    Raw,
    /// The id of something that is nobody.
    Reference,
    /// Nothing that is known.
    Other,
}

/// A field's name as far as it counts: `toRecipients`, `to_recipients` and `To-Recipients` are one.
pub(super) fn normalize_field_name(name: &str) -> String {
    let counts = |c: &char| !matches!(c, '_' | '-' | ' ' | '.' | '[' | ']');
    name.chars().filter(counts).flat_map(char::to_lowercase).collect()
}

/// What a field of this name is for.
pub(super) fn classify_field(name: &str) -> FieldRole {
    let plain = normalize_field_name(name);
    let words = split_field_words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is = |list: &[&str]| list.contains(&plain.as_str());
    let replies = words.windows(2).any(|pair| pair == ["reply", "to"]);
    let name_of = |list: &[&str]| words.last().is_some_and(|last| last == "name") && has(list);
    let tests = [
        (has(RAW_MESSAGE_WORDS), FieldRole::Raw),
        (has(SENDER_WORDS) || is(SENDER_FIELDS) || replies, FieldRole::Sender),
        (has(DATA_WORDS), FieldRole::Data),
        (is(&["channel", "channelid"]), FieldRole::Channel),
        (is(&["webhook", "webhookid", "webhookurl"]), FieldRole::Webhook),
        (is(&["username"]), FieldRole::Username),
        (is(&["number", "numbers"]), FieldRole::Number),
        (name_of(NAME_FIELD_WORDS), FieldRole::RecipientName),
        (
            is(RECIPIENT_FIELDS)
                || is_recipient_field(name)
                || (has(PHONE_WORDS) && !has(PROSE_WORDS) && !has(NON_RECIPIENT_WORDS) && !has(AMOUNT_WORDS)),
            FieldRole::Recipient { takes_names: has(NAME_FIELD_WORDS) && !has(ADDRESS_KINDS) },
        ),
        (has(REFERENCE_WORDS) || (has(&["id", "ids"]) && has(REFERENCED_NOUNS)), FieldRole::Reference),
        (has(PROSE_WORDS), FieldRole::Prose),
    ];
    let first = tests.into_iter().find(|(is_so, _)| *is_so);
    first.map_or(FieldRole::Other, |(_, field)| field)
}

/// Whether a field says by its name that something goes there: `to`, `cc_emails`, `bccRecipients`, `hidden_recipients`.
pub(super) fn is_recipient_field(name: &str) -> bool {
    let words = split_field_words(name);
    let is_direction = |word: &String| DIRECTION_WORDS.contains(&word.as_str());
    let is_one_of = |list: &'static [&'static str]| move |word: &String| list.contains(&word.as_str());
    let Some(last) = words.iter().rposition(is_direction) else {
        return is_glued_direction(&normalize_field_name(name));
    };
    let is_card = words.windows(2).any(|pair| pair[0] == "cc" && pair[1].starts_with("number"));
    // `time_to_live`, `path_to_file`: inside of a name, it has to be followed by what it goes to.
    let is_inside = words[last] == "to" && last > 0 && last + 1 < words.len();
    let is_followed = words[last + 1..].iter().all(is_one_of(ADDRESS_KINDS));
    !is_card
        && !words[last + 1..].iter().any(is_one_of(NON_RECIPIENT_WORDS))
        && !words.iter().any(is_one_of(AMOUNT_WORDS))
        && (!is_inside || is_followed)
}

/// Whether somebody in such a part of a recipient may stand by their name.
pub(super) fn is_person_name_field(plain: &str) -> bool {
    ["name", "fullname", "contact", "contactname", "person", "recipientname"].contains(&plain)
}

fn is_glued_direction(plain: &str) -> bool {
    let is_kind_of = |direction: &&str| plain.strip_prefix(*direction).is_some_and(|kind| GLUED_KINDS.contains(&kind));
    GLUED_DIRECTIONS.iter().any(is_kind_of)
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
