//! The arguments of a call, with and without parentheses.

use crate::interpreters::eval::{CallArgument, ScriptValue};
use crate::interpreters::languages::ReturnKind;
use crate::interpreters::lexer::{ScriptStringPart, ScriptToken};
use crate::interpreters::parser::{MAX_DEPTH, ScriptParser};
use crate::interpreters::words::parser as words;

impl ScriptParser<'_, '_> {
    /// Parses arguments up to and including a closing sign. `each` is the argument of a function among them.
    pub(crate) fn parse_arguments(&mut self, close: &str, each: Option<ScriptValue>) -> Vec<CallArgument> {
        let mut list: Vec<CallArgument> = Vec::new();
        if self.depth >= MAX_DEPTH {
            self.lowering.mark_limited();
            return list;
        }
        self.depth += 1;
        while let Some(token) = self.peek(0) {
            match token {
                ScriptToken::Sign(sign) if *sign == close => {
                    self.position += 1;
                    break;
                }
                ScriptToken::Sign(",") | ScriptToken::Newline => self.position += 1,
                _ => {
                    self.bind_arrow_parameter(each.as_ref());
                    let mut argument = self.parse_argument();
                    if self.is_only_tested(&argument.1) {
                        argument.1 = ScriptValue::unknown();
                    }
                    self.bind_as_clause(&argument.1);
                    list.push(argument);
                    while self.peek(0).is_some() && !self.is_sign(0, ",") && !self.is_sign(0, close) {
                        self.parse_statement_or_skip();
                    }
                }
            }
        }
        self.depth -= 1;
        list
    }

    /// `secret ? "set" : "unset"`, `secret is not None`: only tests whether it exists.
    fn is_only_tested(&self, worth: &ScriptValue) -> bool {
        let signs = ["?", "==", "===", "!=", "!==", "&&", ">", "<"];
        let asks =
            signs.iter().any(|sign| self.is_sign(0, sign)) || matches!(self.peek_name(0), Some("is" | "in" | "and"));
        asks && worth.to_value().credential_issuer().is_some()
    }

    /// `x => …`, `(x) => …`: binds `x` to the argument of the function.
    pub(crate) fn bind_arrow_parameter(&mut self, each: Option<&ScriptValue>) {
        let Some(each) = each else { return };
        let parenthesis = usize::from(self.is_sign(0, "("));
        let arrow = self.is_sign(1 + 2 * parenthesis, "=>");
        if arrow && let Some(name) = self.peek_name(parenthesis).map(str::to_owned) {
            self.position += 2 + 2 * parenthesis;
            self.set_variable(name, each.clone());
        }
    }

    pub(crate) fn parse_argument(&mut self) -> CallArgument {
        let fat_comma = self.is_sign(1, "=>") && self.is_language("Perl");
        let named = (self.is_sign(1, "=") || self.is_sign(1, ":") || self.is_sign(1, "=>")) && !fat_comma;
        let key = match self.peek(0) {
            Some(ScriptToken::Name(name)) if named || fat_comma => Some(name.clone()),
            Some(ScriptToken::Text { pieces, .. }) if named => match pieces.as_slice() {
                [ScriptStringPart::Text(text)] => Some(text.clone()),
                _ => Some(String::new()),
            },
            _ => None,
        };
        match key {
            Some(word) if fat_comma => {
                self.position += 1;
                if let Some(token) = self.tokens.get_mut(self.position) {
                    *token = ScriptToken::Sign(",");
                }
                (None, ScriptValue::from_text(word))
            }
            Some(_) if named => {
                self.position += 2;
                (key, self.parse_expression())
            }
            _ => (None, self.parse_expression()),
        }
    }

    /// Whether a call without parentheses starts here.
    pub(crate) fn is_bare_call_start(&self, name: &str) -> bool {
        if !self.language.bare_calls
            || !self.is_known_name(name)
            || self.find_return_kind(name) == Some(ReturnKind::Environment)
        {
            return false;
        }
        match self.peek(0) {
            Some(ScriptToken::Text { .. } | ScriptToken::Words(_) | ScriptToken::Number(_)) => true,
            Some(ScriptToken::Name(name)) => !words::BARE_CALL_ENDS.contains(&name.as_str()),
            Some(ScriptToken::Sign("[")) => name != "Dir",
            Some(ScriptToken::Sign("-")) => matches!(self.peek(1), Some(ScriptToken::Number(_))),
            _ => false,
        }
    }

    pub(crate) fn parse_bare_arguments(&mut self) -> Vec<CallArgument> {
        let mut list = Vec::new();
        if self.depth >= MAX_DEPTH {
            self.lowering.mark_limited();
            self.position += 1;
            return list;
        }
        self.depth += 1;
        loop {
            let before = self.position;
            list.push(self.parse_argument());
            // Too deep: nothing was read.
            if self.position == before {
                break;
            }
            if !self.is_sign(0, ",") {
                // `print F "x"`
                if matches!(self.peek(0), Some(ScriptToken::Text { .. } | ScriptToken::Words(_)))
                    && self.is_language("Perl")
                {
                    continue;
                }
                break;
            }
            self.position += 1;
            while self.peek(0) == Some(&ScriptToken::Newline) {
                self.position += 1;
            }
        }
        self.depth -= 1;
        list
    }

    /// `{ |x| …`, `do |x| …`
    pub(crate) fn bind_block_parameter(&mut self, each: &ScriptValue) {
        let begins = self.is_sign(0, "{") || self.peek_name(0) == Some("do");
        if begins
            && self.is_sign(1, "|")
            && let Some(name) = self.peek_name(2).map(str::to_owned)
        {
            self.position += 3;
            self.set_variable(name, each.clone());
        }
    }
}
