//! The terminal output of the demo: one line per step, with its result.

use std::time::Duration;

use serde_json::Value;

use super::answer::DemoAnswer;
use super::stage::DemoStage;
use crate::output::{
    self, TextStyle, apply_style, escape_invisible, shorten_to_one_line, truncate_to_width, wrap_lines,
};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Room for the time, and for the longest name.
const TIME_WIDTH: usize = 4;
const NAME_WIDTH: usize = 8;

/// The least width of the action, if its outcome is long.
const MIN_ACTION_WIDTH: usize = 29;

/// The fields of a tool's input that describe a call. The first one present is used.
const PRINCIPAL_FIELDS: &[&str] = &["command", "file_path", "to"];

/// The first lines.
pub(super) fn print_intro(url: &str, stage: &DemoStage) {
    let shown = apply_style(url, TextStyle::Bold);
    output::print_text(&format!("Snell's page: {shown}\n"));
    output::print_faint(&format!("Its files:    {}", stage.root().display()));
    for line in
        wrap_lines("Three agents are simulated. Their hooks are real, but no tool runs.", display_width(), usize::MAX)
    {
        output::print_faint(&line);
    }
}

/// Prints a text in at most `most` lines of the terminal's width.
pub(super) fn print_wrapped(text: &str, most: usize) {
    for line in wrap_lines(text, display_width(), most) {
        output::print_line(&line);
    }
}

/// The width of the terminal; nothing without a terminal.
pub(super) fn display_width() -> Option<usize> {
    output::is_terminal().then(|| output::terminal_width().unwrap_or(DEFAULT_WIDTH))
}

/// A step, and its result.
#[derive(Debug)]
pub(super) struct DemoLogLine<'a> {
    pub(super) at: Duration,
    pub(super) agent: &'a str,
    pub(super) action: String,
    pub(super) outcome: String,
    pub(super) style: TextStyle,
}

impl DemoLogLine<'_> {
    /// Prints the line, cut to the width of a terminal.
    pub(super) fn print(&self) {
        output::print_text(&self.render(display_width()));
    }

    fn render(&self, width: Option<usize>) -> String {
        let (happened, came) = (join_lines(&self.action), join_lines(&self.outcome));
        let (happened, came) = match width {
            Some(width) => {
                let room = width.saturating_sub(TIME_WIDTH + 1 + NAME_WIDTH + 1 + 3);
                let happened_room =
                    room.saturating_sub(output::display_width(&came)).max(MIN_ACTION_WIDTH.min(room / 2));
                let happened = truncate_to_width(&happened, happened_room);
                let came = truncate_to_width(&came, room.saturating_sub(output::display_width(&happened)));
                (happened, came)
            }
            None => (happened, came),
        };
        let seconds = self.at.as_secs();
        let time = apply_style(&format!("{}:{:02}", seconds / 60, seconds % 60), TextStyle::Faint);
        let who = apply_style(&format!("{:NAME_WIDTH$}", self.agent), TextStyle::Bold);
        format!("{time} {who} {happened} → {}\n", apply_style(&came, self.style))
    }
}

/// The result of an answer, in a few words.
pub(super) fn describe_answer(answer: &DemoAnswer) -> (String, TextStyle) {
    if let Some(reason) = &answer.blocked {
        return (format!("blocked: {reason}"), TextStyle::Red);
    }
    if let Some(reason) = &answer.asked {
        return (format!("asks the user: {reason}"), TextStyle::Urgent);
    }
    if let Some(input) = &answer.changed {
        return (format!("changed to {}", principal_argument(input)), TextStyle::Yellow);
    }
    if !answer.context.is_empty() {
        return (format!("context: {}", format_context(&answer.context)), TextStyle::Green);
    }
    ("ok".into(), TextStyle::Faint)
}

/// The context for a model, without the prefix that names its source.
pub(super) fn format_context(context: &[String]) -> String {
    let texts = context.iter().map(|text| match text.split_once("]: ") {
        Some((mark, text)) if mark.starts_with('[') && !mark.contains('\n') => text,
        _ => text,
    });
    texts.collect::<Vec<_>>().join(" · ")
}

/// The main field of a tool's input.
pub(super) fn principal_argument(input: &Value) -> &str {
    PRINCIPAL_FIELDS.iter().find_map(|field| input[field].as_str()).unwrap_or_default()
}

/// Several lines as one.
pub(super) fn join_lines(text: &str) -> String {
    let lines = text.lines().map(|line| shorten_to_one_line(line, usize::MAX));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    escape_invisible(&lines.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_line(happened: &str, came: &str) -> DemoLogLine<'static> {
        DemoLogLine {
            at: Duration::from_secs(63),
            agent: "builder",
            action: happened.into(),
            outcome: came.into(),
            style: TextStyle::Plain,
        }
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal() {
        let (short, long) = ("npm install", "a long reason ".repeat(20));
        for (happened, came) in [(short, short), (short, &long), (&long, short), (&long, &long)] {
            for width in [40, 80, 200] {
                let text = sample_line(happened, came).render(Some(width));
                assert!(output::display_width(text.trim_end()) <= width, "{width}: {text}");
            }
        }
    }

    #[test]
    fn without_a_terminal_a_line_is_complete() {
        let long = "a long reason ".repeat(20);
        let text = sample_line("Bash npm install", &long).render(None);
        assert_eq!(text, format!("1:03 builder  Bash npm install → {}\n", long.trim()));
    }
}
