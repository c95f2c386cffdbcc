//! Turns each program that would run into effects, with the paths that they affect.
//!
//! The effects of programs are data (`data/programs`). The modules here have the effects that no table can express.

mod collector;
mod common_flags;
pub(crate) mod database;
pub(crate) mod git_push;
mod handlers;
mod manifests;
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
use crate::session::SessionMark;
use collector::EffectCollector;
use snell_shell::ByteSpan;

/// Further effects of a call are not collected; the user must check such a call.
pub const MAX_EFFECTS: usize = 4096;

/// One effect of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its kind.
    pub kind: EffectKind,
    /// The affected path, if any.
    pub place: Option<ClassifiedPath>,
    /// Whether it includes everything below a directory.
    pub recursive: bool,
    /// The program that causes it.
    pub program: &'static str,
    /// The command that this program runs, if the rule is about running it.
    pub command: Option<String>,
    /// Index of the invocation that causes it; `None` if no program does.
    pub by: Option<usize>,
    /// Index of the policy's allowed command that it is part of.
    pub allowed: Option<usize>,
    /// Its place in the text.
    pub span: ByteSpan,
    /// How the session changes its meaning.
    pub session: Option<SessionMark>,
}

impl Effect {
    pub(crate) fn new(kind: EffectKind, program: &'static str, span: ByteSpan) -> Self {
        Self {
            kind,
            place: None,
            recursive: false,
            program,
            command: None,
            by: None,
            allowed: None,
            span,
            session: None,
        }
    }

    /// Why a rule about the session applies.
    pub(crate) fn session_cause(&self) -> &str {
        match &self.session {
            Some(SessionMark::Because(cause)) => cause,
            Some(SessionMark::Made) | None => "",
        }
    }
}

/// The kind of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// An action on a path.
    Path(PathAction),
    /// An effect that the program's entry assigns to a rule, by the rule's number.
    Rule(usize),
    /// Code that runs a command which an entry of the policy denies or asks about, by the entry's index.
    Watched(usize),
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

/// Actions on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PathAction {
    /// It is deleted.
    Delete = 1,
    /// Its contents are lost.
    Overwrite = 1 << 1,
    /// A file is written there, and may replace another one.
    Put = 1 << 2,
    /// Text is appended to it.
    Append = 1 << 3,
    /// It is moved away.
    Take = 1 << 4,
    /// Its contents are shown.
    Read = 1 << 5,
    /// It gets another name.
    Link = 1 << 6,
    /// Its permissions change.
    Mode = 1 << 7,
    /// Every user may write to it.
    OpenUp = 1 << 8,
    /// Every user who runs it acts as its owner.
    SetId = 1 << 9,
    /// It gets another owner.
    Chown = 1 << 10,
    /// It is sent to another machine.
    Send = 1 << 11,
    /// It is sent over a raw connection.
    SendRaw = 1 << 12,
    /// It is downloaded.
    Fetch = 1 << 13,
    /// Its contents are changed in place.
    Edit = 1 << 14,
    /// A file is written under exactly this name, and replaces an existing one.
    Replace = 1 << 15,
    /// A program gets it and does not show its contents.
    Use = 1 << 16,
    /// An unknown program may change it in place, to judge by its flags.
    MayEdit = 1 << 17,
    /// Something new is created there; an existing file stays.
    Make = 1 << 18,
    /// Its owner can no longer read, change or enter it.
    Lock = 1 << 19,
    /// Its contents get another name.
    Copy = 1 << 20,
    /// Files of unknown names are written into the directory.
    Unpack = 1 << 21,
    /// A program loads its code.
    Load = 1 << 22,
}

/// A set of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathActions(pub(crate) u64);

impl PathActions {
    /// Whether the set contains this action.
    pub fn contains(self, kind: PathAction) -> bool {
        self.0 & kind as u64 != 0
    }
}

