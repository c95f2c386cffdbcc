//! Shells and interpreters that would run unreviewed code.

use crate::programs::words::interpreters as words;
use std::borrow::Cow;

use crate::effects::classify_output;
use crate::effects::collector::EffectCollector;
use crate::invocation::{StdinSource, SymbolicText, UnknownKind};
use crate::programs::ProgramSpec;

/// Subcommands that only mean "run": `deno run`.
const RUN_SUBCOMMANDS: &[(&str, &str)] = &[("deno", "run"), ("bun", "run")];

/// Whether the file's name marks it as binary.
pub(crate) fn is_binary_file_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    words::BINARY_EXTENSIONS.iter().any(|ending| lower.ends_with(ending))
}

/// A program named by URL: `npx https://…`
pub(crate) fn apply_program_url(collector: &mut EffectCollector<'_>, name: &str) {
    if is_url(name) && !collector.invocation.via.is_empty() {
        collector.add_rule_effect("network.run-unseen");
    }
}

fn is_url(text: &str) -> bool {
    words::URL_PREFIXES.iter().any(|start| text.starts_with(start))
}

/// Judges code that is downloaded or decoded.
pub(crate) fn apply_interpreter(collector: &mut EffectCollector<'_>, program: &ProgramSpec) {
    let handed = find_code_arguments(collector, program).any(|value| value.contains_unknown(UnknownKind::Unseen));
    let loose = collector.name() == "deno" && collector.args.has_any_flag(words::UNSANDBOXED_FLAGS);
    let loose = loose || collector.name() == "bun";
    let fetched = loose && collector.args.operands.iter().take(2).any(|value| is_url(value.leading_text()));
    if handed || fetched || (reads_code_from_stdin(collector, program) && is_stdin_unseen(collector.stdin(), collector))
    {
        collector.add_rule_effect("network.run-unseen");
    }
}

/// The arguments that are certainly code: the value of `-c`, or the first operand, which names a file.
fn find_code_arguments<'a>(
    collector: &EffectCollector<'a>,
    program: &ProgramSpec,
) -> impl Iterator<Item = Cow<'a, SymbolicText>> {
    let flags: Vec<_> = program.code_flags.iter().flat_map(|spellings| collector.args.flag_values(spellings)).collect();
    let everything = collector.name() == "eval";
    let count = if everything { usize::MAX } else { 1 };
    let operands: Vec<_> = operands_after_run(collector).take(count).map(Cow::Borrowed).collect();
    flags.into_iter().chain(operands)
}

/// The operands, without a subcommand that only means "run".
fn operands_after_run<'a>(collector: &EffectCollector<'a>) -> impl Iterator<Item = &'a SymbolicText> {
    let first = collector.args.operands.first().and_then(|value| value.as_text());
    let has_run_word = RUN_SUBCOMMANDS.iter().any(|(name, word)| collector.name() == *name && first == Some(word));
    collector.args.operands.clone().into_iter().skip(usize::from(has_run_word))
}

fn reads_code_from_stdin(collector: &EffectCollector<'_>, program: &ProgramSpec) -> bool {
    // `python -m module` reads data.
    let is_module = collector.args.has_flag("-m");
    let has_code = is_module || program.code_flags.iter().any(|spellings| collector.args.has_any_flag(spellings));
    // `bash +x` sets an option.
    let first = operands_after_run(collector).find(|operand| !operand.leading_text().starts_with('+'));
    let named = first.is_some_and(|first| first.as_text().is_some_and(|text| words::STDIN_NAMES.contains(&text)));
    !has_code && (first.is_none() || named || collector.args.short_flag_names().any(|letter| letter == "s"))
}

pub(crate) fn is_stdin_unseen(stdin: &StdinSource, collector: &EffectCollector<'_>) -> bool {
    match stdin {
        StdinSource::Inherited => false,
        StdinSource::Text(value) => value.contains_unknown(UnknownKind::Unseen),
        StdinSource::File(value) => {
            value.contains_unknown(UnknownKind::Unseen) || is_binary_file_name(value.leading_text())
        }
        StdinSource::Pipe(left) => classify_output(left, collector.context) == UnknownKind::Unseen,
    }
}
