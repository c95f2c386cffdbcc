//! Turns calls into equivalent shell commands.

use super::eval::{CallArgument, ScriptValue};
use super::languages::CallAction;
use crate::effects::secrets::credentials::{is_foreign_address, issuer_from_host_part};
use crate::effects::{self, Effect, EffectKind, MAX_EFFECTS};
use crate::interpret;
use crate::invocation::{FileOpenMode, Invocation, OpenedFile, SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::paths::locate_path;
use crate::policy::entries::EntryPattern;

/// How many texts are passed back to the shell.
pub(crate) const MAX_SHELL_TEXTS: usize = 64;

/// The context of the code, and its effects so far.
pub(super) struct LoweringContext<'a> {
    pub(super) world: &'a JudgeContext,
    /// The working directory.
    pub(super) cwd: Option<String>,
    pub(super) effects: Vec<Effect>,
    /// Commands that entries deny or ask about.
    pub(super) watched: &'a [Option<EntryPattern>],
    /// Whether this pass only collects definitions.
    pub(super) definitions_only: bool,
    /// Whether its functions expand `~` to the home directory.
    pub(super) expands_tilde: bool,
    language: &'static str,
    invocation: &'a Invocation,
    depth: usize,
    shell_text_count: usize,
    /// Whether a limit was reached.
    limited: bool,
}

/// Which of the two passes over a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoweringPass {
    /// Names may be used before they are set, so this pass only collects them.
    Definitions,
    Effects,
}

impl<'a> LoweringContext<'a> {
    pub(super) fn new(
        language: &'static str,
        invocation: &'a Invocation,
        context: &'a JudgeContext,
        depth: usize,
    ) -> Self {
        Self {
            world: context,
            cwd: invocation.cwd.clone(),
            effects: Vec::new(),
            watched: &[],
            definitions_only: false,
            expands_tilde: false,
            language,
            invocation,
            depth,
            shell_text_count: 0,
            limited: false,
        }
    }

    /// Records that a limit was reached.
    pub(super) fn mark_limited(&mut self) {
        self.limited = true;
    }

    /// The effects.
    pub(super) fn into_effects(mut self) -> Vec<Effect> {
        if self.limited {
            let limit = effects::build_limit_effect(self.language, self.invocation.span.clone());
            self.effects.push(limit);
        }
        self.effects
    }

    /// Starts a pass, in the first working directory.
    pub(super) fn start_pass(&mut self, pass: LoweringPass) {
        self.definitions_only = pass == LoweringPass::Definitions;
        self.cwd = self.invocation.cwd.clone();
    }

    /// Adds the effects of a call.
    pub(super) fn lower_call(&mut self, act: CallAction, arguments: &[CallArgument]) {
        let placed = arguments.iter().filter(|(name, _)| name.is_none()).map(|(_, worth)| worth);
        let placed: Vec<&ScriptValue> = placed.collect();
        let many = |worth: &&ScriptValue| worth.has_too_many_words();
        self.limited |= act.runs_words() && placed.iter().any(many);
        let words = |from: usize| -> Vec<SymbolicText> {
            placed.iter().skip(from).flat_map(|worth| worth.to_words()).collect()
        };
        match act {
            CallAction::Enter => {
                let value = placed.first().map(|worth| worth.to_value()).unwrap_or_default();
                self.cwd = locate_path(&value, self.cwd.as_deref(), self.world).path;
            }
            _ if self.definitions_only => {}
            _ if self.effects.len() > MAX_EFFECTS => self.mark_limited(),
            CallAction::Like(command) => self.lower_equivalent(command, &placed),
            CallAction::Shell => {
                if let Some(text) = placed.first() {
                    self.lower_shell_code(&render_shell_text(&text.to_value()), None);
                }
            }
            CallAction::Spawn => self.lower_spawn(arguments, &placed),
            CallAction::Replace => {
                let mut words = words(0);
                if words.len() > 1 {
                    words.remove(1);
                }
                self.lower_shell_code(&quote_shell_words(&words), None);
            }
            CallAction::Open => self.lower_open(&placed, arguments),
            CallAction::Kill(first, signal) => {
                let signal = placed.get(signal).map(|worth| worth.to_value());
                let processes = match first {
                    0 => placed.first().map(|worth| worth.to_words()).unwrap_or_default(),
                    _ => words(first),
                };
                if signal.as_ref().and_then(SymbolicText::as_text) != Some("0") {
                    self.lower_program(["kill", "--"], processes);
                }
            }
            CallAction::Send => {
                for file in arguments.iter().flat_map(|(_, worth)| worth.files()) {
                    self.lower_program(["curl", "-T"], [file]);
                }
                if has_private_value(arguments) || has_foreign_secret(arguments) {
                    self.lower_program(["curl", "-d"], [SymbolicText::from_unknown(UnknownKind::Private)]);
                }
            }
            CallAction::Show if has_secret_text(&placed) => self.lower_program(["printenv", "SECRET"], []),
            CallAction::Show | CallAction::Eval | CallAction::Apply => {}
        }
    }

