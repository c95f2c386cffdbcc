//! Searches the documentation.

use super::markdown::{MarkdownBlock, parse_blocks, strip_markup};

/// The context of a hit.
const EXCERPT_CHARS_BEFORE: usize = 40;
const EXCERPT_CHARS_AFTER: usize = 100;

/// A hit of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocsSearchHit {
    /// The heading above it.
    pub(super) section: String,
    pub(super) text: String,
}

/// The hits in a page. Upper and lower case are the same.
pub(super) fn search_markdown(page: &str, wanted: &str) -> Vec<DocsSearchHit> {
    let wanted = wanted.to_lowercase();
    let mut section = String::new();
    let mut hits = Vec::new();
    for block in parse_blocks(page) {
        if let MarkdownBlock::Heading { text, .. } = &block {
            section = strip_markup(text);
        }
        for text in extract_texts(&block) {
            if let Some(text) = find_excerpt(&text, &wanted) {
                hits.push(DocsSearchHit { section: section.clone(), text });
            }
        }
    }
    hits
}

/// The hits in a text that is not Markdown, line by line.
pub(super) fn search_lines(text: &str, wanted: &str) -> Vec<DocsSearchHit> {
    let wanted = wanted.to_lowercase();
    let find_hit = |(line, number): (&str, usize)| {
        Some(DocsSearchHit { section: format!("line {number}"), text: find_excerpt(line.trim(), &wanted)? })
    };
    text.lines().zip(1..).filter_map(find_hit).collect()
}

/// The texts of a block: one, or one per line of code and row of a table.
fn extract_texts(block: &MarkdownBlock) -> Vec<String> {
    match block {
        MarkdownBlock::Heading { text, .. } | MarkdownBlock::Paragraph(text) | MarkdownBlock::ListItem { text, .. } => {
            vec![strip_markup(text)]
        }
        MarkdownBlock::Code(lines) => lines.clone(),
        MarkdownBlock::Table(rows) => rows.iter().map(|row| strip_markup(&row.join(" · "))).collect(),
    }
}

/// The part of a text around the hit; nothing if there is no hit.
fn find_excerpt(text: &str, wanted: &str) -> Option<String> {
    let letters: Vec<_> = text.chars().collect();
    // Some letters become two in lower case, so positions are those of the original letters.
    let begins = |at: &usize| {
        let mut here = letters[*at..].iter().flat_map(|letter| letter.to_lowercase());
        wanted.chars().all(|letter| here.next() == Some(letter))
    };
    let at = (0..letters.len()).find(begins)?;
    let is_blank = |at: &usize| letters[*at] == ' ';
    let begin = match at.saturating_sub(EXCERPT_CHARS_BEFORE) {
        0 => 0,
        far => (far..at).find(is_blank).map_or(far, |blank| blank + 1),
    };
    let far = (at + EXCERPT_CHARS_AFTER).min(letters.len());
    let end = if far == letters.len() { far } else { (at..far).rev().find(is_blank).unwrap_or(far) };
    let shown: String = letters[begin..end].iter().collect();
    let (before, after) = (if begin > 0 { "… " } else { "" }, if end < letters.len() { " …" } else { "" });
    Some(format!("{before}{}{after}", shown.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_across_lines_and_shown_with_context() {
        let page = "# Ever written\n\n## First\n\nNothing is ever\nWritten `here`.\n\n## Second\n\n| a | is ever written |\n|---|---|\n\
                    | x | y |\n\n```\nis ever written twice\n```\n";
        let found = search_markdown(page, "ever WRITTEN");
        let found: Vec<_> = found.iter().map(|place| (place.section.as_str(), place.text.as_str())).collect();
        let expected = [
            ("Ever written", "Ever written"),
            ("First", "Nothing is ever Written `here`."),
            ("Second", "a · is ever written"),
            ("Second", "is ever written twice"),
        ];
        assert_eq!(found, expected);
        let long = format!("{}needle {}", "before ".repeat(20), "after ".repeat(40));
        let text = find_excerpt(&long, "needle").unwrap();
        assert!(
            text.starts_with("… before ") && text.contains(" needle after ") && text.ends_with("after …"),
            "{text}"
        );
        assert!(text.chars().count() < 160, "{text}");
    }
}