/// The effects of all programs of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectList {
    /// In the order in which they would happen.
    pub effects: Vec<Effect>,
    /// Whether there are more than `MAX_EFFECTS`.
    pub too_many: bool,
}

/// Collects the effects of programs that run one after the other.
pub fn collect_effects(invocations: &[Invocation], context: &JudgeContext) -> EffectList {
    let mut list = Vec::new();
    let mut environment = EnvSecrets::NotLoaded;
    let aliases = crate::effects::sequences::file_aliases::FileAliases::from_invocations(invocations, context);
    for (number, invocation) in invocations.iter().enumerate() {
        let first = list.len();
        let invocation = &*aliases.restore_program_name(number, invocation, context);
        collect_program_effects(invocation, context, AnalysisScope::WithInput, environment, &mut list);
        secrets::env_templates::forget_template_copies(invocation, list.get_mut(first..).unwrap_or_default());
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
    crate::effects::sequences::private_files::add_private_file_effects(invocations, context, &mut list);
    crate::effects::sequences::deferred_destroy::add_deferred_destroy_effects(invocations, &mut list);
    crate::effects::self_protection::listed_files::add_listed_file_effects(invocations, context, &mut list);
    EffectList { effects: list, too_many: false }
}

/// Collects the effects of one program.
pub fn collect_invocation_effects(invocation: &Invocation, context: &JudgeContext) -> Vec<Effect> {
    let mut list = Vec::new();
    collect_program_effects(invocation, context, AnalysisScope::WithInput, EnvSecrets::NotLoaded, &mut list);
    list
}

/// The effect of a file tool on a file: a `Read`, a `Write`, an edit.
pub fn build_path_effect(kind: PathAction, path: &str, tool: &'static str, context: &JudgeContext) -> Effect {
    Effect {
        place: Some(locate_path(&SymbolicText::from_text(path), Some(&context.cwd), context)),
        ..Effect::new(EffectKind::Path(kind), tool, ByteSpan::default())
    }
}

/// Collects the effects of one program, without its input.
fn collect_effects_without_input(invocation: &Invocation, context: &JudgeContext) -> Vec<Effect> {
    let mut list = Vec::new();
    collect_program_effects(invocation, context, AnalysisScope::ProgramOnly, EnvSecrets::NotLoaded, &mut list);
    list
}

/// How far a pipe is followed. Each part of a pipe contains the parts on its left, so following all of them from every
/// part would take exponential time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnalysisScope {
    /// The program and its input.
    WithInput,
    /// The program only.
    ProgramOnly,
}

/// The variables that a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvSecrets {
    /// The agent's own.
    NotLoaded,
    /// Those of a file of secrets as well.
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
    // The shell opens redirections itself, so an allowed command does not include them.
    add_redirect_effects(&mut scene);
    scene.allowed = invocation.allowed;
    if invocation.privileged {
        scene.add_raised_effect();
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
    manifests::apply_manifest_reader(&mut scene);
    manifests::apply_registry_file(&mut scene);
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
                common_flags::apply_unknown_program(&mut scene, name);
            }
            None => handlers::apply_unknown_program(&mut scene),
        },
    }
    crate::effects::self_protection::own_processes::add_own_process_effect(&mut scene);
    if view == AnalysisScope::WithInput {
        crate::effects::self_protection::program_copies::find_renamed_program(&mut scene);
        crate::effects::self_protection::program_copies::find_program_copies(&mut scene);
        crate::effects::self_protection::self_paths::apply_self_paths(&mut scene);
    }
}

/// Adds the effects of redirections.
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

/// An effect that one rule judges.
pub(crate) fn build_rule_effect(rule: &str, program: &'static str, span: ByteSpan) -> Effect {
    Effect::new(EffectKind::Rule(find_rule_index(rule)), program, span)
}

/// The number of a rule that code refers to; a test checks that all of them exist.
pub(crate) fn find_rule_index(id: &str) -> usize {
    rules::RULES.iter().position(|rule| rule.id == id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
