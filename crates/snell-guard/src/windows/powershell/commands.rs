//! Commands and pipes.

use super::arguments::CommandArgument;
use super::rendering::{
    all_blocks, all_values, find_opened_address, find_parameter, find_provider_command, is_false, join_literals,
    join_stages, print_values, render_native, simplify_command_name, translate_idle,
};
use super::{PowerShellReader, to_shell_name};
use crate::programs::find_program;
use crate::windows::batch::translate_copy_program;
use crate::windows::shell_words::{ForeignWord, WordUse, render_evaluation, render_words};
use crate::windows::templates::{CommandValues, fill_first_template, template_parameters};
use crate::windows::words::{powershell as words, programs};

/// Commands of POSIX that are also aliases. With flags that no cmdlet takes, they are the programs.
const POSIX_NAMES: &[&str] = &[
    "rm", "rmdir", "ls", "cat", "cp", "mv", "kill", "ps", "curl", "wget", "mkdir", "sort", "tee", "echo", "type",
    "diff", "sleep", "man", "group", "select", "where", "start", "clear", "more", "help",
];

/// Verbs of cmdlets that this crate's tables may name.
const VERBS: &[&str] = &[
    "add",
    "approve",
    "backup",
    "block",
    "checkpoint",
    "clear",
    "compare",
    "complete",
    "connect",
    "convert",
    "convertfrom",
    "convertto",
    "copy",
    "debug",
    "deny",
    "disable",
    "disconnect",
    "dismount",
    "edit",
    "enable",
    "enter",
    "exit",
    "expand",
    "export",
    "find",
    "format",
    "get",
    "grant",
    "import",
    "initialize",
    "install",
    "invoke",
    "limit",
    "lock",
    "measure",
    "merge",
    "mount",
    "move",
    "new",
    "open",
    "optimize",
    "out",
    "pop",
    "protect",
    "publish",
    "push",
    "read",
    "receive",
    "register",
    "remove",
    "rename",
    "repair",
    "request",
    "reset",
    "resize",
    "resolve",
    "restart",
    "restore",
    "resume",
    "revoke",
    "save",
    "search",
    "select",
    "send",
    "set",
    "show",
    "split",
    "start",
    "stop",
    "submit",
    "suspend",
    "switch",
    "sync",
    "test",
    "trace",
    "unblock",
    "undo",
    "uninstall",
    "unlock",
    "unprotect",
    "unpublish",
    "unregister",
    "update",
    "use",
    "wait",
    "watch",
    "write",
];

/// A stage of a pipe.
pub(super) struct PipeStage {
    pub(super) code: String,
    pub(super) kind: StageKind,
    /// The text by which it selects, if it only compares.
    pub(super) pattern: String,
}

impl PipeStage {
    fn new(code: String, kind: StageKind) -> Self {
        Self { code, kind, pattern: String::new() }
    }
}

/// How a stage treats its input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StageKind {
    /// A command.
    Command,
    /// Passes on all of it, or a part.
    Passing,
    Filtering,
    /// An expression, which is shown.
    Expression,
}

impl PowerShellReader {
    pub(super) fn read_pipeline(&mut self) -> String {
        let first = self.read_stage(false);
        self.read_stages_after(first)
    }

    /// A pipe that starts with values.
    pub(super) fn read_pipeline_after(&mut self, values: Vec<ForeignWord>) -> String {
        let first = PipeStage::new(print_values(&values), StageKind::Command);
        self.read_stages_after(first)
    }

    fn read_stages_after(&mut self, first: PipeStage) -> String {
        let mut stages = vec![first];
        loop {
            let before = self.at;
            self.skip_lines();
            if self.peek() != Some('|') || self.peek_at(1) == Some('|') {
                self.at = before;
                return join_stages(stages);
            }
            self.at += 1;
            self.skip_lines();
            let next = self.read_stage(true);
            stages.push(next);
        }
    }

