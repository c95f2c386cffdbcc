//! The environment variables of a hook, within the limits of the kernel.

use std::path::Path;

use super::Envelope;
use crate::runner::{EnvVariable, SpilledVariable};

/// The maximum size of `NAME=value` on Linux, with the NUL at its end.
const MAX_STRING_BYTES: usize = 131_072;

/// Collects the variables of a hook.
#[derive(Debug, Default)]
pub(super) struct EnvelopeBuilder {
    variables: Vec<EnvVariable>,
    spills: Vec<SpilledVariable>,
    truncations: Vec<String>,
}

impl EnvelopeBuilder {
    /// Removes variables that a hook must not inherit.
    pub(super) fn without_vars(mut self, names: &[&str]) -> Self {
        self.variables.extend(names.iter().map(|name| EnvVariable { name: (*name).to_owned(), value: None }));
        self
    }

    /// The finished input of a hook.
    pub(super) fn into_envelope(self, stdin: Option<String>) -> Envelope {
        Envelope {
            stdin: stdin.map(Into::into),
            variables: self.variables,
            spills: self.spills,
            truncations: self.truncations,
        }
    }

    /// Sets a variable, if there is a value. NUL characters are removed. A value that is too long is cut and marked.
    pub(super) fn set_var<'v>(mut self, name: &str, value: impl Into<Option<&'v str>>) -> Self {
        if let Some(value) = value.into() {
            self.push_var(name, value);
        }
        self
    }

    /// Sets a variable, if there is a value. If it is too long, all of it is in the file that `NAME_FILE` names.
    pub(super) fn set_or_spill<'v>(mut self, name: &str, value: impl Into<Option<&'v str>>) -> Self {
        if let Some(value) = value.into()
            && self.push_var(name, value)
        {
            self.truncations.pop();
            self.truncations
                .push(format!("{name} is too long for a variable and was cut (all of it is in {name}_FILE)"));
            self.spills.push(SpilledVariable { variable: format!("{name}_FILE"), content: value.to_owned() });
        }
        self
    }

    /// Sets a variable to a path, which may not be UTF-8.
    pub(super) fn set_path(mut self, name: &str, path: &Path) -> Self {
        self.variables.push(EnvVariable { name: name.to_owned(), value: Some(path.as_os_str().to_owned()) });
        self
    }

    /// Returns whether the value had to be cut.
    fn push_var(&mut self, name: &str, value: &str) -> bool {
        let whole_bytes = value.len();
        let value: String = value.chars().filter(|c| *c != '\0').collect();
        let room = MAX_STRING_BYTES - name.len() - "=\0".len();
        let cut = value.len() > room;
        if cut {
            self.truncations.push(format!("{name} is too long for a variable and was cut"));
        }
        let value = if cut { truncate_with_mark(&value, room, whole_bytes) } else { value };
        self.variables.push(EnvVariable { name: name.to_owned(), value: Some(value.into()) });
        cut
    }
}

/// The beginning of a text, with a mark that says how much is missing, in at most `room` bytes.
fn truncate_with_mark(text: &str, room: usize, whole_bytes: usize) -> String {
    let mark = format!("…[cut by snell: {whole_bytes} bytes in all]");
    let mut end = room - mark.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{mark}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_the_value_the_kernel_would_take_it(
            filler in "[a-zäö€𝄞\0]{1,8}",
            times in 0_usize..60_000,
        ) {
            let value = filler.repeat(times);
            let made = EnvelopeBuilder::default().set_or_spill("INPUT", value.as_str());
            let set = made.variables[0].value.clone().unwrap().into_string().unwrap();
            prop_assert!("INPUT=".len() + set.len() < MAX_STRING_BYTES);
            prop_assert!(!set.contains('\0'));
            let whole = value.replace('\0', "");
            if made.spills.is_empty() {
                prop_assert_eq!(set, whole);
            } else {
                prop_assert_eq!(&made.spills[0].content, &value);
                prop_assert!(set.contains("cut by snell"));
            }
        }
    }
}
