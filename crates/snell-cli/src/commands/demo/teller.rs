//! What people read in the terminal: one line for each thing that happens, with what came of it.

use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use super::stage::Stage;
use crate::output::{self, Style, harmless, in_brief, shortened, styled, wrapped};

/// How wide a terminal is of which that is not known.
const USUAL_WIDTH: usize = 80;

/// Room for the time, and for the longest name.
const TIME_WIDTH: usize = 4;
const NAME_WIDTH: usize = 8;

/// Of what happened this much is told at least, if what came of it is long.
const LEAST_HAPPENED: usize = 29;

/// The fields of a tool's input that say what a call is about, the first that is there.
const PRINCIPAL: &[&str] = &["command", "file_path", "to"];

/// The first lines.
pub(super) fn announce(url: &str, stage: &Stage) {
    let shown = styled(url, Style::Bold);
    output::text(&format!("Snell's page: {shown}\n"));
    output::faint(&format!("Its files:    {}", stage.root().display()));
    for line in wrapped(
        "Three agents are played. Their hooks are real; no tool is run.",
        width(),
        usize::MAX,
    ) {
        output::faint(&line);
    }
}

/// Says something in lines as wide as the terminal, and no more than so many of them.
pub(super) fn say(text: &str, most: usize) {
    for line in wrapped(text, width(), most) {
        output::line(&line);
    }
}

/// How wide the terminal is; nothing if it is none.
pub(super) fn width() -> Option<usize> {
    output::is_terminal().then(|| output::terminal_width().unwrap_or(USUAL_WIDTH))
}

/// One thing that happened, and what came of it.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) at: Duration,
    pub(super) who: &'a str,
    pub(super) happened: String,
    pub(super) came: String,
    pub(super) style: Style,
}

impl Line<'_> {
    /// On a terminal it is as long as one line there, and whole elsewhere.
    pub(super) fn tell(&self) {
        output::text(&self.text(width()));
    }

    fn text(&self, width: Option<usize>) -> String {
        let (happened, came) = (on_one_line(&self.happened), on_one_line(&self.came));
        let (happened, came) = match width {
            Some(width) => {
                let room = width.saturating_sub(TIME_WIDTH + 1 + NAME_WIDTH + 1 + 3);
                let happened_room = room
                    .saturating_sub(output::width(&came))
                    .max(LEAST_HAPPENED.min(room / 2));
                let happened = shortened(&happened, happened_room);
                let came = shortened(&came, room.saturating_sub(output::width(&happened)));
                (happened, came)
            }
            None => (happened, came),
        };
        let seconds = self.at.as_secs();
        let time = styled(&format!("{}:{:02}", seconds / 60, seconds % 60), Style::Faint);
        let who = styled(&format!("{:NAME_WIDTH$}", self.who), Style::Bold);
        format!("{time} {who} {happened} → {}\n", styled(&came, self.style))
    }
}

/// What came of an answer, in a few words.
pub(super) fn outcome(answer: &Answer) -> (String, Style) {
    if let Some(reason) = &answer.blocked {
        return (format!("blocked: {reason}"), Style::Red);
    }
    if let Some(reason) = &answer.asked {
        return (format!("its user must be asked: {reason}"), Style::Urgent);
    }
    if let Some(input) = &answer.changed {
        return (format!("changed to {}", about(input)), Style::Yellow);
    }
    if !answer.context.is_empty() {
        return (format!("context: {}", for_people(&answer.context)), Style::Green);
    }
    ("goes on".into(), Style::Faint)
}

/// What a model is told, without the mark that tells it by whom.
pub(super) fn for_people(context: &[String]) -> String {
    let told = context.iter().map(|text| match text.split_once("]: ") {
        Some((mark, text)) if mark.starts_with('[') && !mark.contains('\n') => text,
        _ => text,
    });
    told.collect::<Vec<_>>().join(" · ")
}

/// What a tool's input is about.
pub(super) fn about(input: &Value) -> &str {
    let told = PRINCIPAL.iter().find_map(|field| input[field].as_str());
    told.unwrap_or_default()
}

/// Several lines as one.
pub(super) fn on_one_line(text: &str) -> String {
    let lines = text.lines().map(|line| in_brief(line, usize::MAX));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    harmless(&lines.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(happened: &str, came: &str) -> Line<'static> {
        Line {
            at: Duration::from_secs(63),
            who: "builder",
            happened: happened.into(),
            came: came.into(),
            style: Style::Plain,
        }
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal() {
        let (short, long) = ("npm install", "a long reason ".repeat(20));
        for (happened, came) in [(short, short), (short, &long), (&long, short), (&long, &long)] {
            for width in [40, 80, 200] {
                let text = line(happened, came).text(Some(width));
                assert!(output::width(text.trim_end()) <= width, "{width}: {text}");
            }
        }
    }

    #[test]
    fn where_nobody_looks_a_line_is_whole() {
        let long = "a long reason ".repeat(20);
        let text = line("Bash npm install", &long).text(None);
        assert_eq!(text, format!("1:03 builder  Bash npm install → {}\n", long.trim()));
    }
}
