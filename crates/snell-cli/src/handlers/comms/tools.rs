//! Which tools send messages to people, and which only draft them.
//!
//! What the user says in `[comms]` counts first. Of all others, only tools of MCP servers can send, and their names tell:
//! `mcp__SERVER__TOOL` is read as words, of which a verb says what is done and a thing or the server what it is done with.

use snell::{CommsSettings, MessageUse};

use super::vocabulary::{
    ADDRESSING, ASKED, BESIDE_SERVICES, CALLING_OFF, JOINING, MADE, MAIL_SERVERS, MAILBOXES, MESSAGES,
    MESSAGES_OF_PROGRAMS, MESSENGER_SERVERS, MESSENGERS, PREPOSITIONS, PROGRAMS, SAID, SAID_WITH, SHOWN, SIGNALS,
    SOMEBODY, SPOKEN, SUITES, Verb, verb, words,
};

/// What this tool does with messages.
pub(super) fn message_use(tool: &str, settings: &CommsSettings) -> MessageUse {
    settings.says(tool).unwrap_or_else(|| by_name(tool))
}

fn by_name(tool: &str) -> MessageUse {
    let Some((server, name)) = server_and_name(tool) else {
        return MessageUse::Nothing;
    };
    let (server, mut name) = (words(server), words(name));
    name.retain(|word| !is_version(word));
    let place = Place::of(&server, &name);
    let parts = name.split(|word| JOINING.contains(&word.as_str()));
    let uses: Vec<_> = parts.map(|part| place.judge(part, &name)).collect();
    [MessageUse::Sends, MessageUse::Drafts]
        .into_iter()
        .find(|strictest| uses.contains(strictest))
        .unwrap_or(MessageUse::Nothing)
}

/// The parts of `mcp__SERVER__TOOL`.
fn server_and_name(tool: &str) -> Option<(&str, &str)> {
    let (head, rest) = tool.split_at_checked("mcp__".len())?;
    if !head.eq_ignore_ascii_case("mcp__") {
        return None;
    }
    rest.split_once("__")
}

/// Where a tool is at home.
#[derive(Clone, Copy, Debug)]
struct Place {
    is_messenger: bool,
    is_suite: bool,
    /// Whether it keeps the mail that came.
    is_mailbox: bool,
    /// Whether its messages are for programs, unless they are mail or the like.
    is_for_programs: bool,
}

impl Place {
    fn of(server: &[String], name: &[String]) -> Self {
        let is_named = |word: &String| has_word(MESSENGER_SERVERS, word);
        let says_little_else = |word: &String| is_named(word) || has_word(BESIDE_SERVICES, word);
        let is_service = server.iter().any(is_named) && server.iter().all(says_little_else);
        let pairs = with_pairs(server);
        let is_messenger =
            is_service || has(&pairs, MESSENGERS) || has(&pairs, MAIL_SERVERS) || has(&with_pairs(name), MESSENGERS);
        Self {
            is_messenger,
            is_suite: has(&pairs, SUITES),
            is_mailbox: has(&pairs, MAILBOXES) || has(name, MAILBOXES),
            is_for_programs: !is_messenger && has(&pairs, PROGRAMS),
        }
    }

    /// Whether a name has something that people get.
    fn has_message(self, name: &[String]) -> bool {
        let is_message =
            |word: &String| has_word(MESSAGES, word) && !(self.is_for_programs && has_word(MESSAGES_OF_PROGRAMS, word));
        name.iter().any(is_message)
    }

