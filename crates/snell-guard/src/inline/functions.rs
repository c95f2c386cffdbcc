//! Functions of the code itself: where one is called, what it does is done with what it is given.

use std::rc::Rc;

use super::reader::Reader;
use super::scan::Token;
use super::worth::{Argument, Worth};

/// Longer ones are not followed.
const MAX_BODY: usize = 4096;

/// So many tokens may stand before what a function does.
const MAX_HEAD: usize = 64;

/// So many are remembered, and so many calls are followed.
const MAX_FUNCTIONS: usize = 64;
const MAX_CALLS: usize = 64;

/// Functions that call functions.
const MAX_NESTED: usize = 3;

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    parameters: Vec<String>,
    body: Rc<Vec<Token>>,
}

/// What is spent on calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) count: usize,
    nested: usize,
}

impl Reader<'_, '_> {
    /// Remembers a function that is defined here: `def f(x)`, `function f(x) {`, `sub f {`. It is read on as well.
    pub(super) fn define(&mut self) {
        let defines = matches!(self.name_at(0), Some("def" | "function" | "sub"));
        if let Some(name) = self.name_at(1).map(str::to_owned).filter(|_| defines) {
            self.remember(name, self.at + 2);
        }
    }

    /// The same for one that gets its name by an assignment: `f = lambda x: …`, `f = x => …`, `f = function (x) {`.
    pub(super) fn define_as(&mut self, name: &str) {
        let is_arrow = self.is(2, "=>") && self.is(0, "=") || self.is(1, "(") && self.arrow_follows();
        match self.name_at(1) {
            Some("lambda" | "function") => self.remember(name.to_owned(), self.at + 2),
            _ if is_arrow => self.remember(name.to_owned(), self.at + 1),
            _ => {}
        }
    }

    /// `= (a, b) =>`
    fn arrow_follows(&self) -> bool {
        const MAX_PARAMETERS: usize = 16;
        (2..MAX_PARAMETERS).any(|ahead| self.is(ahead, ")") && self.is(ahead + 1, "=>"))
    }

    fn remember(&mut self, name: String, from: usize) {
        if self.functions.len() >= MAX_FUNCTIONS || self.functions.contains_key(&name) {
            return;
        }
        let rest = self.tokens.get(from..).unwrap_or_default();
        let begins = |token: &Token| matches!(token, Token::Sign("{" | ":" | "=>") | Token::Line) || is_end(token);
        let mut start = rest.iter().take(MAX_HEAD);
        let Some(head) = start.position(|token| begins(token) || *token == Token::Sign(")")) else {
            return;
        };
        let parameters = rest.get(..head).unwrap_or_default().iter();
        let parameters = parameters.filter_map(|token| match token {
            Token::Name(name) => Some(name.clone()),
            _ => None,
        });
        let parameters: Vec<String> = parameters.collect();
        let body = Some(body(rest.get(head..).unwrap_or_default())).filter(|body| body.len() <= MAX_BODY);
        let body = Rc::new(body.unwrap_or_default().to_vec());
        self.functions.insert(name, Function { parameters, body });
    }

    /// Follows a call of such a function.
    pub(super) fn follow(&mut self, name: &str, arguments: &[Argument]) {
        if self.stage.quiet || self.calls.count >= MAX_CALLS || self.calls.nested >= MAX_NESTED {
            return;
        }
        let Some(function) = self.functions.get(name).cloned() else {
            return;
        };
        self.calls.count += 1;
        self.calls.nested += 1;
        let names = self.names.clone();
        let given: Vec<Worth> = arguments.iter().map(|(_, worth)| worth.clone()).collect();
        for (parameter, worth) in function.parameters.iter().zip(&given) {
            self.keep(parameter.clone(), worth.clone());
        }
        if self.is_named("Perl") {
            self.keep(
                "shift".to_owned(),
                given.first().cloned().unwrap_or_else(Worth::unknown),
            );
            self.keep("@_".to_owned(), Worth::List(given.clone()));
            self.keep("$_".to_owned(), Worth::List(given));
        }
        let tokens = std::mem::replace(&mut self.tokens, function.body.to_vec());
        let at = std::mem::take(&mut self.at);
        self.run();
        (self.tokens, self.at, self.names) = (tokens, at, names);
        self.calls.nested -= 1;
    }
}

fn is_end(token: &Token) -> bool {
    *token == Token::Sign(";")
}

/// What a function does: between its braces, or up to the next one.
fn body(rest: &[Token]) -> &[Token] {
    let open = rest.iter().take(4).position(|token| *token == Token::Sign("{"));
    let Some(open) = open else {
        let next = |token: &Token| matches!(token, Token::Name(name) if matches!(name.as_str(), "def" | "class"));
        let end = rest.iter().position(next).unwrap_or(rest.len());
        return rest.get(1..end).unwrap_or_default();
    };
    let mut depth = 0usize;
    let end = rest.iter().skip(open).position(|token| {
        match token {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let end = end.map_or(rest.len(), |end| open + end);
    rest.get(open + 1..end).unwrap_or_default()
}
