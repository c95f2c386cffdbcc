//! A request to the model, in terms that all protocols share.

use serde_json::Value;

use crate::model::script::SUBAGENT_WORDS;

/// Words of requests beside the work that name tools: summaries of Claude Code, memories of Qwen Code, recaps of Grok Build.
const SIDE_REQUEST_WORDS: &[&str] =
    &["detailed summary of", "nothing durable should be saved", "Summarize earlier turns"];

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAuthor {
    /// The user, a hook or the agent's own instructions.
    User,
    /// The model.
    Model,
    /// A tool: the result of a call.
    Tool,
}

/// A message of a conversation.
#[derive(Clone, Debug)]
pub struct ModelMessage {
    /// Who wrote it.
    pub author: MessageAuthor,
    /// Its text, or the result of a tool as text.
    pub text: String,
    /// The ids of the tool calls in it.
    pub call_ids: Vec<String>,
}

impl ModelMessage {
    /// A message without calls.
    pub(crate) fn new(author: MessageAuthor, text: String) -> Self {
        Self { author, text, call_ids: Vec::new() }
    }
}

/// A request for an answer of the model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Instructions apart from the messages.
    pub instructions: String,
    /// The messages, in order.
    pub messages: Vec<ModelMessage>,
    /// The names of the tools that the model may call.
    pub tool_names: Vec<String>,
    /// Whether the answer must be a stream.
    pub is_stream: bool,
    /// The whole body.
    pub body: Value,
}

impl ModelRequest {
    /// Which turn the model answered last; none if it has not answered yet. The marks of `mark_text` and `mark_call_id` tell.
    pub fn last_played_turn(&self) -> Option<usize> {
        let answers = self.messages.iter().filter(|message| message.author == MessageAuthor::Model);
        answers
            .flat_map(|message| message.call_ids.iter().chain([&message.text]))
            .flat_map(|text| find_marks(text))
            .max()
    }

    /// Whether it comes from a sub-agent.
    pub fn is_of_subagent(&self) -> bool {
        let opening = self.messages.iter().take_while(|message| message.author == MessageAuthor::User);
        opening.into_iter().any(|message| message.text.contains(SUBAGENT_WORDS))
    }

    /// Whether the agent asks for something beside its work: a title, a summary.
    pub fn is_side_request(&self) -> bool {
        let last = self.messages.iter().rfind(|message| message.author == MessageAuthor::User);
        let is_named = |text: &str| SIDE_REQUEST_WORDS.iter().any(|words| text.contains(words));
        self.tool_names.is_empty() || last.is_some_and(|message| is_named(&message.text))
    }

    /// Whether anything the model did not write itself contains these words.
    pub fn contains(&self, words: &str) -> bool {
        let read = self.messages.iter().filter(|message| message.author != MessageAuthor::Model);
        self.instructions.contains(words) || read.into_iter().any(|message| message.text.contains(words))
    }
}

/// The text of a turn as it is sent.
pub(crate) fn mark_text(turn: usize, text: &str) -> String {
    format!("{text} [turn{turn}_]")
}

/// The id of a call of a turn.
pub(crate) fn mark_call_id(turn: usize, index: usize) -> String {
    format!("call_turn{turn}_{index}")
}

/// The turns that marks in a text name.
fn find_marks(text: &str) -> impl Iterator<Item = usize> {
    text.split("turn").skip(1).filter_map(|rest| rest.split_once('_')?.0.parse().ok())
}

/// All strings in a value, in lines. This is how text, lists of parts and results of tools are read.
pub(crate) fn collect_text(value: &Value) -> String {
    let mut texts = Vec::new();
    collect_strings(value, &mut texts);
    texts.join("\n")
}

fn collect_strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_strings(field, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_turns_are_found_in_texts_and_ids() {
        let found = |text: &str| find_marks(text).collect::<Vec<_>>();
        assert_eq!(found(&mark_text(3, "It is your turn_")), [3]);
        assert_eq!(found(&mark_call_id(12, 0)), [12]);
        assert!(found("no turn at all").is_empty());
    }
}
