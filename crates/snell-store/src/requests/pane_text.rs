//! The line that is typed into an agent's terminal for an answer. A text that the agent would read as anything but a prompt is
//! refused.

use serde_json::Value;
use snell::UserMessage;

use super::{AnswerChannel, AnswerChoice, RequestAnswer, RequestView};

/// The longest line.
const MAX_LINE_BYTES: usize = 2000;

/// Characters at the start of a line that make it a command of an agent: slash commands, shell commands, notes to its memory,
/// work in the background, files, skills, and help.
const COMMAND_MARKS: &[char] = &['/', '!', '#', '&', '@', '$', '?', ':', '\\'];

/// Lines that end an agent.
const FAREWELLS: &[&str] = &["exit", "quit"];

impl RequestView {
    /// Where the agent runs, for people.
    pub fn place(&self) -> Option<&str> {
        self.detail.get("place").and_then(Value::as_str)
    }

    /// Checks that any answer has a way to the agent.
    ///
    /// # Errors
    ///
    /// Why none has.
    pub fn check_way(&self) -> Result<(), UserMessage> {
        if self.channel != AnswerChannel::Elsewhere {
            return Ok(());
        }
        let place = self.place().unwrap_or("its terminal is not known");
        let message = UserMessage::new("this request can only be answered in the agent's own terminal");
        Err(message.with_hint(format!("go there: {place}")))
    }

    /// Checks that this answer has a way to the agent.
    pub(super) fn check_channel(&self, answer: &RequestAnswer) -> Result<(), UserMessage> {
        match self.channel {
            AnswerChannel::Reply => Ok(()),
            AnswerChannel::Pane => compose_line(answer).map(drop),
            AnswerChannel::Elsewhere => self.check_way(),
        }
    }
}

/// The line for an answer.
pub(super) fn compose_line(answer: &RequestAnswer) -> Result<String, UserMessage> {
    let refuse = |text: &str, hint: &str| Err(UserMessage::new(text).with_hint(hint));
    if answer.choice != AnswerChoice::Reply {
        return refuse("this question takes only a text", "answer it with a reply");
    }
    let texts: Vec<_> = answer.replies.iter().chain(&answer.message).map(|text| text.trim()).collect();
    let line = match texts[..] {
        [] | [""] => return refuse("the answer is empty", "write a text"),
        [line] => line,
        _ => return refuse("the answer has more than one text", "send one reply, and no message"),
    };
    if line.len() > MAX_LINE_BYTES {
        let message = UserMessage::new(format!("the answer is longer than {MAX_LINE_BYTES} bytes"));
        return Err(message.with_hint("a longer text cannot be typed into a terminal: shorten it"));
    }
    if line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return refuse("the answer has more than one line", "each line would be sent by itself: write one line");
    }
    if line.chars().any(char::is_control) {
        return refuse("the answer has control characters", "they are keys in a terminal: remove them");
    }
    if let Some(mark) = line.chars().next().filter(|first| COMMAND_MARKS.contains(first)) {
        let message =
            UserMessage::new(format!("the agent could read an answer that starts with \"{mark}\" as a command"));
        return Err(message.with_hint("put a word before it"));
    }
    if line.ends_with('\\') {
        return refuse("the answer ends with a backslash", "the agent would wait for another line: add a word");
    }
    let letters = line.chars().filter(|letter| letter.is_alphabetic()).count();
    if letters < 2 {
        return refuse("a menu of the agent could read the answer as a choice", "write at least one word");
    }
    if FAREWELLS.contains(&line.to_lowercase().as_str()) {
        return refuse("the agent would end at this answer", "write a sentence");
    }
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_answer(choice: AnswerChoice, replies: &[&str]) -> RequestAnswer {
        let replies = replies.iter().map(|reply| (*reply).to_owned()).collect();
        RequestAnswer { choice, replies, message: None, remember: None, suggestion: None }
    }

    #[test]
    fn a_plain_text_is_typed_as_it_is() {
        let long = "x".repeat(MAX_LINE_BYTES);
        for text in ["yes", "Use /etc, not ~", "no", "-rf; $(reboot) `id` #{pane_id}", "Grün 🟢", "exit code 3", &long]
        {
            let line = compose_line(&build_answer(AnswerChoice::Reply, &[text]));
            assert_eq!(line.as_deref(), Ok(text), "{text}");
        }
        let answer = build_answer(AnswerChoice::Reply, &["  the first one \n"]);
        assert_eq!(compose_line(&answer).as_deref(), Ok("the first one"));
        let by_message = RequestAnswer { replies: Vec::new(), message: Some("yes".into()), ..answer };
        assert_eq!(compose_line(&by_message).as_deref(), Ok("yes"));
    }

    #[test]
    fn a_text_that_would_not_be_a_prompt_is_refused() {
        let long = "x".repeat(MAX_LINE_BYTES + 1);
        let cases = [
            ("", "empty"),
            (" \n ", "empty"),
            (&long, "longer than 2000 bytes"),
            ("yes\nrm -rf ~", "more than one line"),
            ("yes\rno", "more than one line"),
            ("yes\u{2028}no", "more than one line"),
            ("\u{1b}[201~!ls", "control characters"),
            ("yes\u{3}", "control characters"),
            ("a\tb", "control characters"),
            ("yes\u{9b}A", "control characters"),
            ("!rm -rf ~", "as a command"),
            (" /clear", "as a command"),
            ("#remember", "as a command"),
            ("&go", "as a command"),
            ("@secret.txt", "as a command"),
            ("$skill", "as a command"),
            ("?", "as a command"),
            (":wq", "as a command"),
            ("in C:\\", "ends with a backslash"),
            ("1", "as a choice"),
            ("y", "as a choice"),
            ("Exit", "would end"),
        ];
        for (text, why) in cases {
            let refused = compose_line(&build_answer(AnswerChoice::Reply, &[text])).unwrap_err().text;
            assert!(refused.contains(why), "{text:?}: {refused}");
        }
        for choice in [AnswerChoice::Allow, AnswerChoice::Deny] {
            assert!(compose_line(&build_answer(choice, &["yes"])).unwrap_err().text.contains("takes only a text"));
        }
        let two = build_answer(AnswerChoice::Reply, &["a", "b"]);
        assert!(compose_line(&two).unwrap_err().text.contains("more than one text"));
    }
}
