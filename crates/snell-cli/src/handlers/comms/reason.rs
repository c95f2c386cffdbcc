//! What an agent and its user are told when a message is held back.

use std::path::Path;

use serde_json::Value;
use snell::{Decision, MessageUse};

use super::contacts::{Contacts, DIRECT, DRAFT, Known};
use super::recipients::{DEEPEST, MOST_BYTES_OF_JSON, MOST_PARTS, Recipient, SHOWN_FIELDS};
use super::rule::Standing;

/// So many recipients are named, and so many entries written out; the others are counted.
const MOST_NAMED: usize = 10;
const MOST_ENTRIES: usize = 5;
/// So many faults of the contacts file are told.
const MOST_FAULTS: usize = 5;
/// So much of a text that somebody else wrote is repeated.
const MOST_CHARACTERS: usize = 200;
/// So many fields of an input are named.
const MOST_FIELDS: usize = 12;

/// A recipient who is in the way, and why.
#[derive(Debug)]
pub(super) struct Obstacle {
    pub(super) recipient: Recipient,
    pub(super) known: Known,
}

pub(super) fn of_mode(tool: &str, mode: &str) -> String {
    let (tool, mode) = (shown(tool), shown(mode));
    format!(
        "{tool} is not for a session in mode {mode}: only interactive sessions may send or draft messages. Leave what was to \
         be said for the user."
    )
}

pub(super) fn of_contacts_file(tool: &str, fault: &str) -> String {
    let tool = shown(tool);
    format!(
        "{tool} is held back, because the contacts file says who may be written to and cannot be used: {fault}. The user \
         (not the agent) must mend it, or name another one in snell.toml: [comms] contacts = \"…\""
    )
}

pub(super) fn of_too_many(tool: &str) -> String {
    let tool = shown(tool);
    format!(
        "{tool} is held back, because its input is too large or too deep to see to whom it goes (more than {MOST_PARTS} \
         values and addresses, {DEEPEST} levels, or {MOST_BYTES_OF_JSON} bytes of JSON in a text); write to fewer at a time"
    )
}

pub(super) fn without_recipient(tool: &str, input: &Value, further: &[String]) -> String {
    let further: String = further
        .iter()
        .take(MOST_FIELDS)
        .map(|field| format!(", {}", shown(field)))
        .collect();
    let fields: Vec<_> = input
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys())
        .collect();
    let there: Vec<_> = fields.iter().take(MOST_FIELDS).map(|field| shown(field)).collect();
    let there = match there.as_slice() {
        [] => "it has no fields".to_owned(),
        _ => format!("it has {}", there.join(", ")),
    };
    let tool = shown(tool);
    format!(
        "{tool} is held back, because nothing in its input says to whom it sends: {there}; looked for {SHOWN_FIELDS}{further}. \
         If the tool can be told its recipient, do so. Else the user (not the agent) may say in snell.toml which field \
         names it ([comms] recipients = [\"FIELD\"]), or that this tool sends nothing to people ([comms] except = [{tool}])."
    )
}

/// Everybody who is in the way, and what the user can do about it.
pub(super) fn of_obstacles(
    tool: &str,
    what: MessageUse,
    decision: Decision,
    obstacles: &[Obstacle],
    file: &Path,
    contacts: &Contacts,
) -> String {
    let doing = match what {
        MessageUse::Drafts => "draft for",
        MessageUse::Sends | MessageUse::Nothing => "send to",
    };
    let held = match decision {
        Decision::Ask => "needs the user's consent to",
        Decision::None | Decision::Allow | Decision::Deny => "may not",
    };
    let mut lines = vec![format!("{} {held} {doing}:", shown(tool))];
    lines.extend(
        obstacles
            .iter()
            .take(MOST_NAMED)
            .map(|obstacle| format!("- {}", why(obstacle, file))),
    );
    if obstacles.len() > MOST_NAMED {
        lines.push(format!("- and {} more", obstacles.len() - MOST_NAMED));
    }
    let with = |standing| {
        obstacles
            .iter()
            .filter(move |obstacle| obstacle.known.standing == standing)
    };
    if with(Standing::Untagged).next().is_some() {
        lines.push(format!(
            "Tags are for the user to give, not for the agent: tags = [\"{DIRECT}\"] in that entry, or [\"{DRAFT}\"]."
        ));
    }
    let unknown: Vec<_> = with(Standing::Unknown).collect();
    if !unknown.is_empty() {
        lines.extend(faults(contacts));
        let is_json = file
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let made = match (contacts.is_there, is_json) {
            (true, true) => "adds to the list in",
            (true, false) => "adds to",
            (false, _) => "makes",
        };
        lines.push(format!(
            "Who may be written to is for the user to say, not for the agent. To allow it, the user {made} {}{}",
            file.display(),
            if contacts.is_there { ":" } else { " with:" },
        ));
        let entries = entries_for(&unknown, is_json);
        if is_json {
            lines.extend(as_json(&entries, contacts.is_there));
        } else {
            lines.extend(entries);
        }
        lines.push(format!(
            "({DIRECT}: messages are sent; {DRAFT}: drafts are written, and sending asks the user.)"
        ));
    }
    lines.join("\n")
}

