//! What no table can say about a program, one function each.

use super::scene::Scene;
use super::{Kind, interpreter, kill, sql, uses};
use crate::find;
use crate::invocation::Value;
use crate::line::Line;
use crate::paths::{Class, Classes, Place};
use crate::programs::{self, Handler, Program};
use crate::unwrap::{FindTests, own_found_by};
use crate::world::World;

/// Does what is special about a program.
pub(super) fn apply(scene: &mut Scene<'_>, program: &'static Program) {
    match program.handler {
        None => {}
        Some(Handler::Chmod) => chmod(scene),
        Some(Handler::Chown) => chown(scene),
        Some(Handler::Find) => find(scene),
        Some(Handler::Interpreter) => interpreter::apply(scene, program),
        Some(Handler::Kill) => kill::apply(scene),
        Some(Handler::Move) => moved(scene),
        Some(Handler::RemoteCopy) => remote_copy(scene),
        Some(Handler::Sql) => sql::apply(scene, program),
    }
}

/// Nobody knows which program it is, but what is called with `-rf` deletes.
pub(super) fn unknown_program(scene: &mut Scene<'_>) {
    let Some((_, program)) = programs::find("rm") else {
        return;
    };
    let line = Line::read(program, scene.arguments());
    if line.has_any(&["-r", "-R", "--recursive"]) && line.has_any(&["-f", "--force"]) {
        for operand in &line.operands {
            scene.on(Kind::Delete, operand, true);
        }
    }
}

/// `chmod`: a mode may begin with a dash, so the usual reading of flags does not do.
fn chmod(scene: &mut Scene<'_>) {
    let mut recursive = false;
    let mut mode: Option<&str> = None;
    for argument in scene.arguments() {
        let text = argument.leading();
        let is_flag = text.starts_with("--")
            || (text.starts_with('-') && text.len() > 1 && text.bytes().skip(1).all(|b| b"Rvcfh".contains(&b)));
        if is_flag {
            recursive |= if text.starts_with("--") {
                "--recursive".starts_with(text) && text.len() > 3
            } else {
                text.contains('R')
            };
            if text.starts_with("--reference") {
                mode = Some("");
            }
        } else if let Some(mode) = mode {
            scene.on(Kind::Mode, argument, recursive);
            locked(scene, mode, argument);
            if opens_up(mode) {
                scene.on(Kind::OpenUp, argument, recursive);
            }
            if lets_read(mode) && is_key(&scene.locate(argument)) {
                scene.rule("secret.open-key");
            }
            if sets_id(mode) {
                scene.on(Kind::SetId, argument, recursive);
            }
        } else {
            mode = Some(argument.as_text().unwrap_or_default());
        }
    }
}

/// Whether its owner can no longer use a directory. Of a pattern, that is asked only where nothing is left: `chmod 644 *`
/// is meant for files.
fn locked(scene: &mut Scene<'_>, mode: &str, argument: &Value) {
    let left = owners_rights(mode);
    let place = scene.locate(argument);
    if left != OWNERS && (left == 0 || place.path.is_some()) {
        scene.push(Kind::Lock, place, true);
    }
}

/// An owner's rights: to read, to write, to enter.
const OWNERS: u32 = 0o7;

