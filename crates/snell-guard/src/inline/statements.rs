//! Statements that give names to things: imports, assignments, loops.

use super::reader::{MAX_KEPT, PREFIXES, Reader};
use super::scan::Token;
use super::worth::{Worth, concat, module};

impl Reader<'_, '_> {
    pub(super) fn statement(&mut self) {
        let Some(name) = self.name_at(0).map(str::to_owned) else {
            self.expression();
            return;
        };
        self.define();
        match name.as_str() {
            "import" if !self.is(1, "(") => self.import(),
            "from" if self.is_named("Python") => self.names_of_module(),
            "for" | "foreach" => self.loop_over(),
            "const" | "let" | "var" if self.is(1, "{") => self.take_apart(),
            "const" | "let" | "var" | "my" | "our" | "local" => self.at += 1,
            "include" if self.is_named("Ruby") => {
                self.at += 1;
                let module = self.dotted();
                self.opened.push(module);
            }
            _ if self.is(1, "=") => {
                self.at += 1;
                self.define_as(&name);
                self.at += 1;
                let worth = self.expression();
                let is_function = self.functions.contains_key(&name);
                let worth = if is_function { Worth::Name(name.clone()) } else { worth };
                self.keep(name, worth);
            }
            _ if self.is(1, "+=") => {
                self.at += 2;
                let more = self.expression().value();
                let before = self.names.get(&name).map(Worth::value);
                self.keep(
                    name,
                    before.map_or_else(Worth::unknown, |before| Worth::Text(concat(before, &more))),
                );
            }
            _ => {
                let worth = self.expression();
                self.bind(&worth);
            }
        }
    }

    /// `with open(x) as f`, `foreach (x as $f)`, `foreach (x as $k => $f)`
    pub(super) fn bind(&mut self, worth: &Worth) {
        if self.name_at(0) != Some("as") {
            return;
        }
        let ahead = if self.is(2, "=>") { 3 } else { 1 };
        if let Some(name) = self.name_at(ahead).map(str::to_owned) {
            self.at += ahead + 1;
            self.keep(name, worth.clone());
        }
    }

    pub(super) fn keep(&mut self, name: String, worth: Worth) {
        let worth = if worth.size() > MAX_KEPT {
            Worth::unknown()
        } else {
            worth
        };
        self.names.insert(name, worth);
    }

    /// `a.b.c`
    pub(super) fn dotted(&mut self) -> String {
        let mut all = String::new();
        while let Some(name) = self.name_at(0) {
            all.push_str(name);
            self.at += 1;
            if self.peek(0) != Some(&Token::Dot) {
                break;
            }
            all.push('.');
            self.at += 1;
        }
        all
    }

    /// `import a as b, c`, `import {a as b} from "c"`, `import * as a from "b"`
    pub(super) fn import(&mut self) {
        self.at += 1;
        let mut names: Vec<(String, String)> = Vec::new();
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign("{" | "}" | "," | "*") => self.at += 1,
                Token::Name(name) if name == "from" => self.at += 1,
                Token::Name(name) if name == "as" => {
                    let alias = self.name_at(1).map(str::to_owned);
                    self.at += 2;
                    if let (Some(alias), Some(last)) = (alias, names.last_mut()) {
                        last.1 = alias;
                    } else if let Some(Token::Name(alias)) = self.tokens.get(self.at - 1) {
                        // `* as a`
                        names.push((String::new(), alias.clone()));
                    }
                }
                Token::Name(_) => {
                    let name = self.dotted();
                    names.push((name.clone(), name));
                }
                Token::Text { .. } => {
                    let named = self.operand().value();
                    let module = module(&named);
                    for (name, alias) in names {
                        // A default import of a module is the module.
                        let whole = name.is_empty()
                            || name == module
                            || name == alias && !self.known(&format!("{module}.{name}"));
                        let full = if whole {
                            module.clone()
                        } else {
                            format!("{module}.{name}")
                        };
                        self.keep(alias, Worth::Name(full));
                    }
                    return;
                }
                _ => break,
            }
        }
        for (name, alias) in names.into_iter().filter(|(name, alias)| name != alias) {
            self.keep(alias, Worth::Name(name));
        }
    }

    /// `from a import b as c, d`
    pub(super) fn names_of_module(&mut self) {
        self.at += 1;
        let module = self.dotted();
        if self.name_at(0) != Some("import") {
            return;
        }
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(Token::Sign("(" | "," | ")")) => self.at += 1,
                Some(Token::Sign("*")) => {
                    self.at += 1;
                    self.opened.push(module.clone());
                }
                Some(Token::Name(name)) => {
                    let full = format!("{module}.{name}");
                    let mut alias = name.clone();
                    self.at += 1;
                    if self.name_at(0) == Some("as") {
                        alias = self.name_at(1).unwrap_or_default().to_owned();
                        self.at += 2;
                    }
                    self.keep(alias, Worth::Name(full));
                }
                _ => return,
            }
        }
    }

    /// `for x in y`, `for (const x of y)`, `for my $x (y)`, `for (y)`
    pub(super) fn loop_over(&mut self) {
        self.at += 1;
        let mut ahead = usize::from(self.is(0, "("));
        while self.name_at(ahead).is_some_and(|name| PREFIXES.contains(&name)) {
            ahead += 1;
        }
        let Some(name) = self.name_at(ahead).map(str::to_owned) else {
            return self.loop_over_default();
        };
        if matches!(self.name_at(ahead + 1), Some("in" | "of")) {
            self.at += ahead + 2;
        } else if self.is_named("Perl") && self.is(ahead + 1, "(") {
            self.at += ahead + 1;
        } else {
            return self.loop_over_default();
        }
        let worth = self.expression();
        self.keep(name, worth);
    }

    pub(super) fn loop_over_default(&mut self) {
        if self.is_named("Perl") {
            let worth = self.expression();
            self.keep("$_".to_owned(), worth);
        }
    }

    /// `const {a, b: c} = d`
    pub(super) fn take_apart(&mut self) {
        self.at += 2;
        let mut names: Vec<(String, String)> = Vec::new();
        while let Some(token) = self.peek(0) {
            match token {
                Token::Name(name) => names.push((name.clone(), name.clone())),
                Token::Sign(":") => {
                    if let (Some(alias), Some(last)) = (self.name_at(1).map(str::to_owned), names.last_mut()) {
                        last.1 = alias;
                        self.at += 1;
                    }
                }
                Token::Sign(",") | Token::Line => {}
                _ => break,
            }
            self.at += 1;
        }
        if !(self.is(0, "}") && self.is(1, "=")) {
            return;
        }
        self.at += 2;
        if let Worth::Name(module) = self.expression() {
            for (name, alias) in names {
                self.keep(alias, Worth::Name(format!("{module}.{name}")));
            }
        }
    }
}
