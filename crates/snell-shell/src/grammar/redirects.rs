//! Redirections: the manual's section of that name.

use crate::ast::{RedirectKind, ShellRedirect, ShellWord};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context;

/// The number or name directly before an operator.
#[derive(Default)]
struct RedirectPrefix {
    fd: Option<u32>,
    variable: Option<String>,
}

const OPERATORS: &[&str] = &["<", ">", ">|", ">>", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"];

impl ShellParser<'_> {
    /// A redirection, if it is next.
    pub(crate) fn parse_redirect(&mut self) -> Option<ShellRedirect> {
        let token = self.peek_token();
        let start = self.cursor.position();
        let prefix = match token {
            ShellToken::Word => self.parse_redirect_prefix()?,
            _ => RedirectPrefix::default(),
        };
        let ShellToken::Operator(sign) = self.peek_token() else {
            return None;
        };
        if !OPERATORS.contains(&sign) {
            return None;
        }
        self.bump_operator(sign);
        let kind = if sign.starts_with("<<") && sign != "<<<" {
            self.parse_here_document(sign, start)
        } else {
            let target = self.parse_redirect_target(sign, start);
            build_redirect_kind(sign, prefix.fd, target)
        };
        Some(ShellRedirect {
            fd: prefix.fd,
            fd_variable: prefix.variable,
            kind,
            span: self.cursor.span(start, self.cursor.position()),
        })
    }

    /// Whether a redirection is next.
    pub(crate) fn is_redirect_ahead(&mut self) -> bool {
        match self.peek_token() {
            ShellToken::Operator(sign) => OPERATORS.contains(&sign),
            ShellToken::Word => self.is_redirect_prefix_ahead(),
            ShellToken::End | ShellToken::Newline => false,
        }
    }

    /// Whether a number or `{name}` of an operator is next.
    pub(crate) fn is_redirect_prefix_ahead(&mut self) -> bool {
        let start = self.cursor.position();
        let prefixed = self.parse_redirect_prefix().is_some();
        self.cursor.seek_to(start);
        prefixed
    }

    fn parse_redirect_target(&mut self, sign: &str, start: usize) -> ShellWord {
        let is_word = self.peek_token() == ShellToken::Word;
        // In `>2>x` the number belongs to the second operator, in `>&2>x` to the first.
        let takes_number = sign.ends_with('&') && self.cursor.peek().is_some_and(|b| b.is_ascii_digit());
        if !is_word || (!takes_number && self.is_redirect_prefix_ahead()) {
            self.report_unexpected(start);
        }
        if is_word { self.parse_word(&lexical_context::PLAIN) } else { ShellWord::default() }
    }

    /// A number or `{name}` directly before an operator. Otherwise this reads nothing.
    fn parse_redirect_prefix(&mut self) -> Option<RedirectPrefix> {
        let start = self.cursor.position();
        let prefix = match self.cursor.peek()? {
            b'0'..=b'9' => self.parse_fd_number(),
            b'{' => self.parse_fd_variable(),
            _ => return None,
        };
        let operator = matches!(self.cursor.peek(), Some(b'<' | b'>')) && self.cursor.peek_second() != Some(b'(');
        let prefix = prefix.filter(|_| operator);
        if prefix.is_none() {
            self.cursor.seek_to(start);
        }
        prefix
    }

    fn parse_fd_number(&mut self) -> Option<RedirectPrefix> {
        let mut number: Option<u32> = Some(0);
        while let Some(digit @ b'0'..=b'9') = self.cursor.peek() {
            number = number.and_then(|n| n.checked_mul(10)?.checked_add(u32::from(digit - b'0')));
            self.cursor.bump();
        }
        // In bash, larger numbers are words.
        let fd = Some(number.filter(|&n| i32::try_from(n).is_ok())?);
        Some(RedirectPrefix { fd, variable: None })
    }

    fn parse_fd_variable(&mut self) -> Option<RedirectPrefix> {
        self.cursor.bump();
        let mut name = self.parse_name();
        if !name.is_empty() && self.cursor.peek() == Some(b'[') {
            name.push_str(self.cursor.take_while(|b| b == b'[' || b == b'_' || b.is_ascii_alphanumeric()));
            if self.cursor.eat(b']') {
                name.push(']');
            }
        }
        let whole = !name.is_empty() && self.cursor.eat(b'}');
        whole.then_some(RedirectPrefix { fd: None, variable: Some(name) })
    }
}

fn build_redirect_kind(sign: &str, fd: Option<u32>, target: ShellWord) -> RedirectKind {
    match sign {
        "<" => RedirectKind::Read(target),
        ">" => RedirectKind::Write(target),
        ">|" => RedirectKind::Clobber(target),
        ">>" => RedirectKind::Append(target),
        "<>" => RedirectKind::ReadWrite(target),
        "&>" => RedirectKind::WriteBoth(target),
        "&>>" => RedirectKind::AppendBoth(target),
        "<<<" => RedirectKind::HereString(target),
        // `>&` with a file is `&>`. An expansion may become a number or a file; the file matters more.
        ">&" if fd.is_none_or(|fd| fd == 1) && !is_descriptor_word(&target) => RedirectKind::WriteBoth(target),
        _ => RedirectKind::Duplicate(target),
    }
}

/// `2`, `-` or `2-`.
fn is_descriptor_word(word: &ShellWord) -> bool {
    let text = word.to_literal().unwrap_or_else(|| "?".to_owned());
    let number = text.strip_suffix('-').unwrap_or(&text);
    !text.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}
