//! The last sentences of a text, without code, quotations, addresses and decoration.

/// How many lines from the end are read.
const MAX_LINES: usize = 60;

/// How many characters from the end of a line, or of wrapped lines, are read.
const MAX_LINE_CHARS: usize = 2000;

/// The form of a sentence in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceForm {
    Prose,
    Heading,
    /// An item of a list with bullets, or a row of a table.
    Item,
    /// An item of a list with numbers or letters.
    Option,
    /// A block of code or a quoted line, whose words are ignored.
    Code,
}

/// The end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceEnding {
    /// A question mark, or a hint such as `(y/n)`.
    Question,
    /// A colon or an ellipsis.
    Open,
    Full,
}

/// One sentence, in lower case, without its final punctuation.
#[derive(Clone, Debug)]
pub(super) struct ParsedSentence {
    pub(super) words: String,
    pub(super) form: SentenceForm,
    pub(super) ending: SentenceEnding,
    /// The number of its paragraph, counted from the first that is read.
    pub(super) paragraph: usize,
}

/// The sentences of the end of `text`, in order.
pub(super) fn split_last_sentences(text: &str) -> Vec<ParsedSentence> {
    let mut sentences = Vec::new();
    let mut paragraph = 0;
    let mut prose = String::new();
    let mut in_list = false;
    let mut flush = |prose: &mut String, form, paragraph| {
        split_sentences(&mut sentences, &strip_quotes_and_markup(truncate_to_tail(prose)), form, paragraph);
        prose.clear();
    };
    for line in collect_last_lines(text) {
        let TextLine::Words(line) = line else {
            flush(&mut prose, SentenceForm::Prose, paragraph);
            flush(&mut "code".to_owned(), SentenceForm::Code, paragraph);
            continue;
        };
        let (form, words) = detect_form(line, in_list);
        in_list = matches!(form, SentenceForm::Item | SentenceForm::Option);
        if form != SentenceForm::Prose || words.is_empty() || !is_continuation(&prose, words) {
            flush(&mut prose, SentenceForm::Prose, paragraph);
        }
        if words.is_empty() || form == SentenceForm::Heading {
            paragraph += 1;
        }
        if form == SentenceForm::Prose {
            prose.push_str(if prose.is_empty() { "" } else { " " });
            prose.push_str(words);
        } else {
            flush(&mut words.to_owned(), form, paragraph);
        }
    }
    flush(&mut prose, SentenceForm::Prose, paragraph);
    sentences
}

enum TextLine<'a> {
    Words(&'a str),
    /// A block of code of any length.
    Code,
}

/// The last lines of `text`, each block of code folded into one.
fn collect_last_lines(text: &str) -> Vec<TextLine<'_>> {
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
            lines.push(TextLine::Code);
        } else if trimmed.starts_with('>') {
            lines.push(TextLine::Code);
        } else {
            lines.push(TextLine::Words(truncate_to_tail(line)));
        }
    }
    lines.split_off(lines.len().saturating_sub(MAX_LINES))
}

/// The last characters of a line.
fn truncate_to_tail(line: &str) -> &str {
    match line.char_indices().rev().nth(MAX_LINE_CHARS) {
        Some((start, _)) => &line[start..],
        None => line,
    }
}

/// The form of a line, and its text without the marks of that form.
fn detect_form(line: &str, in_list: bool) -> (SentenceForm, &str) {
    let indented = line.starts_with("  ") || line.starts_with('\t');
    let line = line.trim();
    if line.starts_with('#') {
        return (SentenceForm::Heading, line.trim_start_matches('#').trim());
    }
    if line.starts_with('|') {
        return (SentenceForm::Item, line);
    }
    if is_bold_heading(line) {
        return (SentenceForm::Heading, line);
    }
    if let Some(words) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return (SentenceForm::Item, words);
    }
    if let Some(words) = strip_list_number(line) {
        return (SentenceForm::Option, words);
    }
    let form = if in_list && indented { SentenceForm::Item } else { SentenceForm::Prose };
    (form, line)
}

/// Whether the whole line is bold and no full sentence: often a heading.
fn is_bold_heading(line: &str) -> bool {
    let inside = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    inside.is_some_and(|words| !words.contains("**") && !words.ends_with(['.', '…']))
}