fn why(obstacle: &Obstacle, file: &Path) -> String {
    let who = shown(&obstacle.recipient.written);
    let entry = obstacle.known.entry.as_deref().unwrap_or_default();
    match obstacle.known.standing {
        Standing::Unknown => format!("{who}: not in {}", file.display()),
        Standing::Untagged => format!("{who} ({entry}): tagged neither {DIRECT} nor {DRAFT}"),
        Standing::Draft => format!("{who} ({entry}): tagged {DRAFT}, so sending is for the user to confirm"),
        Standing::Direct => format!("{who} ({entry})"),
    }
}

/// Entries of the contacts file that grant nothing, one of which may have been meant for somebody unknown.
fn faults(contacts: &Contacts) -> Vec<String> {
    if contacts.faults.is_empty() {
        return Vec::new();
    }
    let told = contacts
        .faults
        .iter()
        .take(MOST_FAULTS)
        .map(|fault| format!("- {fault}"));
    let more = contacts.faults.len().saturating_sub(MOST_FAULTS);
    std::iter::once("These parts of the contacts file cannot be understood and grant nothing:".to_owned())
        .chain(told)
        .chain((more > 0).then(|| format!("- and {more} more")))
        .collect()
}

/// Entries with what separates them. A file that is not there needs the list around them, too.
fn as_json(entries: &[String], is_there: bool) -> Vec<String> {
    let joined = entries.join(",\n");
    match is_there {
        _ if entries.is_empty() => Vec::new(),
        true => vec![joined],
        false => vec!["[".to_owned(), joined, "]".to_owned()],
    }
}

/// What to write into the file for these.
fn entries_for(unknown: &[&Obstacle], is_json: bool) -> Vec<String> {
    let entry = |obstacle: &&Obstacle| {
        let key = obstacle.recipient.address.key();
        let address = quoted(&obstacle.recipient.written, is_json);
        if is_json {
            format!("{{\"{key}\": {address}, \"tags\": [\"{DIRECT}\"]}}")
        } else {
            format!("[[contact]]\n{key} = {address}\ntags = [\"{DIRECT}\"]")
        }
    };
    let can_be_written = |obstacle: &&&Obstacle| obstacle.recipient.written.len() <= MOST_CHARACTERS;
    unknown
        .iter()
        .filter(can_be_written)
        .take(MOST_ENTRIES)
        .map(entry)
        .collect()
}

/// A text that somebody else wrote, for people: of bounded length, in quotes, and nothing in it hides or poses as something
/// else.
fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MOST_CHARACTERS)
        .flat_map(|c| plainly(c, text))
        .collect();
    if text.chars().nth(MOST_CHARACTERS).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

/// A character as it is, or its number. In an address only ASCII is plain to see.
fn plainly(c: char, text: &str) -> Vec<char> {
    let is_plain = c.is_ascii_graphic() || c == ' ' || (c.is_alphanumeric() && !text.contains('@'));
    if is_plain {
        vec![c]
    } else {
        c.escape_unicode().collect()
    }
}

/// A text as a string of the format.
fn quoted(text: &str, is_json: bool) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => quoted.push(c),
            c if is_json => {
                let units = c
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| format!("\\u{unit:04X}"))
                    .collect::<String>();
                quoted.push_str(&units);
            }
            c => quoted.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}
