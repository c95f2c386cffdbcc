//! Arithmetic: the manual's section "Shell Arithmetic", on what is known.

use super::Walker;
use super::limits;
use super::scope::Variable;
use crate::invocation::{Unknown, Value};
use crate::syntax::Word;

/// Operators of two operands, by how tightly they bind.
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

impl<'t> Walker<'t> {
    /// The number that an expression is, as a text.
    pub(super) fn arithmetic(&mut self, word: &'t Word) -> Value {
        self.number(word).map_or_else(
            || Value::unknown(Unknown::Name),
            |number| Value::text(number.to_string()),
        )
    }

    /// The number that an expression is.
    pub(super) fn number(&mut self, word: &'t Word) -> Option<i64> {
        let value = self.text(word);
        self.evaluate(&value)
    }

    /// The number that a text is as an expression. What it assigns and what nobody can say is unknown from then on.
    pub(super) fn evaluate(&mut self, value: &Value) -> Option<i64> {
        let text = value.as_text()?;
        let mut expression = Expression {
            rest: text,
            walker: self,
            steps: 0,
        };
        let number = expression.comma();
        let whole = expression.rest.trim().is_empty();
        number.filter(|_| whole)
    }
}

struct Expression<'e, 't, 'w> {
    rest: &'e str,
    walker: &'w mut Walker<'t>,
    steps: usize,
}

impl<'e> Expression<'e, '_, '_> {
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

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= limits::ARITHMETIC && self.walker.spend(1)).then_some(())
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = if self.rest.trim().is_empty() {
            Some(0)
        } else {
            self.ternary()
        };
        while self.eat(",") {
            value = self.ternary();
        }
        value
    }

    fn ternary(&mut self) -> Option<i64> {
        self.step()?;
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let one = self.ternary();
        self.eat(":");
        let other = self.ternary();
        if condition != 0 { one } else { other }
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.step()?;
            let right = if operator == "**" {
                self.binary(level)?
            } else {
                self.binary(level + 1)?
            };
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
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

    fn unary(&mut self) -> Option<i64> {
        self.step()?;
        for sign in ["++", "--"] {
            if self.eat(sign) {
                let name = self.name()?;
                return self.increase(name, sign, true);
            }
        }
        if self.eat("-") {
            return self.unary()?.checked_neg();
        }
        if self.eat("+") {
            return self.unary();
        }
        if self.eat("!") {
            return Some(i64::from(self.unary()? == 0));
        }
        if self.eat("~") {
            return Some(!self.unary()?);
        }
        if self.eat("(") {
            let value = self.comma();
            self.eat(")");
            return value;
        }
        self.operand()
    }

    fn operand(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.literal();
        }
        let name = self.name()?;
        for sign in ASSIGNING {
            if self.rest.trim_start().starts_with("==") {
                break;
            }
            if self.eat(sign) {
                return self.assign(name, sign);
            }
        }
        for sign in ["++", "--"] {
            if self.eat(sign) {
                return self.increase(name, sign, false);
            }
        }
        self.value(name)
    }

    fn literal(&mut self) -> Option<i64> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '@' | '_');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        number(text)
    }

    fn name(&mut self) -> Option<&'e str> {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        // An element of an array: nobody knows.
        if name.is_empty() || rest.starts_with('[') {
            return None;
        }
        self.rest = rest;
        Some(name)
    }

    fn value(&mut self, name: &str) -> Option<i64> {
        let value = self.walker.plain_variable(name);
        let text = value.as_text()?;
        if text.is_empty() {
            return Some(0);
        }
        number(text.trim())
    }

    fn assign(&mut self, name: &str, sign: &str) -> Option<i64> {
        let right = self.ternary();
        let value = match sign.strip_suffix('=') {
            Some("") => right,
            Some(operator) => self
                .value(name)
                .zip(right)
                .and_then(|(left, right)| apply(operator, left, right)),
            None => None,
        };
        self.store(name, value);
        value
    }

    fn increase(&mut self, name: &str, sign: &str, before: bool) -> Option<i64> {
        let old = self.value(name);
        let new = old.and_then(|old| old.checked_add(if sign == "++" { 1 } else { -1 }));
        self.store(name, new);
        if before { new } else { old }
    }

    fn store(&mut self, name: &str, value: Option<i64>) {
        let value = value.map_or_else(|| Value::unknown(Unknown::Name), |value| Value::text(value.to_string()));
        self.walker.set(name, Variable::one(value));
    }
}

fn number(text: &str) -> Option<i64> {
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

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
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