    /// What a tool does by one part of its name. What it is done with may stand in another: `create_and_send_email`.
    fn judge(self, part: &[String], name: &[String]) -> MessageUse {
        if part.last().is_some_and(|last| has_word(ASKED, last))
            || part.ends_with(&["send", "status"].map(str::to_owned))
        {
            return MessageUse::Nothing;
        }
        let verb = part.iter().enumerate().find_map(|(at, word)| Some((at, verb(word)?)));
        let is_sent = match verb {
            Some((at, Verb::Tends)) if !sends_after_all(&part[at], part) => return MessageUse::Nothing,
            Some((_, Verb::Sends)) => true,
            _ => has(part, &["send"]),
        };
        if has(part, &["draft", "drafts"]) {
            return self.judge_draft(part, name, is_sent);
        }
        let reaches_people = match verb {
            _ if is_sent => self.has_message(name) || (self.is_messenger && !has(name, SIGNALS)),
            Some((at, _)) => self.makes(&part[at], &part[..at], &part[at + 1..]),
            None => addresses_somebody(part) || (self.is_messenger && says_message(part)),
        };
        if reaches_people {
            MessageUse::Sends
        } else {
            MessageUse::Nothing
        }
    }

    /// `send_draft` sends, whatever is drafted, and `create_draft` drafts. `send_message_draft` is how Slack calls putting
    /// a draft before its user.
    fn judge_draft(self, part: &[String], name: &[String], is_sent: bool) -> MessageUse {
        let about_messages = self.has_message(name) || self.is_messenger;
        let is_left_to_the_user = part.ends_with(&["send", "message", "draft"].map(str::to_owned));
        if is_sent && !is_left_to_the_user && (about_messages || has(part, &["send"])) {
            MessageUse::Sends
        } else if about_messages || self.is_suite {
            MessageUse::Drafts
        } else {
            MessageUse::Nothing
        }
    }

    /// Whether what is made is a message: `add_message_to_thread` is, `add_label_to_message` and `create_message_template`
    /// are not. In `message_create` it stands before the verb.
    fn makes(self, verb: &str, before: &[String], after: &[String]) -> bool {
        let end = after.iter().position(|word| PREPOSITIONS.contains(&word.as_str()));
        let made = after[..end.unwrap_or(after.len())].last();
        let before = before.iter().rfind(|word| !has_word(MESSENGERS, word));
        let Some(made) = made.or(before).map(String::as_str) else {
            return self.is_messenger && NEEDS_NO_OBJECT.contains(&verb);
        };
        let in_chat = before.into_iter().chain(after).any(|word| has_word(SAID_WITH, word));
        if verb == "update" && (self.is_mailbox || (self.is_suite && !in_chat)) {
            return false;
        }
        let is_message = MADE.contains(&made);
        let is_shown = SHOWN.contains(&made) || SPOKEN.contains(&(verb, made)) || verb == "notify";
        (is_message && (self.is_messenger || self.is_suite || verb == "compose")) || (is_shown && self.is_messenger)
    }
}

/// Verbs that are about messages by themselves, in a messenger.
const NEEDS_NO_OBJECT: &[&str] = &["compose", "notify", "publish", "upload"];

/// A name that is nothing but a thing that is said: `dm`, `chat_meMessage`.
fn says_message(part: &[String]) -> bool {
    let is_part = |word: &String| [SAID, SAID_WITH, MESSENGERS].iter().any(|list| has_word(list, word));
    part.last().is_some_and(|last| has_word(SAID, last)) && part.iter().all(is_part)
}

/// `list_send_email`: whatever stands before it, it sends.
fn sends_after_all(verb: &str, part: &[String]) -> bool {
    let ends_so = matches!(part, [.., send, thing] if send == "send" && has_word(MESSAGES, thing));
    ends_so && !CALLING_OFF.contains(&verb)
}

/// `v2`, at the end of `files_upload_v2`.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// A name without a verb that says whom something is for: `message_user`, `dm_channel`.
fn addresses_somebody(part: &[String]) -> bool {
    part.windows(2)
        .any(|pair| ADDRESSING.contains(&pair[0].as_str()) && SOMEBODY.contains(&pair[1].as_str()))
}

fn has_word(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// The words, and each two neighbours as one: `WhatsApp` and `google-chat` are names too.
fn with_pairs(words: &[String]) -> Vec<String> {
    let pairs = words.windows(2).map(|pair| pair.concat());
    words.iter().cloned().chain(pairs).collect()
}

#[cfg(test)]
mod tests;
