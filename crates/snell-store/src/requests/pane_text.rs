//! The line that is typed into an agent's terminal for an answer. A text that the agent would read as anything but a prompt is
//! refused.

use super::{AnswerChannel, AnswerChoice, RequestAnswer, RequestView};

/// The longest line.
const MAX_LINE_BYTES: usize = 2000;

/// Characters at the start of a line that make it a command of an agent: slash commands, shell commands, notes to its memory,
/// work in the background, files, skills, and help.
const COMMAND_MARKS: &[char] = &['/', '!', '#', '&', '@', '$', '?', ':', '\\'];

/// Lines that end an agent.
const FAREWELLS: &[&str] = &["exit", "quit"];

impl RequestView {
    /// Why this answer cannot reach the agent, whatever the agent does.
    pub(super) fn check_answer(&self, answer: &RequestAnswer) -> Result<(), String> {
        match self.channel {
            AnswerChannel::Reply => Ok(()),
            AnswerChannel::Pane => compose_line(answer).map(drop),
            AnswerChannel::Elsewhere => Err(match self.detail.get("place").and_then(serde_json::Value::as_str) {
                Some(place) => format!("the agent takes the answer only in its own terminal: {place}"),
                None => "the agent takes the answer only in its own terminal".to_owned(),
            }),
        }
    }
}

/// The line for an answer.
pub(super) fn compose_line(answer: &RequestAnswer) -> Result<String, String> {
    let refuse = |why: &str| Err(why.to_owned());
    if answer.choice != AnswerChoice::Reply {
        return refuse("the agent asks for a text, not for a permission");
    }
    let texts: Vec<_> = answer.replies.iter().chain(&answer.message).map(|text| text.trim()).collect();
    let line = match texts[..] {
        [] | [""] => return refuse("the answer is empty"),
        [line] => line,
        _ => return refuse("the agent asks for one text"),
    };
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("the answer is longer than {MAX_LINE_BYTES} bytes"));
    }
    if line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return refuse("the answer has more than one line, and each end of a line could send it");
    }
    if line.chars().any(char::is_control) {
        return refuse("the answer has control characters, which are keys in a terminal");
    }
    if line.starts_with(COMMAND_MARKS) {
        let marks: Vec<_> = COMMAND_MARKS.iter().map(char::to_string).collect();
        return Err(format!(
            "the agent would read the answer as a command: it starts with one of {}; put a word before it",
            marks.join(" ")
        ));
    }
    if line.ends_with('\\') {
        return refuse("the answer ends with a backslash, which makes an agent wait for another line");
    }
    if FAREWELLS.contains(&line.to_lowercase().as_str()) {
        return refuse("the agent would read the answer as a command to end; write a sentence");
    }
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_answer(choice: AnswerChoice, replies: &[&str]) -> RequestAnswer {
        let replies = replies.iter().map(|reply| (*reply).to_owned()).collect();
        RequestAnswer { choice, replies, message: None, remember: None }
    }

    #[test]
    fn a_plain_text_is_typed_as_it_is() {
        let long = "x".repeat(MAX_LINE_BYTES);
        for text in ["yes", "Use /etc, not ~", "1", "-rf; $(reboot) `id` #{pane_id}", "Grün 🟢", "exit code 3", &long]
        {
            let line = compose_line(&build_answer(AnswerChoice::Reply, &[text]));
            assert_eq!(line.as_deref(), Ok(text));
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
            ("!rm -rf ~", "read the answer as a command"),
            (" /clear", "read the answer as a command"),
            ("#remember", "read the answer as a command"),
            ("&go", "read the answer as a command"),
            ("@secret.txt", "read the answer as a command"),
            ("$skill", "read the answer as a command"),
            ("?", "read the answer as a command"),
            (":wq", "read the answer as a command"),
            ("in C:\\", "ends with a backslash"),
            ("Exit", "command to end"),
        ];
        for (text, why) in cases {
            let refused = compose_line(&build_answer(AnswerChoice::Reply, &[text])).unwrap_err();
            assert!(refused.contains(why), "{text:?}: {refused}");
        }
        for choice in [AnswerChoice::Allow, AnswerChoice::Deny] {
            assert!(compose_line(&build_answer(choice, &["yes"])).unwrap_err().contains("not for a permission"));
        }
        let two = build_answer(AnswerChoice::Reply, &["a", "b"]);
        assert!(compose_line(&two).unwrap_err().contains("one text"));
    }
}
