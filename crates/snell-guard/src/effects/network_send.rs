//! Data that leaves the machine: files, piped input and arguments.

use super::collector::EffectCollector;
use super::{
    EffectDepth, EffectKind, PathAction, classify_output, collect_effects_without_input, output::MAX_STAGES,
    program_uses,
};
use crate::invocation::{Invocation, StdinSource, SymbolicPart, SymbolicText, UnknownKind};
use crate::paths::ClassifiedPath;
use crate::programs::{ProgramHandler, ProgramUse, UseTarget};

/// Adds the effects of a use that sends data.
pub(super) fn apply_send(
    collector: &mut EffectCollector<'_>,
    usage: &ProgramUse,
    kind: PathAction,
    depth: EffectDepth,
) {
    if usage.on == UseTarget::Stdin {
        return send_stdin(collector, kind);
    }
    for value in program_uses::find_targets(collector, usage) {
        match value.as_text() {
            Some("-" | "/dev/stdin") => send_stdin(collector, kind),
            _ if value.contains_unknown(UnknownKind::Private) => collector.add_rule_effect("secret.send-private"),
            _ => collector.add_path_effect(kind, &value, depth),
        }
    }
}

/// Clients that read commands such as `put file` from standard input.
pub(super) const BATCH_CLIENTS: &[&str] = &["sftp", "ftp", "lftp", "smbclient", "ncftp", "tnftp", "curlftp", "cadaver"];

/// Adds the files that such a client sends.
pub(super) fn apply_batch_client(collector: &mut EffectCollector<'_>) {
    const PUTS: &[&str] = &["put", "mput", "reput"];
    const DELETIONS: &[&str] = &["rm", "mrm", "rmdir", "mdelete", "delete", "del"];
    // Commands are also values of flags: `lftp -e 'put file; bye'`.
    let arguments = collector.invocation.arguments().iter().map(ToString::to_string).filter(|text| text.contains(' '));
    let stdin = match collector.stdin() {
        StdinSource::Text(text) => Some(text.to_string()),
        _ => None,
    };
    let text = arguments.chain(stdin).collect::<Vec<_>>().join("\n").replace(';', "\n");
    let first_word = |line: &str| line.split_whitespace().next().is_some_and(|word| DELETIONS.contains(&word));
    if text.lines().any(first_word) {
        collector.add_rule_effect("infra.remote-delete");
    }
    let lines: Vec<SymbolicText> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let puts = words.next().is_some_and(|word| PUTS.contains(&word));
            words.find(|word| !word.starts_with('-')).filter(|_| puts).map(SymbolicText::from_text)
        })
        .collect();
    for file in &lines {
        collector.add_path_effect(PathAction::Send, file, EffectDepth::Recursive);
    }
}

/// Adds an effect for standard input that is sent.
fn send_stdin(collector: &mut EffectCollector<'_>, kind: PathAction) {
    match collector.stdin() {
        StdinSource::Inherited => {}
        StdinSource::Text(text) if text.contains_unknown(UnknownKind::Private) => {
            collector.add_rule_effect("secret.send-private")
        }
        StdinSource::Text(_) => {}
        StdinSource::File(file) => collector.add_path_effect(kind, file, EffectDepth::Single),
        StdinSource::Pipe(left) => send_pipe_output(collector, left, kind),
    }
}

/// Adds effects for piped output that is sent: the files that the programs read, or the environment.
fn send_pipe_output(collector: &mut EffectCollector<'_>, left: &[Invocation], kind: PathAction) {
    if classify_output(left, collector.context) == UnknownKind::Private {
        collector.add_rule_effect("secret.send-private");
    }
    for invocation in left.iter().rev().take(MAX_STAGES) {
        for (place, recursive) in paths_read_by(invocation, collector) {
            collector.push_path_effect(kind, place, recursive.into());
        }
    }
}

fn paths_read_by(invocation: &Invocation, collector: &EffectCollector<'_>) -> Vec<(ClassifiedPath, bool)> {
    let effects = collect_effects_without_input(invocation, collector.context).into_iter();
    let read = effects.filter(|effect| effect.kind == EffectKind::Path(PathAction::Read));
    read.filter_map(|effect| Some((effect.place?, effect.recursive))).collect()
}

/// `/dev/tcp`: the shell connects a program to another machine.
pub(super) fn apply_dev_tcp(collector: &mut EffectCollector<'_>) {
    let invocation: &Invocation = collector.invocation;
    if collector.program().is_some_and(|program| program.handler == Some(ProgramHandler::Interpreter)) {
        return collector.add_rule_effect("network.reverse-shell");
    }
    let private = |part: &SymbolicPart| *part == SymbolicPart::Unknown(UnknownKind::Private);
    let says_private = invocation.argv.iter().any(|value: &SymbolicText| value.parts.iter().any(private));
    if says_private || classify_output(std::slice::from_ref(invocation), collector.context) == UnknownKind::Private {
        collector.add_rule_effect("secret.send-private");
    }
    for (place, recursive) in paths_read_by(invocation, collector) {
        collector.push_path_effect(PathAction::SendRaw, place, recursive.into());
    }
    send_stdin(collector, PathAction::SendRaw);
}
