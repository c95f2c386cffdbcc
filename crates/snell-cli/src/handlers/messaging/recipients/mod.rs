//! Finds the recipients of a call in the tool's input.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::address::{MessageAddress, is_evident_address, split_addresses};
use super::fields::{FieldRole, classify_field, is_recipient_field, normalize_field_name};
use super::{headers, words};

/// The most common recipient fields, for messages.
pub(super) const SHOWN_FIELDS: &str = "to, cc, bcc, recipient(s), email, address, channel, chat, conversation, user, phone, number, room, group and their like";

/// Limits on the input, because an agent waits. Each value is a part, and so is each additional address in a text.
pub(super) const MAX_DEPTH: usize = 64;
pub(super) const MAX_PARTS: usize = 20_000;
/// A longer text is not parsed as JSON.
pub(super) const MAX_JSON_BYTES: usize = 1024 * 1024;

/// A recipient of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageRecipient {
    /// The text in the call.
    pub(super) written: String,
    pub(super) address: MessageAddress,
    /// Whether the field may hold names of people. An id or a handle in another field is not a name.
    pub(super) may_be_name: bool,
}

/// The recipients of a call.
#[derive(Debug, Default)]
pub(super) struct RecipientList {
    pub(super) list: Vec<MessageRecipient>,
    /// Whether the input exceeds the limits.
    pub(super) is_cut: bool,
}

/// The recipients of a call, each once, from the known fields and these additional ones.
pub(super) fn find_recipients(input: &Value, further: &[String]) -> RecipientList {
    let further = further.iter().map(|name| normalize_field_name(name)).collect();
    let mut search = RecipientSearch { further, parts_left: MAX_PARTS, ..RecipientSearch::default() };
    search.search_document(input, ValueHandling::Walk(TextHandling::Read), MAX_DEPTH);
    search.found
}

/// How a text is read if its field is not for recipients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextHandling {
    /// Addresses, headers and JSON in it are searched.
    Read,
    /// It is a whole message, which may be in base64.
    Raw,
    /// It is content.
    Leave,
}

/// How a value is searched.
#[derive(Clone, Copy, Debug)]
enum ValueHandling {
    /// Its fields may name recipients.
    Walk(TextHandling),
    /// It consists of recipients, with or without names of people.
    Collect { takes_names: bool },
}

#[derive(Default)]
struct RecipientSearch {
    further: Vec<String>,
    parts_left: usize,
    found: RecipientList,
    /// The index of an address in the list.
    positions: HashMap<MessageAddress, usize>,
    /// Whether the call names a channel. Then a username is only the sender's display name.
    posts_to_channel: bool,
    usernames: Vec<Value>,
    /// Values that are recipients only if there are no others, and whether they may be names.
    last_resort: Vec<(Value, bool)>,
}

impl RecipientSearch {
    /// Searches a whole document. Values that depend on others are decided at its end.
    fn search_document(&mut self, value: &Value, handling: ValueHandling, levels: usize) {
        let outer = (std::mem::take(&mut self.usernames), std::mem::take(&mut self.last_resort));
        match handling {
            ValueHandling::Walk(texts) => self.walk_value(value, texts, levels),
            ValueHandling::Collect { takes_names } => self.collect_recipients(value, takes_names, levels),
        }
        let usernames = std::mem::take(&mut self.usernames);
        if !self.posts_to_channel {
            usernames.iter().for_each(|value| self.collect_recipients(value, false, MAX_DEPTH));
        }
        let last_resort = std::mem::take(&mut self.last_resort);
        if self.found.list.is_empty() {
            last_resort.iter().for_each(|(value, takes_names)| self.collect_recipients(value, *takes_names, MAX_DEPTH));
        }
        (self.usernames, self.last_resort) = outer;
    }

    /// Whether there is room for one more part.
    fn spend_part(&mut self) -> bool {
        let fits = self.parts_left > 0;
        self.parts_left = self.parts_left.saturating_sub(1);
        self.found.is_cut |= !fits;
        fits
    }

