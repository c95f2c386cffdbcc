//! Statements: assignments, control flow and pipes.

use super::literals::{strip_scope, to_environment_name};
use super::{PowerShellReader, to_shell_name};
use crate::windows::shell_words::{ForeignWord, WordUse, render_words};

/// A condition whose result is unknown.
const UNKNOWN_CONDITION: &str = "[ -n \"${ps_condition}\" ]";

impl PowerShellReader {
    /// All statements up to a closing bracket or the end.
    pub(super) fn read_statements(&mut self, end: Option<char>) -> String {
        let mut all: Vec<String> = Vec::new();
        loop {
            self.skip_lines();
            while self.take(';') {
                self.skip_lines();
            }
            match self.peek() {
                None => break,
                c if c == end => {
                    self.at += 1;
                    break;
                }
                Some(_) => {}
            }
            let before = self.at;
            let statement = self.read_statement();
            if self.at == before {
                // A sign that starts no statement.
                self.at += 1;
                self.is_partial = true;
            }
            all.extend(Some(statement).filter(|statement| !statement.is_empty()));
        }
        if all.is_empty() { ":".to_owned() } else { all.join("\n") }
    }

    /// `{ … }`, after blanks.
    pub(super) fn read_block(&mut self) -> String {
        self.skip_lines();
        if !self.take('{') {
            self.is_partial = true;
            return ":".to_owned();
        }
        self.with_depth(|reader| reader.read_statements(Some('}')))
    }

