//! Files and links that inline code makes: the strings of the code are kept as their contents, so that a later command that
//! runs the file is judged by them.

use super::WrapperCall;
use super::shells::list_literals;
use super::table::words::written_files as words;
use crate::interpret::ShellInterpreter;
use crate::invocation::SymbolicText;

/// How many files of one code are kept.
const MAX_FILES: usize = 4;

/// Longer code is read up to here.
const MAX_CODE: usize = 1 << 14;

/// Keeps the files that the code may write, and the links that it may make.
pub(super) fn note_written_files(interpreter: &mut ShellInterpreter<'_>, job: &WrapperCall<'_>, code: &SymbolicText) {
    let has_any = |text: &str, marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let mut text = code.flatten_patterns().to_string();
    let writes = has_any(&text, words::WRITE_MARKS);
    let links = has_any(&text, words::LINK_MARKS);
    if !(writes || links) {
        return;
    }
    text.truncate(text.floor_char_boundary(MAX_CODE));
    interpreter.spend_bytes(text.len());
    let literals = list_literals(&text);
    let names =
        || literals.iter().map(|literal| literal.trim_start_matches(['>', '+', ' '])).filter(|name| is_file_name(name));
    if let Some((from, to)) = find_link(&text) {
        let argv = ["ln", "-s", "--", from, to].map(SymbolicText::from_text).to_vec();
        interpreter.report_command(job.call.with_argv(argv));
    }
    let contents: Vec<&str> = literals.iter().filter(|literal| literal.contains(' ')).copied().collect();
    if writes && !contents.is_empty() {
        let content = SymbolicText::from_text(contents.join("\n").replace("\\n", "\n") + "\n");
        for name in names().take(MAX_FILES) {
            interpreter.append_file(&SymbolicText::from_text(name), &content);
        }
    }
}

/// The original and the name of a link: the first strings of the call.
fn find_link(text: &str) -> Option<(&str, &str)> {
    let mut reversed = words::REVERSED_LINK_MARKS.iter().filter_map(|mark| text.split_once(mark));
    if let Some((before, after)) = reversed.next() {
        return Some((*list_literals(after).first()?, *list_literals(before).last()?));
    }
    let (_, after) = words::LINK_MARKS.iter().find_map(|mark| text.split_once(mark))?;
    match *list_literals(after) {
        [from, to, ..] if !from.is_empty() && !to.is_empty() => Some((from, to)),
        _ => None,
    }
}

/// Whether a string may name a file.
fn is_file_name(text: &str) -> bool {
    const MAX_NAME: usize = 128;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '~');
    let has_sign = text.contains(['.', '/', '~']) || text.ends_with("file");
    text.len() <= MAX_NAME
        && has_sign
        && text.chars().all(is_plain)
        && text.contains(|c: char| c.is_ascii_alphabetic() || c == '~')
}
