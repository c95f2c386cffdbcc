//! Tokens to calls: expressions are read as far as they are chains of names, calls and strings.

use std::collections::HashMap;

use super::act::{Stage, unquoted};
use super::asked::{is_hint, only_measures};
use super::calls::{Act, Gives};
use super::functions::{Calls, Function};
use super::languages::Language;
use super::scan::{Piece, Token, scan};
use super::services::Services;
use super::worth::{Argument, Worth, concat, filled, given, group, path, split, variable};
use crate::invocation::{Unknown, Value};

/// Expressions within each other. Each costs stack.
pub(crate) const MAX_DEPTH: usize = 48;

/// Code within code: holes of strings, `eval`.
const MAX_TEXTS: usize = 512;

/// Larger values are not remembered.
pub(super) const MAX_KEPT: usize = 2048;

/// Words in front of an expression that do not change what it is worth.
pub(super) const PREFIXES: &[&str] = &[
    "await", "new", "not", "my", "our", "local", "return", "yield", "const", "let", "var", "do", "shell", "then",
    "else", "begin",
];

/// Words that end a call without parentheses.
pub(super) const ENDS: &[&str] = &[
    "or", "and", "if", "unless", "for", "foreach", "while", "until", "do", "end", "then", "with", "as",
];

/// Methods that hand each element to a function.
const EACH: &[&str] = &["each", "map", "forEach", "then", "filter", "each_entry", "flatMap"];

/// Reads code.
pub(super) struct Reader<'a, 'w> {
    pub(super) language: &'static Language,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) stage: &'a mut Stage<'w>,
    pub(super) names: HashMap<String, Worth>,
    /// Modules whose names are used as one's own.
    pub(super) opened: Vec<String>,
    pub(super) depth: usize,
    pub(super) functions: HashMap<String, Function>,
    pub(super) calls: Calls,
    services: Services,
    texts: usize,
}

impl<'a, 'w> Reader<'a, 'w> {
    pub(super) fn new(language: &'static Language, tokens: Vec<Token>, stage: &'a mut Stage<'w>) -> Self {
        Self {
            language,
            functions: HashMap::new(),
            calls: Calls::default(),
            services: Services::of(&tokens),
            tokens,
            at: 0,
            stage,
            names: HashMap::new(),
            opened: Vec::new(),
            depth: 0,
            texts: 0,
        }
    }

    /// Once for the names, which may be used before they are set, and once for what happens.
    pub(super) fn run_twice(&mut self) {
        for quiet in [true, false] {
            self.stage.begin(quiet);
            (self.at, self.texts) = (0, 0);
            self.run();
        }
    }

    pub(super) fn run(&mut self) {
        while self.at < self.tokens.len() {
            self.progress();
        }
    }

