//! Calls that try to take long, to grow without end, or to be misread. The test and the bench share them.

mod code;
mod growing;
mod texts;
mod tool_inputs;

use serde_json::{Value as Json, json};

use code::{CODE, INLINE};
use growing::GROWN;
use texts::{NESTED, ODD, REPEATED, UNFINISHED};
use tool_inputs::OTHERS;

/// The length of most of them: as much as is parsed of a command.
pub(crate) const MEBIBYTE: usize = 1 << 20;

/// The length of code in other languages. Less of it is parsed, and without optimisation that takes a while.
const CODE_BYTES: usize = if cfg!(debug_assertions) { MEBIBYTE / 8 } else { MEBIBYTE };

/// A hostile call.
pub(crate) struct HostileCall {
    /// Its description.
    pub(crate) name: String,
    pub(crate) tool: &'static str,
    make: Box<dyn Fn() -> Json>,
}

impl HostileCall {
    /// The tool's input. Created on demand: together they would take a few hundred mebibytes.
    pub(crate) fn input(&self) -> Json {
        (self.make)()
    }

    fn from_command(name: String, command: impl Fn() -> String + 'static) -> Self {
        Self { name, tool: "Bash", make: Box::new(move || json!({ "command": command() })) }
    }
}

/// All of them.
pub(crate) fn iter_hostile_calls() -> impl Iterator<Item = HostileCall> {
    let repeated = REPEATED
        .iter()
        .map(|unit| HostileCall::from_command(format!("{unit:?} again and again"), move || repeat_to_size(unit)));
    let nested = NESTED.iter().map(|(open, close)| {
        HostileCall::from_command(format!("{open:?} within each other"), move || {
            format!("{}x{}", open.repeat(100_000), close.repeat(100_000))
        })
    });
    let unfinished = UNFINISHED.iter().map(|start| {
        HostileCall::from_command(format!("{start:?} and no end"), move || {
            format!("{start}{}", repeat_to_size("a b\n"))
        })
    });
    let odd = ODD.iter().map(|text| HostileCall::from_command(format!("{text:?}"), move || (*text).to_owned()));
    let grown = GROWN.iter().map(|(name, make)| HostileCall::from_command((*name).to_owned(), make));
    let inline = INLINE.iter().flat_map(|(language, flag)| CODE.iter().map(move |code| (language, flag, code))).map(
        |(language, flag, code)| {
            HostileCall::from_command(format!("{language} with {code:?} again and again"), move || {
                format!("{language} {flag} '{}'", code.repeat(CODE_BYTES / code.len()).replace('\'', "\""))
            })
        },
    );
    let piped = INLINE.iter().map(|(language, _)| {
        HostileCall::from_command(format!("{language} by standard input"), move || {
            format!("{language} - <<'E'\n{}\nE", repeat_to_size("a(b('c'))\n"))
        })
    });
    let others =
        OTHERS.iter().map(|(name, tool, make)| HostileCall { name: (*name).to_owned(), tool, make: Box::new(make) });
    repeated.chain(nested).chain(unfinished).chain(odd).chain(grown).chain(inline).chain(piped).chain(others)
}

/// Repeats a text up to the size. Without optimisation a part of it is enough: superlinear growth shows with less, and
/// the bench uses all.
fn repeat_to_size(unit: &str) -> String {
    let is_short = unit.len() == 1;
    let bytes = if cfg!(debug_assertions) && !is_short { MEBIBYTE / 4 } else { MEBIBYTE };
    unit.repeat(bytes / unit.len())
}

/// Drops an input level by level: recursion would need a stack as deep as the input.
pub(crate) fn drop_iteratively(input: Json) {
    let mut waiting = vec![input];
    while let Some(mut value) = waiting.pop() {
        match &mut value {
            Json::Array(list) => waiting.append(list),
            Json::Object(map) => waiting.extend(map.values_mut().map(Json::take)),
            _ => {}
        }
    }
}