/// The rights that a mode leaves to an owner who had all of them. An unknown mode leaves none.
fn owners_rights(mode: &str) -> u32 {
    if let Some(digits) = octal(mode) {
        return digits >> 6 & OWNERS;
    }
    if mode.is_empty() {
        return 0;
    }
    let mut left = OWNERS;
    for clause in mode.split(',') {
        let (who, mut rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(clause.len()));
        if !(who.is_empty() || who.contains(['u', 'a'])) {
            continue;
        }
        while let Some(sign) = rest.chars().next() {
            let end = rest
                .get(1..)
                .and_then(|rest| rest.find(['+', '-', '=']))
                .map_or(rest.len(), |at| at + 1);
            let rights = rest.get(1..end).unwrap_or_default();
            let named = match u32::from_str_radix(rights, 8) {
                Ok(digits) => digits >> 6 & OWNERS,
                Err(_) => [('r', 4), ('w', 2), ('x', 1), ('X', 1)]
                    .iter()
                    .filter(|(letter, _)| rights.contains(*letter))
                    .fold(0, |all, (_, bit)| all | bit),
            };
            match sign {
                '+' => left |= named,
                '-' => left &= !named,
                _ => left = named,
            }
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    left
}

/// `chown`: to another user, who then decides who may do what. A number is mostly that of the user.
fn chown(scene: &mut Scene<'_>) {
    let Some(owner) = scene.line.operands.first().and_then(|value| value.as_text()) else {
        return;
    };
    let owner = owner.split([':', '.']).next().unwrap_or_default();
    let is_number = |owner: &str| owner.parse::<u32>().is_ok_and(|number| number > 0);
    if owner.is_empty() || owner == scene.world.user || is_number(owner) || scene.name().contains("chgrp") {
        return;
    }
    for operand in scene.line.operands.clone().into_iter().skip(1) {
        scene.on(Kind::Lock, operand, true);
    }
}

/// Whether everybody may write: the last digit, or `o` or `a` with `w`.
fn opens_up(mode: &str) -> bool {
    if let Some(digits) = octal(mode) {
        return digits & 0o002 != 0;
    }
    mode.split(',').any(|clause| {
        let (who, rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(clause.len()));
        who.contains(['o', 'a']) && rest.starts_with(['+', '=']) && rest.contains('w')
    })
}

/// Whether others than the owner may read.
fn lets_read(mode: &str) -> bool {
    if let Some(digits) = octal(mode) {
        return digits & 0o044 != 0;
    }
    mode.split(',').any(|clause| {
        let (who, rest) = clause.split_at(clause.find(['+', '-', '=']).unwrap_or(clause.len()));
        (who.is_empty() || who.contains(['g', 'o', 'a'])) && rest.starts_with(['+', '=']) && rest.contains('r')
    })
}

/// A secret other than the settings of a project, which many programs may have to read.
fn is_key(place: &Place) -> bool {
    let name = place.told().rsplit('/').next().unwrap_or_default();
    place.classes.has(Class::Secret) && !name.starts_with(".env")
}

/// Whether it runs as its owner or its group from now on.
fn sets_id(mode: &str) -> bool {
    if let Some(digits) = octal(mode) {
        return digits & 0o6000 != 0;
    }
    mode.split(',').any(|clause| {
        let rest = clause
            .find(['+', '='])
            .and_then(|at| clause.get(at..))
            .unwrap_or_default();
        rest.contains('s')
    })
}

fn octal(mode: &str) -> Option<u32> {
    u32::from_str_radix(mode.strip_prefix('=').unwrap_or(mode), 8).ok()
}

/// `find … -delete`: what it starts from, unless something is picked out by name, age or size.
fn find(scene: &mut Scene<'_>) {
    let expression: Vec<&Value> = scene.arguments().iter().skip_while(|value| is_start(value)).collect();
    if !deletes(&expression) {
        return;
    }
    let picks = picks_out(&expression);
    let starts: Vec<&Value> = scene
        .arguments()
        .iter()
        .take_while(|value| is_start(value))
        .filter(|value| !value.leading().starts_with('-'))
        .collect();
    let here = Value::text(".");
    for start in if starts.is_empty() { vec![&here] } else { starts } {
        let place = scene.locate(start);
        scene.push(Kind::Delete, if picks { picked(place) } else { place }, true);
    }
    let tests = FindTests::read(scene.arguments());
    for own in own_found_by(&tests, scene.cwd.as_deref(), scene.world) {
        let place = scene.locate(&own);
        scene.push(Kind::Delete, place, true);
    }
}

/// Whether something is picked out before `-delete`: tests behind it come too late, and what is only left out picks the
/// rest.
fn picks_out(expression: &[&Value]) -> bool {
    const EVERYTHING: &[&str] = &["*", ".", ".*", "*.*", "./*"];
    let words: Vec<&str> = expression
        .iter()
        .map(|value| value.as_text().unwrap_or_default())
        .collect();
    let before = words.split(|word| *word == "-delete").next().unwrap_or_default();
    let branch = before
        .rsplit(|word| matches!(*word, "-o" | "-or"))
        .next()
        .unwrap_or_default();
    let mut last = "";
    branch.iter().enumerate().any(|(at, word)| {
        let negated = matches!(std::mem::replace(&mut last, word), "!" | "-not");
        let everything = branch.get(at + 1).is_some_and(|value| EVERYTHING.contains(value));
        find::picks(word) && !negated && !everything
    })
}

/// Options that stand before the starting points, and the starting points.
fn is_start(value: &Value) -> bool {
    let text = value.leading();
    !text.starts_with(['-', '(', '!']) || matches!(text, "-H" | "-L" | "-P" | "-D" | "--") || text.starts_with("-O")
}

/// Whether `-delete` is part of the expression, rather than of a command that is run.
fn deletes(expression: &[&Value]) -> bool {
    let mut in_command = false;
    expression.iter().any(|value| {
        let text = value.as_text().unwrap_or_default();
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => in_command = true,
            ";" | "+" => in_command = false,
            _ => {}
        }
        text == "-delete" && !in_command
    })
}

/// Something in the project, not the project. Which of its files that is, nobody knows.
fn picked(mut place: Place) -> Place {
    let around = [Class::HoldsOwn].into();
    if place.classes.without(around) == Classes::from([Class::ProjectRoot]) {
        place.classes = [Class::Project].into();
        place.shape = None;
    } else if place.classes.without(around) == Classes::from([Class::TempRoot]) {
        place.classes = [Class::Temp].into();
    }
    place
}

/// `mv`: into a temporary directory or `/dev/null` is as good as deleted.
fn moved(scene: &mut Scene<'_>) {
    let named = scene.line.values(&["-t", "--target-directory"]).next();
    let operands = scene.line.operands.clone();
    let (target, sources) = match (&named, operands.split_last()) {
        (Some(target), _) => (target.as_ref(), operands.as_slice()),
        (None, Some((target, sources))) => (*target, sources),
        (None, None) => return,
    };
    let place = scene.locate(target);
    let lost = place
        .classes
        .meets([Class::Temp, Class::TempRoot, Class::Harmless].into());
    for source in sources {
        let place = scene.locate(source);
        let kind = if lost || is_neighbours(&place, scene.world) {
            Kind::Delete
        } else {
            Kind::Take
        };
        scene.push(kind, place, true);
    }
    scene.push(Kind::Put, place, false);
}

/// Whether it belongs to a project beside this one: who takes it away takes it from somebody. What lies in the home
/// itself, such as downloads, may be fetched from there.
fn is_neighbours(place: &Place, world: &World) -> bool {
    let Some((around, _)) = world.project.rsplit_once('/') else {
        return false;
    };
    let inside = place.path.as_deref().and_then(|path| path.strip_prefix(around));
    let beside = inside.is_some_and(|rest| rest.starts_with('/')) && !around.is_empty() && around != world.home;
    beside && place.classes.has(Class::Home)
}

/// `scp`, `rsync`: towards another machine, or from one.
fn remote_copy(scene: &mut Scene<'_>) {
    let operands = scene.line.operands.clone();
    let Some((target, sources)) = operands.split_last() else {
        return;
    };
    let out = is_remote(target);
    for source in sources.iter().filter(|source| !is_remote(source)) {
        scene.on(if out { Kind::Send } else { Kind::Read }, source, true);
        scene.on(Kind::Copy, source, false);
    }
    if out {
        return;
    }
    scene.on(Kind::Put, target, false);
    let is_whole = |source: &&Value| source.leading().ends_with('/') || source.leading().ends_with("/.");
    let is_done = !scene.line.has_any(&["-n", "--dry-run", "--list-only"]);
    let goes_down = scene.line.has_any(&["-r", "-a", "--recursive", "--archive"]);
    if sources.iter().any(is_whole) && is_done {
        scene.on(Kind::Unpack, target, true);
    }
    let named: Vec<&Value> = sources.iter().copied().filter(|source| !is_whole(source)).collect();
    for name in uses::dropped(scene, &named, target) {
        scene.on(Kind::Put, &name, false);
        if is_done && goes_down {
            scene.on(Kind::Unpack, &name, true);
        }
    }
}

/// `host:path`, `user@host:path`, `rsync://…`: a colon before the first slash.
fn is_remote(value: &Value) -> bool {
    value
        .to_string()
        .split('/')
        .next()
        .is_some_and(|first| first.contains(':'))
}