    /// Adds the effect of unreviewed code.
    pub(super) fn lower_unseen_code(&mut self) {
        if !self.definitions_only {
            self.lower_program(["sh", "-c"], [SymbolicText::from_unknown(UnknownKind::Unseen)]);
        }
    }

    /// Runs the commands that are equivalent to a call.
    pub(super) fn lower_commands(&mut self, commands: Vec<Vec<SymbolicText>>) {
        if !self.definitions_only && self.effects.len() <= MAX_EFFECTS {
            commands.into_iter().for_each(|argv| self.lower_invocation(argv, Vec::new()));
        }
    }

    /// Adds an effect that one rule judges.
    pub(super) fn mark_rule(&mut self, rule: &str) {
        self.effects.push(effects::build_rule_effect(rule, self.language, self.invocation.span.clone()));
    }

    fn lower_equivalent(&mut self, command: &str, arguments: &[&ScriptValue]) {
        let mut argv = Vec::new();
        let mut files = Vec::new();
        let mut how = None;
        for word in command.split(' ') {
            let mut values: Vec<SymbolicText> = match word.strip_prefix('$') {
                Some(place) => {
                    let at = place.trim_end_matches('+').parse::<usize>().unwrap_or(1) - 1;
                    let count = if place.ends_with('+') { usize::MAX } else { 1 };
                    let chosen = arguments.iter().skip(at).take(count);
                    chosen.flat_map(|worth| worth.to_words()).collect()
                }
                None => vec![SymbolicText::from_text(word)],
            };
            if self.expands_tilde {
                values = values.into_iter().map(|value| value.expand_home(&self.world.home)).collect();
            }
            match word {
                ">" => how = Some(FileOpenMode::Truncate),
                ">>" => how = Some(FileOpenMode::Append),
                _ => match how {
                    Some(how) => files.extend(values.into_iter().map(|path| OpenedFile { path, mode: how })),
                    None => argv.extend(values),
                },
            }
        }
        match argv.first().and_then(SymbolicText::as_text) {
            Some("sudo") => return self.lower_shell_code(command, None),
            Some("chmod") => argv.iter_mut().for_each(strip_octal_prefix),
            _ => {}
        }
        self.lower_invocation(argv, files);
    }

    /// Runs a program with these words and arguments.
    fn lower_program<const N: usize>(&mut self, words: [&str; N], more: impl IntoIterator<Item = SymbolicText>) {
        let argv = words.into_iter().map(SymbolicText::from_text).chain(more).collect();
        self.lower_invocation(argv, Vec::new());
    }

    fn lower_invocation(&mut self, argv: Vec<SymbolicText>, files: Vec<OpenedFile>) {
        let invocation = Invocation {
            argv,
            files,
            cwd: self.cwd.clone(),
            elsewhere: self.invocation.elsewhere,
            container: self.invocation.container.clone(),
            via: self.invocation.via.clone(),
            ..Invocation::default()
        };
        let found = effects::collect_invocation_effects(&invocation, self.world);
        self.add_effects(found, true);
    }

