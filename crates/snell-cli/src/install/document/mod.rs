//! A settings file whose owner wrote it the way he likes it: entries are added and removed by putting text in and taking
//! text out, and whatever else stands there, down to the last blank, is not touched.
//!
//! Taking out is the inverse of putting in: what `append` did, `remove` undoes, in every layout. Both look at the file as
//! it is now, so it does not matter who else has changed it in between.

mod gaps;
mod layout;
mod node;

use std::ops::Range;

use gaps::{Comment, begins_line, blanks_before, comma_after, indentation, last_comment, last_comment_on_line};
use layout::Layout;
pub(super) use layout::written;
pub(crate) use node::{Fault, Meaning, Member, Node};

/// One step down into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

/// Something that is put into an object or an array.
pub(crate) enum Addition<'a> {
    Member(&'a str, &'a serde_json::Value),
    Item(&'a serde_json::Value),
}

/// A settings file.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Whether a byte order mark stands before the text.
    marked: bool,
    text: String,
    root: Option<Node>,
}

const MARK: &str = "\u{feff}";

impl Document {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let body = text.strip_prefix(MARK);
        let marked = body.is_some();
        let text = body.unwrap_or(text).to_owned();
        let root = node::parse(&text)?;
        Ok(Self { marked, text, root })
    }

    /// The whole file.
    pub(crate) fn text(&self) -> String {
        let mark = if self.marked { MARK } else { "" };
        format!("{mark}{}", self.text)
    }

    /// The value in it; nothing if it is empty.
    pub(crate) fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    pub(crate) fn at(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Item(index) => node.items()?.get(*index),
        })
    }

    /// The line of a place in it.
    pub(crate) fn line_of(&self, node: &Node) -> usize {
        position(&self.text, node.span.start).0
    }

    /// Begins an object in a file that holds no value.
    pub(super) fn begin(&mut self) -> Result<(), Fault> {
        let newline = Layout::of(self).newline;
        let end = self.text.len();
        let object = if self.text.is_empty() || self.text.ends_with('\n') {
            format!("{{}}{newline}")
        } else {
            format!("{newline}{{}}")
        };
        self.splice(vec![(end..end, object)])
    }

    /// Undoes [`Document::begin`].
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let Range { mut start, mut end } = root.span;
        let newlines = ["\r\n", "\n"];
        if let Some(newline) = newlines.iter().find(|newline| self.text[end..].starts_with(**newline)) {
            end += newline.len();
        } else if let Some(newline) = newlines.iter().find(|newline| self.text[..start].ends_with(**newline)) {
            start -= newline.len();
        }
        self.splice(vec![(start..end, String::new())])
    }

    /// Puts something at the end of an object or an array.
    pub(super) fn append(&mut self, path: &[Step<'_>], addition: &Addition<'_>) -> Result<(), Fault> {
        let Some(container) = self.at(path) else {
            return Ok(());
        };
        let layout = Layout::of(self);
        let item = layout.render(addition);
        let splices = match last_of(container) {
            None => vec![self.inside_empty(container, &item, &layout)],
            Some(last) => self.behind(container, &last, &item, &layout),
        };
        self.splice(splices)
    }

    /// What to write where into a container that holds nothing but comments.
    fn inside_empty(&self, container: &Node, item: &str, layout: &Layout) -> (Range<usize>, String) {
        let (open, close) = (container.span.start + 1, container.span.end - 1);
        let comment = last_comment(&self.text, open);
        let at = comment.as_ref().map_or(open, |comment| comment.span.end);
        let on_a_line = container.members().is_some() && !layout.is_one_line;
        if !on_a_line && comment.is_none_or(|comment| !comment.ends_line) {
            return (at..at, item.to_owned());
        }
        let (newline, outer) = (layout.newline, indentation(&self.text, container.span.start));
        let mut text = format!("{newline}{outer}{}{item}", layout.indentation);
        if !self.text[at..close].contains('\n') {
            text.push_str(&format!("{newline}{outer}"));
        }
        (at..at, text)
    }

    /// What to write where behind the last item of a container.
    fn behind(
        &self,
        container: &Node,
        last: &Range<usize>,
        item: &str,
        layout: &Layout,
    ) -> Vec<(Range<usize>, String)> {
        let text = &self.text;
        let comma = comma_after(text, last.end);
        let end = comma.unwrap_or(last.end);
        // A comment behind the last item belongs to it, and stays with it.
        let comment = last_comment_on_line(text, end);
        let at = comment.as_ref().map_or(end, |comment| comment.span.end);
        let gap = if begins_line(text, last.start) {
            format!("{}{}", layout.newline, indentation(text, last.start))
        } else if comment.is_some_and(|comment| comment.ends_line) {
            let outer = indentation(text, container.span.start);
            format!("{}{outer}{}", layout.newline, layout.indentation)
        } else {
            layout.blank().to_owned()
        };
        if comma.is_some() {
            vec![(at..at, format!("{gap}{item},"))]
        } else {
            vec![(end..end, ",".into()), (at..at, format!("{gap}{item}"))]
        }
    }

    /// Takes something out of the object or array that it is in.
    pub(super) fn remove(&mut self, path: &[Step<'_>]) -> Result<(), Fault> {
        let Some((step, outer)) = path.split_last() else {
            return Ok(());
        };
        let Some((open, spans)) = self.at(outer).map(|node| (node.span.start + 1, spans_of(node))) else {
            return Ok(());
        };
        let index = match step {
            Step::Item(index) => Some(*index),
            Step::Key(key) => self
                .at(outer)
                .and_then(Node::members)
                .and_then(|members| members.iter().rposition(|member| member.key == *key)),
        };
        match index.filter(|index| *index < spans.len()) {
            Some(index) => self.splice(self.without(open, &spans, index)),
            None => Ok(()),
        }
    }

    /// What to take out, so that one of these neighbours is gone with the comma that it needed. They stand in a container
    /// whose inside begins at `open`.
    fn without(&self, open: usize, spans: &[Range<usize>], index: usize) -> Vec<(Range<usize>, String)> {
        let text = &self.text;
        let own = &spans[index];
        let comma = comma_after(text, own.end);
        if let (Some(comma), Some(next)) = (comma, spans.get(index + 1)) {
            let between = &text[comma..next.start];
            if comma == own.end + 1 && between.trim().is_empty() && !between.contains('\n') {
                return vec![(own.start..next.start, String::new())];
            }
        }
        let previous = index
            .checked_sub(1)
            .and_then(|previous| comma_after(text, spans[previous].end));
        let comment = last_comment(text, previous.unwrap_or(open)).filter(|comment| comment.span.end <= own.start);
        // What follows on the same line must not become a part of a comment that ends the line above.
        let behind = comma.map_or(text[own.end..].to_owned(), |comma| {
            format!("{}{}", &text[own.end..comma - 1], &text[comma..])
        });
        let follows = behind.lines().next().is_some_and(|line| !line.trim().is_empty());
        let start = if follows && comment.is_some_and(|comment| comment.ends_line) {
            own.start
        } else {
            blanks_before(text, own.start)
        };
        let mut splices = vec![(start..own.end, String::new())];
        let needed = comma.or(previous);
        splices.extend(needed.map(|comma| (comma - 1..comma, String::new())));
        splices
    }

    /// Writes another value where this one stands.
    pub(super) fn replace(&mut self, path: &[Step<'_>], value: &serde_json::Value) -> Result<(), Fault> {
        let Some(span) = self.at(path).map(|node| node.span.clone()) else {
            return Ok(());
        };
        let text = written(value, Layout::of(self).blank());
        self.splice(vec![(span, text)])
    }

    /// What stands in a container that holds nothing, behind the last comment.
    pub(super) fn blank_inside(&self, path: &[Step<'_>]) -> Option<String> {
        self.room(path).map(|(room, _)| self.text[room].to_owned())
    }

    /// Puts that back, unless that would make a comment of what follows.
    pub(super) fn set_blank_inside(&mut self, path: &[Step<'_>], blank: &str) -> Result<(), Fault> {
        let Some((room, comment)) = self.room(path) else {
            return Ok(());
        };
        if comment.is_some_and(|comment| comment.ends_line) && !blank.contains('\n') {
            return Ok(());
        }
        self.splice(vec![(room, blank.to_owned())])
    }

    /// Whether a container that holds nothing has comments in it.
    pub(super) fn has_comments_inside(&self, path: &[Step<'_>]) -> bool {
        self.room(path).is_some_and(|(_, comment)| comment.is_some())
    }

    /// Where the blanks stand in a container that holds nothing, and the comment before them.
    fn room(&self, path: &[Step<'_>]) -> Option<(Range<usize>, Option<Comment>)> {
        let container = self.at(path)?;
        let is_container = container.members().is_some() || container.items().is_some();
        if !is_container || last_of(container).is_some() {
            return None;
        }
        let open = container.span.start + 1;
        let comment = last_comment(&self.text, open);
        let start = comment.as_ref().map_or(open, |comment| comment.span.end);
        Some((start..container.span.end - 1, comment))
    }

    fn splice(&mut self, mut splices: Vec<(Range<usize>, String)>) -> Result<(), Fault> {
        let mut text = self.text.clone();
        // From the end, so that the places before stay where they are. Of two at one place the first comes first.
        splices.sort_by_key(|(span, _)| span.start);
        for (span, replacement) in splices.into_iter().rev() {
            text.replace_range(span, &replacement);
        }
        self.root = node::parse(&text)?;
        self.text = text;
        Ok(())
    }
}

/// Where the things in a container stand.
fn spans_of(container: &Node) -> Vec<Range<usize>> {
    match (container.members(), container.items()) {
        (Some(members), _) => members.iter().map(|member| member.span.clone()).collect(),
        (_, Some(items)) => items.iter().map(|item| item.span.clone()).collect(),
        _ => Vec::new(),
    }
}

fn last_of(container: &Node) -> Option<Range<usize>> {
    spans_of(container).pop()
}

/// The line and the column, both from 1, of a place in a text.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
