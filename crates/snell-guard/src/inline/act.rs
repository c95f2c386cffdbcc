//! What calls do, told as commands of the shell.

use super::calls::Act;
use super::worth::{Argument, Worth};
use crate::credentials::{is_foreign, issuer_of_hosts};
use crate::effects::{self, Effect, MAX_EFFECTS, What};
use crate::invocation::{Invocation, Opened, Opening, Part, Unknown, Value};
use crate::paths::locate;
use crate::shell;
use crate::world::World;

/// So many texts are handed back to the shell.
pub(crate) const MAX_TEXTS: usize = 64;

/// Where the code runs, and what it was found to do.
pub(super) struct Stage<'a> {
    pub(super) world: &'a World,
    /// The directory in which it works.
    pub(super) cwd: Option<String>,
    pub(super) effects: Vec<Effect>,
    /// Whether this is only a look at what is defined.
    pub(super) quiet: bool,
    /// Whether its functions take `~` for the home directory.
    pub(super) tilde: bool,
    language: &'static str,
    invocation: &'a Invocation,
    depth: usize,
    texts: usize,
    /// Whether there is more than was looked at.
    limited: bool,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        language: &'static str,
        invocation: &'a Invocation,
        world: &'a World,
        depth: usize,
        limited: bool,
    ) -> Self {
        Self {
            world,
            cwd: invocation.cwd.clone(),
            effects: Vec::new(),
            quiet: false,
            tilde: false,
            language,
            invocation,
            depth,
            texts: 0,
            limited,
        }
    }

    /// There is more than can be looked at.
    pub(super) fn limit(&mut self) {
        self.limited = true;
    }

    /// What was found.
    pub(super) fn finish(mut self) -> Vec<Effect> {
        if self.limited {
            let limit = effects::limit(self.language, self.invocation.span.clone());
            self.effects.push(limit);
        }
        self.effects
    }

    /// Begins again, in the directory where it began.
    pub(super) fn begin(&mut self, quiet: bool) {
        self.quiet = quiet;
        self.cwd = self.invocation.cwd.clone();
    }

    /// Does what a call does.
    pub(super) fn act(&mut self, act: Act, arguments: &[Argument], perl: bool) {
        let placed: Vec<&Worth> = positional(arguments).collect();
        let many = |worth: &&Worth| worth.is_wide();
        self.limited |= act.runs_words() && placed.iter().any(many);
        let words = |from: usize| -> Vec<Value> { placed.iter().skip(from).flat_map(|worth| worth.words()).collect() };
        match act {
            Act::Enter => {
                let value = placed.first().map(|worth| worth.value()).unwrap_or_default();
                self.cwd = locate(&value, self.cwd.as_deref(), self.world).path;
            }
            _ if self.quiet => {}
            _ if self.effects.len() > MAX_EFFECTS => self.limit(),
            Act::Like(command) => self.like(command, &placed),
            Act::Shell => {
                if let Some(text) = placed.first() {
                    self.shell(&unquoted(&text.value()), None);
                }
            }
            Act::Spawn => self.spawn(arguments, &placed),
            Act::Replace => {
                let mut words = words(0);
                if words.len() > 1 {
                    words.remove(1);
                }
                self.shell(&quoted(&words), None);
            }
            Act::Open => self.open(&placed, arguments, perl),
            Act::Kill(first, signal) => {
                let signal = placed.get(signal).map(|worth| worth.value());
                let processes = match first {
                    0 => placed.first().map(|worth| worth.words()).unwrap_or_default(),
                    _ => words(first),
                };
                if signal.as_ref().and_then(Value::as_text) != Some("0") {
                    self.run([vec![Value::text("kill"), Value::text("--")], processes].concat());
                }
            }
            Act::Send => {
                for file in arguments.iter().flat_map(|(_, worth)| worth.files()) {
                    self.run(vec![Value::text("curl"), Value::text("-T"), file]);
                }
                if private(arguments) || is_dropped(arguments) {
                    let data = Value::unknown(Unknown::Private);
                    self.run(vec![Value::text("curl"), Value::text("-d"), data]);
                }
            }
            Act::Show if shows_private(&placed) => self.run(vec![Value::text("printenv"), Value::text("SECRET")]),
            Act::Show | Act::Eval | Act::Apply => {}
        }
    }

    /// Code that nobody has seen.
    pub(super) fn unseen(&mut self) {
        if !self.quiet {
            let code = Value::unknown(Unknown::Unseen);
            self.run(vec![Value::text("sh"), Value::text("-c"), code]);
        }
    }

    /// Runs commands that do the same as a call.
    pub(super) fn perform(&mut self, commands: Vec<Vec<Value>>) {
        if !self.quiet && self.effects.len() <= MAX_EFFECTS {
            commands.into_iter().for_each(|argv| self.run(argv));
        }
    }

    /// Processes without end.
    pub(super) fn bomb(&mut self) {
        self.mark("process.fork-bomb");
    }

    /// Something that a rule judges by itself.
    pub(super) fn mark(&mut self, rule: &str) {
        self.effects.push(Effect {
            what: What::Rule(effects::number_of(rule)),
            place: None,
            recursive: false,
            program: self.language,
            by: None,
            allowed: None,
            span: self.invocation.span.clone(),
        });
    }

    fn like(&mut self, command: &str, arguments: &[&Worth]) {
        let mut argv = Vec::new();
        let mut files = Vec::new();
        let mut how = None;
        for word in command.split(' ') {
            let mut values: Vec<Value> = match word.strip_prefix('$') {
                Some(place) => {
                    let at = place.trim_end_matches('+').parse::<usize>().unwrap_or(1) - 1;
                    let count = if place.ends_with('+') { usize::MAX } else { 1 };
                    let chosen = arguments.iter().skip(at).take(count);
                    chosen.flat_map(|worth| worth.words()).collect()
                }
                None => vec![Value::text(word)],
            };
            if self.tilde {
                values.iter_mut().for_each(|value| self.at_home(value));
            }
            match word {
                ">" => how = Some(Opening::Truncate),
                ">>" => how = Some(Opening::Append),
                _ => match how {
                    Some(how) => files.extend(values.into_iter().map(|path| Opened { path, how })),
                    None => argv.extend(values),
                },
            }
        }
        match argv.first().and_then(Value::as_text) {
            Some("sudo") => return self.shell(command, None),
            Some("chmod") => argv.iter_mut().for_each(octal),
            _ => {}
        }
        self.invoke(argv, files);
    }

    /// The home directory for `~`.
    fn at_home(&self, value: &mut Value) {
        if matches!(value.leading().as_bytes(), [b'~'] | [b'~', b'/', ..]) {
            let mut path = Value::text(self.world.home.clone());
            path.append(&value.after(1));
            *value = path;
        }
    }

    fn run(&mut self, argv: Vec<Value>) {
        self.invoke(argv, Vec::new());
    }

    fn invoke(&mut self, argv: Vec<Value>, files: Vec<Opened>) {
        let invocation = Invocation {
            argv,
            files,
            cwd: self.cwd.clone(),
            elsewhere: self.invocation.elsewhere,
            container: self.invocation.container.clone(),
            via: self.invocation.via.clone(),
            ..Invocation::default()
        };
        let found = effects::effects_of(&invocation, self.world);
        self.add(found, true);
    }

    fn spawn(&mut self, arguments: &[Argument], placed: &[&Worth]) {
        let named = |wanted: &[&str]| -> Option<Worth> {
            let options = placed.iter().filter_map(|worth| match worth {
                Worth::Named(list) => Some(list),
                _ => None,
            });
            let inside = options.flatten().find(|(name, _)| wanted.contains(&name.as_str()));
            let outside = arguments
                .iter()
                .find(|(name, _)| name.as_deref().is_some_and(|name| wanted.contains(&name)));
            inside
                .map(|(_, worth)| worth.clone())
                .or_else(|| outside.map(|(_, worth)| worth.clone()))
        };
        let mut words: Vec<Value> = placed.iter().flat_map(|worth| worth.words()).collect();
        words.extend(named(&["args", "cmd"]).map(|worth| worth.words()).unwrap_or_default());
        let cwd = named(&["cwd"]).map(|worth| worth.value());
        match (words.as_slice(), placed.first()) {
            ([], _) => {}
            ([only], Some(Worth::Text(_))) => self.shell(&unquoted(only), cwd),
            (words, _) => self.shell(&quoted(words), cwd),
        }
    }

    fn open(&mut self, placed: &[&Worth], arguments: &[Argument], perl: bool) {
        let text = |at: usize| placed.get(at).map(|worth| worth.value()).unwrap_or_default();
        let mut path = text(usize::from(perl));
        let mut mode = if perl { Value::default() } else { text(1) };
        if perl && placed.len() > 2 {
            (mode, path) = (path, text(2));
        } else if perl {
            let whole = path.leading().to_owned();
            let sign = whole.len() - whole.trim_start_matches(['+', '<', '>', '|', ' ']).len();
            mode = Value::text(whole.get(..sign).unwrap_or_default());
            path = path.after(sign);
            if whole.ends_with('|') || mode.leading().contains('|') {
                return self.shell(path.leading().trim_end_matches('|'), None);
            }
        }
        if let Some((_, worth)) = arguments.iter().find(|(name, _)| name.as_deref() == Some("mode")) {
            mode = worth.value();
        }
        let mode = mode.leading().to_owned();
        if let Some(command) = path.leading().strip_prefix('|') {
            return self.shell(command, None);
        }
        if perl && mode.contains('|') {
            let words: Vec<Value> = placed.iter().skip(2).flat_map(|worth| worth.words()).collect();
            return match words.as_slice() {
                [only] => self.shell(&unquoted(only), None),
                words => self.shell(&quoted(words), None),
            };
        }
        let path = Worth::Text(path);
        if mode.contains('a') || mode.contains(">>") {
            self.like("true >> $1", &[&path]);
        } else if mode.contains(['w', 'x', '>']) {
            self.like("true > $1", &[&path]);
        } else {
            self.like("cat -- $1", &[&path]);
        }
    }

    /// A text goes to a shell.
    pub(super) fn shell(&mut self, text: &str, cwd: Option<Value>) {
        if self.quiet {
            return;
        }
        if self.texts >= MAX_TEXTS {
            return self.limit();
        }
        self.texts += 1;
        let mut world = self.world.clone();
        let cwd = match cwd {
            Some(cwd) => locate(&cwd, self.cwd.as_deref(), self.world).path,
            None => self.cwd.clone(),
        };
        let known = cwd.is_some();
        if let Some(cwd) = cwd {
            world.cwd = cwd;
        }
        let mut found = shell::invocations(text, &world);
        self.limited |= found.coverage.is_limited();
        for invocation in &mut found.invocations {
            invocation.elsewhere |= self.invocation.elsewhere;
            if invocation.container.is_none() {
                invocation.container.clone_from(&self.invocation.container);
            }
            if !known {
                invocation.cwd = None;
            }
            let via = self.invocation.via.iter().cloned();
            invocation.via = via.chain(std::mem::take(&mut invocation.via)).collect();
        }
        if !found.fork_bombs.is_empty() {
            self.bomb();
        }
        self.add(effects::effects(&found.invocations, self.world).list, false);
        for inline in &found.inline {
            if let Some(invocation) = found.invocations.get(inline.invocation) {
                let effects = super::nested(inline, invocation, self.world, self.depth + 1);
                self.add(effects, false);
            }
        }
    }

    /// Places in a text within the text mean nothing outside of it.
    fn add(&mut self, found: Vec<Effect>, own: bool) {
        self.effects.extend(found.into_iter().map(|mut effect| {
            effect.span = self.invocation.span.clone();
            if own {
                effect.program = self.language;
            }
            effect
        }));
    }
}

