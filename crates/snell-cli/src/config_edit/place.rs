//! Where a key stands in a TOML text, and where a new one goes.

use std::ops::Range;

use snell::{NodeValue, SpannedMember, SpannedNode};

use super::{line_around, quote_toml_string, unchanged_fault};
use crate::install::jsonc::SettingsFault;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableForm {
    /// `[a.b]`.
    Header,
    /// `{ … }`.
    Inline,
    /// By the keys of its members: `a.b = 1`.
    Dotted,
    /// By the header of a table in it: `[a.b]` makes `a`.
    Implied,
    /// `[[a]]`.
    TableArray,
}

/// The longest part of a path that exists.
#[derive(Debug)]
pub(super) struct PathWalk<'n, 'p> {
    /// The values from the root to the last one that exists.
    chain: Vec<&'n SpannedNode>,
    /// That last one.
    pub(super) node: &'n SpannedNode,
    /// The keys that do not exist.
    pub(super) rest: &'p [&'p str],
}

pub(super) fn walk_path<'n, 'p>(root: &'n SpannedNode, path: &'p [&'p str]) -> PathWalk<'n, 'p> {
    let mut chain = vec![root];
    let mut node = root;
    for key in path {
        let Some(child) = node.get(key) else {
            break;
        };
        node = child;
        chain.push(child);
    }
    PathWalk { rest: &path[chain.len() - 1..], node, chain }
}

/// The form of a table, or of an array of tables; nothing for another value. The root has the form of a header.
pub(super) fn form_of(text: &str, node: &SpannedNode) -> Option<TableForm> {
    let written = &text[node.span()];
    match &node.value {
        NodeValue::Array(items) => {
            let is_header = items.first().is_some_and(|first| first.offset == node.offset);
            is_header.then_some(TableForm::TableArray)
        }
        NodeValue::Object(_) if written.is_empty() || written.starts_with('[') => Some(TableForm::Header),
        NodeValue::Object(_) if written.starts_with('{') => Some(TableForm::Inline),
        NodeValue::Object(_) if text[line_around(text, node.span())].trim_start().starts_with('[') => {
            Some(TableForm::Implied)
        }
        NodeValue::Object(_) => Some(TableForm::Dotted),
        _ => None,
    }
}

/// Whether one piece of text is the value.
pub(super) fn is_value(text: &str, node: &SpannedNode) -> bool {
    matches!(form_of(text, node), None | Some(TableForm::Inline))
}

pub(super) fn not_a_value(node: &SpannedNode, path: &[&str]) -> SettingsFault {
    let message = format!("\"{}\" is a table; set or remove one of its keys", path.join("."));
    SettingsFault { at: node.offset, message }
}

/// Adds a key that does not exist.
pub(super) fn insert_key(
    text: &mut String,
    found: &PathWalk<'_, '_>,
    path: &[&str],
    value: &str,
) -> Result<(), SettingsFault> {
    let known = &path[..path.len() - found.rest.len()];
    let Some(form) = form_of(text, found.node) else {
        let message = format!("\"{}\" is not a table, so it has no \"{}\"", known.join("."), found.rest.join("."));
        return Err(SettingsFault { at: found.node.offset, message });
    };
    // Keys in an inline table stay in it.
    let inline = found.chain.iter().rposition(|node| form_of(text, node) == Some(TableForm::Inline));
    if let Some(depth) = inline {
        insert_inline(text, found.chain[depth], &format_pair(&path[depth..], value));
        return Ok(());
    }
    match (form, found.rest) {
        (TableForm::TableArray, _) => return Err(not_a_value(found.node, known)),
        (TableForm::Dotted, _) => {
            let header = found.chain.iter().rposition(|node| form_of(text, node) == Some(TableForm::Header));
            let pair = format_pair(&path[header.unwrap_or_default()..], value);
            let end = last_pair_end(text, found.node).ok_or_else(|| unchanged_fault(path))?;
            insert_line_after(text, end, &pair);
        }
        (TableForm::Header, [key]) => insert_in_section(text, found.node, &format_pair(&[key], value)),
        (TableForm::Header | TableForm::Implied | TableForm::Inline, _) => append_table(text, path, value),
    }
    Ok(())
}

fn insert_inline(text: &mut String, table: &SpannedNode, pair: &str) {
    let close = table.end - 1;
    let inner = &text[table.offset + 1..close];
    let end = table.offset + 1 + inner.trim_end().len();
    let new = match inner.trim() {
        "" => format!(" {pair} "),
        _ => format!(", {pair}"),
    };
    let range = if inner.trim().is_empty() { table.offset + 1..close } else { end..end };
    text.replace_range(range, &new);
}

/// Adds a line to the keys of a header, or of the root.
fn insert_in_section(text: &mut String, table: &SpannedNode, pair: &str) {
    let is_root = table.span().is_empty();
    match last_pair_end(text, table) {
        Some(end) => insert_line_after(text, end, pair),
        None if !is_root => insert_line_after(text, table.end, pair),
        None => insert_first_root_line(text, table, pair),
    }
}

/// Adds the first key of the root: after the comment at the top of the file, and before the first table.
fn insert_first_root_line(text: &mut String, root: &SpannedNode, pair: &str) {
    let newline = newline_of(text);
    if root.members().is_none_or(<[_]>::is_empty) {
        append_line(text, pair);
        return;
    }
    let is_comment = |line: &&str| line.starts_with('#');
    let comment: usize = text.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
    // Without a blank line after it, the comment is about the first table.
    let is_apart = comment > 0 && text[comment..].trim_start_matches('\r').starts_with('\n');
    match is_apart {
        true => text.insert_str(comment, &format!("{newline}{pair}{newline}")),
        false => text.insert_str(0, &format!("{pair}{newline}{newline}")),
    }
}

/// Adds a table with one key at the end.
fn append_table(text: &mut String, path: &[&str], value: &str) {
    let newline = newline_of(text);
    let (table, key) = path.split_at(path.len() - 1);
    let header = format!("[{}]", format_key_path(table));
    if !text.is_empty() {
        complete_last_line(text, newline);
        text.push_str(newline);
    }
    append_line(text, &header);
    append_line(text, &format_pair(key, value));
}

fn append_line(text: &mut String, line: &str) {
    let newline = newline_of(text);
    complete_last_line(text, newline);
    text.push_str(line);
    text.push_str(newline);
}

fn complete_last_line(text: &mut String, newline: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
}

fn insert_line_after(text: &mut String, at: usize, pair: &str) {
    let newline = newline_of(text);
    let line = line_around(text, at..at);
    let indentation: String =
        text[line.start..].chars().take_while(|character| matches!(character, ' ' | '\t')).collect();
    let is_complete = text[..line.end].ends_with('\n');
    let new = match is_complete {
        true => format!("{indentation}{pair}{newline}"),
        false => format!("{newline}{indentation}{pair}{newline}"),
    };
    text.insert_str(line.end, &new);
}

/// The end of the last value that stands in this section of the text, not below another header.
fn last_pair_end(text: &str, table: &SpannedNode) -> Option<usize> {
    let end_of = |member: &SpannedMember| match form_of(text, &member.node) {
        None | Some(TableForm::Inline) => Some(member.node.end),
        Some(TableForm::Dotted) => last_pair_end(text, &member.node),
        Some(TableForm::Header | TableForm::Implied | TableForm::TableArray) => None,
    };
    table.members()?.iter().filter_map(end_of).max()
}

/// The bytes to remove for a key: its lines, its part of an inline table, or the whole table if it has no other content.
pub(super) fn find_removal(text: &str, root: &SpannedNode, path: &[&str]) -> Option<Range<usize>> {
    let (key, parents) = path.split_last()?;
    let walk = walk_path(root, parents);
    let member = walk.node.members()?.iter().find(|member| member.key == *key)?;
    let inline = walk.chain.iter().rposition(|node| form_of(text, node) == Some(TableForm::Inline));
    if let Some(depth) = inline {
        return find_inline_removal(text, walk.chain[depth], member);
    }
    let lines = line_around(text, member.span());
    let header = walk.chain.iter().rfind(|node| form_of(text, node) == Some(TableForm::Header))?;
    if header.span().is_empty() {
        return Some(lines);
    }
    let from_header = line_around(text, header.span()).start;
    let is_bare = |part: &str| part.lines().all(|line| line.trim().is_empty());
    let header_line = line_around(text, header.span());
    let section_end = find_next_header(text, root, lines.end);
    let is_only = is_bare(text.get(header_line.end..lines.start)?)
        && is_bare(&text[lines.end..section_end])
        && text[header.end..header_line.end].trim().is_empty()
        && !has_comment_above(text, from_header);
    if !is_only {
        return Some(lines);
    }
    // The blank line before the header goes with it.
    let before = &text[..from_header];
    let blank = ["\r\n", "\n"].into_iter().find(|newline| before.ends_with(newline));
    let has_blank = blank.is_some_and(|newline| {
        let rest = &before[..before.len() - newline.len()];
        rest.is_empty() || rest.ends_with('\n')
    });
    Some(from_header - blank.filter(|_| has_blank).map_or(0, str::len)..lines.end)
}

fn has_comment_above(text: &str, line_start: usize) -> bool {
    text[..line_start].lines().last().is_some_and(|line| line.trim_start().starts_with('#'))
}

/// The start of the next header behind this offset, or the end of the text.
fn find_next_header(text: &str, root: &SpannedNode, from: usize) -> usize {
    fn collect_headers(text: &str, node: &SpannedNode, starts: &mut Vec<usize>) {
        if matches!(form_of(text, node), Some(TableForm::Header)) {
            starts.push(node.offset);
        }
        let members = node.members().unwrap_or_default().iter().map(|member| &member.node);
        members.chain(node.items().unwrap_or_default()).for_each(|child| collect_headers(text, child, starts));
    }
    let mut starts = Vec::new();
    collect_headers(text, root, &mut starts);
    starts.into_iter().filter(|start| *start >= from).min().unwrap_or(text.len())
}

/// A pair of an inline table with its comma. The pair of a dotted key begins with the first key.
fn find_inline_removal(text: &str, table: &SpannedNode, member: &SpannedMember) -> Option<Range<usize>> {
    let inner = table.offset + 1..table.end - 1;
    let pair_start = text[inner.start..member.key_offset].rfind([',', '{']).map_or(inner.start, |at| inner.start + at);
    let after = &text[member.node.end..inner.end];
    let has_comma_before = text[pair_start..].starts_with(',');
    match after.find(|character: char| !character.is_whitespace()) {
        Some(at) if after[at..].starts_with(',') && !has_comma_before => Some(pair_start..member.node.end + at + 1),
        _ if has_comma_before => Some(pair_start..member.node.end),
        Some(_) => None,
        None => Some(inner),
    }
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn format_pair(path: &[&str], value: &str) -> String {
    format!("{} = {value}", format_key_path(path))
}

/// A dotted key. Parts that are not bare keys are quoted.
fn format_key_path(path: &[&str]) -> String {
    let is_bare = |key: &str| {
        !key.is_empty() && key.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character))
    };
    let parts: Vec<_> =
        path.iter().map(|key| if is_bare(key) { (*key).to_owned() } else { quote_toml_string(key) }).collect();
    parts.join(".")
}
