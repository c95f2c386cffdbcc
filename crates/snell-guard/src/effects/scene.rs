//! One program at work: what it was given, and what it is found to do.

use std::borrow::Cow;

use super::abroad::{is_own_business, place};
use super::{Effect, Kind, MAX_EFFECTS, View, What, number_of};
use crate::invocation::{Invocation, Stdin, Value};
use crate::line::Line;
use crate::paths::{Class, Place, locate};
use crate::programs::{Called, Program};
use crate::world::World;

/// One program at work.
pub(super) struct Scene<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) world: &'a World,
    pub(super) line: Line<'a>,
    /// The directory in which it works.
    pub(super) cwd: Option<Cow<'a, str>>,
    called: Option<Called<'a>>,
    /// Whether its program was told, before the command's name, to do nothing.
    idle: bool,
    view: View,
    /// Which of the policy's allowed commands this is part of.
    pub(super) allowed: Option<usize>,
    list: &'a mut Vec<Effect>,
    /// How many effects were there before.
    before: usize,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        invocation: &'a Invocation,
        world: &'a World,
        called: Option<Called<'a>>,
        view: View,
        list: &'a mut Vec<Effect>,
    ) -> Self {
        let line = called
            .as_ref()
            .map(|called| Line::read(called.program, called.arguments))
            .unwrap_or_default();
        let mut scene = Self {
            invocation,
            world,
            line,
            cwd: invocation.cwd.as_deref().map(Cow::Borrowed),
            called: None,
            idle: false,
            view,
            allowed: None,
            before: list.len(),
            list,
        };
        if let Some(called) = &called {
            for (outer, before) in &called.outer {
                let line = Line::read(outer, before);
                scene.idle |= line.surely_has_any(outer.idle_flags);
                scene.enter(outer, &line);
            }
            let line = std::mem::take(&mut scene.line);
            scene.enter(called.program, &line);
            scene.line = line;
        }
        scene.called = called;
        scene
    }

    /// `-C directory`, as often as it is given.
    fn enter(&mut self, program: &Program, line: &Line<'_>) {
        for spellings in program.cwd_flags {
            for value in line.values(spellings) {
                self.cwd = locate(&value, self.cwd.as_deref(), self.world).path.map(Cow::Owned);
            }
        }
    }

    /// The program's name in the tables.
    pub(super) fn name(&self) -> &'static str {
        self.called.as_ref().map_or("the shell", |called| called.name)
    }

    pub(super) fn program(&self) -> Option<&'static Program> {
        self.called.as_ref().map(|called| called.program)
    }

    /// Whether it keeps to itself what it reads from standard input.
    pub(super) fn is_discreet(&self) -> bool {
        self.called
            .as_ref()
            .is_some_and(|called| called.program.discreet || called.outer.iter().any(|(outer, _)| outer.discreet))
    }

    /// Whether the program was told, before its command's name, to do nothing: `docker compose --dry-run down`.
    pub(super) fn is_idle(&self) -> bool {
        self.idle
    }

    /// The arguments without the program's name, and without its command's if that has an entry of its own.
    pub(super) fn arguments(&self) -> &'a [Value] {
        match &self.called {
            Some(called) => called.arguments,
            None => self.invocation.argv.get(1..).unwrap_or_default(),
        }
    }

    /// Whether more than the program itself is looked at.
    pub(super) fn is_whole(&self) -> bool {
        self.view == View::Whole
    }

    /// What it is fed, if that is to be followed.
    pub(super) fn stdin(&self) -> &'a Stdin {
        match self.view {
            View::Whole => &self.invocation.stdin,
            View::Alone => &Stdin::Inherited,
        }
    }

    pub(super) fn locate(&self, value: &Value) -> Place {
        place(value, self.cwd.as_deref(), self.invocation, self.world)
    }

    /// Something happens to a place.
    pub(super) fn push(&mut self, kind: Kind, place: Place, recursive: bool) {
        self.add(What::Kind(kind), Some(place), recursive);
    }

    /// Something happens to the place that a value names.
    pub(super) fn on(&mut self, kind: Kind, value: &Value, recursive: bool) {
        if self.list.len() <= MAX_EFFECTS {
            let place = self.locate(value);
            // Whatever else is copied is read, and judged as such.
            if kind != Kind::Copy || place.classes.has(Class::OwnProgram) {
                self.push(kind, place, recursive);
            }
        }
    }

    /// Something happens to the place that a value names, seen from where the program starts.
    pub(super) fn on_from_start(&mut self, kind: Kind, value: &Value) {
        if self.list.len() <= MAX_EFFECTS {
            let place = place(value, self.invocation.cwd.as_deref(), self.invocation, self.world);
            self.push(kind, place, false);
        }
    }

    /// Something new is made. In the project and in temporary directories, that is no secret of anybody yet.
    pub(super) fn make(&mut self, kind: Kind, value: &Value) {
        let mut place = self.locate(value);
        if place.classes.meets([Class::Project, Class::Temp].into()) {
            place.classes = place.classes.without([Class::Secret].into());
        }
        self.push(kind, place, false);
    }

    /// The place of Snell's program, if the program reads that.
    pub(super) fn reads_own_program(&self) -> Option<Place> {
        let reads = |effect: &&Effect| effect.what == What::Kind(Kind::Read);
        let mut places = self
            .list
            .iter()
            .skip(self.before)
            .filter(reads)
            .filter_map(|effect| effect.place.as_ref());
        places.find(|place| place.classes.has(Class::OwnProgram)).cloned()
    }

    /// Whether the program is already found to do something to a place: this, or anything.
    pub(super) fn has_effect_on(&self, place: &Place, kind: Option<Kind>) -> bool {
        let fits = |effect: &&Effect| kind.is_none_or(|kind| effect.what == What::Kind(kind));
        let mut found = self.list.iter().skip(self.before).filter(fits);
        found.any(|effect| effect.place.as_ref().is_some_and(|other| other.shape == place.shape))
    }

    /// Something that a rule judges by itself.
    pub(super) fn rule(&mut self, id: &str) {
        self.add(What::Rule(number_of(id)), None, false);
    }

    pub(super) fn add(&mut self, what: What, place: Option<Place>, recursive: bool) {
        if matches!(what, What::Rule(rule) if is_own_business(self.invocation, rule)) {
            return;
        }
        self.list.push(Effect {
            what,
            place,
            recursive,
            program: self.name(),
            by: None,
            allowed: self.allowed,
            span: self.invocation.span.clone(),
        });
    }
}
