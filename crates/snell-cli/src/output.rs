//! The only place that prints: text for people on a terminal, plain text and JSON for everybody else.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use serde::Serialize;
use snell::{Diagnostic, Severity};

/// What a text is to people.
#[derive(Clone, Copy)]
enum Style {
    Plain,
    Bold,
    Faint,
    Red,
    Yellow,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Yellow => "\u{1b}[33m",
        }
    }
}

/// A line of text.
pub(crate) fn line(text: &str) {
    write_out(&format!("{}\n", harmless(text)));
}

/// A text as it is.
pub(crate) fn text(text: &str) {
    write_out(text);
}

/// A line that begins a part.
pub(crate) fn heading(text: &str) {
    write_out(&format!("{}\n", styled(text, Style::Bold)));
}

/// A line that may be overlooked.
pub(crate) fn faint(text: &str) {
    write_out(&format!("{}\n", styled(&harmless(text), Style::Faint)));
}

/// A finding, as `path:line:column: severity: message`.
pub(crate) fn diagnostic(found: &Diagnostic) {
    let Diagnostic {
        severity,
        path,
        line,
        column,
        message,
    } = found;
    let style = match severity {
        Severity::Error => Style::Red,
        Severity::Warning => Style::Yellow,
    };
    let severity = styled(&severity.to_string(), style);
    let (path, message) = (harmless(path), harmless(message));
    write_out(&format!("{path}:{line}:{column}: {severity}: {message}\n"));
}

/// A value as JSON: on one line, or indented for a terminal.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = if io::stdout().is_terminal() {
        serde_json::to_string_pretty(value)?
    } else {
        serde_json::to_string(value)?
    };
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // Whoever reads it has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write the result"),
    }
}

/// A remark beside the output.
pub(crate) fn note(text: &str) {
    write_err(&format!("snell: {}\n", harmless(text)));
}

/// Why the command failed.
pub(crate) fn error(error: &anyhow::Error) {
    write_err(&format!("snell: {}\n", harmless(&format!("{error:#}"))));
}

/// Help, version, or a mistake on the command line, as the argument parser words it.
pub(crate) fn clap_message(error: &clap::Error) {
    // Nothing is left to tell anybody if even this cannot be printed.
    let _ = error.print();
}

/// `1 hook`, `2 hooks`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Aligned columns. On a terminal one column, and only then the widest, is shortened until a row fits on a line.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
    flexible: usize,
}

impl<const N: usize> Table<N> {
    /// `flexible` is the column to shorten first.
    pub(crate) fn new(titles: [&str; N], flexible: usize) -> Self {
        Self {
            flexible,
            rows: vec![titles.map(str::to_owned)],
        }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| harmless(&cell)));
    }

    pub(crate) fn print(&self) {
        let widths = self.widths(terminal_width());
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let cell = shortened(cell, width);
                let padding = width - cell.chars().count() + 2;
                line.push_str(&cell);
                line.extend(std::iter::repeat_n(' ', padding));
            }
            let style = if index == 0 { Style::Bold } else { Style::Plain };
            text.push_str(&styled(line.trim_end(), style));
            text.push('\n');
        }
        write_out(&text);
    }

    fn widths(&self, room: Option<usize>) -> [usize; N] {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let Some(room) = room else {
            return widths;
        };
        let excess =
            |widths: &[usize; N]| (widths.iter().sum::<usize>() + 2 * N.saturating_sub(1)).saturating_sub(room);
        if let Some(width) = widths.get(self.flexible) {
            widths[self.flexible] = width.saturating_sub(excess(&widths)).max((*width).min(20));
        }
        while excess(&widths) > 0 {
            match widths.iter_mut().max() {
                Some(widest) if *widest > 4 => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Text from files and payloads, with control characters made visible: nothing in it may steer a terminal.
fn harmless(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let control = c.is_control() || is_bidi_control(c);
            let escaped = control.then(|| c.escape_default());
            let plain = (!control).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Characters that turn the direction of text around, and with it what a reader sees.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn styled(text: &str, style: Style) -> String {
    let colours = io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    match style {
        Style::Plain => text.to_owned(),
        style if colours => format!("{}{text}\u{1b}[0m", style.code()),
        _ => text.to_owned(),
    }
}

fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col;
    (columns > 0).then_some(usize::from(columns))
}

fn write_out(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            if !FAILED.swap(true, Ordering::Relaxed) {
                write_err(&format!("snell: cannot write the output: {error}\n"));
            }
        }
    }
}

/// Whether some output could not be written.
pub(crate) fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

static FAILED: AtomicBool = AtomicBool::new(false);

fn write_err(text: &str) {
    // Nobody is left to be told if this fails.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
