//! The commands by group, for `snell --help`, and the pages of the documentation that describe each command.

use clap::Command;

/// The groups. Each command has the topic of the page that describes it; `commands` describes all.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "Set up",
        &[
            ("init", "start"),
            ("config", "configuration"),
            ("install", "use-agents"),
            ("uninstall", "use-agents"),
            ("doctor", "troubleshoot"),
            ("trust", "trust"),
            ("demo", "start"),
            ("docs", "glossary"),
            ("man", ALL_COMMANDS),
            ("completions", ALL_COMMANDS),
        ],
    ),
    (
        "Hooks",
        &[
            ("list", "write-hooks"),
            ("lint", "configuration"),
            ("explain", "contracts"),
            ("guard", "guard"),
            ("undo", "set-up-the-guard"),
            ("run", "build-an-agent"),
            ("hook", "agents"),
        ],
    ),
    (
        "Agents and records",
        &[
            ("agents", "records"),
            ("requests", "answers"),
            ("answer", "answers"),
            ("status", "records"),
            ("session", "sessions"),
            ("worker", "sessions"),
            ("wake", "sessions"),
            ("log", "records"),
            ("usage", "usage"),
            ("export", "records"),
            ("notices", "notices"),
            ("statusline", "lifecycle"),
        ],
    ),
    (
        "Receiver",
        &[("serve", "http"), ("service", "run-a-receiver"), ("token", "run-a-receiver"), ("notify", "run-a-receiver")],
    ),
];

/// The topic of the page that describes all commands.
const ALL_COMMANDS: &str = "commands";

/// The start of the line that names the pages.
pub(super) const DOCS_LABEL: &str = "Docs:";

/// The last line of the program's help. A list of options would need more lines than a small terminal has.
const FOOTER: &str = "Options: -h, --help (details), --version, --utc, --no-pager · Docs: snell docs";

/// The program, with a help that lists its commands by group.
pub(super) fn with_groups(root: Command) -> Command {
    let commands = GROUPS.iter().flat_map(|(_, commands)| *commands);
    let width = commands.map(|(name, _)| name.len()).max().unwrap_or_default();
    let style = root.get_styles().get_header();
    let mut groups = String::new();
    for (heading, commands) in GROUPS {
        groups.push_str(&format!("{style}{heading}:{style:#}\n"));
        for (name, _) in *commands {
            let about = root.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            groups.push_str(&format!("  {name:width$}  {}\n", about.unwrap_or_default()));
        }
    }
    // Blank lines between the groups and below them would not fit on a screen.
    root.help_template(format!("{{about}}. {{usage-heading}} {{usage}}\n{groups}{FOOTER}{{after-help}}"))
}

/// `Docs: snell docs http, snell docs commands`.
pub(super) fn docs_line(command: &str) -> String {
    format!("{DOCS_LABEL} {}", docs_commands(command))
}

/// The commands that show the pages about a command such as `guard check`, or about the program.
pub(super) fn docs_commands(command: &str) -> String {
    let name = command.split(' ').next().unwrap_or_default();
    let mut commands = GROUPS.iter().flat_map(|(_, commands)| *commands);
    match commands.find(|(listed, _)| *listed == name) {
        Some((_, topic)) if *topic != ALL_COMMANDS => format!("snell docs {topic}, snell docs {ALL_COMMANDS}"),
        Some(_) => format!("snell docs {ALL_COMMANDS}"),
        None => "snell docs".into(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;
    use crate::commands::docs;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let root = Cli::command();
        let visible = root.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<_> = visible.map(Command::get_name).collect();
        let commands = GROUPS.iter().flat_map(|(_, commands)| *commands);
        let mut grouped: Vec<_> = commands.map(|(name, _)| *name).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn every_topic_is_a_page() {
        for (name, topic) in GROUPS.iter().flat_map(|(_, commands)| *commands) {
            assert!(docs::topic_names().any(|known| known == *topic), "{name}: {topic}");
        }
    }
}
