//! What leaves the machine: files, what a pipe brings, and what the arguments hold.

use super::scene::Scene;
use super::{Kind, What, effects_alone, output::MAX_STAGES, output_of, uses};
use crate::invocation::{Invocation, Part, Stdin, Unknown, Value};
use crate::paths::Place;
use crate::programs::{Handler, Target, Use};

/// A use that sends something.
pub(super) fn apply(scene: &mut Scene<'_>, usage: &Use, kind: Kind, recursive: bool) {
    if usage.on == Target::Stdin {
        return stdin(scene, kind);
    }
    for value in uses::targets(scene, usage) {
        match value.as_text() {
            Some("-" | "/dev/stdin") => stdin(scene, kind),
            _ if value.holds(Unknown::Private) => scene.rule("secret.send-private"),
            _ => scene.on(kind, &value, recursive),
        }
    }
}

/// Clients that are told by standard input what to send: `put file`.
pub(super) const BATCHES: &[&str] = &["sftp", "ftp", "lftp"];

/// The files that such a client is told to send.
pub(super) fn batch(scene: &mut Scene<'_>) {
    const PUTS: &[&str] = &["put", "mput", "reput"];
    let Stdin::Text(text) = scene.stdin() else { return };
    let lines: Vec<Value> = text
        .to_string()
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let puts = words.next().is_some_and(|word| PUTS.contains(&word));
            words
                .find(|word| !word.starts_with('-'))
                .filter(|_| puts)
                .map(Value::text)
        })
        .collect();
    for file in &lines {
        scene.on(Kind::Send, file, true);
    }
}

/// What is read from standard input is sent.
fn stdin(scene: &mut Scene<'_>, kind: Kind) {
    match scene.stdin() {
        Stdin::Inherited => {}
        Stdin::Text(text) if text.holds(Unknown::Private) => scene.rule("secret.send-private"),
        Stdin::Text(_) => {}
        Stdin::File(file) => scene.on(kind, file, false),
        Stdin::Pipe(left) => pipe(scene, left, kind),
    }
}

/// What other programs print is sent: the files that they read, or the environment.
fn pipe(scene: &mut Scene<'_>, left: &[Invocation], kind: Kind) {
    if output_of(left, scene.world) == Unknown::Private {
        scene.rule("secret.send-private");
    }
    for invocation in left.iter().rev().take(MAX_STAGES) {
        for (place, recursive) in read_by(invocation, scene) {
            scene.push(kind, place, recursive);
        }
    }
}

fn read_by(invocation: &Invocation, scene: &Scene<'_>) -> Vec<(Place, bool)> {
    let effects = effects_alone(invocation, scene.world).into_iter();
    let read = effects.filter(|effect| effect.what == What::Kind(Kind::Read));
    read.filter_map(|effect| Some((effect.place?, effect.recursive)))
        .collect()
}

/// The shell connects a program to another machine by `/dev/tcp`.
pub(super) fn connect(scene: &mut Scene<'_>) {
    let invocation: &Invocation = scene.invocation;
    if scene
        .program()
        .is_some_and(|program| program.handler == Some(Handler::Interpreter))
    {
        return scene.rule("network.reverse-shell");
    }
    let private = |part: &Part| *part == Part::Unknown(Unknown::Private);
    let says_private = invocation
        .argv
        .iter()
        .any(|value: &Value| value.parts.iter().any(private));
    if says_private || output_of(std::slice::from_ref(invocation), scene.world) == Unknown::Private {
        scene.rule("secret.send-private");
    }
    for (place, recursive) in read_by(invocation, scene) {
        scene.push(Kind::SendRaw, place, recursive);
    }
    stdin(scene, Kind::SendRaw);
}
