//! An agent's question to its user, as one line.

use serde_json::Value;
use snell::{AgentProduct, QuestionForm, QuestionTool, ToolCall};

use crate::db::workers::to_single_line;

/// The longest stored question.
const MAX_QUESTION_CHARS: usize = 300;

/// The question of a call of one of the product's question tools, with the user's answer if there is one.
pub(super) fn extract_question(product: &AgentProduct, tool: &ToolCall) -> Option<String> {
    let questions = list_questions(product, tool)?;
    let questions: Vec<_> = questions.into_iter().map(|question| format_question_and_answer(question, tool)).collect();
    shorten_question(&questions.join("; "))
}

/// All questions of such a call, each on a line of its own.
pub(super) fn extract_full_question(product: &AgentProduct, tool: &ToolCall) -> Option<String> {
    list_questions(product, tool).map(|questions| questions.join("\n"))
}

/// The user's answers to such a call. If there was one question, it is the answer alone.
pub(super) fn extract_answer(product: &AgentProduct, tool: &ToolCall) -> Option<String> {
    let questions = list_questions(product, tool)?;
    let answered = |question: &&str| find_answer(question, tool).is_some();
    if let [question] = questions[..] {
        return find_answer(question, tool);
    }
    let answers = questions.into_iter().filter(answered).map(|question| format_question_and_answer(question, tool));
    Some(answers.collect::<Vec<_>>().join("\n"))
}

fn list_questions<'t>(product: &AgentProduct, tool: &'t ToolCall) -> Option<Vec<&'t str>> {
    let question_tool = find_question_tool(product, &tool.name)?;
    let input = tool.input.as_ref()?;
    match question_tool.form {
        QuestionForm::List { key, text } => {
            let questions = input.get(key)?.as_array()?;
            Some(questions.iter().filter_map(|one| one.get(text)?.as_str()).collect())
        }
        QuestionForm::Text(key) => Some(vec![input.get(key)?.as_str()?]),
    }
}

/// The tool of this name, if it is a question tool of the product.
pub(super) fn find_question_tool<'a>(product: &'a AgentProduct, tool: &str) -> Option<&'a QuestionTool> {
    product.question_tools.iter().find(|question_tool| question_tool.name == tool)
}

/// A question, with its answer if there is one.
fn format_question_and_answer(question: &str, tool: &ToolCall) -> String {
    match find_answer(question, tool) {
        None => question.to_owned(),
        Some(answer) => format!("{question} → {answer}"),
    }
}

fn find_answer(question: &str, tool: &ToolCall) -> Option<String> {
    let values = [tool.output.as_ref(), tool.input.as_ref()];
    match values.into_iter().flatten().find_map(|value| value.get("answers")?.get(question))? {
        Value::Null => None,
        Value::String(answer) => Some(answer.clone()),
        other => Some(other.to_string()),
    }
}

/// The question in an agent's last message: the last sentence that asks, else the last line.
pub(super) fn find_question(words: &str) -> Option<String> {
    let Some(end) = words.rfind('?') else {
        return shorten_question(words.lines().rev().find(|line| !line.trim().is_empty())?);
    };
    let before = &words[..end];
    let ends = [". ", "! ", "? ", "\n"];
    let begin = ends.iter().filter_map(|mark| Some(before.rfind(mark)? + mark.len())).max();
    shorten_question(&words[begin.unwrap_or(0)..=end])
}

fn shorten_question(text: &str) -> Option<String> {
    let line = to_single_line(text, MAX_QUESTION_CHARS);
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_in_a_last_message_is_found() {
        let long = format!("{}?", "x".repeat(400));
        let cases = [
            ("Done. Shall I push it?", Some("Shall I push it?")),
            ("Two ways:\n\nWhich one\u{a0}do you want?\n1. a\n2. b", Some("Which one do you want?")),
            ("Is it so? I think so! What do you think? Thanks.", Some("What do you think?")),
            ("- **Push v1.2 now?**", Some("- **Push v1.2 now?")),
            ("Tell me which one you prefer.\n\n", Some("Tell me which one you prefer.")),
            (" \n ", None),
        ];
        for (words, expected) in cases {
            assert_eq!(find_question(words).as_deref(), expected, "{words}");
        }
        assert_eq!(find_question(&long).unwrap().chars().count(), MAX_QUESTION_CHARS);
    }
}