/// Arguments without a name.
fn positional(arguments: &[Argument]) -> impl Iterator<Item = &Worth> {
    arguments
        .iter()
        .filter(|(name, _)| name.is_none())
        .map(|(_, worth)| worth)
}

fn private(arguments: &[Argument]) -> bool {
    arguments
        .iter()
        .any(|(_, worth)| worth.taint() == Some(Unknown::Private))
}

/// Whether a secret variable is sent to somebody whom it does not concern. Headers say who asks: there it belongs.
fn is_dropped(arguments: &[Argument]) -> bool {
    const ASKING: &[&str] = &["headers", "auth", "cookies"];
    let address = arguments.first().map(|(_, worth)| worth.value()).unwrap_or_default();
    let issuers = arguments
        .iter()
        .filter(|(name, _)| !name.as_deref().is_some_and(|name| ASKING.contains(&name)))
        .filter_map(|(_, worth)| match worth {
            Worth::Named(list) => {
                let sent = list.iter().filter(|(name, _)| !ASKING.contains(&name.as_str()));
                sent.filter_map(|(_, worth)| worth.value().credential()).next()
            }
            worth => worth.value().credential(),
        });
    let address = format!("{}/", address.leading());
    issuers
        .into_iter()
        .any(|issuer| is_foreign(issuer_of_hosts(issuer), &address))
}

