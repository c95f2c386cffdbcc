//! Edits a settings file as text: adds and removes entries, and keeps every other byte.
//!
//! `remove` is the inverse of `append`, in every layout. Both work on the current text, so other changes in between do no harm.

mod layout;
mod trivia;

use std::ops::Range;

use layout::JsonLayout;
pub(super) use layout::render_value;
use snell::{SpannedMember, SpannedNode};
use trivia::{
    JsonComment, find_blanks_start, find_comma, find_last_comment, find_last_comment_on_line, is_line_start,
    line_indentation,
};

/// One step of a path in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonPathStep<'a> {
    Key(&'a str),
    Item(usize),
}

/// A problem in a text, and its offset.
#[derive(Debug)]
pub(crate) struct SettingsFault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// A settings file.
#[derive(Clone, Debug)]
pub(crate) struct SettingsDocument {
    /// Whether the text begins with a byte order mark.
    has_bom: bool,
    text: String,
    root: Option<SpannedNode>,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl SettingsDocument {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingsFault> {
        let body = text.strip_prefix(BYTE_ORDER_MARK);
        let marked = body.is_some();
        let text = body.unwrap_or(text).to_owned();
        let root = parse_settings(&text)?;
        Ok(Self { has_bom: marked, text, root })
    }

    /// The whole file.
    pub(crate) fn text(&self) -> String {
        let mark = if self.has_bom { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.text)
    }

    /// The value of the file; nothing if it is empty.
    pub(crate) fn root(&self) -> Option<&SpannedNode> {
        self.root.as_ref()
    }

    pub(crate) fn node_at(&self, path: &[JsonPathStep<'_>]) -> Option<&SpannedNode> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| match step {
            JsonPathStep::Key(key) => node.get(key),
            JsonPathStep::Item(index) => node.items()?.get(*index),
        })
    }

    /// The source text of a value.
    pub(super) fn text_of(&self, node: &SpannedNode) -> &str {
        &self.text[node.span()]
    }

    /// The line number of a value.
    pub(crate) fn line_number(&self, node: &SpannedNode) -> usize {
        line_and_column(&self.text, node.offset).0
    }

    /// Adds an object to a file without a value.
    pub(super) fn begin_object(&mut self) -> Result<(), SettingsFault> {
        let newline = JsonLayout::detect(self).newline;
        let end = self.text.len();
        let object = if self.text.is_empty() || self.text.ends_with('\n') {
            format!("{{}}{newline}")
        } else {
            format!("{newline}{{}}")
        };
        self.apply_splices(vec![(end..end, object)])
    }

