//! What a field of a tool's input is for, by its name.

use super::field_words::{
    ADDRESS_KINDS, AMOUNTS, DATA, DIRECTIONS, FIELDS, GLUED_DIRECTIONS, GLUED_KINDS, NOT_PEOPLE, PHONES, PROSE, RAW,
    REFERENCES, REFERRED, SENDER_FIELDS, SENDERS, TAKE_NAMES,
};
use super::vocabulary::words;

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
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
pub(super) fn plain(name: &str) -> String {
    let counts = |c: &char| !matches!(c, '_' | '-' | ' ' | '.' | '[' | ']');
    name.chars().filter(counts).flat_map(char::to_lowercase).collect()
}

/// What a field of this name is for.
pub(super) fn field(name: &str) -> Field {
    let plain = plain(name);
    let words = field_words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is = |list: &[&str]| list.contains(&plain.as_str());
    let replies = words.windows(2).any(|pair| pair == ["reply", "to"]);
    let name_of = |list: &[&str]| words.last().is_some_and(|last| last == "name") && has(list);
    let tests = [
        (has(RAW), Field::Raw),
        (has(SENDERS) || is(SENDER_FIELDS) || replies, Field::Sender),
        (has(DATA), Field::Data),
        (is(&["channel", "channelid"]), Field::Channel),
        (is(&["webhook", "webhookid", "webhookurl"]), Field::Webhook),
        (is(&["username"]), Field::Username),
        (is(&["number", "numbers"]), Field::Number),
        (name_of(TAKE_NAMES), Field::RecipientName),
        (
            is(FIELDS) || is_directed(name) || (has(PHONES) && !has(PROSE) && !has(NOT_PEOPLE) && !has(AMOUNTS)),
            Field::Recipient {
                takes_names: has(TAKE_NAMES) && !has(ADDRESS_KINDS),
            },
        ),
        (
            has(REFERENCES) || (has(&["id", "ids"]) && has(REFERRED)),
            Field::Reference,
        ),
        (has(PROSE), Field::Prose),
    ];
    let first = tests.into_iter().find(|(is_so, _)| *is_so);
    first.map_or(Field::Other, |(_, field)| field)
}

/// Whether a field says by its name that something goes there: `to`, `cc_emails`, `bccRecipients`, `hidden_recipients`.
pub(super) fn is_directed(name: &str) -> bool {
    let words = field_words(name);
    let is_direction = |word: &String| DIRECTIONS.contains(&word.as_str());
    let is_one_of = |list: &'static [&'static str]| move |word: &String| list.contains(&word.as_str());
    let Some(last) = words.iter().rposition(is_direction) else {
        return is_glued(&plain(name));
    };
    let is_card = words
        .windows(2)
        .any(|pair| pair[0] == "cc" && pair[1].starts_with("number"));
    // `time_to_live`, `path_to_file`: inside of a name, it has to be followed by what it goes to.
    let is_inside = words[last] == "to" && last > 0 && last + 1 < words.len();
    let is_followed = words[last + 1..].iter().all(is_one_of(ADDRESS_KINDS));
    !is_card
        && !words[last + 1..].iter().any(is_one_of(NOT_PEOPLE))
        && !words.iter().any(is_one_of(AMOUNTS))
        && (!is_inside || is_followed)
}

/// Whether somebody in such a part of a recipient may stand by their name.
pub(super) fn is_name_of_person(plain: &str) -> bool {
    ["name", "fullname", "contact", "contactname", "person", "recipientname"].contains(&plain)
}

fn is_glued(plain: &str) -> bool {
    let is_kind_of = |direction: &&str| {
        plain
            .strip_prefix(*direction)
            .is_some_and(|kind| GLUED_KINDS.contains(&kind))
    };
    GLUED_DIRECTIONS.iter().any(is_kind_of)
}

/// The words of a field's name; `to1` and `to_2` are `to`.
fn field_words(name: &str) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let words = words(name).into_iter();
    let words = words.map(|word| word.trim_end_matches(is_digit).to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests;
