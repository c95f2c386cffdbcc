//! The only module that prints: styled text on a terminal, plain text and JSON elsewhere.

pub(crate) mod hook;
pub(crate) mod log;
pub(crate) mod pager;
mod spinner;
mod table;
mod text_width;
pub(crate) mod time;

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use serde::Serialize;
use snell::{Diagnostic, Severity, UserMessage, mark_invisible_chars};
use snell_server::reconciler::tmux::TmuxError;
use snell_server::{ServeError, TokenError};
use snell_store::StoreError;

pub(crate) use pager::{finish_paging, start_paging};
pub(crate) use spinner::Spinner;
pub(crate) use table::{TableColumn, TextTable};
pub(crate) use text_width::{display_width, pad_to_width, truncate_to_width, wrap_lines};

/// The style of a text on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Plain,
    Bold,
    Faint,
    Red,
    Green,
    Yellow,
    /// The user should act.
    Urgent,
}

impl TextStyle {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Red => "\u{1b}[31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
            Self::Urgent => "\u{1b}[1;33m",
        }
    }
}

/// Prints a line.
pub(crate) fn print_line(text: &str) {
    write_stdout(&format!("{}\n", escape_invisible(text)));
}

/// Prints a text unchanged.
pub(crate) fn print_text(text: &str) {
    write_stdout(text);
}

/// The least room for the value of a field. With less, its lines are not wrapped.
const MIN_FIELD_CELLS: usize = 20;

/// Prints a label of so many cells and a value. On a terminal a long value is wrapped, and its lines are indented.
pub(crate) fn print_field(label: &str, label_cells: usize, value: &str) {
    let room = terminal_width().map(|terminal| terminal.saturating_sub(label_cells + 1));
    let lines = wrap_lines(&escape_invisible(value), room.filter(|room| *room >= MIN_FIELD_CELLS), usize::MAX);
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    for (label, line) in labels.zip(if lines.is_empty() { vec![String::new()] } else { lines }) {
        write_stdout(&format!("{label:<label_cells$} {line}\n"));
    }
}

/// Prints the heading of a part.
pub(crate) fn print_heading(text: &str) {
    write_stdout(&format!("{}\n", apply_style(text, TextStyle::Bold)));
}

/// Prints a line of minor importance.
pub(crate) fn print_faint(text: &str) {
    write_stdout(&format!("{}\n", apply_style(&escape_invisible(text), TextStyle::Faint)));
}

/// Prints a unified diff: byte for byte for programs, with control characters escaped on a terminal.
pub(crate) fn print_diff(text: &str) {
    if !is_terminal() {
        write_stdout(text);
        return;
    }
    let mut shown = String::new();
    for line in text.split('\n') {
        let style = match line.as_bytes().first() {
            Some(b'+') => TextStyle::Green,
            Some(b'-') => TextStyle::Red,
            Some(b'@') => TextStyle::Faint,
            _ => TextStyle::Plain,
        };
        let parts: Vec<_> = line.split('\t').map(escape_invisible).collect();
        shown.push_str(&apply_style(&parts.join("\t"), style));
        shown.push('\n');
    }
    shown.pop();
    write_stdout(&shown);
}

/// Prints a finding as `path:line:column: severity: message`, with its hint on the next line.
pub(crate) fn print_diagnostic(found: &Diagnostic) {
    let Diagnostic { severity, path, line, column, message, hint } = found;
    let style = match severity {
        Severity::Error => TextStyle::Red,
        Severity::Warning => TextStyle::Yellow,
    };
    let severity = apply_style(&severity.to_string(), style);
    let (path, message) = (escape_invisible(path), escape_invisible(message));
    write_stdout(&format!("{path}:{line}:{column}: {severity}: {message}\n"));
    if let Some(hint) = hint {
        write_stdout(&format!("  {}: {}\n", apply_style("hint", TextStyle::Green), escape_invisible(hint)));
    }
}

/// Prints a value as JSON: indented on a terminal, else on one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = if io::stdout().is_terminal() {
        escape_invisible_json(&serde_json::to_string_pretty(value)?)
    } else {
        serde_json::to_string(value)?
    };
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // The reader closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write the result"),
    }
}

/// Prints a value as JSON on one line, and flushes it.
pub(crate) fn print_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value)?;
    if io::stdout().is_terminal() {
        text = escape_invisible_json(&text);
    }
    write_stdout(&format!("{text}\n"));
    Ok(())
}

/// Standard error, for the log of a server.
pub(crate) fn stderr_writer() -> impl Write {
    spinner::erase_spinner();
    io::stderr()
}