    fn lower_spawn(&mut self, arguments: &[CallArgument], placed: &[&ScriptValue]) {
        let named = |wanted: &[&str]| -> Option<ScriptValue> {
            let options = placed.iter().filter_map(|worth| match worth {
                ScriptValue::Dict(list) => Some(list),
                _ => None,
            });
            let inside = options.flatten().find(|(name, _)| wanted.contains(&name.as_str()));
            let outside = arguments.iter().find(|(name, _)| name.as_deref().is_some_and(|name| wanted.contains(&name)));
            inside.map(|(_, worth)| worth.clone()).or_else(|| outside.map(|(_, worth)| worth.clone()))
        };
        let mut words: Vec<SymbolicText> = placed.iter().flat_map(|worth| worth.to_words()).collect();
        words.extend(named(&["args", "cmd"]).map(|worth| worth.to_words()).unwrap_or_default());
        let cwd = named(&["cwd"]).map(|worth| worth.to_value());
        match (words.as_slice(), placed.first()) {
            ([], _) => {}
            ([only], Some(ScriptValue::Text(_))) => self.lower_shell_code(&render_shell_text(only), cwd),
            (words, _) => self.lower_shell_code(&quote_shell_words(words), cwd),
        }
    }

    fn lower_open(&mut self, placed: &[&ScriptValue], arguments: &[CallArgument]) {
        let perl = self.language == "Perl";
        let text = |at: usize| placed.get(at).map(|worth| worth.to_value()).unwrap_or_default();
        let mut path = text(usize::from(perl));
        let mut mode = if perl { SymbolicText::default() } else { text(1) };
        if perl && placed.len() > 2 {
            (mode, path) = (path, text(2));
        } else if perl {
            let whole = path.leading_text().to_owned();
            let sign = whole.len() - whole.trim_start_matches(['+', '<', '>', '|', ' ']).len();
            mode = SymbolicText::from_text(whole.get(..sign).unwrap_or_default());
            path = path.skip_leading_bytes(sign);
            if whole.ends_with('|') || mode.leading_text().contains('|') {
                return self.lower_shell_code(path.leading_text().trim_end_matches('|'), None);
            }
        }
        if let Some((_, worth)) = arguments.iter().find(|(name, _)| name.as_deref() == Some("mode")) {
            mode = worth.to_value();
        }
        let mode = mode.leading_text().to_owned();
        if let Some(command) = path.leading_text().strip_prefix('|') {
            return self.lower_shell_code(command, None);
        }
        if perl && mode.contains('|') {
            let words: Vec<SymbolicText> = placed.iter().skip(2).flat_map(|worth| worth.to_words()).collect();
            let code = if let [only] = words.as_slice() { render_shell_text(only) } else { quote_shell_words(&words) };
            return self.lower_shell_code(&code, None);
        }
        let command = if mode.contains('a') || mode.contains(">>") {
            "true >> $1"
        } else if mode.contains(['w', 'x', '>']) {
            "true > $1"
        } else {
            "cat -- $1"
        };
        self.lower_equivalent(command, &[&ScriptValue::Text(path)]);
    }

    /// Runs a text in a shell.
    pub(super) fn lower_shell_code(&mut self, text: &str, cwd: Option<SymbolicText>) {
        if self.definitions_only {
            return;
        }
        if self.shell_text_count >= MAX_SHELL_TEXTS {
            return self.mark_limited();
        }
        self.shell_text_count += 1;
        let mut world = self.world.clone();
        let cwd = match cwd {
            Some(cwd) => locate_path(&cwd, self.cwd.as_deref(), self.world).path,
            None => self.cwd.clone(),
        };
        let known = cwd.is_some();
        if let Some(cwd) = cwd {
            world.cwd = cwd;
        }
        let mut found = interpret::interpret_with_permits(text, &world, self.watched);
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
            self.mark_rule("process.fork-bomb");
        }
        let span = &self.invocation.span;
        let watched = found.watched.iter().map(|(entry, _)| EffectKind::Watched(*entry));
        let watched: Vec<Effect> = watched.map(|kind| Effect::new(kind, self.language, span.clone())).collect();
        self.add_effects(watched, false);
        self.add_effects(effects::collect_effects(&found.invocations, self.world).effects, false);
        for inline in &found.inline {
            if let Some(invocation) = found.invocations.get(inline.invocation) {
                let effects = super::analyze_nested_code(inline, invocation, self.world, self.watched, self.depth + 1);
                self.add_effects(effects, false);
            }
        }
    }

    /// Spans inside an inner text are meaningless outside of it.
    fn add_effects(&mut self, found: Vec<Effect>, own: bool) {
        self.effects.extend(found.into_iter().map(|mut effect| {
            effect.span = self.invocation.span.clone();
            if own {
                effect.program = self.language;
            }
            effect
        }));
    }
}

