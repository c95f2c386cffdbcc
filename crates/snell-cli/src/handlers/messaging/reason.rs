//! The reasons why a message is not allowed, for the agent and its user.

use std::path::Path;

use serde_json::Value;
use snell::{Decision, MessageUse};

use super::contacts::{ContactList, ContactMatch, DIRECT_TAG, DRAFT_TAG, is_json_file};
use super::recipients::{MAX_DEPTH, MAX_JSON_BYTES, MAX_PARTS, MessageRecipient, SHOWN_FIELDS};
use super::rule::ContactStanding;

/// How many recipients and entries a reason lists; the others are counted.
const MAX_NAMED: usize = 10;
const MAX_ENTRIES: usize = 5;
/// How many faults of the contacts file a reason lists.
const MAX_FAULTS: usize = 5;
/// A text from the call is shortened to this length.
const MAX_TEXT_CHARS: usize = 200;
/// How many fields of the input a reason lists.
const MAX_FIELDS: usize = 12;

/// A recipient who is not allowed, and the contact.
#[derive(Debug)]
pub(super) struct RecipientObstacle {
    pub(super) recipient: MessageRecipient,
    pub(super) contact: ContactMatch,
}

pub(super) fn explain_mode(tool: &str, mode: &str) -> String {
    let (tool, mode) = (quote_for_display(tool), quote_for_display(mode));
    format!(
        "{tool} may not run in a session in mode {mode}. Only interactive sessions may send or draft messages. Leave the \
    message for the user."
    )
}

pub(super) fn explain_contacts_file(tool: &str, fault: &str) -> String {
    let tool = quote_for_display(tool);
    format!(
        "{tool} cannot be checked, because the contacts file cannot be used: {fault}. The user (not the agent) must fix it, \
    or name another file in snell.toml: [comms] contacts = \"…\""
    )
}

pub(super) fn explain_too_large(tool: &str) -> String {
    let tool = quote_for_display(tool);
    format!(
        "{tool} cannot be checked, because its input is too large to find the recipients. The limits are {MAX_PARTS} values \
    and addresses, {MAX_DEPTH} levels, and {MAX_JSON_BYTES} bytes of JSON in a text. Write to fewer recipients at a time."
    )
}

pub(super) fn explain_no_recipient(tool: &str, input: &Value, further: &[String]) -> String {
    let further: String =
        further.iter().take(MAX_FIELDS).map(|field| format!(", {}", quote_for_display(field))).collect();
    let fields: Vec<_> = input.as_object().into_iter().flat_map(|members| members.keys()).collect();
    let there: Vec<_> = fields.iter().take(MAX_FIELDS).map(|field| quote_for_display(field)).collect();
    let there = match there.as_slice() {
        [] => "It has no fields".to_owned(),
        _ => format!("It has {}", there.join(", ")),
    };
    let tool = quote_for_display(tool);
    format!(
        "The input of {tool} names no recipient. {there}. Snell looked for {SHOWN_FIELDS}{further}. If the tool has a field \
    for the recipient, fill it in. Otherwise the user (not the agent) can name that field in snell.toml: [comms] \
    recipients = [\"FIELD\"]. If the tool sends nothing to people: [comms] except = [{tool}]."
    )
}

/// A call that is not allowed, and the recipients because of whom.
pub(super) struct MessageRefusal<'a> {
    pub(super) tool: &'a str,
    pub(super) what: MessageUse,
    pub(super) decision: Decision,
    pub(super) obstacles: &'a [RecipientObstacle],
}

/// Lists the recipients who are not allowed, and what the user can do.
pub(super) fn explain_obstacles(refusal: &MessageRefusal<'_>, file: &Path, contacts: &ContactList) -> String {
    let MessageRefusal { tool, what, decision, obstacles } = refusal;
    let doing = if *what == MessageUse::Drafts { "draft for" } else { "send to" };
    let held = if *decision == Decision::Ask { "needs the user's consent to" } else { "may not" };
    let mut lines = vec![format!("{} {held} {doing}:", quote_for_display(tool))];
    lines.extend(list_some(obstacles.iter().map(|obstacle| explain_obstacle(obstacle, file)), MAX_NAMED));
    let with = |standing| obstacles.iter().filter(move |obstacle| obstacle.contact.standing == standing);
    if with(ContactStanding::Untagged).next().is_some() {
        lines.push(format!(
            "Only the user may add a tag, not the agent: tags = [\"{DIRECT_TAG}\"] or [\"{DRAFT_TAG}\"] in that entry."
        ));
    }
    let unknown: Vec<_> = with(ContactStanding::Unknown).collect();
    if !unknown.is_empty() {
        if !contacts.faults.is_empty() {
            lines.push("These parts of the contacts file are invalid and allow nothing:".to_owned());
            lines.extend(list_some(contacts.faults.iter().cloned(), MAX_FAULTS));
        }
        lines.extend(suggest_contacts(&unknown, file, contacts.exists));
    }
    lines.join("\n")
}