    fn read_stage(&mut self, is_piped: bool) -> PipeStage {
        self.skip_blanks();
        let next = self.peek_at(1);
        let is_call = match self.peek() {
            Some('&') => next != Some('&'),
            Some('.') => next.is_some_and(|c| c.is_whitespace() || matches!(c, '(' | '$' | '{' | '"' | '\'')),
            _ => false,
        };
        if is_call {
            self.at += 1;
            return PipeStage::new(self.read_call(is_piped), StageKind::Command);
        }
        let is_alias_sign =
            matches!(self.peek(), Some('%' | '?')) && next.is_none_or(|c| c.is_whitespace() || c == '{');
        if !is_alias_sign && self.is_expression_next() {
            return self.read_expression_stage(is_piped);
        }
        self.read_command(is_piped)
    }

    fn read_expression_stage(&mut self, is_piped: bool) -> PipeStage {
        let values = self.read_operands();
        self.skip_blanks();
        // `$x.Property = value`
        if self.peek() == Some('=') && self.peek_at(1) != Some('=') {
            self.at += 1;
            self.skip_lines();
            let value = self.read_statements_until_end();
            return PipeStage::new(format!("{}\n{value}", render_evaluation(&values)), StageKind::Command);
        }
        let redirects = self.read_redirects();
        let is_followed = self.peek() == Some('|') || is_piped || !redirects.is_empty();
        let code = if is_followed { print_values(&values) } else { self.render_shown_value(&values) };
        let kind = if is_followed { StageKind::Command } else { StageKind::Expression };
        PipeStage::new(format!("{code}{redirects}"), kind)
    }

    fn read_statements_until_end(&mut self) -> String {
        self.with_depth(Self::read_chain)
    }

    fn read_redirects(&mut self) -> String {
        let mut all = String::new();
        loop {
            self.skip_blanks();
            match self.read_redirect() {
                Some(redirect) => all.push_str(&format!(" {redirect}")),
                None => return all,
            }
        }
    }

    /// `& value arguments`, `. script`
    fn read_call(&mut self, is_piped: bool) -> String {
        self.skip_blanks();
        if self.peek() == Some('{') {
            let block = self.read_block();
            let arguments = self.read_arguments();
            let values: Vec<ForeignWord> = all_values(arguments);
            return match values.as_slice() {
                [] => format!("{{ {block}\n}}"),
                values => format!("( set -- {}\n{block}\n)", render_words(values, WordUse::Text)),
            };
        }
        let is_bare = !matches!(self.peek(), Some('$' | '(' | '"' | '\'' | '@'));
        let program =
            if is_bare { self.read_argument().into_iter().collect() } else { self.with_depth(Self::read_value) };
        if let [word] = program.as_slice()
            && let Some(block) = &word.block
        {
            return format!("{{ {block}\n}}");
        }
        match program.as_slice() {
            [word] if word.as_literal().is_some() => {
                let name = word.as_literal().unwrap_or_default().to_owned();
                self.read_named_command(&name, is_piped).code
            }
            words => {
                let arguments = self.read_arguments();
                // The value may be the name of a program, a script or a block of code.
                let rest = render_native(arguments, WordUse::Text);
                format!("pwsh -Command {} {rest}", render_words(words, WordUse::Text))
            }
        }
    }

    fn read_command(&mut self, is_piped: bool) -> PipeStage {
        let Some(word) = self.read_argument() else {
            return PipeStage::new(String::new(), StageKind::Expression);
        };
        match word.as_literal() {
            Some(name) => {
                let name = name.to_owned();
                self.read_named_command(&name, is_piped)
            }
            None => {
                let arguments = self.read_arguments();
                let code = format!("{} {}", word.render(WordUse::Text), render_native(arguments, WordUse::Text));
                PipeStage::new(code, StageKind::Command)
            }
        }
    }

    fn read_named_command(&mut self, written: &str, is_piped: bool) -> PipeStage {
        let mut name = simplify_command_name(written);
        if let Some(target) = self.aliases.get(&name) {
            name = target.clone();
        }
        let kind = match name.as_str() {
            name if words::FILTERING.contains(&name) => StageKind::Filtering,
            name if is_piped && words::PASSING.contains(&name) => StageKind::Passing,
            _ => StageKind::Command,
        };
        let arguments = self.read_arguments();
        let (redirects, arguments): (Vec<_>, Vec<_>) =
            arguments.into_iter().partition(|argument| matches!(argument, CommandArgument::Redirect(_)));
        let pattern = if kind == StageKind::Filtering { join_literals(&arguments) } else { String::new() };
        let mut stage = PipeStage { code: self.translate_command(&name, written, arguments, is_piped), kind, pattern };
        for redirect in redirects {
            if let CommandArgument::Redirect(code) = redirect {
                stage.code.push_str(&format!(" {code}"));
                stage.kind = StageKind::Command;
            }
        }
        stage
    }