    /// Undoes [`SettingsDocument::begin_object`].
    pub(super) fn remove_root(&mut self) -> Result<(), SettingsFault> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let Range { mut start, mut end } = root.span();
        let newlines = ["\r\n", "\n"];
        if let Some(newline) = newlines.iter().find(|newline| self.text[end..].starts_with(**newline)) {
            end += newline.len();
        } else if let Some(newline) = newlines.iter().find(|newline| self.text[..start].ends_with(**newline)) {
            start -= newline.len();
        }
        self.apply_splices(vec![(start..end, String::new())])
    }

    /// Appends to an object or an array.
    pub(super) fn append(
        &mut self,
        path: &[JsonPathStep<'_>],
        key: Option<&str>,
        value: &serde_json::Value,
    ) -> Result<(), SettingsFault> {
        let Some(container) = self.node_at(path) else {
            return Ok(());
        };
        let layout = JsonLayout::detect(self);
        let item = layout.render_item(key, value);
        let splices = match last_child_span(container) {
            None => vec![self.splice_into_empty(container, &item, &layout)],
            Some(last) => self.splices_after_last(container, &last, &item, &layout),
        };
        self.apply_splices(splices)
    }

    /// The edit for a container that holds only comments.
    fn splice_into_empty(&self, container: &SpannedNode, item: &str, layout: &JsonLayout) -> (Range<usize>, String) {
        let (open, close) = (container.offset + 1, container.end - 1);
        let comment = find_last_comment(&self.text, open);
        let at = comment.as_ref().map_or(open, |comment| comment.span.end);
        let on_a_line = container.members().is_some() && !layout.is_one_line;
        if !on_a_line && comment.is_none_or(|comment| !comment.ends_line) {
            return (at..at, item.to_owned());
        }
        let (newline, outer) = (layout.newline, line_indentation(&self.text, container.offset));
        let mut text = format!("{newline}{outer}{}{item}", layout.indentation);
        if !self.text[at..close].contains('\n') {
            text.push_str(&format!("{newline}{outer}"));
        }
        (at..at, text)
    }

    /// The edits after the last item of a container.
    fn splices_after_last(
        &self,
        container: &SpannedNode,
        last: &Range<usize>,
        item: &str,
        layout: &JsonLayout,
    ) -> Vec<(Range<usize>, String)> {
        let text = &self.text;
        let comma = find_comma(text, last.end);
        let end = comma.unwrap_or(last.end);
        // A comment after the last item belongs to that item.
        let comment = find_last_comment_on_line(text, end);
        let at = comment.as_ref().map_or(end, |comment| comment.span.end);
        let gap = if is_line_start(text, last.start) {
            format!("{}{}", layout.newline, line_indentation(text, last.start))
        } else if comment.is_some_and(|comment| comment.ends_line) {
            let outer = line_indentation(text, container.offset);
            format!("{}{outer}{}", layout.newline, layout.indentation)
        } else {
            layout.separator_blank().to_owned()
        };
        if comma.is_some() {
            vec![(at..at, format!("{gap}{item},"))]
        } else {
            vec![(end..end, ",".into()), (at..at, format!("{gap}{item}"))]
        }
    }

    /// Removes a member or an item.
    pub(super) fn remove(&mut self, path: &[JsonPathStep<'_>]) -> Result<(), SettingsFault> {
        let Some((step, outer)) = path.split_last() else {
            return Ok(());
        };
        let Some((open, spans)) = self.node_at(outer).map(|node| (node.offset + 1, child_spans(node))) else {
            return Ok(());
        };
        let index = match step {
            JsonPathStep::Item(index) => Some(*index),
            JsonPathStep::Key(key) => self
                .node_at(outer)
                .and_then(SpannedNode::members)
                .and_then(|members| members.iter().rposition(|member| member.key == *key)),
        };
        match index.filter(|index| *index < spans.len()) {
            Some(index) => self.apply_splices(self.removal_splices(open, &spans, index)),
            None => Ok(()),
        }
    }

    /// The edits that remove one of these siblings and its comma. `open` is the start of their container's content.
    fn removal_splices(&self, open: usize, spans: &[Range<usize>], index: usize) -> Vec<(Range<usize>, String)> {
        let text = &self.text;
        let own = &spans[index];
        let comma = find_comma(text, own.end);
        if let (Some(comma), Some(next)) = (comma, spans.get(index + 1)) {
            let between = &text[comma..next.start];
            if comma == own.end + 1 && between.trim().is_empty() && !between.contains('\n') {
                return vec![(own.start..next.start, String::new())];
            }
        }
        let previous = index.checked_sub(1).and_then(|previous| find_comma(text, spans[previous].end));
        let comment = find_last_comment(text, previous.unwrap_or(open)).filter(|comment| comment.span.end <= own.start);
        // The rest of the line must not become part of a comment above it.
        let behind = comma
            .map_or(text[own.end..].to_owned(), |comma| format!("{}{}", &text[own.end..comma - 1], &text[comma..]));
        let follows = behind.lines().next().is_some_and(|line| !line.trim().is_empty());
        let start = if follows && comment.is_some_and(|comment| comment.ends_line) {
            own.start
        } else {
            find_blanks_start(text, own.start)
        };
        let mut splices = vec![(start..own.end, String::new())];
        let needed = comma.or(previous);
        splices.extend(needed.map(|comma| (comma - 1..comma, String::new())));
        splices
    }

    /// Replaces a value.
    pub(super) fn replace(
        &mut self,
        path: &[JsonPathStep<'_>],
        value: &serde_json::Value,
    ) -> Result<(), SettingsFault> {
        let Some(span) = self.node_at(path).map(SpannedNode::span) else {
            return Ok(());
        };
        let text = render_value(value, JsonLayout::detect(self).separator_blank());
        self.apply_splices(vec![(span, text)])
    }

    /// The blanks in an empty container, after the last comment.
    pub(super) fn blank_inside(&self, path: &[JsonPathStep<'_>]) -> Option<String> {
        self.find_blank_span(path).map(|(room, _)| self.text[room].to_owned())
    }

    /// Sets those blanks, unless the following text would become part of a comment.
    pub(super) fn set_blank_inside(&mut self, path: &[JsonPathStep<'_>], blank: &str) -> Result<(), SettingsFault> {
        let Some((room, comment)) = self.find_blank_span(path) else {
            return Ok(());
        };
        if comment.is_some_and(|comment| comment.ends_line) && !blank.contains('\n') {
            return Ok(());
        }
        self.apply_splices(vec![(room, blank.to_owned())])
    }

    /// Whether an empty container has comments.
    pub(super) fn has_comments_inside(&self, path: &[JsonPathStep<'_>]) -> bool {
        self.find_blank_span(path).is_some_and(|(_, comment)| comment.is_some())
    }

    /// The span of the blanks in an empty container, and the comment before them.
    fn find_blank_span(&self, path: &[JsonPathStep<'_>]) -> Option<(Range<usize>, Option<JsonComment>)> {
        let container = self.node_at(path)?;
        let is_container = container.members().is_some() || container.items().is_some();
        if !is_container || last_child_span(container).is_some() {
            return None;
        }
        let open = container.offset + 1;
        let comment = find_last_comment(&self.text, open);
        let start = comment.as_ref().map_or(open, |comment| comment.span.end);
        Some((start..container.end - 1, comment))
    }

    fn apply_splices(&mut self, mut splices: Vec<(Range<usize>, String)>) -> Result<(), SettingsFault> {
        let mut text = self.text.clone();
        // From the end, so that earlier offsets stay valid. Of two at one offset, the first comes first.
        splices.sort_by_key(|(span, _)| span.start);
        for (span, replacement) in splices.into_iter().rev() {
            text.replace_range(span, &replacement);
        }
        self.root = parse_settings(&text)?;
        self.text = text;
        Ok(())
    }
}

fn parse_settings(text: &str) -> Result<Option<SpannedNode>, SettingsFault> {
    SpannedNode::parse_json(text)
        .map_err(|error| SettingsFault { at: error.offset, message: format!("is not valid JSON: {}", error.message) })
}

/// The spans of the members or items of a container.
fn child_spans(container: &SpannedNode) -> Vec<Range<usize>> {
    match (container.members(), container.items()) {
        (Some(members), _) => members.iter().map(SpannedMember::span).collect(),
        (_, Some(items)) => items.iter().map(SpannedNode::span).collect(),
        _ => Vec::new(),
    }
}

fn last_child_span(container: &SpannedNode) -> Option<Range<usize>> {
    child_spans(container).pop()
}

/// The line and the column of an offset, both counted from 1.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