/// The first items as a list, and how many more there are.
fn list_some(items: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let more = items.len().saturating_sub(most);
    let first = items.take(most).map(|item| format!("- {item}"));
    first.chain((more > 0).then(|| format!("- and {more} more"))).collect()
}

/// How the user adds unknown recipients to the contacts file, or creates the file.
fn suggest_contacts(unknown: &[&RecipientObstacle], file: &Path, exists: bool) -> Vec<String> {
    let is_json = is_json_file(file);
    let change = match (exists, is_json) {
        (true, true) => "adds to the list in",
        (true, false) => "adds to",
        (false, _) => "creates",
    };
    let mut lines = vec![format!(
        "Only the user may decide who gets messages, not the agent. To allow these recipients, the user {change} {}{}",
        file.display(),
        if exists { ":" } else { " with:" },
    )];
    let entries = suggest_entries(unknown, is_json);
    match (is_json, exists) {
        (false, _) => lines.extend(entries),
        (true, _) if entries.is_empty() => {}
        (true, true) => lines.push(entries.join(",\n")),
        (true, false) => lines.extend(["[".to_owned(), entries.join(",\n"), "]".to_owned()]),
    }
    lines.push(format!(
        "({DIRECT_TAG}: the agent may send messages. {DRAFT_TAG}: it may write drafts, and sending asks the user.)"
    ));
    lines
}

fn explain_obstacle(obstacle: &RecipientObstacle, file: &Path) -> String {
    let who = quote_for_display(&obstacle.recipient.written);
    let entry = obstacle.contact.entry.as_deref().unwrap_or_default();
    match obstacle.contact.standing {
        ContactStanding::Unknown => format!("{who}: not in {}", file.display()),
        ContactStanding::Untagged => format!("{who} ({entry}): tagged neither {DIRECT_TAG} nor {DRAFT_TAG}"),
        ContactStanding::Draft => format!("{who} ({entry}): tagged {DRAFT_TAG}, so the user must confirm sending"),
        ContactStanding::Direct => format!("{who} ({entry})"),
    }
}

/// Entries of the contacts file for these recipients.
fn suggest_entries(unknown: &[&RecipientObstacle], is_json: bool) -> Vec<String> {
    let entry = |obstacle: &&RecipientObstacle| {
        let key = obstacle.recipient.address.contact_key();
        let address = quote_string(&obstacle.recipient.written, is_json);
        if is_json {
            format!("{{\"{key}\": {address}, \"tags\": [\"{DIRECT_TAG}\"]}}")
        } else {
            format!("[[contact]]\n{key} = {address}\ntags = [\"{DIRECT_TAG}\"]")
        }
    };
    let can_be_written = |obstacle: &&&RecipientObstacle| obstacle.recipient.written.len() <= MAX_TEXT_CHARS;
    unknown.iter().filter(can_be_written).take(MAX_ENTRIES).map(entry).collect()
}

/// A text from the call in quotes: shortened, and with unusual characters escaped, so that nothing is hidden.
fn quote_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_TEXT_CHARS).flat_map(|c| escape_if_unusual(c, text)).collect();
    if text.chars().nth(MAX_TEXT_CHARS).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// The character, or its escape. In an address only ASCII is usual.
fn escape_if_unusual(c: char, text: &str) -> Vec<char> {
    let is_plain = c.is_ascii_graphic() || c == ' ' || (c.is_alphanumeric() && !text.contains('@'));
    if is_plain { vec![c] } else { c.escape_unicode().collect() }
}

/// A text as a string of the format.
fn quote_string(text: &str, is_json: bool) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => quoted.push(c),
            c if is_json => {
                let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
                quoted.push_str(&units);
            }
            c => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}
