//! The traces that a call leaves: what it fetched and read, once it ran.

use super::fetched::list_fetched_paths;
use super::{FetchedPath, taint, words};
use crate::effects::sequences::download_exec::find_executed_file;
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::{Invocation, SymbolicText, base_name};
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall};
use crate::paths::{PathClass, PathClasses, locate_path};
use crate::policy::GuardDecision;
use crate::programs::argv::ParsedArgs;
use crate::programs::{self, ProgramHandler};
use crate::tools::find_command_texts;

/// How many fetched files of one call are remembered.
const MAX_FETCHED: usize = 32;

/// The traces of a call that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTrail {
    /// The files and directories that it fetched from elsewhere.
    pub fetched: Vec<FetchedPath>,
    /// The untrusted content that it read, as part of a sentence.
    pub taint: Option<String>,
}

/// Whether a call may leave traces, by a look at its text: most calls need no analysis once they ran.
pub fn may_leave_trail(call: &GuardToolCall<'_>) -> bool {
    match find_command_texts(call) {
        Some(text) => words::trail::MARKS.iter().any(|mark| text.contains(mark)),
        None => taint::is_untrusted_tool(call.tool),
    }
}

/// The traces of an analysed call.
pub(crate) fn follow_call(call: &GuardToolCall<'_>, analysis: &CallAnalysis, context: &JudgeContext) -> CallTrail {
    let fetched = analysis.invocations.iter().flat_map(|invocation| list_fetched_paths(invocation, context));
    CallTrail {
        fetched: fetched.take(MAX_FETCHED).collect(),
        taint: taint::find_untrusted_source(call, analysis, context),
    }
}

/// Whether facts of the session can matter to a call. Most calls only read and build, and need none.
pub(crate) fn concerns_session(judgement: &GuardJudgement, analysis: &CallAnalysis, context: &JudgeContext) -> bool {
    judgement.unaudited > GuardDecision::Allow
        || !analysis.coverage.is_full()
        || analysis.effects.iter().any(effect_concerns_session)
        || analysis.invocations.iter().any(|invocation| invocation_concerns_session(invocation, context))
}

fn effect_concerns_session(effect: &Effect) -> bool {
    let EffectKind::Path(action) = effect.kind else {
        return true;
    };
    let only_in = |classes: &[PathClass]| {
        let found = effect.place.as_ref().map(|place| place.classes).unwrap_or_default();
        let plain = classes.iter().fold(PathClasses::default(), |all, class| all.with(*class));
        !found.is_empty() && found.difference(plain).is_empty()
    };
    match action {
        PathAction::Delete | PathAction::Take | PathAction::Replace | PathAction::Send | PathAction::SendRaw => true,
        PathAction::Overwrite => !only_in(&[PathClass::Harmless]),
        PathAction::Read | PathAction::Use => !only_in(&[PathClass::Project, PathClass::ProjectRoot]),
        _ => !only_in(&[PathClass::Project, PathClass::Harmless]),
    }
}

fn invocation_concerns_session(invocation: &Invocation, context: &JudgeContext) -> bool {
    let name = invocation.base_name();
    let is_row = |rows: &[(&str, &[&str])]| rows.iter().any(|(program, _)| *program == name);
    let program = invocation.name().and_then(programs::find_program).map(|(_, program)| program);
    let runs_file = || find_executed_file(invocation, context).is_some();
    name == "git"
        || words::running::SOURCING.contains(&name)
        || words::running::RUNNERS.contains(&name)
        || is_row(words::sending::PROGRAMS)
        || is_row(programs::words::downloads::FETCHERS)
        || program.is_some_and(|program| program.handler == Some(ProgramHandler::Interpreter))
        || runs_file()
        || !list_fetched_paths(invocation, context).is_empty()
        || matches!(invocation.stdin, crate::invocation::StdinSource::File(_))
}

/// The words of a command without its flags, and its flags.
pub(super) struct CommandWords<'a> {
    /// The program without its directory, its subcommand, and the operands.
    pub(super) words: Vec<String>,
    pub(super) args: ParsedArgs<'a>,
    /// The directory in which it works.
    pub(super) cwd: Option<String>,
}

impl<'a> CommandWords<'a> {
    /// `None` if the program is unknown.
    pub(super) fn read(invocation: &'a Invocation, context: &JudgeContext) -> Option<Self> {
        let base = base_name(invocation.name()?).to_owned();
        let Some(called) = programs::resolve_program_call(&invocation.argv) else {
            let is_flag = |word: &&SymbolicText| word.leading_text().starts_with('-');
            let mut args = ParsedArgs::default();
            args.operands.extend(invocation.arguments().iter().filter(|word| !is_flag(word)));
            let words = [base].into_iter().chain(args.operands.iter().map(ToString::to_string)).collect();
            return Some(Self { words, args, cwd: invocation.cwd.clone() });
        };
        let mut cwd = invocation.cwd.clone();
        let mut apply = |flags: &[&[&str]], line: &ParsedArgs<'_>| {
            for value in flags.iter().flat_map(|spellings| line.flag_values(spellings)) {
                cwd = locate_path(&value, cwd.as_deref(), context).path;
            }
        };
        for (outer, before) in &called.outer {
            apply(outer.cwd_flags, &ParsedArgs::parse(outer, before));
        }
        let args = ParsedArgs::parse(called.program, called.arguments);
        apply(called.program.cwd_flags, &args);
        let subcommands = called.name.split(' ').skip(1).map(str::to_owned);
        let operands = args.operands.iter().map(ToString::to_string);
        let words = [base].into_iter().chain(subcommands).chain(operands).collect();
        Some(Self { words, args, cwd })
    }

    pub(super) fn is_program(&self, name: &str) -> bool {
        self.words.first().is_some_and(|program| program == name)
    }

    /// The program and its first words.
    pub(super) fn phrase(&self) -> String {
        self.words.iter().take(4).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Whether the command starts with these words.
    pub(super) fn starts_with(&self, program: &str, words: &str) -> bool {
        let wanted = program.split(' ').chain(words.split(' ')).filter(|word| !word.is_empty());
        wanted.enumerate().all(|(at, word)| self.words.get(at).is_some_and(|found| found == word))
    }
}
