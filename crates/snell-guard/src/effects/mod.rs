//! What would happen: each program that would run is turned into effects, each with the place it is on.
//!
//! Which program does what is data (`data/programs`). What no table can say stands in the modules here.

mod collector;
mod common_flags;
pub(crate) mod database;
mod handlers;
mod network_send;
mod output;
mod program_uses;
pub(crate) mod protected_args;
mod remote;
pub(crate) mod secrets;
pub(crate) mod self_protection;
pub(crate) mod sequences;

pub(crate) use crate::effects::secrets::exposure::MAX_HINT_CHARS;
pub use output::classify_output;
pub(crate) use output::is_foreign_pid_file;

use crate::invocation::{FileOpenMode, Invocation, SymbolicText};
use crate::judge::context::JudgeContext;
use crate::paths::{ClassifiedPath, PathClass, locate_path};
use crate::policy::LIMIT_RULE;
use crate::programs;
use crate::rules;
use collector::EffectCollector;
use snell_shell::ByteSpan;

/// More effects of one call are not looked at. A call with so many operands is judged by hand.
pub const MAX_EFFECTS: usize = 4096;

/// Something that would happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What.
    pub kind: EffectKind,
    /// To which place; nothing if it is not about one.
    pub place: Option<ClassifiedPath>,
    /// Whether it goes down into directories.
    pub recursive: bool,
    /// The program that does it.
    pub program: &'static str,
    /// Which of the call's invocations does it; nothing if it is no program's doing.
    pub by: Option<usize>,
    /// Which of the policy's allowed commands it is part of.
    pub allowed: Option<usize>,
    /// Where in the text it stands.
    pub span: ByteSpan,
}

impl Effect {
    pub(crate) fn new(kind: EffectKind, program: &'static str, span: ByteSpan) -> Self {
        Self { kind, place: None, recursive: false, program, by: None, allowed: None, span }
    }
}

/// What would happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// This, to a place.
    Path(PathAction),
    /// Something of which the knowledge about the program already says which rule judges it: the rule's number.
    Rule(usize),
}

/// Whether an effect is on one path, or on everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectDepth {
    Single,
    Recursive,
}

impl From<bool> for EffectDepth {
    fn from(recursive: bool) -> Self {
        if recursive { Self::Recursive } else { Self::Single }
    }
}

/// What may happen to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PathAction {
    /// It is gone.
    Delete = 1,
    /// What was in it is gone.
    Overwrite = 1 << 1,
    /// Something is put there, in place of what may have been there.
    Put = 1 << 2,
    /// Something is added to it.
    Append = 1 << 3,
    /// It is moved away.
    Take = 1 << 4,
    /// What is in it can be seen.
    Read = 1 << 5,
    /// It gets another name.
    Link = 1 << 6,
    /// Its permissions change.
    Mode = 1 << 7,
    /// Everybody may write to it.
    OpenUp = 1 << 8,
    /// Whoever runs it becomes its owner.
    SetId = 1 << 9,
    /// It gets another owner.
    Chown = 1 << 10,
    /// It is sent to another machine.
    Send = 1 << 11,
    /// It is sent over a bare connection.
    SendRaw = 1 << 12,
    /// It comes from another machine.
    Fetch = 1 << 13,
    /// What is in it is changed in place.
    Edit = 1 << 14,
    /// Something is put there under the very name that is told, in place of the file that may have it.
    Replace = 1 << 15,
    /// A program is handed it: what it makes of it, it does not show.
    Use = 1 << 16,
    /// Nobody knows the program, but what it is told looks as if it were changed in place.
    MayEdit = 1 << 17,
    /// Something new is made there; what has the name already stays.
    Make = 1 << 18,
    /// Its owner may no longer read, change or enter it.
    Lock = 1 << 19,
    /// Its contents get another name.
    Copy = 1 << 20,
    /// Files of any name are put into the directory.
    Unpack = 1 << 21,
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathActions(pub(crate) u32);

impl PathActions {
    /// Whether this is one of them.
    pub fn contains(self, kind: PathAction) -> bool {
        self.0 & kind as u32 != 0
    }
}

/// What all the programs of a call would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectList {
    /// In the order in which they would happen.
    pub effects: Vec<Effect>,
    /// Whether there are more than were looked at.
    pub too_many: bool,
}

/// What programs that run one after the other would do.
pub fn collect_effects(invocations: &[Invocation], context: &JudgeContext) -> EffectList {
    let mut list = Vec::new();
    let mut environment = EnvSecrets::NotLoaded;
    let aliases = crate::effects::sequences::file_aliases::FileAliases::from_invocations(invocations, context);
    for (number, invocation) in invocations.iter().enumerate() {
        let first = list.len();
        let invocation = &*aliases.restore_program_name(number, invocation, context);
        collect_program_effects(invocation, context, AnalysisScope::WithInput, environment, &mut list);
        list.iter_mut().skip(first).for_each(|effect| effect.by = Some(number));
        if crate::effects::secrets::exposure::loads_secret_file(invocation, context) {
            environment = EnvSecrets::Loaded;
        }
        if list.len() > MAX_EFFECTS {
            list.truncate(MAX_EFFECTS);
            return EffectList { effects: list, too_many: true };
        }
    }
    aliases.follow_links(&mut list, context);
    crate::effects::self_protection::exports::drop_excused_exports(invocations, &mut list);
    crate::effects::sequences::download_exec::add_download_exec_effects(invocations, context, &mut list);
    crate::effects::sequences::deferred_destroy::add_deferred_destroy_effects(invocations, &mut list);
    crate::effects::self_protection::listed_files::add_listed_file_effects(invocations, context, &mut list);
    EffectList { effects: list, too_many: false }
}

