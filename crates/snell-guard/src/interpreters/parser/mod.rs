//! Turns tokens into calls. Expressions are parsed if they are chains of names, calls and strings.

pub(crate) mod arguments;
pub(crate) mod functions;
pub(crate) mod statements;

use crate::interpreters::words::parser as words;
use std::collections::HashMap;

use super::client_libraries::ClientLibraries;
use super::eval::{
    CallArgument, ScriptValue, compute_return_value, concat_values, fill_percent_format, group_arguments, join_paths,
    resolve_variable, split_value,
};
use super::languages::{CallAction, LanguageSpec, ReturnKind};
use super::lexer::{ScriptStringPart, ScriptToken, tokenize_code};
use super::lower::{LoweringContext, LoweringPass, render_shell_text};
use super::secret_probe::{is_hint_length, is_secret_probe};
use crate::interpreters::parser::functions::{CallBudget, ScriptFunction};
use crate::invocation::{SymbolicText, UnknownKind};

/// Nesting of expressions. Each level costs stack.
pub(crate) const MAX_DEPTH: usize = 48;

/// Nesting of code: interpolations, `eval`.
const MAX_NESTED_CODE: usize = 512;

/// Larger values are not stored.
pub(super) const MAX_STORED_SIZE: usize = 2048;

/// Parses code.
pub(super) struct ScriptParser<'a, 'w> {
    pub(super) language: &'static LanguageSpec,
    pub(super) tokens: Vec<ScriptToken>,
    pub(super) position: usize,
    pub(super) lowering: &'a mut LoweringContext<'w>,
    pub(super) variables: HashMap<String, ScriptValue>,
    /// Modules whose names are imported.
    pub(super) open_modules: Vec<String>,
    pub(super) depth: usize,
    pub(super) functions: HashMap<String, ScriptFunction>,
    pub(super) calls: CallBudget,
    client_libraries: ClientLibraries,
    nested_code_count: usize,
}

impl<'a, 'w> ScriptParser<'a, 'w> {
    pub(super) fn new(
        language: &'static LanguageSpec,
        tokens: Vec<ScriptToken>,
        lowering: &'a mut LoweringContext<'w>,
    ) -> Self {
        Self {
            language,
            functions: HashMap::new(),
            calls: CallBudget::default(),
            client_libraries: ClientLibraries::from_tokens(&tokens),
            tokens,
            position: 0,
            lowering,
            variables: HashMap::new(),
            open_modules: Vec::new(),
            depth: 0,
            nested_code_count: 0,
        }
    }

    /// One pass for names, which may be used before they are set, and one for effects.
    pub(super) fn run_both_passes(&mut self) {
        for pass in [LoweringPass::Definitions, LoweringPass::Effects] {
            self.lowering.start_pass(pass);
            (self.position, self.nested_code_count) = (0, 0);
            self.parse_statements();
        }
    }

    pub(super) fn parse_statements(&mut self) {
        while self.position < self.tokens.len() {
            self.parse_statement_or_skip();
        }
    }

    /// Parses a statement, or skips one token.
    pub(super) fn parse_statement_or_skip(&mut self) {
        let before = self.position;
        self.parse_statement();
        if self.position == before {
            self.position += 1;
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<&ScriptToken> {
        self.tokens.get(self.position + ahead)
    }

    pub(super) fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek(ahead), Some(ScriptToken::Sign(found)) if *found == sign)
    }

