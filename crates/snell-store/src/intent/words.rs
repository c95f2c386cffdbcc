//! The last sentences of a text, without what is not said: code, quotations, addresses and decoration.

/// How many lines from the end are read. The last words are there or nowhere.
const MAX_LINES: usize = 60;

/// How much of the end of a line, and of the lines wrapped into one, is read.
const MAX_LINE_CHARS: usize = 2000;

/// Where in the text a sentence stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Prose,
    Heading,
    /// An item of a list with bullets, or a row of a table.
    Item,
    /// An item of a list with numbers or letters.
    Option,
    /// A block of code or a quoted line: it stands there, its words do not count.
    Code,
}

/// How a sentence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a question mark, or with a hint such as `(y/n)`.
    Question,
    /// With a colon or an ellipsis.
    Open,
    Full,
}

/// One sentence, in lower case, without its final punctuation.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub(super) words: String,
    pub(super) form: Form,
    pub(super) ending: Ending,
    /// Which paragraph it stands in, counted from the first that is read.
    pub(super) paragraph: usize,
}

/// The sentences of the end of `text`, in order.
pub(super) fn last_sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut paragraph = 0;
    let mut prose = String::new();
    let mut in_list = false;
    let mut flush = |prose: &mut String, form, paragraph| {
        split_into(&mut sentences, &without_unsaid(tail(prose)), form, paragraph);
        prose.clear();
    };
    for line in last_lines(text) {
        let Line::Words(line) = line else {
            flush(&mut prose, Form::Prose, paragraph);
            flush(&mut "code".to_owned(), Form::Code, paragraph);
            continue;
        };
        let (form, words) = form_of(line, in_list);
        in_list = matches!(form, Form::Item | Form::Option);
        if form != Form::Prose || words.is_empty() || !continues(&prose, words) {
            flush(&mut prose, Form::Prose, paragraph);
        }
        if words.is_empty() || form == Form::Heading {
            paragraph += 1;
        }
        if form == Form::Prose {
            prose.push_str(if prose.is_empty() { "" } else { " " });
            prose.push_str(words);
        } else {
            flush(&mut words.to_owned(), form, paragraph);
        }
    }
    flush(&mut prose, Form::Prose, paragraph);
    sentences
}

enum Line<'a> {
    Words(&'a str),
    /// A block of code, however many lines it had.
    Code,
}

/// The last lines of `text`, each block of code folded into one.
fn last_lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(open) = fence {
            if trimmed.starts_with(open) && trimmed.trim_start_matches(['`', '~']).is_empty() {
                fence = None;
            }
        } else if let Some(open) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            fence = Some(open);
            lines.push(Line::Code);
        } else if trimmed.starts_with('>') {
            lines.push(Line::Code);
        } else {
            lines.push(Line::Words(tail(line)));
        }
    }
    lines.split_off(lines.len().saturating_sub(MAX_LINES))
}

/// The last characters of a line.
fn tail(line: &str) -> &str {
    match line.char_indices().rev().nth(MAX_LINE_CHARS) {
        Some((start, _)) => &line[start..],
        None => line,
    }
}

/// Which form a line has, and its words without the marks of that form.
fn form_of(line: &str, in_list: bool) -> (Form, &str) {
    let indented = line.starts_with("  ") || line.starts_with('\t');
    let line = line.trim();
    if line.starts_with('#') {
        return (Form::Heading, line.trim_start_matches('#').trim());
    }
    if line.starts_with('|') {
        return (Form::Item, line);
    }
    if is_bold_heading(line) {
        return (Form::Heading, line);
    }
    if let Some(words) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return (Form::Item, words);
    }
    if let Some(words) = after_number(line) {
        return (Form::Option, words);
    }
    let form = if in_list && indented { Form::Item } else { Form::Prose };
    (form, line)
}

/// Whether the whole line is bold and no full sentence: many write headings so.
fn is_bold_heading(line: &str) -> bool {
    let inside = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    inside.is_some_and(|words| !words.contains("**") && !words.ends_with(['.', '…']))
}

/// What follows `1.`, `2)`, `(3)`, `a)` or `B.` at the start of a line.
fn after_number(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['(', '*']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let letters = usize::from(line.starts_with(|first: char| first.is_ascii_alphabetic()));
    let rest = match (digits, letters) {
        (1..=2, _) => &line[digits..],
        (0, 1) => &line[1..],
        _ => return None,
    };
    let words = rest.strip_prefix(['.', ')', ':'])?;
    words.starts_with([' ', '*']).then(|| words.trim())
}

/// Whether a line goes on with the sentence of the lines before it, wrapped by whoever wrote it.
fn continues(before: &str, line: &str) -> bool {
    !before.ends_with(['.', '?', '!', ':', '…']) && line.starts_with(|first: char| first.is_lowercase())
}

