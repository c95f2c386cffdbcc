//! What no table can say about a program, one function each.

use super::scene::Scene;
use super::{Kind, interpreter, kill, sql};
use crate::find;
use crate::invocation::Value;
use crate::line::Line;
use crate::paths::{Class, Classes, Place};
use crate::programs::{self, Handler, Program};
use crate::world::World;

/// Does what is special about a program.
pub(super) fn apply(scene: &mut Scene<'_>, program: &'static Program) {
    match program.handler {
        None => {}
        Some(Handler::Chmod) => chmod(scene),
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
    }
    if !out {
        scene.on(Kind::Put, target, false);
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