    /// A statement, or at least one token.
    pub(super) fn progress(&mut self) {
        let before = self.at;
        self.statement();
        if self.at == before {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    pub(super) fn is(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek(ahead), Some(Token::Sign(found)) if *found == sign)
    }

    pub(super) fn name_at(&self, ahead: usize) -> Option<&str> {
        match self.peek(ahead) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_named(&self, language: &str) -> bool {
        self.language.name == language
    }

    pub(super) fn expression(&mut self) -> Worth {
        if self.depth >= MAX_DEPTH {
            self.stage.limit();
            return Worth::unknown();
        }
        self.depth += 1;
        let mut worth = self.operand();
        loop {
            let python = self.is_named("Python");
            let joins = self.peek(0) == Some(&Token::Join);
            if !joins && !(python && (self.is(0, "/") || self.is(0, "%"))) {
                break;
            }
            let fills = self.is(0, "%");
            self.at += 1;
            while self.peek(0) == Some(&Token::Line) {
                self.at += 1;
            }
            let right = self.operand();
            worth = match (worth, right) {
                (Worth::List(mut left), Worth::List(right)) if joins => {
                    left.extend(right);
                    Worth::List(left)
                }
                (left, right) if fills => Worth::Text(filled(&left.value(), &right)),
                (left, right) if joins => Worth::Text(concat(left.into_value(), &right.into_value())),
                (left, right) => Worth::Text(path(left.into_value(), &right.into_value())),
            };
        }
        self.depth -= 1;
        worth
    }

    pub(super) fn operand(&mut self) -> Worth {
        let is_negated = self.is(0, "!") || self.name_at(0) == Some("not");
        let worth = self.operand_itself();
        if is_negated && worth.value().credential().is_some() {
            return Worth::unknown();
        }
        worth
    }

    fn operand_itself(&mut self) -> Worth {
        while self.name_at(0).is_some_and(|name| PREFIXES.contains(&name))
            || matches!(self.peek(0), Some(Token::Sign("!" | "\\" | "&" | "@" | "..." | "*")))
        {
            self.at += 1;
        }
        let worth = match self.peek(0) {
            Some(Token::Text { .. }) => self.string(),
            Some(Token::Words(words)) => {
                let words = words.iter().map(Worth::text).collect();
                self.at += 1;
                Worth::List(words)
            }
            Some(Token::Number(number)) => {
                let number = Worth::text(number.clone());
                self.at += 1;
                number
            }
            Some(Token::Sign("-")) => match self.peek(1) {
                Some(Token::Number(number)) => {
                    let number = Worth::text(format!("-{number}"));
                    self.at += 2;
                    number
                }
                _ => return Worth::unknown(),
            },
            Some(Token::Sign("(")) => {
                self.at += 1;
                group(self.arguments(")", None))
            }
            Some(Token::Sign("[")) => {
                self.at += 1;
                let list = self.arguments("]", None);
                Worth::List(list.into_iter().map(|(_, worth)| worth).collect())
            }
            Some(Token::Sign("{")) if self.depth > 1 => {
                self.at += 1;
                let list = self.arguments("}", None);
                Worth::Named(
                    list.into_iter()
                        .map(|(name, worth)| (name.unwrap_or_default(), worth))
                        .collect(),
                )
            }
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                self.names.get(&name).cloned().unwrap_or(Worth::Name(name))
            }
            _ => return Worth::unknown(),
        };
        self.chain(worth)
    }

    /// Strings that follow each other are one in Python.
    pub(super) fn string(&mut self) -> Worth {
        let mut all = Value::default();
        while let Some(Token::Text { pieces, command }) = self.peek(0) {
            let (pieces, command) = (pieces.clone(), *command);
            self.at += 1;
            for piece in pieces {
                let value = match piece {
                    Piece::Text(text) => Value::text(text),
                    Piece::Hole(code) => self
                        .nested(&code, Self::expression)
                        .unwrap_or_else(Worth::unknown)
                        .value(),
                };
                all = concat(all, &value);
            }
            if command {
                self.stage.shell(&unquoted(&all), None);
                return Worth::unknown();
            }
            if !self.is_named("Python") {
                break;
            }
        }
        Worth::Text(all)
    }

    /// Reads other code with the names of this one.
    pub(super) fn nested<T>(&mut self, code: &str, read: fn(&mut Self) -> T) -> Option<T> {
        if self.texts >= MAX_TEXTS || self.depth >= MAX_DEPTH {
            self.stage.limit();
            return None;
        }
        self.texts += 1;
        self.depth += 1;
        let tokens = std::mem::replace(&mut self.tokens, scan(code, self.language));
        let at = std::mem::take(&mut self.at);
        let found = read(self);
        (self.tokens, self.at) = (tokens, at);
        self.depth -= 1;
        Some(found)
    }

    /// What follows a thing: its parts, its calls, its elements.
    pub(super) fn chain(&mut self, mut worth: Worth) -> Worth {
        loop {
            worth = match (self.peek(0), worth) {
                (Some(Token::Dot), before) => {
                    let Some(part) = self.name_at(1).map(str::to_owned) else {
                        return before;
                    };
                    self.at += 2;
                    self.part(before, &part)
                }
                (Some(Token::Sign("(")), Worth::Name(name)) => {
                    self.at += 1;
                    let arguments = self.arguments(")", None);
                    self.call(&name, arguments)
                }
                (Some(Token::Sign("(")), before) if !self.language.bare_calls => {
                    self.at += 1;
                    self.arguments(")", None);
                    before
                }
                (Some(Token::Sign("[")), before) if !matches!(&before, Worth::Name(name) if self.begins_bare_call(name)) =>
                {
                    let hint = self.is(1, ":") && matches!(self.peek(2), Some(Token::Number(count)) if is_hint(count));
                    self.at += 1;
                    let inside = group(self.arguments("]", None));
                    if hint && before.value().credential().is_some() {
                        return Worth::unknown();
                    }
                    self.element(before, &inside)
                }
                (Some(Token::Sign("{")), Worth::Name(name))
                    if self.gives(&name) == Some(Gives::Environment) && self.is_named("Perl") =>
                {
                    self.at += 1;
                    let inside = group(self.arguments("}", None));
                    self.element(Worth::Name(name), &inside)
                }
                // zx and bun: $`command`
                (Some(Token::Text { .. }), Worth::Name(name))
                    if self.is_named("JavaScript") && matches!(name.as_str(), "$" | "Bun.$") =>
                {
                    let text = self.string().value();
                    self.stage.shell(&unquoted(&text), None);
                    Worth::unknown()
                }
                (_, Worth::Name(name)) if self.begins_bare_call(&name) => {
                    let arguments = self.bare_arguments();
                    self.call(&name, arguments)
                }
                (_, Worth::Name(name)) => return self.alone(name),
                (_, worth) => return worth,
            };
        }
    }

    /// A name that is neither called nor taken apart.
    pub(super) fn alone(&self, name: String) -> Worth {
        match self.gives(&name) {
            Some(gives @ (Gives::Environment | Gives::Processes | Gives::Agent)) => {
                given(gives, &[], None, self.stage.world)
            }
            Some(gives @ (Gives::Home | Gives::Here)) if self.language.bare_calls => {
                given(gives, &[], self.stage.cwd.as_deref(), self.stage.world)
            }
            _ => Worth::Name(name),
        }
    }

    pub(super) fn part(&mut self, before: Worth, part: &str) -> Worth {
        if let Worth::Name(name) = &before {
            let full = format!("{name}.{part}");
            if full.len() > MAX_KEPT {
                return Worth::unknown();
            }
            let environment = self.gives(name) == Some(Gives::Environment);
            if environment && !self.known(&full) && self.is_named("JavaScript") {
                return variable(&Value::text(part), self.stage.world);
            }
            return Worth::Name(full);
        }
        let mut arguments = Vec::new();
        if self.is(0, "(") {
            self.at += 1;
            let each = EACH.contains(&part).then(|| before.clone());
            arguments = self.arguments(")", each);
        }
        if EACH.contains(&part) {
            self.block_parameter(&before);
            let functions: Vec<String> = arguments
                .iter()
                .filter_map(|(_, worth)| match worth {
                    Worth::Name(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            for name in functions {
                self.call(&name, vec![(None, before.clone())]);
            }
        }
        let method = format!(".{part}");
        let known = self.known(&method);
        if !known {
            self.stage.perform(self.services.commands(part, &arguments));
        }
        arguments.insert(0, (None, before.clone()));
        if known {
            return self.call(&method, arguments);
        }
        let taint = arguments.iter().find_map(|(_, worth)| worth.taint());
        match (taint.filter(|_| !only_measures(part, &arguments)), before) {
            (Some(taint), _) => Worth::Text(Value::unknown(taint)),
            (None, file @ Worth::File(_)) => file,
            (None, before)
                if matches!(
                    part,
                    "strip"
                        | "trim"
                        | "decode"
                        | "encode"
                        | "toString"
                        | "to_s"
                        | "text"
                        | "resolve"
                        | "absolute"
                        | "each"
                        | "sort"
                        | "split"
                ) =>
            {
                if part == "split" {
                    split(&before)
                } else {
                    before
                }
            }
            _ => Worth::unknown(),
        }
    }

    pub(super) fn element(&mut self, before: Worth, inside: &Worth) -> Worth {
        match before {
            Worth::Name(name) if self.gives(&name) == Some(Gives::Environment) => match inside {
                // A bare word between braces is a string.
                Worth::Name(name) => variable(&Value::text(name.clone()), self.stage.world),
                other => variable(&other.value(), self.stage.world),
            },
            Worth::Name(name) if name == "Dir" => {
                given(Gives::Glob, std::slice::from_ref(inside), None, self.stage.world)
            }
            Worth::Name(name) => match inside.value().as_text() {
                Some(part) => Worth::Name(format!("{name}.{part}")),
                None => Worth::unknown(),
            },
            Worth::List(list) => {
                let at = inside.value().as_text().and_then(|text| text.parse::<usize>().ok());
                at.and_then(|at| list.get(at).cloned()).unwrap_or_else(Worth::unknown)
            }
            other => other
                .taint()
                .map_or_else(Worth::unknown, |taint| Worth::Text(Value::unknown(taint))),
        }
    }

    pub(super) fn call(&mut self, name: &str, arguments: Vec<Argument>) -> Worth {
        let act = self.act(name);
        match act {
            Some(Act::Eval) => self.evaluate(&arguments),
            Some(Act::Apply) => {
                let mut values = arguments.iter().map(|(_, worth)| worth.clone());
                let function = match values.next() {
                    Some(Worth::Name(name)) => Some(name),
                    Some(Worth::Text(value)) => value.as_text().map(str::to_owned),
                    _ => None,
                };
                if let Some(function) = function.filter(|function| self.act(function) != Some(Act::Apply)) {
                    return self.call(&function, values.map(|worth| (None, worth)).collect());
                }
            }
            Some(act) => self.stage.act(act, &arguments, self.language.name == "Perl"),
            None if self.functions.contains_key(name) => self.follow(name, &arguments),
            None => self.stage.perform(self.services.commands(name, &arguments)),
        }
        if let Some(gives) = self.gives(name) {
            let values: Vec<Worth> = arguments.into_iter().map(|(_, worth)| worth).collect();
            return given(gives, &values, self.stage.cwd.as_deref(), self.stage.world);
        }
        if only_measures(name, &arguments) {
            return Worth::unknown();
        }
        let taint = arguments.iter().find_map(|(_, worth)| worth.taint());
        taint.map_or_else(Worth::unknown, |taint| Worth::Text(Value::unknown(taint)))
    }

    pub(super) fn evaluate(&mut self, arguments: &[Argument]) {
        let Some(value) = arguments.first().map(|(_, worth)| worth.value()) else {
            return;
        };
        if value.holds(Unknown::Unseen) {
            self.stage.unseen();
        } else if let Some(code) = value.as_text() {
            self.nested(code, Self::run);
        }
    }

    pub(super) fn known(&self, name: &str) -> bool {
        self.act(name).is_some() || self.gives(name).is_some()
    }

    pub(super) fn act(&self, name: &str) -> Option<Act> {
        self.look_up(name, self.language.acts)
    }

    pub(super) fn gives(&self, name: &str) -> Option<Gives> {
        self.look_up(name, self.language.values)
    }

    pub(super) fn look_up<T: Copy>(&self, name: &str, table: &[(&str, T)]) -> Option<T> {
        let find = |name: &str| table.iter().find(|(known, _)| *known == name).map(|(_, found)| *found);
        if let Some(found) = find(name) {
            return Some(found);
        }
        if self.is_named("JavaScript") {
            let short = name.trim_start_matches("globalThis.").replace(".promises.", ".");
            return find(short.strip_suffix("Sync").unwrap_or(&short));
        }
        let short = ["base.", "CORE.", "builtins.", "Kernel."]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        short.and_then(find).or_else(|| {
            self.opened
                .iter()
                .take(8)
                .find_map(|module| find(&format!("{module}.{name}")))
        })
    }
}