/// A text without code, quotations, addresses and emphasis. What is left out leaves a word, so that the sentence
/// around it stays one.
fn without_unsaid(text: &str) -> String {
    let said = without_pairs(text);
    let mut kept = String::with_capacity(said.len());
    for word in said.split_whitespace() {
        kept.push_str(if kept.is_empty() { "" } else { " " });
        match word.find("://") {
            Some(_) => kept.push_str(without_address(word)),
            None => kept.extend(word.chars().filter(|mark| !matches!(mark, '*' | '`'))),
        }
    }
    kept
}

/// The punctuation after an address. Its own question mark is none.
fn without_address(word: &str) -> &str {
    let end = word.trim_end_matches(['.', '?', '!', ')', ',', ':', '*']);
    if end.contains('?') || end.len() == word.len() {
        "address"
    } else {
        // The word before it holds the place of the address.
        &word[end.len()..]
    }
}

/// What opens something that is not said here, and what closes it.
const PAIRS: [(char, char); 8] = [
    ('`', '`'),
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
    ('\'', '\''),
];

/// `text` with a word in place of each quotation and each piece of code. A text that is one quotation stays.
fn without_pairs(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let inside = quoted(first, after, said.chars().next_back());
        match inside {
            Some(inside) if !is_all_of(text, inside) => {
                said.push_str("thing");
                let closer = after[inside.len()..].chars().next().map_or(0, char::len_utf8);
                rest = &after[inside.len() + closer..];
            }
            _ => {
                if !PAIRS.iter().any(|(open, close)| [*open, *close].contains(&first)) || first == '\'' {
                    said.push(first);
                }
                rest = after;
            }
        }
    }
    said
}

/// What stands between an opening mark and the mark that closes it.
fn quoted(open: char, after: &str, before: Option<char>) -> Option<&str> {
    let (_, close) = PAIRS.into_iter().find(|(mark, _)| *mark == open)?;
    if open == '\'' && before.is_some_and(char::is_alphanumeric) {
        return None; // An apostrophe.
    }
    let mut search = 0;
    loop {
        let end = search + after[search..].find(close)?;
        let next = after[end + close.len_utf8()..].chars().next();
        if open != '\'' || !next.is_some_and(char::is_alphanumeric) {
            return Some(&after[..end]);
        }
        search = end + close.len_utf8();
    }
}

/// Whether nothing but marks stands around `inside`.
fn is_all_of(text: &str, inside: &str) -> bool {
    let is_word = |character: &char| character.is_alphanumeric();
    text.chars().filter(is_word).count() == inside.chars().filter(is_word).count()
}

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "cf", "z.b", "bzw", "approx"];

/// Hints at how to answer, which make a question of what they follow.
const ANSWER_HINTS: [&str; 8] = [
    "(y/n)", "[y/n]", "(yes/no)", "[yes/no]", "(j/n)", "[j/n]", "(s/n)", "(o/n)",
];

/// Splits `text` into sentences.
fn split_into(sentences: &mut Vec<Sentence>, text: &str, form: Form, paragraph: usize) {
    let mut begin = 0;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let end = at + mark.len_utf8();
        let full_width = matches!(mark, '。' | '？' | '！');
        let ends_here = full_width
            || (matches!(mark, '.' | '?' | '!' | '…' | ')' | '؟')
                && marks.peek().is_none_or(|(_, next)| next.is_whitespace())
                && ends_sentence(&text[begin..end]));
        if ends_here {
            push(sentences, &text[begin..end], form, paragraph);
            begin = end;
        }
    }
    push(sentences, &text[begin..], form, paragraph);
}

/// Whether the mark at the end of `words` ends a sentence.
fn ends_sentence(words: &str) -> bool {
    let bare = words.trim_end_matches(')');
    if !bare.ends_with(['.', '?', '!', '…', '؟']) {
        return false;
    }
    let last = bare.trim_end_matches('.').rsplit([' ', '(']).next().unwrap_or_default();
    !ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

fn push(sentences: &mut Vec<Sentence>, raw: &str, form: Form, paragraph: usize) {
    let lowered = raw.trim().to_lowercase().replace('’', "'");
    let hinted = ANSWER_HINTS.iter().find_map(|hint| lowered.strip_suffix(hint));
    let ending = match hinted {
        Some(_) => Ending::Question,
        None => ending_of(&lowered),
    };
    let is_decoration = |character: char| !character.is_alphanumeric();
    let words = hinted.unwrap_or(&lowered).trim_matches(is_decoration).to_owned();
    if !words.is_empty() || hinted.is_some() {
        sentences.push(Sentence {
            words,
            form,
            ending,
            paragraph,
        });
    }
}

/// How a sentence ends, whatever brackets, emoji and underscores come after its punctuation.
fn ending_of(words: &str) -> Ending {
    let is_mark = |character: char| matches!(character, '?' | '？' | '؟' | '.' | '。' | '!' | '！' | '…' | ':' | '：');
    let end = words.trim_end_matches(|character: char| !character.is_alphanumeric() && !is_mark(character));
    let marks = &end[end.trim_end_matches(is_mark).len()..];
    if marks.contains(['?', '？', '؟']) {
        Ending::Question
    } else if marks.ends_with([':', '：', '…']) || marks.ends_with("...") {
        Ending::Open
    } else {
        Ending::Full
    }
}
