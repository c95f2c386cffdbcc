//! Code of other languages: it is handed on with the program that runs it.

use super::Job;
use crate::invocation::{Stdin, Value};
use crate::shell::{Code, Walker};

/// Names of standard input.
const STDIN: &[&str] = &["-", "/dev/stdin", "/dev/fd/0"];

/// Flags with which node prints what the code is worth.
const PRINTS: &[&str] = &["-p", "--print", "-pe"];

/// The same code as an argument of what prints it.
fn printed(code: &Value) -> Value {
    let mut shown = Value::text("console.log(");
    shown.append(code);
    shown.push_text("\n)");
    shown
}

/// Hands on the code that an interpreter is given: by a flag, as a file that was written here, or by standard input.
pub(super) fn inline(walker: &mut Walker<'_>, job: &Job<'_>, at: Option<usize>) -> bool {
    let (Some(language), Some(at)) = (job.wrapper.language, at) else {
        return false;
    };
    let codes: Vec<Value> = job
        .wrapper
        .inline
        .iter()
        .flat_map(|spellings| job.given.values(spellings))
        .cloned()
        .collect();
    let mut found = !codes.is_empty();
    let prints = language == Code::Node && job.given.has(PRINTS);
    for code in codes {
        walker.report_inline(language, code.clone(), at);
        if prints {
            walker.report_inline(language, printed(&code), at);
        }
    }
    let operand = job.call.argv.get(job.given.rest);
    // `deno eval 'code'`
    if operand.and_then(Value::as_text) == Some("eval")
        && let Some(code) = job.call.argv.get(job.given.rest + 1)
    {
        walker.report_inline(language, code.clone(), at);
        return true;
    }
    if found || job.given.has(&["-m"]) {
        return found;
    }
    let from_stdin = operand.is_none_or(|operand| operand.as_text().is_some_and(|text| STDIN.contains(&text)));
    let text = if from_stdin {
        match &*walker.scope.io.stdin {
            Stdin::Text(text) => Some(text.clone()),
            Stdin::Inherited | Stdin::Pipe(_) | Stdin::File(_) => None,
        }
    } else {
        operand.and_then(|path| walker.written(path))
    };
    if let Some(text) = text {
        walker.report_inline(language, text, at);
        found = true;
    }
    found
}