/// The buffer of [`stdout_writer`].
const STDOUT_BUFFER_BYTES: usize = 64 * 1024;

/// Standard output, for text that is written in pieces.
pub(crate) fn stdout_writer() -> impl Write {
    if is_terminal() {
        spinner::forbid_spinners();
    }
    io::BufWriter::with_capacity(STDOUT_BUFFER_BYTES, io::stdout().lock())
}

/// Whether standard output may still have a reader: not if the other end of the pipe is closed.
pub(crate) fn is_stdout_open() -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec::default();
    match poll(&mut fds, Some(&at_once)) {
        Ok(_) => !fds[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL),
        Err(_) => true,
    }
}

/// Whether standard output is a device that discards what is written, as the null device does: a character device that is no
/// terminal. A closed descriptor is one as well, because the runtime opens the null device in its place.
pub(crate) fn is_stdout_discarded() -> bool {
    let stdout = io::stdout();
    let is_device =
        rustix::fs::fstat(&stdout).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice);
    is_device && !stdout.is_terminal()
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Replaces the text on the screen, cut to the terminal's lines.
pub(crate) fn redraw_screen(text: &str) {
    let lines = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
    let most = if lines > 1 { lines - 1 } else { usize::MAX };
    // Overwriting flickers less than clearing.
    let mut shown = "\u{1b}[H".to_owned();
    for line in text.lines().take(most) {
        shown.push_str(line);
        shown.push_str("\u{1b}[K\n");
    }
    shown.push_str("\u{1b}[J");
    write_stdout(&shown);
}

/// Writes the answer to an agent on one line, and flushes it.
///
/// It is written to the descriptor itself: the standard library reports success for one that was not opened for writing.
pub(crate) fn write_answer(line: &str) -> anyhow::Result<()> {
    let stdout = io::stdout().lock();
    let text = format!("{line}\n");
    let mut left = text.as_bytes();
    while !left.is_empty() {
        match rustix::io::write(&stdout, left) {
            Ok(0) => bail!("cannot write the answer"),
            Ok(written) => left = left.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error).context("cannot write the answer"),
        }
    }
    Ok(())
}

/// Prints a remark to standard error: `note: …`.
pub(crate) fn print_note(message: impl Into<UserMessage>) {
    print_message("note", &message.into());
}

/// Prints a problem that does not end the command to standard error: `warning: …`.
pub(crate) fn print_warning(message: impl Into<UserMessage>) {
    print_message("warning", &message.into());
}

/// Prints a finding to standard error: `path:line:column: severity: message`.
pub(crate) fn print_finding(found: &Diagnostic) {
    let Diagnostic { severity, path, line, column, .. } = found;
    print_message(&format!("{}:{line}:{column}: {severity}", escape_invisible(path)), &found.user_message());
}

/// Prints the reason of a denial, for agents that read standard error.
pub(crate) fn print_denial(reason: &str) {
    write_stderr(&format!("snell: {}\n", escape_invisible(reason)));
}

/// Writes `label: text` and `hint: …` to standard error, each on a line of its own.
fn print_message(label: &str, message: &UserMessage) {
    if IS_MUTED.load(Ordering::Relaxed) {
        return;
    }
    let speaker = if IS_CALLED_BY_AGENT.load(Ordering::Relaxed) { "snell: " } else { "" };
    let mut lines = format!("{speaker}{label}: {}\n", escape_invisible(&message.text));
    if let Some(hint) = &message.hint {
        lines.push_str(&format!("{speaker}hint: {}\n", escape_invisible(hint)));
    }
    write_stderr(&lines);
}

/// Prepares standard error for an agent. Every line starts with `snell: `, because agents mix the lines of several hooks.
/// Text that does not fit into a full pipe is dropped, because a hook must not wait before it has answered.
pub(crate) fn set_called_by_agent() {
    IS_CALLED_BY_AGENT.store(true, Ordering::Relaxed);
}

/// Suppresses messages on standard error, except the reason of a denial, because the agent shows them to its user on every event.
pub(crate) fn mute_messages() {
    IS_MUTED.store(true, Ordering::Relaxed);
}

static IS_MUTED: AtomicBool = AtomicBool::new(false);

static IS_CALLED_BY_AGENT: AtomicBool = AtomicBool::new(false);

/// The bytes that a ready pipe takes without blocking.
const PIPE_CHUNK_BYTES: usize = 4096;