    pub(super) fn peek_name(&self, ahead: usize) -> Option<&str> {
        match self.peek(ahead) {
            Some(ScriptToken::Name(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_language(&self, language: &str) -> bool {
        self.language.name == language
    }

    pub(super) fn parse_expression(&mut self) -> ScriptValue {
        if self.depth >= MAX_DEPTH {
            self.lowering.mark_limited();
            return ScriptValue::unknown();
        }
        self.depth += 1;
        let mut worth = self.parse_operand();
        loop {
            let python = self.is_language("Python");
            let joins = self.peek(0) == Some(&ScriptToken::Join);
            if !joins && !(python && (self.is_sign(0, "/") || self.is_sign(0, "%"))) {
                break;
            }
            let fills = self.is_sign(0, "%");
            self.position += 1;
            while self.peek(0) == Some(&ScriptToken::Newline) {
                self.position += 1;
            }
            let right = self.parse_operand();
            worth = match (worth, right) {
                (ScriptValue::List(mut left), ScriptValue::List(right)) if joins => {
                    left.extend(right);
                    ScriptValue::List(left)
                }
                (left, right) if fills => ScriptValue::Text(fill_percent_format(&left.to_value(), &right)),
                (left, right) if joins => ScriptValue::Text(concat_values(left.into_value(), &right.into_value())),
                (left, right) => ScriptValue::Text(join_paths(left.into_value(), &right.into_value())),
            };
        }
        self.depth -= 1;
        worth
    }

    pub(super) fn parse_operand(&mut self) -> ScriptValue {
        let is_negated = self.is_sign(0, "!") || self.peek_name(0) == Some("not");
        let worth = self.parse_plain_operand();
        if is_negated && worth.to_value().credential_issuer().is_some() {
            return ScriptValue::unknown();
        }
        worth
    }

    fn parse_plain_operand(&mut self) -> ScriptValue {
        while self.peek_name(0).is_some_and(|name| words::EXPRESSION_PREFIXES.contains(&name))
            || matches!(self.peek(0), Some(ScriptToken::Sign("!" | "\\" | "&" | "@" | "..." | "*")))
        {
            self.position += 1;
        }
        let worth = match self.peek(0) {
            Some(ScriptToken::Text { .. }) => self.parse_string(),
            Some(ScriptToken::Words(words)) => {
                let words = words.iter().map(ScriptValue::from_text).collect();
                self.position += 1;
                ScriptValue::List(words)
            }
            Some(ScriptToken::Number(number)) => {
                let number = ScriptValue::from_text(number.clone());
                self.position += 1;
                number
            }
            Some(ScriptToken::Sign("-")) => match self.peek(1) {
                Some(ScriptToken::Number(number)) => {
                    let number = ScriptValue::from_text(format!("-{number}"));
                    self.position += 2;
                    number
                }
                _ => return ScriptValue::unknown(),
            },
            Some(ScriptToken::Sign("(")) => {
                self.position += 1;
                group_arguments(self.parse_arguments(")", None))
            }
            Some(ScriptToken::Sign("[")) => {
                self.position += 1;
                let list = self.parse_arguments("]", None);
                ScriptValue::List(list.into_iter().map(|(_, worth)| worth).collect())
            }
            Some(ScriptToken::Sign("{")) if self.depth > 1 => {
                self.position += 1;
                let list = self.parse_arguments("}", None);
                ScriptValue::Dict(list.into_iter().map(|(name, worth)| (name.unwrap_or_default(), worth)).collect())
            }
            Some(ScriptToken::Name(name)) => {
                let name = name.clone();
                self.position += 1;
                self.variables.get(&name).cloned().unwrap_or(ScriptValue::Symbol(name))
            }
            _ => return ScriptValue::unknown(),
        };
        self.parse_postfix_chain(worth)
    }

    /// In Python, adjacent strings are one string.
    pub(super) fn parse_string(&mut self) -> ScriptValue {
        let mut all = SymbolicText::default();
        while let Some(ScriptToken::Text { pieces, command }) = self.peek(0) {
            let (pieces, command) = (pieces.clone(), *command);
            self.position += 1;
            for piece in pieces {
                let value = match piece {
                    ScriptStringPart::Text(text) => SymbolicText::from_text(text),
                    ScriptStringPart::Interpolation(code) => {
                        self.parse_nested(&code, Self::parse_expression).unwrap_or_else(ScriptValue::unknown).to_value()
                    }
                };
                all = concat_values(all, &value);
            }
            if command {
                self.lowering.lower_shell_code(&render_shell_text(&all), None);
                return ScriptValue::unknown();
            }
            if !self.is_language("Python") {
                break;
            }
        }
        ScriptValue::Text(all)
    }

    /// Parses other code with the names of this one.
    pub(super) fn parse_nested<T>(&mut self, code: &str, read: fn(&mut Self) -> T) -> Option<T> {
        if self.nested_code_count >= MAX_NESTED_CODE || self.depth >= MAX_DEPTH {
            self.lowering.mark_limited();
            return None;
        }
        self.nested_code_count += 1;
        self.depth += 1;
        let tokens = std::mem::replace(&mut self.tokens, tokenize_code(code, self.language));
        let at = std::mem::take(&mut self.position);
        let found = read(self);
        (self.tokens, self.position) = (tokens, at);
        self.depth -= 1;
        Some(found)
    }

    /// Parses members, calls and elements of a value.
    pub(super) fn parse_postfix_chain(&mut self, mut worth: ScriptValue) -> ScriptValue {
        loop {
            worth = match (self.peek(0), worth) {
                (Some(ScriptToken::Dot), before) => {
                    let Some(part) = self.peek_name(1).map(str::to_owned) else {
                        return before;
                    };
                    self.position += 2;
                    self.parse_member(before, &part)
                }
                (Some(ScriptToken::Sign("(")), ScriptValue::Symbol(name)) => {
                    self.position += 1;
                    let arguments = self.parse_arguments(")", None);
                    self.evaluate_call(&name, arguments)
                }
                (Some(ScriptToken::Sign("(")), before) if !self.language.bare_calls => {
                    self.position += 1;
                    self.parse_arguments(")", None);
                    before
                }
                (Some(ScriptToken::Sign("[")), before) if !matches!(&before, ScriptValue::Symbol(name) if self.is_bare_call_start(name)) =>
                {
                    let hint = self.is_sign(1, ":")
                        && matches!(self.peek(2), Some(ScriptToken::Number(count)) if is_hint_length(count));
                    self.position += 1;
                    let inside = group_arguments(self.parse_arguments("]", None));
                    if hint && before.to_value().credential_issuer().is_some() {
                        return ScriptValue::unknown();
                    }
                    self.resolve_element(before, &inside)
                }
                (Some(ScriptToken::Sign("{")), ScriptValue::Symbol(name))
                    if self.find_return_kind(&name) == Some(ReturnKind::Environment) && self.is_language("Perl") =>
                {
                    self.position += 1;
                    let inside = group_arguments(self.parse_arguments("}", None));
                    self.resolve_element(ScriptValue::Symbol(name), &inside)
                }
                // zx and bun: $`command`
                (Some(ScriptToken::Text { .. }), ScriptValue::Symbol(name))
                    if self.is_language("JavaScript") && matches!(name.as_str(), "$" | "Bun.$") =>
                {
                    let text = self.parse_string().to_value();
                    self.lowering.lower_shell_code(&render_shell_text(&text), None);
                    ScriptValue::unknown()
                }
                (_, ScriptValue::Symbol(name)) if self.is_bare_call_start(&name) => {
                    let arguments = self.parse_bare_arguments();
                    self.evaluate_call(&name, arguments)
                }
                (_, ScriptValue::Symbol(name)) => return self.resolve_bare_name(name),
                (_, worth) => return worth,
            };
        }
    }

    /// A name without a call or a member.
    pub(super) fn resolve_bare_name(&self, name: String) -> ScriptValue {
        match self.find_return_kind(&name) {
            Some(gives @ (ReturnKind::Environment | ReturnKind::Processes | ReturnKind::Agent)) => {
                compute_return_value(gives, &[], None, self.lowering.world)
            }
            Some(gives @ (ReturnKind::Home | ReturnKind::CurrentDir)) if self.language.bare_calls => {
                compute_return_value(gives, &[], self.lowering.cwd.as_deref(), self.lowering.world)
            }
            _ => ScriptValue::Symbol(name),
        }
    }

    pub(super) fn parse_member(&mut self, before: ScriptValue, part: &str) -> ScriptValue {
        if let ScriptValue::Symbol(name) = &before {
            return self.resolve_symbol_member(name, part);
        }
        let mut arguments = Vec::new();
        let is_iteration = words::ITERATION_METHODS.contains(&part);
        if self.is_sign(0, "(") {
            self.position += 1;
            arguments = self.parse_arguments(")", is_iteration.then(|| before.clone()));
        }
        if is_iteration {
            self.bind_block_parameter(&before);
            let names = arguments.iter().filter_map(|(_, value)| match value {
                ScriptValue::Symbol(name) => Some(name.clone()),
                _ => None,
            });
            for name in names.collect::<Vec<_>>() {
                self.evaluate_call(&name, vec![(None, before.clone())]);
            }
        }
        let method = format!(".{part}");
        let known = self.is_known_name(&method);
        if !known {
            self.lowering.lower_commands(self.client_libraries.equivalent_commands(part, &arguments));
        }
        arguments.insert(0, (None, before.clone()));
        if known {
            return self.evaluate_call(&method, arguments);
        }
        let taint = arguments.iter().find_map(|(_, value)| value.taint());
        match (taint.filter(|_| !is_secret_probe(part, &arguments)), before) {
            (Some(taint), _) => ScriptValue::from_taint(Some(taint)),
            (None, file @ ScriptValue::File(_)) => file,
            (None, before) if part == "split" => split_value(&before),
            (None, before) if words::NEUTRAL_METHODS.contains(&part) => before,
            _ => ScriptValue::unknown(),
        }
    }

    /// A member of a module: a longer name, or in JavaScript an environment variable.
    fn resolve_symbol_member(&self, name: &str, part: &str) -> ScriptValue {
        let full = format!("{name}.{part}");
        if full.len() > MAX_STORED_SIZE {
            return ScriptValue::unknown();
        }
        let is_environment = self.find_return_kind(name) == Some(ReturnKind::Environment);
        if is_environment && !self.is_known_name(&full) && self.is_language("JavaScript") {
            return resolve_variable(&SymbolicText::from_text(part), self.lowering.world);
        }
        ScriptValue::Symbol(full)
    }

    pub(super) fn resolve_element(&mut self, before: ScriptValue, inside: &ScriptValue) -> ScriptValue {
        match before {
            ScriptValue::Symbol(name) if self.find_return_kind(&name) == Some(ReturnKind::Environment) => {
                match inside {
                    // A bare word between braces is a string.
                    ScriptValue::Symbol(name) => {
                        resolve_variable(&SymbolicText::from_text(name.clone()), self.lowering.world)
                    }
                    other => resolve_variable(&other.to_value(), self.lowering.world),
                }
            }
            ScriptValue::Symbol(name) if name == "Dir" => {
                compute_return_value(ReturnKind::Glob, std::slice::from_ref(inside), None, self.lowering.world)
            }
            ScriptValue::Symbol(name) => match inside.to_value().as_text() {
                Some(part) => ScriptValue::Symbol(format!("{name}.{part}")),
                None => ScriptValue::unknown(),
            },
            ScriptValue::List(list) => {
                let at = inside.to_value().as_text().and_then(|text| text.parse::<usize>().ok());
                at.and_then(|at| list.get(at).cloned()).unwrap_or_else(ScriptValue::unknown)
            }
            other => ScriptValue::from_taint(other.taint()),
        }
    }

    pub(super) fn evaluate_call(&mut self, name: &str, arguments: Vec<CallArgument>) -> ScriptValue {
        let act = self.find_action(name);
        match act {
            Some(CallAction::Eval) => self.evaluate_code_argument(&arguments),
            Some(CallAction::Apply) => {
                let mut values = arguments.iter().map(|(_, worth)| worth.clone());
                let function = match values.next() {
                    Some(ScriptValue::Symbol(name)) => Some(name),
                    Some(ScriptValue::Text(value)) => value.as_text().map(str::to_owned),
                    _ => None,
                };
                if let Some(function) =
                    function.filter(|function| self.find_action(function) != Some(CallAction::Apply))
                {
                    return self.evaluate_call(&function, values.map(|worth| (None, worth)).collect());
                }
            }
            Some(act) => self.lowering.lower_call(act, &arguments),
            None if self.functions.contains_key(name) => self.follow_function_call(name, &arguments),
            None => self.lowering.lower_commands(self.client_libraries.equivalent_commands(name, &arguments)),
        }
        if let Some(gives) = self.find_return_kind(name) {
            let values: Vec<ScriptValue> = arguments.into_iter().map(|(_, worth)| worth).collect();
            return compute_return_value(gives, &values, self.lowering.cwd.as_deref(), self.lowering.world);
        }
        if is_secret_probe(name, &arguments) {
            return ScriptValue::unknown();
        }
        ScriptValue::from_taint(arguments.iter().find_map(|(_, worth)| worth.taint()))
    }

    pub(super) fn evaluate_code_argument(&mut self, arguments: &[CallArgument]) {
        let Some(value) = arguments.first().map(|(_, worth)| worth.to_value()) else {
            return;
        };
        if value.contains_unknown(UnknownKind::Unseen) {
            self.lowering.lower_unseen_code();
        } else if let Some(code) = value.as_text() {
            self.parse_nested(code, Self::parse_statements);
        }
    }

    pub(super) fn is_known_name(&self, name: &str) -> bool {
        self.find_action(name).is_some() || self.find_return_kind(name).is_some()
    }

    pub(super) fn find_action(&self, name: &str) -> Option<CallAction> {
        self.find_by_known_name(name, |name| self.language.find_action(name))
    }

    pub(super) fn find_return_kind(&self, name: &str) -> Option<ReturnKind> {
        self.find_by_known_name(name, |name| self.language.find_return_kind(name))
    }

    /// Looks up a name as written, then without its surroundings, then in an imported module.
    fn find_by_known_name<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(found) = find(name) {
            return Some(found);
        }
        if self.is_language("JavaScript") {
            let short = name.trim_start_matches("globalThis.").replace(".promises.", ".");
            return find(short.strip_suffix("Sync").unwrap_or(&short));
        }
        let short = ["base.", "CORE.", "builtins.", "Kernel."].iter().find_map(|prefix| name.strip_prefix(prefix));
        short
            .and_then(&find)
            .or_else(|| self.open_modules.iter().take(8).find_map(|module| find(&format!("{module}.{name}"))))
    }
}
