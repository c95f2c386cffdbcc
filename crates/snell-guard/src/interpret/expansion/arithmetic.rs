//! Arithmetic: the manual's section "Shell Arithmetic", for known values.

use crate::interpret::ShellInterpreter;
use crate::interpret::limits;
use crate::interpret::scope::ShellVariable;
use crate::invocation::{SymbolicText, UnknownKind};
use snell_shell::ShellWord;

/// Binary operators, by precedence.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

/// Operators that assign, longest first.
const ASSIGNING: &[&str] = &["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="];

impl<'t> ShellInterpreter<'t> {
    /// The value of an expression, as text.
    pub(crate) fn expand_arithmetic(&mut self, word: &'t ShellWord) -> SymbolicText {
        self.evaluate_word(word).map_or_else(
            || SymbolicText::from_unknown(UnknownKind::Name),
            |number| SymbolicText::from_text(number.to_string()),
        )
    }

    /// The value of an expression.
    pub(crate) fn evaluate_word(&mut self, word: &'t ShellWord) -> Option<i64> {
        let value = self.expand_text(word);
        self.evaluate_arithmetic(&value)
    }

    /// Evaluates a text as an expression. Variables that it assigns become unknown if their value is unknown.
    pub(crate) fn evaluate_arithmetic(&mut self, value: &SymbolicText) -> Option<i64> {
        let text = value.as_text()?;
        let mut expression = ArithmeticEvaluator { rest: text, walker: self, steps: 0 };
        let number = expression.eval_comma();
        let whole = expression.rest.trim().is_empty();
        number.filter(|_| whole)
    }
}

struct ArithmeticEvaluator<'e, 't, 'w> {
    rest: &'e str,
    walker: &'w mut ShellInterpreter<'t>,
    steps: usize,
}

impl<'e> ArithmeticEvaluator<'e, '_, '_> {
    fn eat(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn count_step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= limits::ARITHMETIC_STEPS && self.walker.spend_steps(1)).then_some(())
    }

    fn eval_comma(&mut self) -> Option<i64> {
        let mut value = if self.rest.trim().is_empty() { Some(0) } else { self.eval_ternary() };
        while self.eat(",") {
            value = self.eval_ternary();
        }
        value
    }

    fn eval_ternary(&mut self) -> Option<i64> {
        self.count_step()?;
        let condition = self.eval_binary(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let one = self.eval_ternary();
        self.eat(":");
        let other = self.eval_ternary();
        if condition != 0 { one } else { other }
    }

    fn eval_binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.eval_unary();
        };
        let mut left = self.eval_binary(level + 1)?;
        while let Some(operator) = self.eat_operator(operators) {
            self.count_step()?;
            let right = if operator == "**" { self.eval_binary(level)? } else { self.eval_binary(level + 1)? };
            left = apply_operator(operator, left, right)?;
        }
        Some(left)
    }

    fn eat_operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        self.rest = self.rest.trim_start();
        let longer = ["**", "&&", "||", "<<", ">>", "<=", ">=", "==", "!="];
        let found = operators.iter().find(|operator| self.rest.starts_with(**operator))?;
        let is_longer = longer
            .iter()
            .any(|long| long.len() > found.len() && self.rest.starts_with(long) && !operators.contains(long));
        if is_longer {
            return None;
        }
        self.rest = self.rest.get(found.len()..).unwrap_or_default();
        Some(found)
    }

    fn eval_unary(&mut self) -> Option<i64> {
        self.count_step()?;
        for sign in ["++", "--"] {
            if self.eat(sign) {
                let name = self.eat_name()?;
                return self.eval_increment(name, sign, true);
            }
        }
        if self.eat("-") {
            return self.eval_unary()?.checked_neg();
        }
        if self.eat("+") {
            return self.eval_unary();
        }
        if self.eat("!") {
            return Some(i64::from(self.eval_unary()? == 0));
        }
        if self.eat("~") {
            return Some(!self.eval_unary()?);
        }
        if self.eat("(") {
            let value = self.eval_comma();
            self.eat(")");
            return value;
        }
        self.eval_operand()
    }

    fn eval_operand(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.eval_literal();
        }
        let name = self.eat_name()?;
        for sign in ASSIGNING {
            if self.rest.trim_start().starts_with("==") {
                break;
            }
            if self.eat(sign) {
                return self.eval_assignment(name, sign);
            }
        }
        for sign in ["++", "--"] {
            if self.eat(sign) {
                return self.eval_increment(name, sign, false);
            }
        }
        self.read_variable(name)
    }

    fn eval_literal(&mut self) -> Option<i64> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '@' | '_');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        parse_number(text)
    }

    fn eat_name(&mut self) -> Option<&'e str> {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        // An element of an array is unknown.
        if name.is_empty() || rest.starts_with('[') {
            return None;
        }
        self.rest = rest;
        Some(name)
    }

    fn read_variable(&mut self, name: &str) -> Option<i64> {
        let value = self.walker.read_variable(name);
        let text = value.as_text()?;
        if text.is_empty() {
            return Some(0);
        }
        parse_number(text.trim())
    }

    fn eval_assignment(&mut self, name: &str, sign: &str) -> Option<i64> {
        let right = self.eval_ternary();
        let value = match sign.strip_suffix('=') {
            Some("") => right,
            Some(operator) => {
                self.read_variable(name).zip(right).and_then(|(left, right)| apply_operator(operator, left, right))
            }
            None => None,
        };
        self.store_variable(name, value);
        value
    }

    fn eval_increment(&mut self, name: &str, sign: &str, before: bool) -> Option<i64> {
        let old = self.read_variable(name);
        let new = old.and_then(|old| old.checked_add(if sign == "++" { 1 } else { -1 }));
        self.store_variable(name, new);
        if before { new } else { old }
    }

    fn store_variable(&mut self, name: &str, value: Option<i64>) {
        let value = value.map_or_else(
            || SymbolicText::from_unknown(UnknownKind::Name),
            |value| SymbolicText::from_text(value.to_string()),
        );
        self.walker.set_variable(name, ShellVariable::from_value(value));
    }
}

fn parse_number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = if let Some((base, digits)) = digits.split_once('#') {
        let base = base.parse().ok().filter(|base| (2..=36).contains(base))?;
        i64::from_str_radix(digits, base).ok()?
    } else if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(digits, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

fn apply_operator(operator: &str, left: i64, right: i64) -> Option<i64> {
    let shift = || u32::try_from(right).ok();
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(shift()?),
        ">>" => left.wrapping_shr(shift()?),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        "**" => left.wrapping_pow(shift()?),
        _ => return None,
    })
}
