//! What would happen: each program that would run is turned into effects, each with the place it is on.
//!
//! Which program does what is data (`data/programs`). What no table can say stands in the modules here.

mod abroad;
mod exports;
mod fetched;
mod file_aliases;
mod guessed;
pub(crate) mod handed;
mod handlers;
mod interpreter;
mod kill;
mod names;
mod output;
mod own_paths;
mod planned;
mod program_copies;
mod scene;
mod searched;
mod send;
mod shown;
pub(crate) mod sql;
mod uses;

pub(crate) use output::is_of_others;
pub use output::output_of;
pub(crate) use shown::MAX_HINT;

use crate::invocation::{Invocation, Opening, Value};
use crate::paths::{Class, Place, locate};
use crate::policy::LIMIT;
use crate::programs;
use crate::rules;
use crate::syntax::Span;
use crate::world::World;
use scene::Scene;

/// More effects of one call are not looked at. A call with so many operands is judged by hand.
pub const MAX_EFFECTS: usize = 4096;

/// Something that would happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What.
    pub what: What,
    /// To which place; nothing if it is not about one.
    pub place: Option<Place>,
    /// Whether it goes down into directories.
    pub recursive: bool,
    /// The program that does it.
    pub program: &'static str,
    /// Which of the call's invocations does it; nothing if it is no program's doing.
    pub by: Option<usize>,
    /// Which of the policy's allowed commands it is part of.
    pub allowed: Option<usize>,
    /// Where in the text it stands.
    pub span: Span,
}

/// What would happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// This, to a place.
    Kind(Kind),
    /// Something of which the knowledge about the program already says which rule judges it: the rule's number.
    Rule(usize),
}

/// What may happen to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
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
pub struct Kinds(pub(crate) u32);

impl Kinds {
    /// Whether this is one of them.
    pub fn has(self, kind: Kind) -> bool {
        self.0 & kind as u32 != 0
    }
}

/// What all the programs of a call would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// In the order in which they would happen.
    pub list: Vec<Effect>,
    /// Whether there are more than were looked at.
    pub too_many: bool,
}

/// What programs that run one after the other would do.
pub fn effects(invocations: &[Invocation], world: &World) -> Effects {
    let mut list = Vec::new();
    let mut environment = Environment::Usual;
    let aliases = file_aliases::FileAliases::of(invocations, world);
    for (number, invocation) in invocations.iter().enumerate() {
        let first = list.len();
        let invocation = &*aliases.first_name(number, invocation, world);
        collect(invocation, world, View::Whole, environment, &mut list);
        list.iter_mut().skip(first).for_each(|effect| effect.by = Some(number));
        if shown::loads(invocation, world) {
            environment = Environment::Loaded;
        }
        if list.len() > MAX_EFFECTS {
            list.truncate(MAX_EFFECTS);
            return Effects { list, too_many: true };
        }
    }
    aliases.follow_links(&mut list, world);
    exports::drop_excused(invocations, &mut list);
    fetched::run_later(invocations, world, &mut list);
    planned::carried_out(invocations, &mut list);
    searched::follow(invocations, world, &mut list);
    Effects { list, too_many: false }
}

/// What one program would do.
pub fn effects_of(invocation: &Invocation, world: &World) -> Vec<Effect> {
    let mut list = Vec::new();
    collect(invocation, world, View::Whole, Environment::Usual, &mut list);
    list
}

/// What a tool that is no shell would do to a file: a `Read`, a `Write`, an edit.
pub fn effect_on(kind: Kind, path: &str, tool: &'static str, world: &World) -> Effect {
    Effect {
        what: What::Kind(kind),
        place: Some(locate(&Value::text(path), Some(&world.cwd), world)),
        recursive: false,
        program: tool,
        by: None,
        allowed: None,
        span: Span::default(),
    }
}

/// What one program would do, without regard to what it is fed.
fn effects_alone(invocation: &Invocation, world: &World) -> Vec<Effect> {
    let mut list = Vec::new();
    collect(invocation, world, View::Alone, Environment::Usual, &mut list);
    list
}

/// How far to look. Each part of a pipe holds those on its left, which hold those on theirs: following all of them from
/// all of them would never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// The program and what it is fed.
    Whole,
    /// The program.
    Alone,
}

/// What a program sees in its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Environment {
    /// Whatever the agent has.
    Usual,
    /// What a file of secrets says as well.
    Loaded,
}

fn collect(invocation: &Invocation, world: &World, view: View, environment: Environment, list: &mut Vec<Effect>) {
    let name = invocation.argv.first().and_then(Value::as_text);
    let called = programs::called(&invocation.argv);
    let program = called.as_ref().map(|called| called.program);
    let mut scene = Scene::new(invocation, world, called, view, list);
    // What the shell opens is no part of the command, and not allowed with it.
    open_files(&mut scene);
    scene.allowed = invocation.allowed;
    if invocation.privileged {
        scene.rule("privilege.raise");
    }
    if view == View::Whole {
        shown::apply(&mut scene, environment);
    }
    if name.is_some_and(|name| sql::RAW.contains(&name)) {
        sql::raw(&mut scene);
    }
    if name.is_some_and(|name| send::BATCHES.contains(&name)) {
        send::batch(&mut scene);
    }
    match program {
        Some(program) => {
            uses::apply(&mut scene, program);
            handlers::apply(&mut scene, program);
            guessed::apply(&mut scene, Some(program));
        }
        None => match name {
            Some(name) => {
                interpreter::address(&mut scene, name);
                guessed::apply(&mut scene, None);
            }
            None => handlers::unknown_program(&mut scene),
        },
    }
    if view == View::Whole {
        program_copies::find_renamed(&mut scene);
        program_copies::find_copies(&mut scene);
        own_paths::apply(&mut scene);
    }
}

/// What the shell itself does for a program.
fn open_files(scene: &mut Scene<'_>) {
    for opened in &scene.invocation.files {
        let kind = match opened.how {
            Opening::Read if scene.is_discreet() => continue,
            Opening::Read => Kind::Read,
            Opening::Truncate => Kind::Overwrite,
            Opening::Append => Kind::Append,
        };
        let place = scene.locate(&opened.path);
        if place.classes.has(Class::Network) {
            if scene.is_whole() {
                send::connect(scene);
            }
        } else {
            scene.push(kind, place, false);
        }
    }
}

/// There is more than is looked at.
pub(crate) fn limit(program: &'static str, span: Span) -> Effect {
    Effect {
        what: What::Rule(number_of(LIMIT)),
        place: None,
        recursive: false,
        program,
        by: None,
        allowed: None,
        span,
    }
}

/// The number of a rule that the code speaks of; a test looks whether all of them exist.
pub(crate) fn number_of(id: &str) -> usize {
    rules::RULES.iter().position(|rule| rule.id == id).unwrap_or_default()
}

#[cfg(test)]
mod tests;
