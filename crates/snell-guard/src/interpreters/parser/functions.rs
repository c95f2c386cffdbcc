//! Functions that the code defines: a call runs the body with its arguments.

use std::rc::Rc;

use crate::interpreters::eval::{CallArgument, ScriptValue};
use crate::interpreters::lexer::{ScriptToken, find_block_end};
use crate::interpreters::parser::ScriptParser;

/// Longer bodies are not analysed.
const MAX_BODY_TOKENS: usize = 4096;

/// How many tokens may precede a body.
const MAX_HEAD_TOKENS: usize = 64;

/// How many functions are kept, and how many calls are followed.
const MAX_FUNCTIONS: usize = 64;
const MAX_CALLS: usize = 64;

/// How deep functions that call functions are followed.
const MAX_CALL_DEPTH: usize = 3;

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct ScriptFunction {
    parameters: Vec<String>,
    body: Rc<Vec<ScriptToken>>,
}

/// The budget for calls.
#[derive(Debug, Default)]
pub(crate) struct CallBudget {
    pub(crate) count: usize,
    nested: usize,
}

impl ScriptParser<'_, '_> {
    /// Records a function that is defined here: `def f(x)`, `function f(x) {`, `sub f {`. The body is also parsed as
    /// code.
    pub(crate) fn define_function(&mut self) {
        let defines = matches!(self.peek_name(0), Some("def" | "function" | "sub"));
        if let Some(name) = self.peek_name(1).map(str::to_owned).filter(|_| defines) {
            self.store_function(name, self.position + 2);
        }
    }

    /// The same for an assigned function: `f = lambda x: …`, `f = x => …`, `f = function (x) {`.
    pub(crate) fn define_assigned_function(&mut self, name: &str) {
        let is_arrow = self.is_sign(2, "=>") && self.is_sign(0, "=") || self.is_sign(1, "(") && self.has_arrow_ahead();
        match self.peek_name(1) {
            Some("lambda" | "function") => self.store_function(name.to_owned(), self.position + 2),
            _ if is_arrow => self.store_function(name.to_owned(), self.position + 1),
            _ => {}
        }
    }

    /// `= (a, b) =>`
    fn has_arrow_ahead(&self) -> bool {
        const MAX_PARAMETERS: usize = 16;
        (2..MAX_PARAMETERS).any(|ahead| self.is_sign(ahead, ")") && self.is_sign(ahead + 1, "=>"))
    }

    fn store_function(&mut self, name: String, from: usize) {
        if self.functions.len() >= MAX_FUNCTIONS || self.functions.contains_key(&name) {
            return;
        }
        let rest = self.tokens.get(from..).unwrap_or_default();
        let begins =
            |token: &ScriptToken| matches!(token, ScriptToken::Sign("{" | ":" | "=>" | ";") | ScriptToken::Newline);
        let mut start = rest.iter().take(MAX_HEAD_TOKENS);
        let Some(head) = start.position(|token| begins(token) || *token == ScriptToken::Sign(")")) else {
            return;
        };
        let parameters = rest.get(..head).unwrap_or_default().iter();
        let parameters = parameters.filter_map(|token| match token {
            ScriptToken::Name(name) => Some(name.clone()),
            _ => None,
        });
        let parameters: Vec<String> = parameters.collect();
        let body =
            Some(take_function_body(rest.get(head..).unwrap_or_default())).filter(|body| body.len() <= MAX_BODY_TOKENS);
        let body = Rc::new(body.unwrap_or_default().to_vec());
        self.functions.insert(name, ScriptFunction { parameters, body });
    }

    /// Runs a call of such a function.
    pub(crate) fn follow_function_call(&mut self, name: &str, arguments: &[CallArgument]) {
        if self.lowering.definitions_only || self.calls.count >= MAX_CALLS || self.calls.nested >= MAX_CALL_DEPTH {
            return;
        }
        let Some(function) = self.functions.get(name).cloned() else {
            return;
        };
        self.calls.count += 1;
        self.calls.nested += 1;
        let names = self.variables.clone();
        let given: Vec<ScriptValue> = arguments.iter().map(|(_, worth)| worth.clone()).collect();
        for (parameter, worth) in function.parameters.iter().zip(&given) {
            self.set_variable(parameter.clone(), worth.clone());
        }
        if self.is_language("Perl") {
            self.set_variable("shift".to_owned(), given.first().cloned().unwrap_or_else(ScriptValue::unknown));
            self.set_variable("@_".to_owned(), ScriptValue::List(given.clone()));
            self.set_variable("$_".to_owned(), ScriptValue::List(given));
        }
        let tokens = std::mem::replace(&mut self.tokens, function.body.to_vec());
        let at = std::mem::take(&mut self.position);
        self.parse_statements();
        (self.tokens, self.position, self.variables) = (tokens, at, names);
        self.calls.nested -= 1;
    }
}

/// The body of a function: between its braces, or up to the next function.
fn take_function_body(rest: &[ScriptToken]) -> &[ScriptToken] {
    let open = rest.iter().take(4).position(|token| *token == ScriptToken::Sign("{"));
    let Some(open) = open else {
        let next =
            |token: &ScriptToken| matches!(token, ScriptToken::Name(name) if matches!(name.as_str(), "def" | "class"));
        let end = rest.iter().position(next).unwrap_or(rest.len());
        return rest.get(1..end).unwrap_or_default();
    };
    let block = rest.get(open..).unwrap_or_default();
    block.get(1..find_block_end(block)).unwrap_or_default()
}
