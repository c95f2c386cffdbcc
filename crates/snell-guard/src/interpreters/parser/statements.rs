//! Statements that bind names: imports, assignments, loops.

use crate::interpreters::eval::{ScriptValue, concat_values, normalize_module_name};
use crate::interpreters::lexer::ScriptToken;
use crate::interpreters::parser::{MAX_STORED_SIZE, ScriptParser};
use crate::interpreters::words::parser as words;

impl ScriptParser<'_, '_> {
    pub(crate) fn parse_statement(&mut self) {
        let Some(name) = self.peek_name(0).map(str::to_owned) else {
            self.parse_expression();
            return;
        };
        self.define_function();
        match name.as_str() {
            "import" if !self.is_sign(1, "(") => self.parse_import(),
            "from" if self.is_language("Python") => self.parse_from_import(),
            "for" | "foreach" => self.parse_for_loop(),
            "const" | "let" | "var" if self.is_sign(1, "{") => self.parse_destructuring(),
            "const" | "let" | "var" | "my" | "our" | "local" => self.position += 1,
            "include" if self.is_language("Ruby") => {
                self.position += 1;
                let module = self.parse_dotted_name();
                self.open_modules.push(module);
            }
            _ if self.is_sign(1, "=") => {
                self.position += 1;
                self.define_assigned_function(&name);
                self.position += 1;
                let worth = self.parse_expression();
                let is_function = self.functions.contains_key(&name);
                let worth = if is_function { ScriptValue::Symbol(name.clone()) } else { worth };
                self.set_variable(name, worth);
            }
            _ if self.is_sign(1, "+=") => {
                self.position += 2;
                let more = self.parse_expression().to_value();
                let before = self.variables.get(&name).map(ScriptValue::to_value);
                self.set_variable(
                    name,
                    before.map_or_else(ScriptValue::unknown, |before| ScriptValue::Text(concat_values(before, &more))),
                );
            }
            _ => {
                let worth = self.parse_expression();
                self.bind_as_clause(&worth);
            }
        }
    }

    /// `with open(x) as f`, `foreach (x as $f)`, `foreach (x as $k => $f)`
    pub(crate) fn bind_as_clause(&mut self, worth: &ScriptValue) {
        if self.peek_name(0) != Some("as") {
            return;
        }
        let ahead = if self.is_sign(2, "=>") { 3 } else { 1 };
        if let Some(name) = self.peek_name(ahead).map(str::to_owned) {
            self.position += ahead + 1;
            self.set_variable(name, worth.clone());
        }
    }

    pub(crate) fn set_variable(&mut self, name: String, worth: ScriptValue) {
        let worth = if worth.size() > MAX_STORED_SIZE { ScriptValue::unknown() } else { worth };
        self.variables.insert(name, worth);
    }

    /// `a.b.c`
    pub(crate) fn parse_dotted_name(&mut self) -> String {
        let mut all = String::new();
        while let Some(name) = self.peek_name(0) {
            all.push_str(name);
            self.position += 1;
            if self.peek(0) != Some(&ScriptToken::Dot) {
                break;
            }
            all.push('.');
            self.position += 1;
        }
        all
    }

