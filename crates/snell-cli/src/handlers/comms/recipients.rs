//! Whom a call addresses, read out of the tool's input.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::address::{Address, addresses_in, is_evident};
use super::fields::{Field, field, is_directed, is_name_of_person, plain};
use super::headers;

/// The most usual of the fields that name recipients, for people.
pub(super) const SHOWN_FIELDS: &str = "to, cc, bcc, recipient(s), email, address, channel, chat, conversation, user, phone, number, room, group and their like";

/// Fields that name the account that sends, if their value is `me`.
const ACCOUNTS: &[&str] = &["user", "userid", "username"];
const ONESELF: &str = "me";

/// What stands beside an address and is none.
const BESIDE: &[&str] = &[
    "displayname",
    "firstname",
    "kind",
    "label",
    "lastname",
    "role",
    "title",
    "type",
];
const NAME: &str = "name";

/// The two sides of a field that is written as an object: `{"name": "Bcc", "value": …}`.
const PAIR_NAMES: &[&str] = &["name", "key", "header", "field"];
const PAIR_VALUE: &str = "value";

/// Ways to reach somebody who is named elsewhere, in a field `channel`.
const WAYS: &[&str] = &[
    "chat",
    "email",
    "in-app",
    "in_app",
    "inapp",
    "mail",
    "messenger",
    "mms",
    "phone",
    "push",
    "rcs",
    "slack",
    "sms",
    "teams",
    "telegram",
    "viber",
    "voice",
    "web",
    "whatsapp",
];

/// Input that is nested deeper, or has more parts, cannot be looked through while an agent waits. A value is a part, and so
/// is every further address in a text.
pub(super) const DEEPEST: usize = 64;
pub(super) const MOST_PARTS: usize = 20_000;
/// A text that may be JSON is not parsed if it is longer.
pub(super) const MOST_BYTES_OF_JSON: usize = 1024 * 1024;

/// Somebody whom a call addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipient {
    /// As the call has it.
    pub(super) written: String,
    pub(super) address: Address,
    /// Whether it stands where people stand by their names. What is an id or a handle there is nobody's name.
    pub(super) may_be_name: bool,
}

/// Everybody whom a call addresses.
#[derive(Debug, Default)]
pub(super) struct Recipients {
    pub(super) list: Vec<Recipient>,
    /// Whether there is more than can be looked through.
    pub(super) is_cut: bool,
}

/// Everybody whom a call addresses, each once, by the known fields and these further ones.
pub(super) fn recipients(input: &Value, further: &[String]) -> Recipients {
    let mut search = Search {
        further: further.iter().map(|name| plain(name)).collect(),
        parts_left: MOST_PARTS,
        found: Recipients::default(),
        places: HashMap::new(),
        posts_to_channel: false,
        usernames: Vec::new(),
        last_resort: Vec::new(),
    };
    search.walk(input, Texts::Read, DEEPEST);
    search.settle();
    search.found
}

/// What is done with texts of which the field says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texts {
    /// Addresses, headers and JSON in them are looked for.
    Read,
    /// They are a message as it travels, perhaps in base64.
    Raw,
    /// They are content.
    Leave,
}

struct Search<'a> {
    further: Vec<String>,
    parts_left: usize,
    found: Recipients,
    /// Where in the list an address stands.
    places: HashMap<Address, usize>,
    /// Whether the call names a channel, in which a username is only how the sender is shown.
    posts_to_channel: bool,
    usernames: Vec<&'a Value>,
    /// What names recipients only where nothing else does, and whether by their names.
    last_resort: Vec<(&'a Value, bool)>,
}

impl<'a> Search<'a> {
    /// Decides about what was put off until everything was seen.
    fn settle(&mut self) {
        let usernames = std::mem::take(&mut self.usernames);
        if !self.posts_to_channel {
            usernames
                .into_iter()
                .for_each(|value| self.collect(value, false, DEEPEST));
        }
        let last_resort = std::mem::take(&mut self.last_resort);
        if self.found.list.is_empty() {
            last_resort
                .into_iter()
                .for_each(|(value, takes_names)| self.collect(value, takes_names, DEEPEST));
        }
    }

    /// Whether there is room for one more part.
    fn spend(&mut self) -> bool {
        let fits = self.parts_left > 0;
        self.parts_left = self.parts_left.saturating_sub(1);
        self.found.is_cut |= !fits;
        fits
    }