    fn translate_command(
        &mut self,
        name: &str,
        written: &str,
        arguments: Vec<CommandArgument>,
        is_piped: bool,
    ) -> String {
        match name {
            "foreach-object" | "%" | "foreach" => return self.translate_foreach(&arguments),
            "where-object" | "?" | "where" => return self.translate_filter(arguments),
            _ => {}
        }
        let templates =
            words::COMMANDS.iter().filter(|(_, names)| names.contains(&name)).map(|(template, _)| *template);
        let is_known = templates.clone().next().is_some();
        let is_idle = words::IDLE.contains(&name) || words::PASSING.contains(&name);
        if self.functions.contains(&name.replace('-', "_")) {
            let values = all_values(arguments);
            return format!("{} {}", to_shell_name(&name.replace('-', "_")), render_words(&values, WordUse::Text));
        }
        if (is_known || is_idle) && !written.to_lowercase().ends_with(".exe") {
            let (parameters, switches) = template_parameters(templates.clone());
            if let Some(mut values) = self.resolve_arguments(name, &arguments, &parameters, &switches) {
                values.is_piped = is_piped;
                self.note_definitions(name, &values);
                let special = find_provider_command(name, &values).or_else(|| find_opened_address(name, &values));
                if let Some(code) = special {
                    return code;
                }
                if let Some(code) = fill_first_template(templates, &values) {
                    return code;
                }
                if is_idle {
                    return translate_idle(name, &values);
                }
            }
        }
        self.translate_program(name, written, arguments)
    }

    /// A program, a script or an unknown cmdlet.
    fn translate_program(&mut self, name: &str, written: &str, arguments: Vec<CommandArgument>) -> String {
        let blocks: Vec<String> = all_blocks(&arguments);
        let base = name.rsplit(['\\', '/']).next().unwrap_or(name);
        let is_cmdlet = base.split_once('-').is_some_and(|(verb, noun)| {
            VERBS.contains(&verb) && noun.chars().all(char::is_alphanumeric) && !written.contains(['/', '\\'])
        });
        let copies = ["robocopy", "xcopy", "findstr"].contains(&base.trim_end_matches(".exe"));
        let copied =
            copies.then(|| translate_copy_program(base.trim_end_matches(".exe"), &all_values(arguments.clone())));
        let shows_help = all_values(arguments.clone()).iter().any(|word| word.as_literal() == Some("/?"));
        let mut code = if let Some(code) = copied.flatten() {
            code
        } else if shows_help && programs::WINDOWS.contains(&base) {
            ":".to_owned()
        } else if programs::WINDOWS.contains(&base) {
            format!("{base} {}", render_native(arguments, WordUse::Plain))
        } else if is_cmdlet {
            self.is_partial |= find_program(base).is_none();
            format!("{base} {}", render_native(arguments, WordUse::Plain))
        } else if base.ends_with(".ps1") {
            let script = ForeignWord { is_bare: true, ..ForeignWord::from_literal(written) };
            format!("pwsh -File {} {}", script.render(WordUse::Path), render_native(arguments, WordUse::Text))
        } else {
            let simple = ["powershell", "pwsh", "cmd"].iter().find(|shell| **shell == base);
            let program =
                ForeignWord { is_bare: true, ..ForeignWord::from_literal(simple.map_or(written, |shell| *shell)) };
            format!("{} {}", program.render(WordUse::Text), render_native(arguments, WordUse::Text))
        };
        for block in blocks {
            code.push_str(&format!("\n{{ {block}\n}}"));
        }
        code
    }

