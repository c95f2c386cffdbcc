//! Redirections: the manual's section of that name.

use super::ast::{Redirect, RedirectKind, Word};
use super::parser::Parser;
use super::places;
use super::tokens::Token;

/// What stands before an operator, glued to it.
#[derive(Default)]
struct Prefix {
    fd: Option<u32>,
    variable: Option<String>,
}

const OPERATORS: &[&str] = &["<", ">", ">|", ">>", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"];

impl Parser<'_> {
    /// A redirection, if one stands next.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let token = self.token();
        let start = self.cursor.at();
        let prefix = match token {
            Token::Word => self.prefix()?,
            _ => Prefix::default(),
        };
        let Token::Operator(sign) = self.token() else {
            return None;
        };
        if !OPERATORS.contains(&sign) {
            return None;
        }
        self.bump_operator(sign);
        let kind = if sign.starts_with("<<") && sign != "<<<" {
            self.here_document(sign, start)
        } else {
            let target = self.target(sign, start);
            kind(sign, prefix.fd, target)
        };
        Some(Redirect {
            fd: prefix.fd,
            fd_variable: prefix.variable,
            kind,
            span: self.cursor.span(start, self.cursor.at()),
        })
    }

    /// Whether a redirection stands next.
    pub(super) fn redirect_ahead(&mut self) -> bool {
        match self.token() {
            Token::Operator(sign) => OPERATORS.contains(&sign),
            Token::Word => self.prefix_ahead(),
            Token::End | Token::Newline => false,
        }
    }

    /// Whether a number or `{name}` stands next that belongs to an operator.
    pub(super) fn prefix_ahead(&mut self) -> bool {
        let start = self.cursor.at();
        let prefixed = self.prefix().is_some();
        self.cursor.go_to(start);
        prefixed
    }

    fn target(&mut self, sign: &str, start: usize) -> Word {
        let is_word = self.token() == Token::Word;
        // In `>2>x`, the number belongs to what follows it; in `>&2>x` to what stands before.
        let takes_number = sign.ends_with('&') && self.cursor.peek().is_some_and(|b| b.is_ascii_digit());
        if !is_word || (!takes_number && self.prefix_ahead()) {
            self.misplaced(start);
        }
        if is_word {
            self.word(&places::PLAIN)
        } else {
            Word::default()
        }
    }

    /// A number or `{name}` with an operator directly behind it. If it is something else, nothing is read.
    fn prefix(&mut self) -> Option<Prefix> {
        let start = self.cursor.at();
        let prefix = match self.cursor.peek()? {
            b'0'..=b'9' => self.number(),
            b'{' => self.variable(),
            _ => return None,
        };
        let operator = matches!(self.cursor.peek(), Some(b'<' | b'>')) && self.cursor.second() != Some(b'(');
        let prefix = prefix.filter(|_| operator);
        if prefix.is_none() {
            self.cursor.go_to(start);
        }
        prefix
    }

    fn number(&mut self) -> Option<Prefix> {
        let mut number: Option<u32> = Some(0);
        while let Some(digit @ b'0'..=b'9') = self.cursor.peek() {
            number = number.and_then(|n| n.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
            self.cursor.bump();
        }
        // Larger numbers are words to bash.
        let fd = Some(number.filter(|&n| i32::try_from(n).is_ok())?);
        Some(Prefix { fd, variable: None })
    }

    fn variable(&mut self) -> Option<Prefix> {
        self.cursor.bump();
        let mut name = self.name();
        if !name.is_empty() && self.cursor.peek() == Some(b'[') {
            name.push_str(self.cursor.run(|b| b == b'[' || b == b'_' || b.is_ascii_alphanumeric()));
            if self.cursor.eat(b']') {
                name.push(']');
            }
        }
        let whole = !name.is_empty() && self.cursor.eat(b'}');
        whole.then_some(Prefix {
            fd: None,
            variable: Some(name),
        })
    }
}

fn kind(sign: &str, fd: Option<u32>, target: Word) -> RedirectKind {
    match sign {
        "<" => RedirectKind::Read(target),
        ">" => RedirectKind::Write(target),
        ">|" => RedirectKind::Clobber(target),
        ">>" => RedirectKind::Append(target),
        "<>" => RedirectKind::ReadWrite(target),
        "&>" => RedirectKind::WriteBoth(target),
        "&>>" => RedirectKind::AppendBoth(target),
        "<<<" => RedirectKind::HereString(target),
        // `>&` with a file is `&>`. What expands may become a number or a file: the latter is what matters.
        ">&" if fd.is_none_or(|fd| fd == 1) && !names_descriptor(&target) => RedirectKind::WriteBoth(target),
        _ => RedirectKind::Duplicate(target),
    }
}

/// `2`, `-` or `2-`.
fn names_descriptor(word: &Word) -> bool {
    let text = word.literal().unwrap_or_else(|| "?".to_owned());
    let number = text.strip_suffix('-').unwrap_or(&text);
    !text.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}