/// The rest of a line after `1.`, `2)`, `(3)`, `a)` or `B.`.
fn strip_list_number(line: &str) -> Option<&str> {
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

/// Whether a line continues the sentence of the lines before it.
fn is_continuation(before: &str, line: &str) -> bool {
    !before.ends_with(['.', '?', '!', ':', '…']) && line.starts_with(|first: char| first.is_lowercase())
}

/// The text without code, quotations, addresses and emphasis. A placeholder word replaces each, so that the sentence
/// stays one.
fn strip_quotes_and_markup(text: &str) -> String {
    let stripped = strip_quoted_text(text);
    let mut kept = String::with_capacity(stripped.len());
    for word in stripped.split_whitespace() {
        kept.push_str(if kept.is_empty() { "" } else { " " });
        match word.find("://") {
            Some(_) => kept.push_str(strip_url(word)),
            None => kept.extend(word.chars().filter(|mark| !matches!(mark, '*' | '`'))),
        }
    }
    kept
}

/// The punctuation after an address. A question mark inside the address does not count.
fn strip_url(word: &str) -> &str {
    let end = word.trim_end_matches(['.', '?', '!', ')', ',', ':', '*']);
    if end.contains('?') || end.len() == word.len() {
        "address"
    } else {
        // The placeholder before it stands for the address.
        &word[end.len()..]
    }
}

/// The marks that open and close a quotation.
const QUOTE_PAIRS: [(char, char); 8] =
    [('`', '`'), ('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』'), ('\'', '\'')];

/// `text` with a placeholder for each quotation and each piece of code. A text that is one quotation stays.
fn strip_quoted_text(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let inside = find_quoted_text(first, after, stripped.chars().next_back());
        match inside {
            Some(inside) if !is_entire_text(text, inside) => {
                stripped.push_str("thing");
                let closer = after[inside.len()..].chars().next().map_or(0, char::len_utf8);
                rest = &after[inside.len() + closer..];
            }
            _ => {
                if !QUOTE_PAIRS.iter().any(|(open, close)| [*open, *close].contains(&first)) || first == '\'' {
                    stripped.push(first);
                }
                rest = after;
            }
        }
    }
    stripped
}

/// The text between an opening mark and its closing mark.
fn find_quoted_text(open: char, after: &str, before: Option<char>) -> Option<&str> {
    let (_, close) = QUOTE_PAIRS.into_iter().find(|(mark, _)| *mark == open)?;
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

/// Whether only marks surround `inside`.
fn is_entire_text(text: &str, inside: &str) -> bool {
    let is_word = |character: &char| character.is_alphanumeric();
    text.chars().filter(is_word).count() == inside.chars().filter(is_word).count()
}

/// Abbreviations whose period ends no sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "cf", "z.b", "bzw", "approx"];

/// Hints at the form of an answer, which mark a question.
const ANSWER_HINTS: [&str; 8] = ["(y/n)", "[y/n]", "(yes/no)", "[yes/no]", "(j/n)", "[j/n]", "(s/n)", "(o/n)"];

/// Splits `text` into sentences.
fn split_sentences(sentences: &mut Vec<ParsedSentence>, text: &str, form: SentenceForm, paragraph: usize) {
    let mut begin = 0;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let end = at + mark.len_utf8();
        let full_width = matches!(mark, '。' | '？' | '！');
        let ends_here = full_width
            || (matches!(mark, '.' | '?' | '!' | '…' | ')' | '؟')
                && marks.peek().is_none_or(|(_, next)| next.is_whitespace())
                && is_sentence_end(&text[begin..end]));
        if ends_here {
            push_sentence(sentences, &text[begin..end], form, paragraph);
            begin = end;
        }
    }
    push_sentence(sentences, &text[begin..], form, paragraph);
}

/// Whether the mark at the end of `words` ends a sentence.
fn is_sentence_end(words: &str) -> bool {
    let bare = words.trim_end_matches(')');
    if !bare.ends_with(['.', '?', '!', '…', '؟']) {
        return false;
    }
    let last = bare.trim_end_matches('.').rsplit([' ', '(']).next().unwrap_or_default();
    !ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

fn push_sentence(sentences: &mut Vec<ParsedSentence>, raw: &str, form: SentenceForm, paragraph: usize) {
    let lowered = raw.trim().to_lowercase().replace('’', "'");
    let hinted = ANSWER_HINTS.iter().find_map(|hint| lowered.strip_suffix(hint));
    let ending = match hinted {
        Some(_) => SentenceEnding::Question,
        None => detect_ending(&lowered),
    };
    let is_decoration = |character: char| !character.is_alphanumeric();
    let words = hinted.unwrap_or(&lowered).trim_matches(is_decoration).to_owned();
    if !words.is_empty() || hinted.is_some() {
        sentences.push(ParsedSentence { words, form, ending, paragraph });
    }
}

/// The end of a sentence, without brackets, emoji and underscores after its punctuation.
fn detect_ending(words: &str) -> SentenceEnding {
    let is_mark = |character: char| matches!(character, '?' | '？' | '؟' | '.' | '。' | '!' | '！' | '…' | ':' | '：');
    let end = words.trim_end_matches(|character: char| !character.is_alphanumeric() && !is_mark(character));
    let marks = &end[end.trim_end_matches(is_mark).len()..];
    if marks.contains(['?', '？', '؟']) {
        SentenceEnding::Question
    } else if marks.ends_with([':', '：', '…']) || marks.ends_with("...") {
        SentenceEnding::Open
    } else {
        SentenceEnding::Full
    }
}
