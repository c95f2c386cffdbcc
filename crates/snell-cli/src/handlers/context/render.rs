//! The context files as one text for the agent.

/// A loaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContextSection {
    /// The file's name.
    pub(super) name: String,
    /// Its description or its path.
    pub(super) about: String,
    pub(super) body: FileExcerpt,
}

/// The shown part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileExcerpt {
    pub(super) text: String,
    /// The shown and the total number of bytes, if the file is cut.
    pub(super) cut: Option<(u64, u64)>,
}

impl FileExcerpt {
    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.text.len() as u64
    }
}

/// Remarks beside the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadRemarks {
    /// Limits of the search.
    pub(super) search: Vec<String>,
    /// Files that did not fit.
    pub(super) left_out: Vec<String>,
    /// How many bytes all files may have together.
    pub(super) max_all: u64,
}

/// The whole text; none if there is nothing to load.
pub(super) fn compose_context(
    first_line: Option<&str>,
    sections: &[ContextSection],
    remarks: &LoadRemarks,
) -> Option<String> {
    if sections.is_empty() {
        return None;
    }
    let headings: Vec<_> = sections.iter().map(format_heading).collect();
    let mut paragraphs: Vec<String> = first_line.map(str::to_owned).into_iter().collect();
    paragraphs.push(format_file_list(&headings, &remarks.search));
    paragraphs.push("Full content follows:".into());
    paragraphs.extend(headings.iter().zip(sections).map(|(heading, section)| {
        let lines = [Some(format!("## {heading}")), trim_content(&section.body), format_cut_notice(&section.body)];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }));
    if !remarks.left_out.is_empty() {
        let names: Vec<_> = remarks.left_out.iter().map(|name| replace_control_chars(name)).collect();
        let (max_all, names) = (remarks.max_all, names.join(", "));
        paragraphs.push(format!("[not loaded, because all files together may have {max_all} bytes: {names}]"));
    }
    Some(paragraphs.join("\n\n"))
}

fn format_heading(section: &ContextSection) -> String {
    let (name, about) = (replace_control_chars(&section.name.to_uppercase()), replace_control_chars(&section.about));
    format!("{name} ({about})")
}

fn format_file_list(headings: &[String], search: &[String]) -> String {
    let first = "Core memory files loaded automatically:".to_owned();
    let files = headings.iter().map(|heading| format!("- {heading}"));
    let remarks = search.iter().map(|remark| format!("[{remark}]"));
    let lines: Vec<_> = std::iter::once(first).chain(files).chain(remarks).collect();
    lines.join("\n")
}

/// The text without line breaks at its end.
fn trim_content(body: &FileExcerpt) -> Option<String> {
    let text = body.text.trim_end_matches(['\n', '\r']);
    (!text.is_empty()).then(|| text.to_owned())
}

fn format_cut_notice(body: &FileExcerpt) -> Option<String> {
    let (shown, all) = body.cut?;
    Some(format!("[cut: the first {shown} of {all} bytes are shown]"))
}

/// A file name without control characters, which could look like several lines.
pub(super) fn replace_control_chars(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "[CLAUDE OS SYS: INFO]: Session context loaded";

    fn sample_section(name: &str, about: &str, text: &str) -> ContextSection {
        ContextSection { name: name.into(), about: about.into(), body: FileExcerpt { text: text.into(), cut: None } }
    }

    #[test]
    fn the_text_is_the_one_of_the_document() {
        let sections = [
            sample_section("TODAY.md", "daily memory", "# Today\n\nBuy milk.\n\n\n"),
            sample_section("identity.md", "Desktop/identity.md", "I\r\nam\r\n"),
        ];
        let expected = "[CLAUDE OS SYS: INFO]: Session context loaded\n\
            \n\
            Core memory files loaded automatically:\n\
            - TODAY.MD (daily memory)\n\
            - IDENTITY.MD (Desktop/identity.md)\n\
            \n\
            Full content follows:\n\
            \n\
            ## TODAY.MD (daily memory)\n\
            # Today\n\
            \n\
            Buy milk.\n\
            \n\
            ## IDENTITY.MD (Desktop/identity.md)\n\
            I\r\nam";
        assert_eq!(compose_context(Some(FIRST), &sections, &LoadRemarks::default()).as_deref(), Some(expected));
        let without = expected.split_once("\n\n").map(|(_, rest)| rest);
        assert_eq!(compose_context(None, &sections, &LoadRemarks::default()).as_deref(), without);
    }

    #[test]
    fn nothing_to_load_is_no_text() {
        let remarks = LoadRemarks { search: vec!["something".into()], left_out: vec!["a.md".into()], max_all: 1 };
        assert_eq!(compose_context(Some(FIRST), &[], &remarks), None);
    }

    #[test]
    fn what_is_missing_is_said_where_it_is_missing() {
        let mut long = sample_section("long.md", "notes/long.md", "one\ntwo\n");
        long.body.cut = Some((8, 4000));
        let sections = [long, sample_section("empty.md", "empty.md", "")];
        let remarks = LoadRemarks {
            search: vec!["the search for files ended early".into()],
            left_out: vec!["notes/a.md".into(), "~/b.md".into()],
            max_all: 8,
        };
        let expected = "Core memory files loaded automatically:\n\
            - LONG.MD (notes/long.md)\n\
            - EMPTY.MD (empty.md)\n\
            [the search for files ended early]\n\
            \n\
            Full content follows:\n\
            \n\
            ## LONG.MD (notes/long.md)\n\
            one\n\
            two\n\
            [cut: the first 8 of 4000 bytes are shown]\n\
            \n\
            ## EMPTY.MD (empty.md)\n\
            \n\
            [not loaded, because all files together may have 8 bytes: notes/a.md, ~/b.md]";
        assert_eq!(compose_context(None, &sections, &remarks).as_deref(), Some(expected));
    }

    #[test]
    fn a_name_is_one_line_whatever_it_holds() {
        let sections = [sample_section("a\n## B.md", "a\n## B.md", "text")];
        let text = compose_context(None, &sections, &LoadRemarks::default()).unwrap();
        assert!(text.contains("\n- A\u{fffd}## B.MD (a\u{fffd}## B.md)\n"), "{text}");
    }
}
