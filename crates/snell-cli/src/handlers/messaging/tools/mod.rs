//! Which tools send messages to people, and which only draft them.
//!
//! The user's `[comms]` settings apply first. Other tools can send only if they belong to an MCP server. Their names decide:
//! `mcp__SERVER__TOOL` is split into words; a verb is the action, and a noun or the server is its object.

use snell::{CommsSettings, MessageUse};

use super::words::{self, ToolVerb, classify_verb, has_any_word, split_words};

/// Whether this tool sends or drafts messages.
pub(super) fn classify_tool(tool: &str, settings: &CommsSettings) -> MessageUse {
    settings.classify_tool(tool).unwrap_or_else(|| classify_by_name(tool))
}

fn classify_by_name(tool: &str) -> MessageUse {
    let Some((server, name)) = split_mcp_name(tool) else {
        return MessageUse::Nothing;
    };
    let (server, mut name) = (split_words(server), split_words(name));
    name.retain(|word| !is_version_word(word));
    let place = ToolServerProfile::from_words(&server, &name);
    let parts = name.split(|word| words::CONJUNCTIONS.contains(&word.as_str()));
    let uses: Vec<_> = parts.map(|part| place.classify_part(part, &name)).collect();
    [MessageUse::Sends, MessageUse::Drafts]
        .into_iter()
        .find(|strictest| uses.contains(strictest))
        .unwrap_or(MessageUse::Nothing)
}

/// The parts of `mcp__SERVER__TOOL`.
fn split_mcp_name(tool: &str) -> Option<(&str, &str)> {
    let (head, rest) = tool.split_at_checked("mcp__".len())?;
    if !head.eq_ignore_ascii_case("mcp__") {
        return None;
    }
    rest.split_once("__")
}

/// The server of a tool.
#[derive(Clone, Copy, Debug)]
struct ToolServerProfile {
    is_messenger: bool,
    is_suite: bool,
    /// Whether it stores received mail.
    is_mailbox: bool,
    /// Whether its messages are for programs, unless they are mail or similar.
    is_for_programs: bool,
}

impl ToolServerProfile {
    fn from_words(server: &[String], name: &[String]) -> Self {
        let is_named = |word: &String| has_word(words::AMBIGUOUS_MESSENGER_NAMES, word);
        let says_little_else = |word: &String| is_named(word) || has_word(words::SERVER_FILLER_WORDS, word);
        let is_service = server.iter().any(is_named) && server.iter().all(says_little_else);
        let pairs = with_word_pairs(server);
        let is_messenger = is_service
            || has_any_word(&pairs, words::MESSENGER_NAMES)
            || has_any_word(&pairs, words::MAIL_SERVERS)
            || has_any_word(&with_word_pairs(name), words::MESSENGER_NAMES);
        Self {
            is_messenger,
            is_suite: has_any_word(&pairs, words::OFFICE_SUITES),
            is_mailbox: has_any_word(&pairs, words::MAILBOX_NAMES) || has_any_word(name, words::MAILBOX_NAMES),
            is_for_programs: !is_messenger && has_any_word(&pairs, words::PROGRAM_SERVERS),
        }
    }

    /// Whether a name has a noun for a message to people.
    fn has_message(self, name: &[String]) -> bool {
        let is_message = |word: &String| {
            has_word(words::MESSAGE_NOUNS, word)
                && !(self.is_for_programs && has_word(words::PROGRAM_MESSAGE_NOUNS, word))
        };
        name.iter().any(is_message)
    }

    /// The effect of one part of a tool's name. Its object may be in another part: `create_and_send_email`.
    fn classify_part(self, part: &[String], name: &[String]) -> MessageUse {
        if part.last().is_some_and(|last| has_word(words::QUERY_SUFFIXES, last))
            || part.ends_with(&["send", "status"].map(str::to_owned))
        {
            return MessageUse::Nothing;
        }
        let verb = part.iter().enumerate().find_map(|(at, word)| Some((at, classify_verb(word)?)));
        let is_sent = match verb {
            Some((at, ToolVerb::DoesNotSend)) if !ends_with_send(&part[at], part) => return MessageUse::Nothing,
            Some((_, ToolVerb::Sends)) => true,
            _ => has_any_word(part, &["send"]),
        };
        if has_any_word(part, &["draft", "drafts"]) {
            return self.classify_draft(part, name, is_sent);
        }
        let reaches_people = match verb {
            _ if is_sent => {
                self.has_message(name) || (self.is_messenger && !has_any_word(name, words::NON_MESSAGE_NOUNS))
            }
            Some((at, _)) => self.makes_message(&part[at], &part[..at], &part[at + 1..]),
            None => names_addressee(part) || (self.is_messenger && is_bare_message_name(part)),
        };
        if reaches_people { MessageUse::Sends } else { MessageUse::Nothing }
    }