    /// `import a as b, c`, `import {a as b} from "c"`, `import * as a from "b"`
    pub(crate) fn parse_import(&mut self) {
        self.position += 1;
        let mut names: Vec<(String, String)> = Vec::new();
        while let Some(token) = self.peek(0) {
            match token {
                ScriptToken::Sign("{" | "}" | "," | "*") => self.position += 1,
                ScriptToken::Name(name) if name == "from" => self.position += 1,
                ScriptToken::Name(name) if name == "as" => {
                    let alias = self.peek_name(1).map(str::to_owned);
                    self.position += 2;
                    if let (Some(alias), Some(last)) = (alias, names.last_mut()) {
                        last.1 = alias;
                    } else if let Some(ScriptToken::Name(alias)) = self.tokens.get(self.position - 1) {
                        // `* as a`
                        names.push((String::new(), alias.clone()));
                    }
                }
                ScriptToken::Name(_) => {
                    let name = self.parse_dotted_name();
                    names.push((name.clone(), name));
                }
                ScriptToken::Text { .. } => {
                    let named = self.parse_operand().to_value();
                    let module = normalize_module_name(&named);
                    for (name, alias) in names {
                        // A default import of a module is the module.
                        let whole = name.is_empty()
                            || name == module
                            || name == alias && !self.is_known_name(&format!("{module}.{name}"));
                        let full = if whole { module.clone() } else { format!("{module}.{name}") };
                        self.set_variable(alias, ScriptValue::Symbol(full));
                    }
                    return;
                }
                _ => break,
            }
        }
        for (name, alias) in names.into_iter().filter(|(name, alias)| name != alias) {
            self.set_variable(alias, ScriptValue::Symbol(name));
        }
    }

    /// `from a import b as c, d`
    pub(crate) fn parse_from_import(&mut self) {
        self.position += 1;
        let module = self.parse_dotted_name();
        if self.peek_name(0) != Some("import") {
            return;
        }
        self.position += 1;
        loop {
            match self.peek(0) {
                Some(ScriptToken::Sign("(" | "," | ")")) => self.position += 1,
                Some(ScriptToken::Sign("*")) => {
                    self.position += 1;
                    self.open_modules.push(module.clone());
                }
                Some(ScriptToken::Name(name)) => {
                    let full = format!("{module}.{name}");
                    let mut alias = name.clone();
                    self.position += 1;
                    if self.peek_name(0) == Some("as") {
                        alias = self.peek_name(1).unwrap_or_default().to_owned();
                        self.position += 2;
                    }
                    self.set_variable(alias, ScriptValue::Symbol(full));
                }
                _ => return,
            }
        }
    }

    /// `for x in y`, `for (const x of y)`, `for my $x (y)`, `for (y)`
    pub(crate) fn parse_for_loop(&mut self) {
        self.position += 1;
        let mut ahead = usize::from(self.is_sign(0, "("));
        while self.peek_name(ahead).is_some_and(|name| words::EXPRESSION_PREFIXES.contains(&name)) {
            ahead += 1;
        }
        let Some(name) = self.peek_name(ahead).map(str::to_owned) else {
            return self.parse_perl_for_loop();
        };
        if matches!(self.peek_name(ahead + 1), Some("in" | "of")) {
            self.position += ahead + 2;
        } else if self.is_language("Perl") && self.is_sign(ahead + 1, "(") {
            self.position += ahead + 1;
        } else {
            return self.parse_perl_for_loop();
        }
        let worth = self.parse_expression();
        self.set_variable(name, worth);
    }

    pub(crate) fn parse_perl_for_loop(&mut self) {
        if self.is_language("Perl") {
            let worth = self.parse_expression();
            self.set_variable("$_".to_owned(), worth);
        }
    }

    /// `const {a, b: c} = d`
    pub(crate) fn parse_destructuring(&mut self) {
        self.position += 2;
        let mut names: Vec<(String, String)> = Vec::new();
        while let Some(token) = self.peek(0) {
            match token {
                ScriptToken::Name(name) => names.push((name.clone(), name.clone())),
                ScriptToken::Sign(":") => {
                    if let (Some(alias), Some(last)) = (self.peek_name(1).map(str::to_owned), names.last_mut()) {
                        last.1 = alias;
                        self.position += 1;
                    }
                }
                ScriptToken::Sign(",") | ScriptToken::Newline => {}
                _ => break,
            }
            self.position += 1;
        }
        if !(self.is_sign(0, "}") && self.is_sign(1, "=")) {
            return;
        }
        self.position += 2;
        if let ScriptValue::Symbol(module) = self.parse_expression() {
            for (name, alias) in names {
                self.set_variable(alias, ScriptValue::Symbol(format!("{module}.{name}")));
            }
        }
    }
}