    /// Whether there is room for one more part, so deep down.
    fn enter(&mut self, levels: usize) -> bool {
        self.found.is_cut |= levels == 0;
        levels > 0 && self.spend()
    }

    /// Looks for fields that name recipients.
    fn walk(&mut self, value: &'a Value, texts: Texts, levels: usize) {
        if !self.enter(levels) {
            return;
        }
        match value {
            Value::String(text) => self.read(text, texts, levels - 1),
            Value::Array(items) => {
                if let [Value::String(name), value] = items.as_slice()
                    && is_directed(name)
                {
                    self.collect(value, false, levels - 1);
                }
                items.iter().for_each(|item| self.walk(item, texts, levels - 1));
            }
            Value::Object(members) => self.walk_members(members, levels - 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn walk_members(&mut self, members: &'a Map<String, Value>, levels: usize) {
        if let Some((name, value)) = as_pair(members) {
            return self.walk_field(name, value, levels);
        }
        for (key, value) in members {
            self.walk_field(key, value, levels);
        }
    }

    fn walk_field(&mut self, key: &str, value: &'a Value, levels: usize) {
        let plain = plain(key);
        if self.further.contains(&plain) {
            return self.collect(value, false, levels);
        }
        if is_oneself(&plain, value) {
            return;
        }
        match field(key) {
            Field::Recipient { takes_names } => self.collect(value, takes_names, levels),
            Field::Channel if is_way(value) => self.last_resort.push((value, false)),
            Field::Channel | Field::Webhook => {
                self.posts_to_channel = true;
                self.collect(value, false, levels);
            }
            Field::RecipientName => {
                self.walk(value, Texts::Read, levels);
                self.last_resort.push((value, true));
            }
            Field::Username => {
                self.walk(value, Texts::Read, levels);
                self.usernames.push(value);
            }
            Field::Number if is_small(value) => {}
            Field::Number => self.collect(value, false, levels),
            Field::Sender | Field::Data => {}
            Field::Prose | Field::Reference => self.walk(value, Texts::Leave, levels),
            Field::Raw => self.walk(value, Texts::Raw, levels),
            Field::Other => self.walk(value, Texts::Read, levels),
        }
    }

    /// Looks through a text of which the field does not say what it is.
    fn read(&mut self, text: &str, texts: Texts, levels: usize) {
        if texts == Texts::Leave {
            return;
        }
        if let Some(value) = self.parse(text) {
            return self.take_in(Part::of_walk(&value), levels);
        }
        let lines = headers::fields(text, texts == Texts::Raw);
        for line in lines.iter().filter(|line| is_directed(&line.name)) {
            self.add_all(&line.value, true);
        }
        if texts == Texts::Raw && !lines.is_empty() {
            // Below them is what is said.
            return;
        }
        for written in addresses_in(text).flat_map(words_of_addresses) {
            if is_evident(written) {
                self.add(written, false);
            }
        }
    }

    /// What a text is that is JSON as a whole.
    fn parse(&mut self, text: &str) -> Option<Value> {
        let text = text.trim();
        let is_framed = |begin, end| text.starts_with(begin) && text.ends_with(end);
        if !is_framed('{', '}') && !is_framed('[', ']') {
            return None;
        }
        if text.len() > MOST_BYTES_OF_JSON {
            self.found.is_cut = true;
            return None;
        }
        serde_json::from_str(text).ok()
    }

    /// Looks through JSON that stood in a text, which is gone afterwards.
    fn take_in(&mut self, part: Part<'_>, levels: usize) {
        let mut inner = Search {
            further: self.further.clone(),
            parts_left: self.parts_left,
            found: std::mem::take(&mut self.found),
            places: std::mem::take(&mut self.places),
            posts_to_channel: self.posts_to_channel,
            usernames: Vec::new(),
            last_resort: Vec::new(),
        };
        match part.takes_names {
            None => inner.walk(part.value, Texts::Read, levels),
            Some(takes_names) => inner.collect(part.value, takes_names, levels),
        }
        inner.settle();
        self.parts_left = inner.parts_left;
        self.posts_to_channel = inner.posts_to_channel;
        self.places = inner.places;
        self.found = inner.found;
    }

    /// Takes everything in the value of such a field for recipients.
    fn collect(&mut self, value: &'a Value, takes_names: bool, levels: usize) {
        if !self.enter(levels) {
            return;
        }
        match value {
            Value::String(text) => match self.parse(text) {
                Some(value) => self.take_in(Part::of_recipient(&value, takes_names), levels - 1),
                None => self.add_all(text, takes_names),
            },
            Value::Number(number) => self.add_all(&number.to_string(), false),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.collect(item, takes_names, levels - 1)),
            // A whole message in such a field, rather than somebody.
            Value::Object(members) if members.keys().any(|key| is_directed(key)) => {
                self.walk(value, Texts::Read, levels - 1);
            }
            Value::Object(members) => self.collect_members(members, takes_names, levels - 1),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// `{"email": …, "name": …}`: the name counts only where there is nothing else, or if it looks like an address.
    /// `{"ann@example.com": "Ann"}` has its address for a key.
    fn collect_members(&mut self, members: &'a Map<String, Value>, takes_names: bool, levels: usize) {
        let before = self.found.list.len();
        let mut name = None;
        for (key, value) in members {
            let plain = plain(key);
            let is_address = key.contains('@');
            if is_address {
                self.add_all(key, false);
            }
            let stands_beside = BESIDE.contains(&plain.as_str()) || (is_address && is_a_name(value));
            if plain == NAME {
                name = Some(value);
            }
            if plain == NAME || stands_beside {
                self.collect_display_name(value);
            } else if !matches!(field(key), Field::Sender | Field::Data) {
                self.collect(value, takes_names && is_name_of_person(&plain), levels);
            }
        }
        if let Some(name) = name.filter(|_| self.found.list.len() == before) {
            self.collect(name, takes_names, levels);
        }
    }

    /// A display name that looks like an address counts as one: whoever reads it less carefully would write to it.
    fn collect_display_name(&mut self, name: &Value) {
        let text = name.as_str().unwrap_or_default();
        if text.contains('@') || is_evident(text) {
            self.add_all(text, false);
        }
    }

    fn add_all(&mut self, text: &str, may_be_name: bool) {
        for (at, written) in addresses_in(text).enumerate() {
            if at > 0 && !self.spend() {
                return;
            }
            self.add(written, may_be_name);
        }
    }

    /// Of somebody who stands in two places, the stricter reading counts.
    fn add(&mut self, written: &str, may_be_name: bool) {
        let Some(address) = Address::parse(written) else {
            return;
        };
        if let Some(known) = self.places.get(&address).and_then(|at| self.found.list.get_mut(*at)) {
            known.may_be_name &= may_be_name;
            return;
        }
        self.places.insert(address.clone(), self.found.list.len());
        self.found.list.push(Recipient {
            written: written.to_owned(),
            address,
            may_be_name,
        });
    }
}

/// JSON that stood in a text, and whether the text named recipients.
struct Part<'v> {
    value: &'v Value,
    takes_names: Option<bool>,
}

impl<'v> Part<'v> {
    fn of_walk(value: &'v Value) -> Self {
        Self {
            value,
            takes_names: None,
        }
    }

    fn of_recipient(value: &'v Value, takes_names: bool) -> Self {
        Self {
            value,
            takes_names: Some(takes_names),
        }
    }
}

/// A field that is written as an object, if it says that something goes there.
fn as_pair(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let side = |wanted: &[&str]| members.iter().find(|(key, _)| wanted.contains(&plain(key).as_str()));
    let name = side(PAIR_NAMES)?.1.as_str()?;
    let value = side(&[PAIR_VALUE])?.1;
    (is_directed(name) || field(name) == Field::Sender).then_some((name, value))
}

/// Several addresses with only blanks between them are several.
fn words_of_addresses(piece: &str) -> Vec<&str> {
    let words: Vec<_> = piece.split_whitespace().collect();
    if words.iter().all(|word| is_evident(word)) {
        words
    } else {
        vec![piece]
    }
}

fn is_oneself(field: &str, value: &Value) -> bool {
    ACCOUNTS.contains(&field)
        && value
            .as_str()
            .is_some_and(|text| text.trim().eq_ignore_ascii_case(ONESELF))
}

/// Whether a channel is the way to somebody, rather than where something is put.
fn is_way(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().trim();
    WAYS.iter().any(|way| way.eq_ignore_ascii_case(text))
}

/// Whether a number is none that can be called.
fn is_small(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number < 10_000)
}

fn is_a_name(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.contains('@'))
}

#[cfg(test)]
mod tests;