    fn read_statement(&mut self) -> String {
        let word = self.peek_word();
        let after = self.peek_at(word.chars().count());
        let is_keyword = after.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '{' | ';' | '}' | ')'));
        if is_keyword && let Some(statement) = self.read_keyword(&word) {
            return statement;
        }
        if let Some(assignment) = self.read_assignment() {
            return assignment;
        }
        self.read_chain()
    }

    /// A statement that starts with a keyword.
    fn read_keyword(&mut self, word: &str) -> Option<String> {
        let length = word.chars().count();
        let statement = match word {
            "if" | "while" | "foreach" | "for" | "switch" | "do" | "try" | "trap" | "function" | "filter" | "param"
            | "begin" | "process" | "end" | "return" | "throw" | "exit" | "break" | "continue" | "class" | "enum"
            | "using" | "data" | "configuration" | "workflow" => {
                // `foreach` is also a command.
                let is_command = word == "foreach" && !self.rest_after(length).starts_with('(');
                if is_command {
                    return None;
                }
                self.at += length;
                self.skip_lines_unless(matches!(word, "return" | "throw" | "exit" | "break" | "continue"));
                word
            }
            _ => return None,
        };
        Some(match statement {
            "if" => self.read_if(),
            "while" => {
                let condition = self.read_condition();
                let body = self.read_block();
                format!("while {condition}; do\n{body}\ndone")
            }
            "for" => self.read_for(),
            "foreach" => self.read_foreach(),
            "switch" => self.read_switch(),
            "do" => {
                let body = self.read_block();
                self.skip_lines();
                self.at += self.peek_word().chars().count();
                let condition = self.read_condition();
                format!("while {condition}; do\n{body}\ndone")
            }
            "try" => self.read_try(),
            "function" | "filter" | "workflow" | "configuration" => self.read_function(),
            "param" => self.read_parameters(),
            "begin" | "process" | "end" | "data" | "trap" => self.read_block(),
            "class" | "enum" | "using" => {
                self.is_partial |= statement != "using";
                while self.peek().is_some_and(|c| !matches!(c, '\n' | '{' | ';')) {
                    self.at += 1;
                }
                if self.peek() == Some('{') { format!(": || {{ {}\n}}", self.read_block()) } else { String::new() }
            }
            _ => self.read_flow_end(),
        })
    }

    fn rest_after(&self, length: usize) -> String {
        let rest = self.chars.get(self.at + length..).unwrap_or_default();
        rest.iter().filter(|c| !c.is_whitespace()).take(1).collect()
    }

    fn skip_lines_unless(&mut self, ends_with_line: bool) {
        if ends_with_line {
            self.skip_blanks();
        } else {
            self.skip_lines();
        }
    }

    /// The value after `return` and the like. The statements after it are judged as if they ran too.
    fn read_flow_end(&mut self) -> String {
        match self.peek() {
            None | Some('\n' | ';' | '}' | ')') => String::new(),
            Some(_) => self.read_chain(),
        }
    }

    /// `(condition)`: the commands in it run, its result is unknown.
    fn read_condition(&mut self) -> String {
        self.skip_lines();
        if !self.take('(') {
            self.is_partial = true;
            return UNKNOWN_CONDITION.to_owned();
        }
        let code = self.with_depth(|reader| reader.read_statements(Some(')')));
        format!("{code}\n{UNKNOWN_CONDITION}")
    }

    fn read_if(&mut self) -> String {
        let condition = self.read_condition();
        let mut code = format!("if {condition}; then\n{}\n", self.read_block());
        loop {
            let before = self.at;
            self.skip_lines();
            match self.peek_word().as_str() {
                "elseif" => {
                    self.at += "elseif".len();
                    let condition = self.read_condition();
                    code.push_str(&format!("elif {condition}; then\n{}\n", self.read_block()));
                }
                "else" => {
                    self.at += "else".len();
                    code.push_str(&format!("else\n{}\n", self.read_block()));
                }
                _ => {
                    self.at = before;
                    code.push_str("fi");
                    return code;
                }
            }
        }
    }

    /// `for (start; condition; step) { … }`
    fn read_for(&mut self) -> String {
        self.skip_lines();
        self.take('(');
        let parts = self.with_depth(|reader| reader.read_statements(Some(')')));
        let body = self.read_block();
        format!("{parts}\nwhile {UNKNOWN_CONDITION}; do\n{body}\ndone")
    }

    /// `foreach ($x in values) { … }`
    fn read_foreach(&mut self) -> String {
        self.skip_lines();
        self.take('(');
        self.skip_lines();
        let name = self.read_variable_name().unwrap_or_else(|| "ps_item".to_owned());
        self.skip_lines();
        if self.peek_word() == "in" {
            self.at += 2;
        }
        let values = self.with_depth(|reader| {
            let words = reader.read_bracketed_values(')');
            render_words(&words, WordUse::Path)
        });
        let body = self.read_block();
        format!("for {name} in {values}; do\n{body}\ndone")
    }

    fn read_switch(&mut self) -> String {
        while self.peek() == Some('-') {
            self.at += 1 + self.peek_word().trim_start_matches('-').chars().count();
            self.skip_lines();
        }
        let condition = self.read_condition();
        self.skip_lines();
        let mut code = condition;
        if !self.take('{') {
            return code;
        }
        loop {
            self.skip_lines();
            while self.take(';') {
                self.skip_lines();
            }
            if self.take('}') || self.peek().is_none() {
                return code;
            }
            let before = self.at;
            if self.peek() == Some('{') {
                self.read_block();
            } else {
                self.read_argument();
            }
            self.skip_lines();
            let body = if self.peek() == Some('{') { self.read_block() } else { String::new() };
            if self.at == before {
                self.at += 1;
                self.is_partial = true;
            }
            if !body.is_empty() {
                code.push_str(&format!("\nif {UNKNOWN_CONDITION}; then\n{body}\nfi"));
            }
        }
    }

    fn read_try(&mut self) -> String {
        let mut code = self.read_block();
        loop {
            let before = self.at;
            self.skip_lines();
            match self.peek_word().as_str() {
                "catch" => {
                    self.at += "catch".len();
                    while self.peek().is_some_and(|c| c != '{') {
                        self.at += 1;
                    }
                    code.push_str(&format!("\nif {UNKNOWN_CONDITION}; then\n{}\nfi", self.read_block()));
                }
                "finally" => {
                    self.at += "finally".len();
                    let body = self.read_block();
                    code.push_str(&format!("\n{body}"));
                }
                _ => {
                    self.at = before;
                    return code;
                }
            }
        }
    }

    /// `function Name($a, $b) { … }`
    fn read_function(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | '{')) {
            self.at += 1;
        }
        let name = strip_scope(&self.text_between(start, self.at).to_lowercase()).replace('-', "_");
        self.functions.insert(name.clone());
        self.skip_lines();
        let parameters = if self.peek() == Some('(') { self.read_parameters() } else { String::new() };
        let body = self.read_block();
        format!("{}() {{\n{parameters}\n{body}\n}}", to_shell_name(&name))
    }

    /// `param([string]$a = 'x', $b)`: the names, and the values that they have by default.
    fn read_parameters(&mut self) -> String {
        self.skip_lines();
        if !self.take('(') {
            return String::new();
        }
        let mut code = Vec::new();
        let mut number = 0;
        loop {
            self.skip_lines();
            match self.peek() {
                None => break,
                Some(')') => {
                    self.at += 1;
                    break;
                }
                Some('[') => self.skip_brackets(),
                Some('$') => {
                    let Some(name) = self.read_variable_name() else {
                        self.at += 1;
                        continue;
                    };
                    number += 1;
                    self.skip_lines();
                    let default = if self.take('=') {
                        self.skip_lines();
                        let words = self.with_depth(Self::read_operands);
                        words.first().map(|word| word.render(WordUse::Text)).unwrap_or_default()
                    } else {
                        format!("\"${{{name}}}\"")
                    };
                    code.push(format!("{name}=${{{number}-{default}}}"));
                }
                Some(_) => self.at += 1,
            }
        }
        code.join("\n")
    }

    /// `[…]`, also nested.
    pub(super) fn skip_brackets(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// `$name`, as the shell takes it. Environment variables keep their names.
    fn read_variable_name(&mut self) -> Option<String> {
        if self.peek() != Some('$') {
            return None;
        }
        let start = self.at + 1;
        let braces = self.chars.get(start) == Some(&'{');
        let mut end = start + usize::from(braces);
        while self
            .chars
            .get(end)
            .is_some_and(|c| if braces { *c != '}' } else { c.is_alphanumeric() || matches!(c, '_' | ':') })
        {
            end += 1;
        }
        let name = self.text_between(start + usize::from(braces), end).to_lowercase();
        if name.is_empty() || name.ends_with(':') {
            return None;
        }
        self.at = end + usize::from(braces);
        Some(match strip_scope(&name).strip_prefix("env:") {
            Some(variable) => to_environment_name(variable),
            None => to_shell_name(strip_scope(&name)),
        })
    }

    /// `$x = …`, `[int]$x += …`, `$env:X = …`
    fn read_assignment(&mut self) -> Option<String> {
        let before = self.at;
        while self.peek() == Some('[') && self.chars.get(self.at + 1).is_some_and(|c| c.is_alphabetic()) {
            self.skip_brackets();
            self.skip_blanks();
        }
        let is_environment = self.peek_at(1).is_some_and(|c| matches!(c, 'e' | 'E' | '{')) && {
            let text: String = self.chars.iter().skip(self.at).take(6).collect();
            text.to_lowercase().contains("env:")
        };
        let Some(name) = self.read_variable_name() else {
            self.at = before;
            return None;
        };
        self.skip_blanks();
        let operator: String = self.chars.iter().skip(self.at).take(3).collect();
        let length = match operator.as_str() {
            "??=" => 3,
            text if ["+=", "-=", "*=", "/=", "%="].iter().any(|sign| text.starts_with(sign)) => 2,
            text if text.starts_with('=') && !text.starts_with("==") => 1,
            _ => {
                self.at = before;
                return None;
            }
        };
        let appends = operator.starts_with("+=");
        self.at += length;
        self.skip_lines();
        let (value, words) = self.with_depth(|reader| reader.read_assigned_value(&name));
        if words > 1 {
            self.lists.insert(name.clone());
        } else if !appends {
            self.lists.remove(&name);
        }
        let sign = if appends { "+=" } else { "=" };
        let export = if is_environment { "export " } else { "" };
        Some(format!("{export}{name}{sign}{value}"))
    }

    /// The value as a word or a list, and the number of its words.
    fn read_assigned_value(&mut self, name: &str) -> (String, usize) {
        self.tables.remove(name);
        if self.starts_with("@{") {
            let (word, entries) = self.read_hash_table();
            self.tables.insert(name.to_owned(), entries);
            return (word.render(WordUse::Text), 1);
        }
        // `$a = $b = 1`
        if let Some(assignment) = self.read_assignment() {
            let inner =
                assignment.split(['=', '+']).next().unwrap_or_default().trim_start_matches("export ").to_owned();
            return (format!("$({assignment}; printf %s \"${{{inner}}}\")"), 1);
        }
        let is_keyword = matches!(self.peek_word().as_str(), "if" | "switch" | "foreach" | "try" | "for" | "while");
        if !is_keyword && self.is_expression_next() {
            let words = self.read_operands();
            self.skip_blanks();
            return match self.peek() {
                Some('|') => {
                    let code = self.read_pipeline_after(words);
                    (format!("$({code}\n)"), 1)
                }
                _ if words.len() > 1 => (format!("({})", render_words(&words, WordUse::Text)), words.len()),
                _ => (render_assigned_word(&words), 1),
            };
        }
        let code = self.read_statement();
        (format!("$({code}\n)"), 1)
    }

    /// Pipes with `&&` and `||` between.
    pub(super) fn read_chain(&mut self) -> String {
        let mut code = self.with_depth(Self::read_pipeline);
        loop {
            self.skip_blanks();
            let operator = if self.starts_with("&&") {
                "&&"
            } else if self.starts_with("||") {
                "||"
            } else if self.peek() == Some('&') {
                self.at += 1;
                return format!("{{ {code}\n}} &");
            } else {
                return code;
            };
            self.at += 2;
            self.skip_lines();
            let next = self.with_depth(Self::read_pipeline);
            code.push_str(&format!(" {operator} {next}"));
        }
    }

    /// The words up to a closing bracket.
    fn read_bracketed_values(&mut self, end: char) -> Vec<ForeignWord> {
        self.skip_lines();
        let words = if self.is_expression_next() { self.read_operands() } else { Vec::new() };
        self.skip_lines();
        if self.take(end) {
            return words;
        }
        let code = if words.is_empty() {
            self.read_statements(Some(end))
        } else {
            let code = self.read_pipeline_after(words);
            self.skip_lines();
            let rest = self.read_statements(Some(end));
            format!("{code}\n{rest}")
        };
        vec![ForeignWord::from_commands(&code)]
    }

    /// `( … )`: the values of an expression, or the output of commands.
    pub(super) fn read_parenthesized(&mut self) -> Vec<ForeignWord> {
        self.at += 1;
        self.skip_lines();
        self.with_depth(|reader| {
            if let Some(assignment) = reader.read_assignment() {
                let rest = reader.read_statements(Some(')'));
                let name = assignment.split(['=', '+']).next().unwrap_or_default().trim_start_matches("export ");
                return vec![ForeignWord::from_code(format!("\"$({assignment}; {rest}; printf %s \"${{{name}}}\")\""))];
            }
            reader.read_bracketed_values(')')
        })
    }

    /// An expression as a statement shows its value.
    pub(super) fn render_shown_value(&self, words: &[ForeignWord]) -> String {
        if words.is_empty() { String::new() } else { format!("echo {}", render_words(words, WordUse::Text)) }
    }
}

/// The value of a variable: a path in it stays a path.
fn render_assigned_word(words: &[ForeignWord]) -> String {
    words.first().map(|word| word.render(WordUse::Text)).unwrap_or_else(|| "''".to_owned())
}
