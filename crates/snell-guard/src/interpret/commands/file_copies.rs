//! New names for files that this text wrote: a copy has the same contents.

use crate::interpret::{ExpandedCommand, ShellInterpreter};
use crate::invocation::{SymbolicText, base_name};

/// Programs that copy, move or link files.
const COPIERS: &[&str] = &["cp", "gcp", "mv", "gmv", "ln", "gln", "link", "install", "ginstall", "rsync", "ditto"];

impl ShellInterpreter<'_> {
    /// Keeps the contents of a file under the names that this command gives to it.
    pub(super) fn copy_written_files(&mut self, command: &ExpandedCommand) {
        self.note_package_scripts(command);
        if self.context.elsewhere || (self.scope.files.is_empty() && self.stdin_text().is_none()) {
            return;
        }
        let base = base_name(command.name().unwrap_or_default());
        if base == "dd" {
            let value = |key: &str| {
                let word = command.arguments().iter().find(|word| word.leading_text().starts_with(key));
                word.map(|word| word.skip_leading_bytes(key.len()))
            };
            if let (Some(from), Some(to)) = (value("if="), value("of=")) {
                self.copy_written_file(&from, &to);
            }
        } else if COPIERS.contains(&base) {
            let operands = command.arguments().iter().filter(|word| !word.leading_text().starts_with('-'));
            let operands: Vec<&SymbolicText> = operands.collect();
            let Some((target, sources)) = operands.split_last() else { return };
            for source in sources.iter().take(super::limits::VALUES) {
                self.copy_written_file(source, target);
                // The target may be a directory.
                let text = source.to_string();
                let mut inside = (*target).clone();
                inside.push_text("/");
                inside.push_text(base_name(text.trim_end_matches('/')));
                self.copy_written_file(source, &inside);
            }
        }
    }

    /// `npm pkg set scripts.name='code'`: the manifest has the code.
    fn note_package_scripts(&mut self, command: &ExpandedCommand) {
        let base = base_name(command.name().unwrap_or_default());
        let mut words = command.arguments().iter().map(SymbolicText::leading_text);
        if !matches!(base, "npm" | "pnpm" | "yarn" | "bun")
            || words.next() != Some("pkg")
            || words.next() != Some("set")
        {
            return;
        }
        for setting in command.arguments().iter().filter(|word| word.leading_text().starts_with("scripts.")) {
            let start = setting.leading_text().find('=').map_or(0, |at| at + 1);
            let mut line = SymbolicText::from_text("run: ");
            line.append(&setting.skip_leading_bytes(start));
            line.push_text("\n");
            self.append_file(&SymbolicText::from_text("package.json"), &line);
        }
    }

    /// The strings in the script of a program, which it may print.
    pub(super) fn find_printed_script(&self, printed_by: Option<usize>) -> Option<SymbolicText> {
        let invocation = self.invocations_since(printed_by?).first()?;
        let has_script = matches!(invocation.base_name(), "jq" | "yq" | "jaq" | "gojq");
        let mut text = super::super::join_words(invocation.arguments());
        text.push_text("\n");
        has_script.then_some(text)
    }

    fn copy_written_file(&mut self, from: &SymbolicText, to: &SymbolicText) {
        let is_stdin = from.as_text() == Some("/dev/stdin");
        let content = if is_stdin { self.stdin_text().cloned() } else { self.find_written_content(from) };
        if let Some(content) = content
            && self.spend_bytes(content.size())
        {
            self.truncate_file(to);
            self.append_file(to, &content);
        }
    }
}