fn has_private_value(arguments: &[CallArgument]) -> bool {
    arguments.iter().any(|(_, worth)| worth.taint() == Some(UnknownKind::Private))
}

/// Whether a secret variable is sent to a host that did not issue it. In headers it authenticates the request.
fn has_foreign_secret(arguments: &[CallArgument]) -> bool {
    const AUTH_ARGUMENTS: &[&str] = &["headers", "auth", "cookies"];
    let address = arguments.first().map(|(_, worth)| worth.to_value()).unwrap_or_default();
    let issuers = arguments
        .iter()
        .filter(|(name, _)| !name.as_deref().is_some_and(|name| AUTH_ARGUMENTS.contains(&name)))
        .filter_map(|(_, worth)| match worth {
            ScriptValue::Dict(list) => {
                let sent = list.iter().filter(|(name, _)| !AUTH_ARGUMENTS.contains(&name.as_str()));
                sent.filter_map(|(_, worth)| worth.to_value().credential_issuer()).next()
            }
            worth => worth.to_value().credential_issuer(),
        });
    let address = format!("{}/", address.leading_text());
    issuers.into_iter().any(|issuer| is_foreign_address(issuer_from_host_part(issuer), &address))
}

/// Whether a secret variable is among them. The whole environment does not count: a shell may print that too.
fn has_secret_text(placed: &[&ScriptValue]) -> bool {
    placed.iter().any(
        |worth| matches!(worth, ScriptValue::Text(value) if value.contains_unknown(UnknownKind::Private) || value.credential_issuer().is_some()),
    )
}

/// `0o755` is `755` to chmod.
fn strip_octal_prefix(value: &mut SymbolicText) {
    if let Some(digits) = value.as_text().and_then(|text| text.strip_prefix("0o")) {
        *value = SymbolicText::from_text(digits);
    }
}

/// A text for a shell, with unset variables for its unknown parts.
pub(super) fn render_shell_text(value: &SymbolicText) -> String {
    value.render(to_shell_placeholder)
}

/// Words for a shell.
fn quote_shell_words(words: &[SymbolicText]) -> String {
    let word = |value: &SymbolicText| -> String {
        let parts = value.parts.iter().map(|part| match part {
            SymbolicPart::Text(text) => interpret::quote_shell_word(text),
            SymbolicPart::Pattern(text) => text.clone(),
            SymbolicPart::Unknown(unknown) => format!("\"{}\"", to_shell_placeholder(*unknown)),
        });
        parts.collect()
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The shell's equivalent of an unknown value.
fn to_shell_placeholder(unknown: UnknownKind) -> &'static str {
    match unknown {
        UnknownKind::Anything | UnknownKind::FromInput | UnknownKind::Private | UnknownKind::Credential(_) => {
            "${unknown_value}"
        }
        UnknownKind::Something => "${unknown_value:?}",
        UnknownKind::Name => "$$",
        UnknownKind::Unseen => "$(curl https://unseen.invalid)",
        UnknownKind::Processes => "$(pgrep unknown)",
        UnknownKind::Agent => "$PPID",
    }
}

/// Tcl is similar to a shell: words, and commands that end with the line.
pub(super) fn lower_tcl(text: &str, mut lowering: LoweringContext<'_>) -> Vec<Effect> {
    const TCL_EQUIVALENTS: &[(&str, &str)] = &[
        ("file delete", "rm -r"),
        ("exec", ""),
        ("eval exec", ""),
        ("spawn", ""),
        ("file rename", "mv"),
        ("file copy", "cp"),
    ];
    for line in text.split(['\n', ';']).map(str::trim) {
        let found = TCL_EQUIVALENTS
            .iter()
            .find_map(|(name, command)| Some((command, line.strip_prefix(name)?.strip_prefix(' ')?)));
        if let Some((command, rest)) = found {
            lowering.lower_shell_code(&format!("{command} {}", rest.replace("-force", "-f")), None);
        }
    }
    lowering.into_effects()
}
