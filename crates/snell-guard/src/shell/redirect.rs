//! Redirections: which files are opened, and where commands read from and write to.

use std::rc::Rc;

use super::Walker;
use super::scope::{Descriptor, Out};
use crate::invocation::{Opened, Opening, Part, Stdin, Unknown, Value};
use crate::syntax::{Redirect, RedirectKind, Word};

impl<'t> Walker<'t> {
    /// Applies redirections in their order. The files that are opened for them.
    pub(super) fn redirects(&mut self, redirects: &'t [Redirect]) -> Vec<Opened> {
        let mut files = Vec::new();
        for redirect in redirects {
            if !self.spend(2) {
                break;
            }
            self.redirect(redirect, &mut files);
        }
        files
    }

    fn redirect(&mut self, redirect: &'t Redirect, files: &mut Vec<Opened>) {
        // `{name}>` takes a number of its own; its variable holds it.
        let number = redirect.fd.or_else(|| redirect.fd_variable.as_ref().map(|_| 10));
        if let Some(name) = &redirect.fd_variable {
            self.assign_value(name, Value::text("10"), false);
        }
        match &redirect.kind {
            RedirectKind::Read(path) => self.open_to_read(path, number, files),
            RedirectKind::Write(path) | RedirectKind::Clobber(path) => {
                self.open_to_write(path, number, Opening::Truncate, files);
            }
            RedirectKind::Append(path) => self.open_to_write(path, number, Opening::Append, files),
            RedirectKind::WriteBoth(path) => self.open_to_write(path, None, Opening::Truncate, files),
            RedirectKind::AppendBoth(path) => self.open_to_write(path, None, Opening::Append, files),
            RedirectKind::ReadWrite(path) => {
                self.open_to_read(path, number, files);
                if let Some(path) = files.last().map(|opened| opened.path.clone()) {
                    self.also_writes(number, &path);
                    files.push(Opened {
                        path,
                        how: Opening::Append,
                    });
                }
            }
            RedirectKind::Duplicate(target) => {
                self.duplicate(target, number);
                // What was opened before is told with whoever sends something there.
                if let Out::File(path) = &self.scope.io.stdout
                    && is_remote(path)
                {
                    files.push(Opened {
                        path: (**path).clone(),
                        how: Opening::Append,
                    });
                }
            }
            RedirectKind::HereDocument { body, .. } => {
                let value = self.text(body);
                self.feed(number, Stdin::Text(value));
            }
            RedirectKind::HereString(word) => {
                let mut value = self.text(word);
                value.push_text("\n");
                self.feed(number, Stdin::Text(value));
            }
        }
    }

    fn path(&mut self, word: &'t Word) -> Value {
        let mut values = Vec::new();
        self.add_fields(word, &mut values);
        match values.len() {
            1 => values.remove(0),
            _ => self.text(word),
        }
    }

    fn open_to_read(&mut self, path: &'t Word, number: Option<u32>, files: &mut Vec<Opened>) {
        let path = self.path(path);
        let stdin = match self.written(&path) {
            Some(text) => Stdin::Text(text),
            None if is_remote(&path) => Stdin::Text(Value::unknown(Unknown::Unseen)),
            // The file that `<(…)` names.
            None if path.holds(Unknown::Unseen) || path.holds(Unknown::Processes) => Stdin::Text(path.clone()),
            None => Stdin::File(path.clone()),
        };
        self.feed(number, stdin);
        files.push(Opened {
            path,
            how: Opening::Read,
        });
    }

    fn open_to_write(&mut self, path: &'t Word, number: Option<u32>, how: Opening, files: &mut Vec<Opened>) {
        let path = self.path(path);
        let out = match path.as_text() {
            Some("/dev/null") => Out::Aside,
            Some("/dev/stdout" | "/dev/fd/1" | "/dev/tty") => {
                // Where output goes anyway.
                return;
            }
            _ => {
                if how == Opening::Truncate {
                    self.empty(&path);
                }
                Out::File(Rc::new(path.clone()))
            }
        };
        let named = number.and_then(|number| (number > 1).then_some(number));
        match named {
            Some(number) => self.set_descriptor(number, Descriptor::Writes(out)),
            None => self.scope.io.stdout = out,
        }
        files.push(Opened { path, how });
    }

    fn feed(&mut self, number: Option<u32>, stdin: Stdin) {
        match number {
            None | Some(0) => self.scope.io.stdin = Rc::new(stdin),
            Some(number) => self.set_descriptor(number, Descriptor::Reads(Rc::new(stdin))),
        }
    }

    /// `3<>file`: it can be written to as well.
    fn also_writes(&mut self, number: Option<u32>, path: &Value) {
        if let Some(number) = number
            && let Some(Descriptor::Reads(stdin)) = self.scope.io.others.get(&number).cloned()
        {
            let out = Out::File(Rc::new(path.clone()));
            self.set_descriptor(number, Descriptor::Both(stdin, out));
        }
    }

    fn set_descriptor(&mut self, number: u32, descriptor: Descriptor) {
        let others = Rc::make_mut(&mut self.scope.io.others);
        others.insert(number, descriptor);
    }

    /// `>&2`, `<&3`, `2>&1`, `3>&-`
    fn duplicate(&mut self, target: &'t Word, number: Option<u32>) {
        let value = self.text(target);
        let Some(text) = value.as_text() else {
            if let Some(Part::Unknown(_)) = value.parts.first() {
                self.scope.io.stdout = Out::Aside;
            }
            return;
        };
        let from = text.trim_end_matches('-');
        let source: Option<u32> = from.parse().ok();
        let descriptor = match source {
            Some(0) => Some(Descriptor::Reads(Rc::clone(&self.scope.io.stdin))),
            Some(1) => Some(Descriptor::Writes(self.scope.io.stdout.clone())),
            Some(other) => {
                let known = self.scope.io.others.get(&other).cloned();
                known.or(Some(Descriptor::Writes(Out::Aside)))
            }
            None => None,
        };
        match (number, descriptor) {
            (None | Some(0), Some(Descriptor::Reads(stdin))) => self.scope.io.stdin = stdin,
            (None | Some(1), Some(Descriptor::Writes(out))) => self.scope.io.stdout = out,
            (Some(0), Some(Descriptor::Both(stdin, _))) => self.scope.io.stdin = stdin,
            (Some(1), Some(Descriptor::Both(_, out))) => self.scope.io.stdout = out,
            // Whether it is read or written is the same to the tree.
            (None, Some(Descriptor::Both(stdin, out))) => {
                self.scope.io.stdin = stdin;
                self.scope.io.stdout = out;
            }
            (Some(1), None) => self.scope.io.stdout = Out::Aside,
            (Some(number), Some(descriptor)) if number > 1 => self.set_descriptor(number, descriptor),
            _ => {}
        }
    }
}

/// Whether bash would open a connection rather than a file.
fn is_remote(path: &Value) -> bool {
    ["/dev/tcp/", "/dev/udp/"]
        .iter()
        .any(|start| path.leading().starts_with(start))
}