fn write_stderr_nowait(text: &str) {
    let mut stderr = io::stderr().lock();
    for part in text.as_bytes().chunks(PIPE_CHUNK_BYTES) {
        let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
        let is_ready = poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        if !is_ready || stderr.write_all(part).is_err() {
            return;
        }
    }
}

/// The reason why the command failed, in the form `error: …`, with the hint of its cause.
pub(crate) fn print_error(error: &anyhow::Error) {
    // A `CommandError` may be a context, which only `anyhow::Error` itself can find.
    let own = error.downcast_ref::<CommandError>().and_then(|error| error.0.hint.clone());
    let hint = own.or_else(|| error.chain().find_map(find_hint));
    print_message("error", &UserMessage { text: format!("{error:#}"), hint });
}

fn find_hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<CommandError>() {
        return error.0.hint.clone();
    }
    if let Some(error) = cause.downcast_ref::<TokenError>() {
        return error.hint();
    }
    let store_hint = || cause.downcast_ref::<StoreError>()?.hint();
    let tmux_hint = || cause.downcast_ref::<TmuxError>()?.hint();
    let serve_hint = cause.downcast_ref::<ServeError>().and_then(ServeError::hint);
    serve_hint.or_else(store_hint).or_else(tmux_hint).map(str::to_owned)
}

/// The failure of a command, with a hint: `return Err(CommandError::new("…").with_hint("…").into())`. It also serves as the
/// context of another error.
#[derive(Debug)]
pub(crate) struct CommandError(UserMessage);

impl CommandError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(UserMessage::new(text))
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.with_hint(hint))
    }
}

impl From<UserMessage> for CommandError {
    fn from(message: UserMessage) -> Self {
        Self(message)
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for CommandError {}

/// Prints help, the version, or a mistake on the command line, in clap's words.
pub(crate) fn print_clap_message(error: &clap::Error) {
    // A failure to print cannot be reported.
    let _ = error.print();
}

/// `1 hook`, `2 hooks`.
pub(crate) fn format_count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// A text on one line, cut to this many cells.
pub(crate) fn shorten_to_one_line(text: &str, cells: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    truncate_to_width(&words.join(" "), cells)
}

/// Text from files and payloads with invisible characters escaped, so that it cannot control a terminal or break a line.
pub(crate) fn escape_invisible(text: &str) -> String {
    escape_chars(text, |c, is_seen| (!is_seen || c.is_control()).then(|| c.escape_default().to_string()))
}

/// JSON with invisible characters escaped. They occur only in strings, where an escape means the same.
pub(crate) fn escape_invisible_json(text: &str) -> String {
    let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    escape_chars(text, |c, is_seen| (!is_seen).then(|| escape(c)))
}

/// Replaces each character for which `escape` returns a text.
fn escape_chars(text: &str, escape: impl Fn(char, bool) -> Option<String>) -> String {
    let mut harmless = String::with_capacity(text.len());
    for (c, is_seen) in mark_invisible_chars(text) {
        match escape(c, is_seen) {
            Some(escaped) => harmless.push_str(&escaped),
            None => harmless.push(c),
        }
    }
    harmless
}

/// The text with its style, if standard output shows colours.
pub(crate) fn apply_style(text: &str, style: TextStyle) -> String {
    match style {
        TextStyle::Plain => text.to_owned(),
        _ if text.is_empty() => String::new(),
        style if has_colours() => format!("{}{text}\u{1b}[0m", style.ansi_code()),
        _ => text.to_owned(),
    }
}

/// Whether standard output shows colours, and the user wants them.
pub(crate) fn has_colours() -> bool {
    io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The width of the terminal; nothing if standard output is not a terminal or does not report its width.
pub(crate) fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).ok()?.ws_col;
    (columns > 0).then_some(usize::from(columns))
}

fn write_stdout(text: &str) {
    if pager::collect_text(text) {
        return;
    }
    spinner::erase_spinner();
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        // The reader closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => {
            if !WRITE_FAILED.swap(true, Ordering::Relaxed) {
                print_message("error", &UserMessage::new(format!("cannot write the output: {error}")));
            }
        }
    }
}

/// Whether some output could not be written.
pub(crate) fn has_write_failed() -> bool {
    WRITE_FAILED.load(Ordering::Relaxed)
}

static WRITE_FAILED: AtomicBool = AtomicBool::new(false);

fn write_stderr(text: &str) {
    if IS_CALLED_BY_AGENT.load(Ordering::Relaxed) {
        return write_stderr_nowait(text);
    }
    if pager::collect_message(text) {
        return;
    }
    spinner::erase_spinner();
    // A failure to print cannot be reported.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