/// What one program would do.
pub fn collect_invocation_effects(invocation: &Invocation, context: &JudgeContext) -> Vec<Effect> {
    let mut list = Vec::new();
    collect_program_effects(invocation, context, AnalysisScope::WithInput, EnvSecrets::NotLoaded, &mut list);
    list
}

/// What a tool that is no shell would do to a file: a `Read`, a `Write`, an edit.
pub fn build_path_effect(kind: PathAction, path: &str, tool: &'static str, context: &JudgeContext) -> Effect {
    Effect {
        place: Some(locate_path(&SymbolicText::from_text(path), Some(&context.cwd), context)),
        ..Effect::new(EffectKind::Path(kind), tool, ByteSpan::default())
    }
}

/// What one program would do, without regard to what it is fed.
fn collect_effects_without_input(invocation: &Invocation, context: &JudgeContext) -> Vec<Effect> {
    let mut list = Vec::new();
    collect_program_effects(invocation, context, AnalysisScope::ProgramOnly, EnvSecrets::NotLoaded, &mut list);
    list
}

/// How far to look. Each part of a pipe holds those on its left, which hold those on theirs: following all of them from
/// all of them would never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnalysisScope {
    /// The program and what it is fed.
    WithInput,
    /// The program.
    ProgramOnly,
}

/// What a program sees in its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvSecrets {
    /// Whatever the agent has.
    NotLoaded,
    /// What a file of secrets says as well.
    Loaded,
}

fn collect_program_effects(
    invocation: &Invocation,
    context: &JudgeContext,
    view: AnalysisScope,
    environment: EnvSecrets,
    list: &mut Vec<Effect>,
) {
    let name = invocation.name();
    let called = programs::resolve_program_call(&invocation.argv);
    let program = called.as_ref().map(|called| called.program);
    let mut scene = EffectCollector::new(invocation, context, called, view, list);
    // What the shell opens is no part of the command, and not allowed with it.
    add_redirect_effects(&mut scene);
    scene.allowed = invocation.allowed;
    if invocation.privileged {
        scene.add_rule_effect("privilege.raise");
    }
    if view == AnalysisScope::WithInput {
        crate::effects::secrets::exposure::apply_secret_exposure(&mut scene, environment);
    }
    if name.is_some_and(|name| crate::effects::database::sql::RAW_CLIENTS.contains(&name)) {
        crate::effects::database::sql::apply_raw_client(&mut scene);
    }
    if name.is_some_and(|name| network_send::BATCH_CLIENTS.contains(&name)) {
        network_send::apply_batch_client(&mut scene);
    }
    match program {
        Some(program) => {
            program_uses::apply_uses(&mut scene, program);
            handlers::apply_handler(&mut scene, program);
            common_flags::apply_common_flags(&mut scene, Some(program));
        }
        None => match name {
            Some(name) => {
                crate::effects::handlers::interpreter::apply_program_url(&mut scene, name);
                common_flags::apply_common_flags(&mut scene, None);
            }
            None => handlers::apply_unknown_program(&mut scene),
        },
    }
    if view == AnalysisScope::WithInput {
        crate::effects::self_protection::program_copies::find_renamed_program(&mut scene);
        crate::effects::self_protection::program_copies::find_program_copies(&mut scene);
        crate::effects::self_protection::self_paths::apply_self_paths(&mut scene);
    }
}

/// What the shell itself does for a program.
fn add_redirect_effects(collector: &mut EffectCollector<'_>) {
    for opened in &collector.invocation.files {
        let kind = match opened.mode {
            FileOpenMode::Read if collector.keeps_stdin_private() => continue,
            FileOpenMode::Read => PathAction::Read,
            FileOpenMode::Truncate => PathAction::Overwrite,
            FileOpenMode::Append => PathAction::Append,
        };
        let place = collector.locate_path(&opened.path);
        if place.classes.contains(PathClass::Network) {
            if collector.includes_input() {
                network_send::apply_dev_tcp(collector);
            }
        } else {
            collector.push_path_effect(kind, place, EffectDepth::Single);
        }
    }
}

/// A call exceeds a limit of the analysis.
pub(crate) fn build_limit_effect(program: &'static str, span: ByteSpan) -> Effect {
    build_rule_effect(LIMIT_RULE, program, span)
}

/// An effect that one rule judges by itself.
pub(crate) fn build_rule_effect(rule: &str, program: &'static str, span: ByteSpan) -> Effect {
    Effect::new(EffectKind::Rule(find_rule_index(rule)), program, span)
}

/// The number of a rule that the code speaks of; a test looks whether all of them exist.
pub(crate) fn find_rule_index(id: &str) -> usize {
    rules::RULES.iter().position(|rule| rule.id == id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
