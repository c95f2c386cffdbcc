//! `declare` and its kin: variables with properties.

use std::rc::Rc;

use super::call::Means;
use super::scope::Variable;
use super::{Call, Flow, Walker};
use crate::invocation::Value;
use crate::syntax::Span;
use crate::unwrap;

impl<'t> Walker<'t> {
    /// Without names, they print what the shell knows: then they are told.
    pub(super) fn declare(&mut self, name: &str, call: &Call) -> Option<Flow> {
        let is_flag = |value: &&Value| value.leading().starts_with(['-', '+']);
        let flags: String = call
            .arguments()
            .iter()
            .take_while(is_flag)
            .map(ToString::to_string)
            .collect();
        // `export -n` takes back; elsewhere it makes a name for another variable.
        let flags = if name == "export" {
            flags.replace('n', "")
        } else {
            flags
        };
        let operands: Vec<&Value> = call.arguments().iter().skip_while(is_flag).collect();
        if operands.is_empty() || flags.contains('p') {
            return None;
        }
        if flags.contains(['f', 'F']) {
            if name == "export" {
                operands.iter().for_each(|operand| self.export(&format!("{operand}()")));
            }
            return Some(Flow::Next);
        }
        let is_local = self.in_function() && !flags.contains('g') && matches!(name, "local" | "declare" | "typeset");
        for operand in operands {
            if name == "export" || flags.contains('x') {
                let variable = operand.leading().split(['=', '+']).next().unwrap_or_default();
                self.export(variable);
                self.tell_of_own(variable, &call.span);
                self.run_exported(operand, call);
            }
            self.declare_one(operand, &flags, is_local);
        }
        if !call.files.is_empty() {
            self.report_call(call.clone());
        }
        Some(Flow::Next)
    }

    /// `export PAGER=…`: some program will run it.
    fn run_exported(&mut self, operand: &Value, call: &Call) {
        if let Some((name, _)) = operand.leading().split_once('=') {
            let mut exported = call.with(Vec::new());
            exported.variables = vec![(name.to_owned(), operand.after(name.len() + 1))];
            unwrap::variables(self, &exported);
        }
    }

    /// A variable of Snell's that the agent's own shell hands on to all that it starts.
    pub(super) fn tell_of_own(&mut self, name: &str, span: &Span) {
        if name.starts_with("SNELL_") && self.subshells == 0 {
            self.report_call(Call {
                argv: vec![Value::text("export"), Value::text(name)],
                variables: Vec::new(),
                files: Vec::new(),
                means: Means::Program,
                span: span.clone(),
            });
        }
    }

    /// Other programs see it from now on.
    pub(super) fn export(&mut self, name: &str) {
        if !self.scope.exported.contains(name) {
            self.spend(1 + self.scope.exported.len() / 8);
            Rc::make_mut(&mut self.scope.exported).insert(name.to_owned());
        }
    }

    /// The shell is another one from here: it knows what was exported and what is set for it alone.
    pub(crate) fn become_child(&mut self, variables: &[(String, Value)], arguments: &[Value]) {
        self.spend(1 + (self.scope.variables.len() + self.scope.functions.len()) / 4);
        let exported = Rc::clone(&self.scope.exported);
        if self.scope.variables.keys().any(|name| !exported.contains(name)) {
            Rc::make_mut(&mut self.scope.variables).retain(|name, _| exported.contains(name));
        }
        if !self.scope.functions.is_empty() {
            Rc::make_mut(&mut self.scope.functions).retain(|name, _| exported.contains(&format!("{name}()")));
        }
        self.scope.aliases = Rc::default();
        self.scope.directories = Rc::default();
        for (name, value) in variables {
            self.set(name, Variable::one(value.clone()));
            self.export(name);
        }
        let (name, positional) = match arguments.split_first() {
            Some((name, rest)) => (name.as_text().unwrap_or("bash"), rest.to_vec()),
            None => ("bash", Vec::new()),
        };
        self.scope.name = Rc::from(name);
        self.scope.positional = Rc::new(positional);
    }

    fn declare_one(&mut self, operand: &Value, flags: &str, is_local: bool) {
        let written = operand.leading();
        let refers = flags.contains('n');
        let Some((target, _)) = written.split_once('=') else {
            if let Some(name) = operand.as_text().filter(|_| is_local) {
                self.make_local(name);
                self.set(name, Variable::Unset);
            }
            if let Some(name) = operand.as_text().filter(|_| refers) {
                self.refer(name, &Value::default());
            }
            return;
        };
        let mut value = operand.after(target.len() + 1);
        let (name, append) = target.strip_suffix('+').map_or((target, false), |name| (name, true));
        if is_local {
            self.make_local(name);
        }
        if refers {
            return self.refer(name, &value);
        }
        if flags.contains('i') {
            let number = self.evaluate(&value);
            value = number.map_or(value, |number| Value::text(number.to_string()));
        } else if flags.contains(['u', 'l'])
            && let Some(text) = value.as_text()
        {
            value = Value::text(if flags.contains('u') {
                text.to_uppercase()
            } else {
                text.to_lowercase()
            });
        }
        if let Some((name, key)) = name.split_once('[') {
            let key = key.trim_end_matches(']').to_owned();
            return self.assign_element(name, Some(key), value, append);
        }
        self.assign_value(name, value, append);
    }
}
