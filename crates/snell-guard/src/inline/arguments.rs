//! What a call is given, with and without parentheses.

use super::calls::Gives;
use super::reader::{ENDS, MAX_DEPTH, Reader};
use super::scan::{Piece, Token};
use super::worth::{Argument, Worth};

impl Reader<'_, '_> {
    /// Arguments up to a closing sign, which is passed. `each` is what a function among them is called with.
    pub(super) fn arguments(&mut self, close: &str, each: Option<Worth>) -> Vec<Argument> {
        let mut list: Vec<Argument> = Vec::new();
        if self.depth >= MAX_DEPTH {
            self.stage.limit();
            return list;
        }
        self.depth += 1;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign(sign) if *sign == close => {
                    self.at += 1;
                    break;
                }
                Token::Sign(",") | Token::Line => self.at += 1,
                _ => {
                    self.parameter(each.as_ref());
                    let mut argument = self.argument();
                    if self.is_only_asked(&argument.1) {
                        argument.1 = Worth::unknown();
                    }
                    self.bind(&argument.1);
                    list.push(argument);
                    while self.peek(0).is_some() && !self.is(0, ",") && !self.is(0, close) {
                        self.progress();
                    }
                }
            }
        }
        self.depth -= 1;
        list
    }

    /// `secret ? "set" : "unset"`, `secret is not None`: whether it is there may be known.
    fn is_only_asked(&self, worth: &Worth) -> bool {
        let signs = ["?", "==", "===", "!=", "!==", "&&", ">", "<"];
        let asks = signs.iter().any(|sign| self.is(0, sign)) || matches!(self.name_at(0), Some("is" | "in" | "and"));
        asks && worth.value().credential().is_some()
    }

    /// `x => …`, `(x) => …`: from here on, `x` is what the function is called with.
    pub(super) fn parameter(&mut self, each: Option<&Worth>) {
        let Some(each) = each else { return };
        let parenthesis = usize::from(self.is(0, "("));
        let arrow = self.is(1 + 2 * parenthesis, "=>");
        if arrow && let Some(name) = self.name_at(parenthesis).map(str::to_owned) {
            self.at += 2 + 2 * parenthesis;
            self.keep(name, each.clone());
        }
    }

    pub(super) fn argument(&mut self) -> Argument {
        let fat_comma = self.is(1, "=>") && self.is_named("Perl");
        let named = (self.is(1, "=") || self.is(1, ":") || self.is(1, "=>")) && !fat_comma;
        let key = match self.peek(0) {
            Some(Token::Name(name)) if named || fat_comma => Some(name.clone()),
            Some(Token::Text { pieces, .. }) if named => match pieces.as_slice() {
                [Piece::Text(text)] => Some(text.clone()),
                _ => Some(String::new()),
            },
            _ => None,
        };
        match key {
            Some(word) if fat_comma => {
                self.at += 1;
                if let Some(token) = self.tokens.get_mut(self.at) {
                    *token = Token::Sign(",");
                }
                (None, Worth::text(word))
            }
            Some(_) if named => {
                self.at += 2;
                (key, self.expression())
            }
            _ => (None, self.expression()),
        }
    }

    /// Whether a call without parentheses begins here.
    pub(super) fn begins_bare_call(&self, name: &str) -> bool {
        if !self.language.bare_calls || !self.known(name) || self.gives(name) == Some(Gives::Environment) {
            return false;
        }
        match self.peek(0) {
            Some(Token::Text { .. } | Token::Words(_) | Token::Number(_)) => true,
            Some(Token::Name(name)) => !ENDS.contains(&name.as_str()),
            Some(Token::Sign("[")) => name != "Dir",
            Some(Token::Sign("-")) => matches!(self.peek(1), Some(Token::Number(_))),
            _ => false,
        }
    }

    pub(super) fn bare_arguments(&mut self) -> Vec<Argument> {
        let mut list = Vec::new();
        if self.depth >= MAX_DEPTH {
            self.stage.limit();
            self.at += 1;
            return list;
        }
        self.depth += 1;
        loop {
            list.push(self.argument());
            if !self.is(0, ",") {
                // `print F "x"`
                if matches!(self.peek(0), Some(Token::Text { .. } | Token::Words(_))) && self.is_named("Perl") {
                    continue;
                }
                break;
            }
            self.at += 1;
            while self.peek(0) == Some(&Token::Line) {
                self.at += 1;
            }
        }
        self.depth -= 1;
        list
    }

    /// `{ |x| …`, `do |x| …`
    pub(super) fn block_parameter(&mut self, each: &Worth) {
        let begins = self.is(0, "{") || self.name_at(0) == Some("do");
        if begins
            && self.is(1, "|")
            && let Some(name) = self.name_at(2).map(str::to_owned)
        {
            self.at += 3;
            self.keep(name, each.clone());
        }
    }
}