    /// `send_draft` sends, and `create_draft` drafts. In Slack, `send_message_draft` shows a draft to the user.
    fn classify_draft(self, part: &[String], name: &[String], is_sent: bool) -> MessageUse {
        let about_messages = self.has_message(name) || self.is_messenger;
        let is_left_to_the_user = part.ends_with(&["send", "message", "draft"].map(str::to_owned));
        if is_sent && !is_left_to_the_user && (about_messages || has_any_word(part, &["send"])) {
            MessageUse::Sends
        } else if about_messages || self.is_suite {
            MessageUse::Drafts
        } else {
            MessageUse::Nothing
        }
    }

    /// Whether the created thing is a message: `add_message_to_thread` is, `add_label_to_message` and `create_message_template` are
    /// not. In `message_create` it is before the verb.
    fn makes_message(self, verb: &str, before: &[String], after: &[String]) -> bool {
        let end = after.iter().position(|word| words::PREPOSITIONS.contains(&word.as_str()));
        let made = after[..end.unwrap_or(after.len())].last();
        let before = before.iter().rfind(|word| !has_word(words::MESSENGER_NAMES, word));
        let Some(made) = made.or(before).map(String::as_str) else {
            return self.is_messenger && words::OBJECTLESS_VERBS.contains(&verb);
        };
        let in_chat = before.into_iter().chain(after).any(|word| has_word(words::MESSAGE_QUALIFIERS, word));
        if verb == "update" && (self.is_mailbox || (self.is_suite && !in_chat)) {
            return false;
        }
        let is_message = words::CREATED_MESSAGE_NOUNS.contains(&made);
        let is_shown = words::VISIBLE_NOUNS.contains(&made)
            || words::VISIBLE_ACTIONS.contains(&format!("{verb} {made}").as_str())
            || verb == "notify";
        (is_message && (self.is_messenger || self.is_suite || verb == "compose")) || (is_shown && self.is_messenger)
    }
}

/// A name that is only a noun for a message: `dm`, `chat_meMessage`.
fn is_bare_message_name(part: &[String]) -> bool {
    let is_part = |word: &String| {
        [words::BARE_MESSAGE_NOUNS, words::MESSAGE_QUALIFIERS, words::MESSENGER_NAMES]
            .iter()
            .any(|list| has_word(list, word))
    };
    part.last().is_some_and(|last| has_word(words::BARE_MESSAGE_NOUNS, last)) && part.iter().all(is_part)
}

/// `list_send_email` sends, whatever comes before `send`.
fn ends_with_send(verb: &str, part: &[String]) -> bool {
    let ends_so = matches!(part, [.., send, thing] if send == "send" && has_word(words::MESSAGE_NOUNS, thing));
    ends_so && !words::SEND_NEGATING_VERBS.contains(&verb)
}

/// `v2`, at the end of `files_upload_v2`.
fn is_version_word(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// A name without a verb that has an addressee: `message_user`, `dm_channel`.
fn names_addressee(part: &[String]) -> bool {
    part.windows(2).any(|pair| {
        words::ADDRESSING_NOUNS.contains(&pair[0].as_str()) && words::ADDRESSEE_WORDS.contains(&pair[1].as_str())
    })
}

fn has_word(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// The words, and each pair of neighbours joined: `WhatsApp` and `google-chat` are names too.
fn with_word_pairs(words: &[String]) -> Vec<String> {
    let pairs = words.windows(2).map(|pair| pair.concat());
    words.iter().cloned().chain(pairs).collect()
}

#[cfg(test)]
mod tests;