/// Whether a secret variable is among them, rather than the environment as a whole, which a shell may show as well.
fn shows_private(placed: &[&Worth]) -> bool {
    placed.iter().any(
        |worth| matches!(worth, Worth::Text(value) if value.holds(Unknown::Private) || value.credential().is_some()),
    )
}

/// `0o755` is `755` to chmod.
fn octal(value: &mut Value) {
    if let Some(digits) = value.as_text().and_then(|text| text.strip_prefix("0o")) {
        *value = Value::text(digits);
    }
}

/// A text for a shell, with variables that nobody has set where something is unknown.
pub(super) fn unquoted(value: &Value) -> String {
    value
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Pattern(text) => text.clone(),
            Part::Unknown(unknown) => in_shell(*unknown).to_owned(),
        })
        .collect()
}

/// Words for a shell.
fn quoted(words: &[Value]) -> String {
    let word = |value: &Value| -> String {
        let parts = value.parts.iter().map(|part| match part {
            Part::Text(text) => format!("'{}'", text.replace('\'', r"'\''")),
            Part::Pattern(text) => text.clone(),
            Part::Unknown(unknown) => format!("\"{}\"", in_shell(*unknown)),
        });
        parts.collect()
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What is unknown in the same way in a shell.
fn in_shell(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Anything | Unknown::Told | Unknown::Private | Unknown::Credential(_) => "${unknown_value}",
        Unknown::Something => "${unknown_value:?}",
        Unknown::Name => "$$",
        Unknown::Unseen => "$(curl https://unseen.invalid)",
        Unknown::Processes => "$(pgrep unknown)",
        Unknown::Agent => "$PPID",
    }
}

/// Tcl is close to a shell: words, and commands that end with the line.
pub(super) fn tcl(text: &str, mut stage: Stage<'_>) -> Vec<Effect> {
    const LIKE: &[(&str, &str)] = &[
        ("file delete", "rm -r"),
        ("exec", ""),
        ("spawn", ""),
        ("file rename", "mv"),
        ("file copy", "cp"),
    ];
    for line in text.split(['\n', ';']).map(str::trim) {
        let found = LIKE
            .iter()
            .find_map(|(name, command)| Some((command, line.strip_prefix(name)?.strip_prefix(' ')?)));
        if let Some((command, rest)) = found {
            stage.shell(&format!("{command} {}", rest.replace("-force", "-f")), None);
        }
    }
    stage.finish()
}
