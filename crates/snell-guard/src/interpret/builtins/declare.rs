//! `declare` and similar builtins: variables with attributes.

use std::rc::Rc;

use crate::interpret::commands::CommandLookup;
use crate::interpret::scope::ShellVariable;
use crate::interpret::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::invocation::SymbolicText;
use crate::wrappers;
use snell_shell::ByteSpan;

impl<'t> ShellInterpreter<'t> {
    /// Without names, they print variables and are reported as programs.
    pub(crate) fn run_declare(&mut self, name: &str, command: &ExpandedCommand) -> Option<ShellFlow> {
        let is_flag = |value: &&SymbolicText| value.leading_text().starts_with(['-', '+']);
        let flags: String = command.arguments().iter().take_while(is_flag).map(ToString::to_string).collect();
        // `export -n` removes the export; for the others, `-n` makes a reference.
        let flags = if name == "export" { flags.replace('n', "") } else { flags };
        let operands: Vec<&SymbolicText> = command.arguments().iter().skip_while(is_flag).collect();
        if operands.is_empty() || flags.contains('p') {
            return None;
        }
        if flags.contains(['f', 'F']) {
            if name == "export" {
                operands.iter().for_each(|operand| self.export_name(&format!("{operand}()")));
            }
            return Some(ShellFlow::Next);
        }
        let is_local = self.is_in_function() && !flags.contains('g') && matches!(name, "local" | "declare" | "typeset");
        for operand in operands {
            if name == "export" || flags.contains('x') {
                let variable = operand.leading_text().split(['=', '+']).next().unwrap_or_default();
                self.export_name(variable);
                self.report_snell_variable(variable, &command.span);
                self.run_exported(operand, command);
            }
            self.declare_variable(operand, &flags, is_local);
        }
        if !command.files.is_empty() {
            self.report_command(command.clone());
        }
        Some(ShellFlow::Next)
    }

    /// `export PAGER=…`: some program will run the value.
    fn run_exported(&mut self, operand: &SymbolicText, command: &ExpandedCommand) {
        if let Some((name, _)) = operand.leading_text().split_once('=') {
            let mut exported = command.with_argv(Vec::new());
            exported.variables = vec![(name.to_owned(), operand.skip_leading_bytes(name.len() + 1))];
            wrappers::follow_code_variables(self, &exported);
        }
    }

    /// Reports a variable of Snell that the agent's own shell exports to everything that it starts.
    pub(crate) fn report_snell_variable(&mut self, name: &str, span: &ByteSpan) {
        if name.starts_with("SNELL_") && self.subshells == 0 {
            self.report_command(ExpandedCommand {
                argv: vec![SymbolicText::from_text("export"), SymbolicText::from_text(name)],
                lookup: CommandLookup::Program,
                span: span.clone(),
                ..ExpandedCommand::default()
            });
        }
    }

    /// Marks a variable as exported.
    pub(crate) fn export_name(&mut self, name: &str) {
        if !self.scope.exported.contains(name) {
            self.spend_steps(1 + self.scope.exported.len() / 8);
            Rc::make_mut(&mut self.scope.exported).insert(name.to_owned());
        }
    }

    /// Starts a child shell: it has the exported variables and those of its own command.
    pub(crate) fn enter_child_shell(&mut self, variables: &[(String, SymbolicText)], arguments: &[SymbolicText]) {
        self.spend_steps(1 + (self.scope.variables.len() + self.scope.functions.len()) / 4);
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
            self.set_variable(name, ShellVariable::from_value(value.clone()));
            self.export_name(name);
        }
        let (name, positional) = match arguments.split_first() {
            Some((name, rest)) => (name.as_text().unwrap_or("bash"), rest.to_vec()),
            None => ("bash", Vec::new()),
        };
        self.scope.name = Rc::from(name);
        self.scope.positional = Rc::new(positional);
    }

    fn declare_variable(&mut self, operand: &SymbolicText, flags: &str, is_local: bool) {
        let written = operand.leading_text();
        let refers = flags.contains('n');
        let Some((target, _)) = written.split_once('=') else {
            if let Some(name) = operand.as_text().filter(|_| is_local) {
                self.make_local(name);
                self.set_variable(name, ShellVariable::Unset);
            }
            if let Some(name) = operand.as_text().filter(|_| refers) {
                self.set_reference(name, &SymbolicText::default());
            }
            return;
        };
        let mut value = operand.skip_leading_bytes(target.len() + 1);
        let (name, append) = target.strip_suffix('+').map_or((target, false), |name| (name, true));
        if is_local {
            self.make_local(name);
        }
        if refers {
            return self.set_reference(name, &value);
        }
        if flags.contains('i') {
            let number = self.evaluate_arithmetic(&value);
            value = number.map_or(value, |number| SymbolicText::from_text(number.to_string()));
        } else if flags.contains(['u', 'l'])
            && let Some(text) = value.as_text()
        {
            value =
                SymbolicText::from_text(if flags.contains('u') { text.to_uppercase() } else { text.to_lowercase() });
        }
        if let Some((name, key)) = name.split_once('[') {
            let key = key.trim_end_matches(']').to_owned();
            return self.assign_element(name, Some(key), value, append.into());
        }
        self.assign_value(name, value, append.into());
    }
}