    /// `% { … }`: the block runs once for each value.
    fn translate_foreach(&mut self, arguments: &[CommandArgument]) -> String {
        let blocks = all_blocks(arguments);
        if blocks.is_empty() {
            // `% Name`: a property or a method.
            let first = arguments.iter().find_map(|argument| match argument {
                CommandArgument::Values(values) => values.first().and_then(ForeignWord::as_literal),
                _ => None,
            });
            return match first.map(str::to_lowercase).as_deref() {
                Some("delete") => "xargs rm -rf --".to_owned(),
                Some("kill") => "xargs kill -9".to_owned(),
                _ => "cat".to_owned(),
            };
        }
        format!("while IFS= read -r ps_item; do\n{}\ndone", blocks.join("\n"))
    }

    /// `? { … }`: comparisons have no effect, commands do.
    fn translate_filter(&mut self, arguments: Vec<CommandArgument>) -> String {
        let blocks = all_blocks(&arguments);
        let is_idle =
            |block: &String| block.lines().all(|line| line == ":" || line.starts_with("echo ") && !line.contains("$("));
        if blocks.iter().all(is_idle) {
            return "cat".to_owned();
        }
        format!("while IFS= read -r ps_item; do\n{}\nprintf '%s\\n' \"$ps_item\"\ndone", blocks.join("\n"))
    }

    /// The values of parameters. `None` if these are the arguments of a program with the same name.
    fn resolve_arguments(
        &mut self,
        name: &str,
        arguments: &[CommandArgument],
        parameters: &[&str],
        switches: &[&str],
    ) -> Option<CommandValues> {
        let is_posix = POSIX_NAMES.contains(&name);
        let shortest = if matches!(name, "curl" | "wget") { 3 } else { 1 };
        let mut values = CommandValues::default();
        let mut rest = arguments.iter().peekable();
        while let Some(argument) = rest.next() {
            match argument {
                CommandArgument::Parameter(written, attached) => {
                    let short = written.trim_start_matches('-').to_lowercase();
                    let found = find_parameter(&short, parameters, switches).filter(|_| short.len() >= shortest);
                    let Some((full, takes_value)) = found else {
                        if is_posix {
                            return None;
                        }
                        self.is_partial = true;
                        continue;
                    };
                    let mut words = attached.clone();
                    if takes_value
                        && words.is_none()
                        && let Some(CommandArgument::Values(next)) = rest.peek()
                    {
                        words = Some(next.clone());
                        rest.next();
                    }
                    if full == "whatif" && words.as_ref().is_some_and(|words| !words.is_empty() && is_false(words)) {
                        continue;
                    }
                    values.named.push((full, words.unwrap_or_default()));
                }
                CommandArgument::Values(words) => {
                    let is_flag = |word: &ForeignWord| {
                        word.is_bare && word.as_literal().is_some_and(|text| text.starts_with('-') && text.len() > 1)
                    };
                    if is_posix && words.iter().any(is_flag) {
                        return None;
                    }
                    values.placed.push(words.clone());
                }
                CommandArgument::Splat(name) => self.add_splat(name, &mut values),
                CommandArgument::Redirect(_) => {}
            }
        }
        Some(values)
    }

    fn add_splat(&mut self, name: &str, values: &mut CommandValues) {
        match self.tables.get(name) {
            Some(entries) => values.named.extend(entries.iter().cloned()),
            None => {
                self.is_partial = true;
                values.placed.push(vec![ForeignWord::from_code(format!("\"${{{}[@]}}\"", to_shell_name(name)))]);
            }
        }
    }

    /// Remembers other names of commands.
    fn note_definitions(&mut self, name: &str, values: &CommandValues) {
        if !matches!(name, "set-alias" | "sal" | "new-alias" | "nal") {
            return;
        }
        let named = |wanted: &str| values.named.iter().find(|(name, _)| name == wanted).map(|(_, words)| words.clone());
        let mut placed = values.placed.iter().cloned();
        let alias = named("name").or_else(|| placed.next());
        let target = named("value").or_else(|| placed.next());
        let text = |words: Option<Vec<ForeignWord>>| Some(words?.first()?.as_literal()?.to_lowercase());
        match (text(alias), text(target)) {
            (Some(alias), Some(target)) => {
                self.aliases.insert(alias, simplify_command_name(&target));
            }
            _ => self.is_partial = true,
        }
    }
}
