//! New names for files that this text wrote: a copy has the same contents.

use crate::interpret::{ExpandedCommand, ShellInterpreter};
use crate::invocation::{SymbolicText, base_name};

/// Programs that copy, move or link files.
const COPIERS: &[&str] = &["cp", "gcp", "mv", "gmv", "ln", "gln", "link", "install", "ginstall", "rsync", "ditto"];

impl ShellInterpreter<'_> {
    /// Keeps the contents of a file under the names that this command gives to it.
    pub(super) fn copy_written_files(&mut self, command: &ExpandedCommand) {
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
