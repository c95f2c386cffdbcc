//! The reasons for which a message is held back, for the agent and its user.

use std::path::Path;

use serde_json::Value;
use snell::{Decision, MessageUse};

use super::contacts::{ContactList, ContactMatch, DIRECT_TAG, DRAFT_TAG, is_json_file};
use super::recipients::{MAX_DEPTH, MAX_JSON_BYTES, MAX_PARTS, MessageRecipient, SHOWN_FIELDS};
use super::rule::ContactStanding;

/// The reason names this many recipients and suggests this many entries; the others are counted.
const MAX_NAMED: usize = 10;
const MAX_ENTRIES: usize = 5;
/// The reason lists this many faults of the contacts file.
const MAX_FAULTS: usize = 5;
/// The reason repeats this much of a text from the call.
const MAX_TEXT_CHARS: usize = 200;
/// The reason names this many fields of the input.
const MAX_FIELDS: usize = 12;

/// A recipient who is in the way, and why.
#[derive(Debug)]
pub(super) struct RecipientObstacle {
    pub(super) recipient: MessageRecipient,
    pub(super) contact: ContactMatch,
}

pub(super) fn explain_mode(tool: &str, mode: &str) -> String {
    let (tool, mode) = (quote_for_display(tool), quote_for_display(mode));
    format!(
        "{tool} is not for a session in mode {mode}: only interactive sessions may send or draft messages. Leave what was to \
         be said for the user."
    )
}

pub(super) fn explain_contacts_file(tool: &str, fault: &str) -> String {
    let tool = quote_for_display(tool);
    format!(
        "{tool} is held back, because the contacts file says who may be written to and cannot be used: {fault}. The user \
         (not the agent) must mend it, or name another one in snell.toml: [comms] contacts = \"…\""
    )
}

pub(super) fn explain_too_large(tool: &str) -> String {
    let tool = quote_for_display(tool);
    format!(
        "{tool} is held back, because its input is too large or too deep to see to whom it goes (more than {MAX_PARTS} \
         values and addresses, {MAX_DEPTH} levels, or {MAX_JSON_BYTES} bytes of JSON in a text); write to fewer at a time"
    )
}

pub(super) fn explain_no_recipient(tool: &str, input: &Value, further: &[String]) -> String {
    let further: String =
        further.iter().take(MAX_FIELDS).map(|field| format!(", {}", quote_for_display(field))).collect();
    let fields: Vec<_> = input.as_object().into_iter().flat_map(|members| members.keys()).collect();
    let there: Vec<_> = fields.iter().take(MAX_FIELDS).map(|field| quote_for_display(field)).collect();
    let there = match there.as_slice() {
        [] => "it has no fields".to_owned(),
        _ => format!("it has {}", there.join(", ")),
    };
    let tool = quote_for_display(tool);
    format!(
        "{tool} is held back, because nothing in its input says to whom it sends: {there}; looked for {SHOWN_FIELDS}{further}. \
         If the tool can be told its recipient, do so. Else the user (not the agent) may say in snell.toml which field \
         names it ([comms] recipients = [\"FIELD\"]), or that this tool sends nothing to people ([comms] except = [{tool}])."
    )
}

/// A call that may not simply run, and the recipients because of whom it may not.
pub(super) struct MessageRefusal<'a> {
    pub(super) tool: &'a str,
    pub(super) what: MessageUse,
    pub(super) decision: Decision,
    pub(super) obstacles: &'a [RecipientObstacle],
}

/// Names the recipients who are in the way, and what the user can do about it.
pub(super) fn explain_obstacles(refusal: &MessageRefusal<'_>, file: &Path, contacts: &ContactList) -> String {
    let MessageRefusal { tool, what, decision, obstacles } = refusal;
    let doing = if *what == MessageUse::Drafts { "draft for" } else { "send to" };
    let held = if *decision == Decision::Ask { "needs the user's consent to" } else { "may not" };
    let mut lines = vec![format!("{} {held} {doing}:", quote_for_display(tool))];
    lines.extend(list_some(obstacles.iter().map(|obstacle| explain_obstacle(obstacle, file)), MAX_NAMED));
    let with = |standing| obstacles.iter().filter(move |obstacle| obstacle.contact.standing == standing);
    if with(ContactStanding::Untagged).next().is_some() {
        lines.push(format!(
            "Tags are for the user to give, not for the agent: tags = [\"{DIRECT_TAG}\"] in that entry, or [\"{DRAFT_TAG}\"]."
        ));
    }
    let unknown: Vec<_> = with(ContactStanding::Unknown).collect();
    if !unknown.is_empty() {
        if !contacts.faults.is_empty() {
            lines.push("These parts of the contacts file cannot be understood and grant nothing:".to_owned());
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

/// How the user adds unknown recipients to the contacts file, which may exist or not.
fn suggest_contacts(unknown: &[&RecipientObstacle], file: &Path, exists: bool) -> Vec<String> {
    let is_json = is_json_file(file);
    let change = match (exists, is_json) {
        (true, true) => "adds to the list in",
        (true, false) => "adds to",
        (false, _) => "makes",
    };
    let mut lines = vec![format!(
        "Who may be written to is for the user to say, not for the agent. To allow it, the user {change} {}{}",
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
        "({DIRECT_TAG}: messages are sent; {DRAFT_TAG}: drafts are written, and sending asks the user.)"
    ));
    lines
}

fn explain_obstacle(obstacle: &RecipientObstacle, file: &Path) -> String {
    let who = quote_for_display(&obstacle.recipient.written);
    let entry = obstacle.contact.entry.as_deref().unwrap_or_default();
    match obstacle.contact.standing {
        ContactStanding::Unknown => format!("{who}: not in {}", file.display()),
        ContactStanding::Untagged => format!("{who} ({entry}): tagged neither {DIRECT_TAG} nor {DRAFT_TAG}"),
        ContactStanding::Draft => format!("{who} ({entry}): tagged {DRAFT_TAG}, so sending is for the user to confirm"),
        ContactStanding::Direct => format!("{who} ({entry})"),
    }
}

/// What to write into the file for these.
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

/// A text from the call, for people: short, in quotes, and with unusual characters escaped, so that nothing in it is hidden.
fn quote_for_display(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_TEXT_CHARS).flat_map(|c| escape_if_unusual(c, text)).collect();
    if text.chars().nth(MAX_TEXT_CHARS).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// A character as it is, or its number. In an address only ASCII counts as usual.
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