    /// Whether there is room for one more part at this depth.
    fn enter_level(&mut self, levels: usize) -> bool {
        self.found.is_cut |= levels == 0;
        levels > 0 && self.spend_part()
    }

    /// Looks for fields that name recipients.
    fn walk_value(&mut self, value: &Value, texts: TextHandling, levels: usize) {
        if !self.enter_level(levels) {
            return;
        }
        match value {
            Value::String(text) => self.scan_text(text, texts, levels - 1),
            Value::Array(items) => {
                if let [Value::String(name), value] = items.as_slice()
                    && is_recipient_field(name)
                {
                    self.collect_recipients(value, false, levels - 1);
                }
                items.iter().for_each(|item| self.walk_value(item, texts, levels - 1));
            }
            Value::Object(members) => self.walk_members(members, levels - 1),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn walk_members(&mut self, members: &Map<String, Value>, levels: usize) {
        if let Some((name, value)) = as_name_value_pair(members) {
            return self.walk_field(name, value, levels);
        }
        for (key, value) in members {
            self.walk_field(key, value, levels);
        }
    }

    fn walk_field(&mut self, key: &str, value: &Value, levels: usize) {
        let plain = normalize_field_name(key);
        if self.further.contains(&plain) {
            return self.collect_recipients(value, false, levels);
        }
        if is_own_account(&plain, value) {
            return;
        }
        match classify_field(key) {
            FieldRole::Recipient { takes_names } => self.collect_recipients(value, takes_names, levels),
            FieldRole::Channel if is_channel_kind(value) => self.last_resort.push((value.clone(), false)),
            FieldRole::Channel | FieldRole::Webhook => {
                self.posts_to_channel = true;
                self.collect_recipients(value, false, levels);
            }
            FieldRole::RecipientName => {
                self.walk_value(value, TextHandling::Read, levels);
                self.last_resort.push((value.clone(), true));
            }
            FieldRole::Username => {
                self.walk_value(value, TextHandling::Read, levels);
                self.usernames.push(value.clone());
            }
            // A count, not a telephone number.
            FieldRole::Number if value.as_u64().is_some_and(|number| number < 10_000) => {}
            FieldRole::Number => self.collect_recipients(value, false, levels),
            FieldRole::Sender | FieldRole::Data => {}
            FieldRole::Prose | FieldRole::Reference => self.walk_value(value, TextHandling::Leave, levels),
            FieldRole::Raw => self.walk_value(value, TextHandling::Raw, levels),
            FieldRole::Other => self.walk_value(value, TextHandling::Read, levels),
        }
    }

    /// Searches a text whose field has no known purpose.
    fn scan_text(&mut self, text: &str, texts: TextHandling, levels: usize) {
        if texts == TextHandling::Leave {
            return;
        }
        if let Some(value) = self.parse_json_text(text) {
            return self.search_document(&value, ValueHandling::Walk(TextHandling::Read), levels);
        }
        let is_raw = texts == TextHandling::Raw;
        let headers = if is_raw { headers::parse_raw_headers(text) } else { headers::parse_headers(text) };
        for header in headers.iter().filter(|header| is_recipient_field(&header.name)) {
            self.add_addresses(&header.value, true);
        }
        if is_raw && !headers.is_empty() {
            // The content follows.
            return;
        }
        for written in split_addresses(text).flat_map(split_adjacent_addresses) {
            if is_evident_address(written) {
                self.add_recipient(written, false);
            }
        }
    }

    /// The value of a text that is JSON as a whole.
    fn parse_json_text(&mut self, text: &str) -> Option<Value> {
        let text = text.trim();
        let is_framed = |begin, end| text.starts_with(begin) && text.ends_with(end);
        if !is_framed('{', '}') && !is_framed('[', ']') {
            return None;
        }
        if text.len() > MAX_JSON_BYTES {
            self.found.is_cut = true;
            return None;
        }
        serde_json::from_str(text).ok()
    }

    /// Adds everything in the value of a recipient field.
    fn collect_recipients(&mut self, value: &Value, takes_names: bool, levels: usize) {
        if !self.enter_level(levels) {
            return;
        }
        match value {
            Value::String(text) => match self.parse_json_text(text) {
                Some(value) => self.search_document(&value, ValueHandling::Collect { takes_names }, levels - 1),
                None => self.add_addresses(text, takes_names),
            },
            Value::Number(number) => self.add_addresses(&number.to_string(), false),
            Value::Array(items) => items.iter().for_each(|item| self.collect_recipients(item, takes_names, levels - 1)),
            // A whole message in such a field, not a recipient.
            Value::Object(members) if members.keys().any(|key| is_recipient_field(key)) => {
                self.walk_value(value, TextHandling::Read, levels - 1);
            }
            Value::Object(members) => self.collect_members(members, takes_names, levels - 1),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// `{"email": …, "name": …}`: the name is used only if there is nothing else, or if it looks like an address.
    /// `{"ann@example.com": "Ann"}` has its address as the key.
    fn collect_members(&mut self, members: &Map<String, Value>, takes_names: bool, levels: usize) {
        let before = self.found.list.len();
        let mut name = None;
        for (key, value) in members {
            let plain = normalize_field_name(key);
            let is_address = key.contains('@');
            if is_address {
                self.add_addresses(key, false);
            }
            let names_address = is_address && value.as_str().is_some_and(|text| !text.contains('@'));
            let stands_beside = words::NON_ADDRESS_FIELDS.contains(&plain.as_str()) || names_address;
            if plain == "name" {
                name = Some(value);
            }
            if plain == "name" || stands_beside {
                self.collect_display_name(value);
            } else if !matches!(classify_field(key), FieldRole::Sender | FieldRole::Data) {
                self.collect_recipients(
                    value,
                    takes_names && words::PERSON_NAME_FIELDS.contains(&plain.as_str()),
                    levels,
                );
            }
        }
        if let Some(name) = name.filter(|_| self.found.list.len() == before) {
            self.collect_recipients(name, takes_names, levels);
        }
    }

    /// Adds a display name that looks like an address, because a careless mail program would write to it.
    fn collect_display_name(&mut self, name: &Value) {
        let text = name.as_str().unwrap_or_default();
        if text.contains('@') || is_evident_address(text) {
            self.add_addresses(text, false);
        }
    }

    fn add_addresses(&mut self, text: &str, may_be_name: bool) {
        for (at, written) in split_addresses(text).enumerate() {
            if at > 0 && !self.spend_part() {
                return;
            }
            self.add_recipient(written, may_be_name);
        }
    }

    /// Adds a recipient. If it is in two fields, the stricter one decides.
    fn add_recipient(&mut self, written: &str, may_be_name: bool) {
        let Some(address) = MessageAddress::parse(written) else {
            return;
        };
        if let Some(known) = self.positions.get(&address).and_then(|at| self.found.list.get_mut(*at)) {
            known.may_be_name &= may_be_name;
            return;
        }
        self.positions.insert(address.clone(), self.found.list.len());
        self.found.list.push(MessageRecipient { written: written.to_owned(), address, may_be_name });
    }
}

/// A field written as an object, if it is for recipients.
fn as_name_value_pair(members: &Map<String, Value>) -> Option<(&str, &Value)> {
    let side = |wanted: &[&str]| members.iter().find(|(key, _)| wanted.contains(&normalize_field_name(key).as_str()));
    let name = side(words::PAIR_NAME_FIELDS)?.1.as_str()?;
    let value = side(&["value"])?.1;
    (is_recipient_field(name) || classify_field(name) == FieldRole::Sender).then_some((name, value))
}

/// Splits addresses that are separated only by blanks.
fn split_adjacent_addresses(piece: &str) -> Vec<&str> {
    let words: Vec<_> = piece.split_whitespace().collect();
    if words.iter().all(|word| is_evident_address(word)) { words } else { vec![piece] }
}

fn is_own_account(field: &str, value: &Value) -> bool {
    words::OWN_ACCOUNT_FIELDS.contains(&field)
        && value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("me"))
}

/// Whether the value of a channel field is a kind of channel rather than a channel.
fn is_channel_kind(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().trim();
    words::CHANNEL_KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests;
