//! `[[hooks]]` tables of a TOML file. They are added at its end, and every other byte stays.

use std::ops::Range;

use snell::{SpannedNode, TomlRegistration};

use super::handler::{HandlerCommand, HandlerEntry};
use super::jsonc::{self, SettingsFault};
use super::plan::{self, DesiredRegistration, InstallPlan, PriorContent};
use super::recognize::EntryRecognizer;
use super::scan::{HOOKS, RegisteredHandler};
use crate::config_edit::quote_toml_string;

/// The line before a table.
const TABLE_HEADER: &str = "[[hooks]]";

/// Members of a table that Snell writes. Others limit when the hook runs.
const MATCHER_KEYS: &[&str] = &["matcher", "match"];

/// Every hook, in the order of the file.
pub(super) fn scan_tables(
    text: &str,
    form: &TomlRegistration,
    signs: &EntryRecognizer,
) -> Result<Vec<RegisteredHandler>, SettingsFault> {
    let root = parse_tables(text)?;
    let tables = root.get(HOOKS).and_then(SpannedNode::items).unwrap_or_default();
    let handlers = tables.iter().enumerate().map(|(index, table)| {
        let member = |key: &str| table.get(key).and_then(SpannedNode::text);
        let call = member("command").map(|command| HandlerCommand::Shell { command: command.to_owned() });
        let matcher = MATCHER_KEYS.iter().find_map(|key| member(key)).filter(|text| !matches!(*text, "" | "*" | ".*"));
        RegisteredHandler {
            event: member(form.event_key).unwrap_or_default().to_owned(),
            group: index,
            handler: None,
            line: jsonc::line_and_column(text, table_start(table)).0,
            words: call.as_ref().and_then(|call| signs.command_words(call)).unwrap_or_default(),
            way: call.as_ref().and_then(|call| signs.recognize(call)),
            matcher: matcher.map(str::to_owned),
            conditions: Vec::new(),
            description: member("command").unwrap_or_default().to_owned(),
            call,
        }
    });
    Ok(handlers.collect())
}

fn parse_tables(text: &str) -> Result<SpannedNode, SettingsFault> {
    let root =
        SpannedNode::from_toml(text).map_err(|error| SettingsFault { at: error.offset, message: error.message })?;
    if let Some(hooks) = root.get(HOOKS).filter(|hooks| hooks.items().is_none()) {
        return Err(SettingsFault { at: hooks.offset, message: "`hooks` must be an array of tables".into() });
    }
    Ok(root)
}

/// The offset of the first member of a table.
fn table_start(table: &SpannedNode) -> usize {
    table.members().and_then(<[_]>::first).map_or(table.offset, |member| member.key_offset)
}

/// Plans the installation: current tables of Snell are removed, and the wanted ones added.
pub(super) fn plan_install(
    current: Option<&str>,
    before: &PriorContent<'_>,
    form: &TomlRegistration,
    wanted: &DesiredRegistration,
) -> Result<InstallPlan, SettingsFault> {
    let text = current.unwrap_or_default();
    let signs = &wanted.recognizer;
    let own = scan_own(text, form, signs)?;
    let stripped = match before {
        PriorContent::Known(text) => text.unwrap_or_default().to_owned(),
        PriorContent::Changed { .. } | PriorContent::Unknown => strip_own_tables(text, form, signs)?,
    };
    let is_installed = own.len() == wanted.entries.len()
        && wanted.entries.iter().all(|entry| own.iter().any(|handler| plan::matches_entry(handler, entry)));
    let after = if is_installed { text.to_owned() } else { append_tables(&stripped, form, &wanted.entries)? };
    if scan_own(&after, form, signs)?.len() != wanted.entries.len() {
        return Err(plan::uneditable_fault());
    }
    Ok(InstallPlan {
        before: match before {
            PriorContent::Known(text) => text.map(str::to_owned),
            PriorContent::Changed { existed: false, .. } if stripped.trim().is_empty() => None,
            PriorContent::Changed { .. } => current.map(|_| stripped),
            PriorContent::Unknown => current.map(str::to_owned),
        },
        was_ours: !own.is_empty(),
        after,
        containers: Vec::new(),
    })
}

fn scan_own(
    text: &str,
    form: &TomlRegistration,
    signs: &EntryRecognizer,
) -> Result<Vec<RegisteredHandler>, SettingsFault> {
    let mut handlers = scan_tables(text, form, signs)?;
    handlers.retain(|handler| handler.way.is_some());
    Ok(handlers)
}

/// Adds a table for each entry at the end.
fn append_tables(text: &str, form: &TomlRegistration, entries: &[HandlerEntry]) -> Result<String, SettingsFault> {
    if let Some(hooks) = parse_tables(text)?.get(HOOKS)
        && text[hooks.offset..].starts_with('[')
        && !text[hooks.offset..].starts_with("[[")
    {
        let message = "`hooks = [...]` leaves no place for `[[hooks]]` tables; remove the line if it is empty".into();
        return Err(SettingsFault { at: hooks.offset, message });
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut after = text.to_owned();
    if !after.is_empty() && !after.ends_with('\n') {
        after.push_str(newline);
    }
    for entry in entries {
        if !after.is_empty() {
            after.push_str(newline);
        }
        for line in render_table(form, entry) {
            after.push_str(&line);
            after.push_str(newline);
        }
    }
    Ok(after)
}

fn render_table(form: &TomlRegistration, entry: &HandlerEntry) -> Vec<String> {
    let HandlerCommand::Shell { command } = &entry.call else {
        return Vec::new();
    };
    let name = form.name_key.map(|key| format!("{key} = {}", quote_toml_string(&format!("snell-{}", entry.event))));
    let others = form.members.iter().filter(|(event, _)| *event == entry.event).map(|(_, line)| (*line).to_owned());
    let mut lines = vec![TABLE_HEADER.to_owned()];
    lines.extend(name);
    lines.push(format!("{} = {}", form.event_key, quote_toml_string(entry.event)));
    lines.push(format!("command = {}", quote_toml_string(command)));
    lines.extend(entry.timeout.map(|seconds| format!("timeout = {seconds}")));
    lines.extend(others);
    lines
}

/// The text without the tables of Snell.
pub(super) fn strip_own_tables(
    text: &str,
    form: &TomlRegistration,
    signs: &EntryRecognizer,
) -> Result<String, SettingsFault> {
    let root = parse_tables(text)?;
    let tables = root.get(HOOKS).and_then(SpannedNode::items).unwrap_or_default();
    let mut stripped = text.to_owned();
    for handler in scan_own(text, form, signs)?.iter().rev() {
        let span = tables.get(handler.group).and_then(|table| find_table_span(text, table));
        stripped.replace_range(span.ok_or_else(plan::uneditable_fault)?, "");
    }
    let rest = scan_tables(&stripped, form, signs)?;
    if rest.iter().any(|handler| handler.way.is_some())
        || rest.len() + scan_own(text, form, signs)?.len() != tables.len()
    {
        return Err(plan::uneditable_fault());
    }
    Ok(stripped)
}

/// The lines of a table, and the empty line before it.
fn find_table_span(text: &str, table: &SpannedNode) -> Option<Range<usize>> {
    let members = table.members()?;
    let first = text[..table_start(table)].rfind(TABLE_HEADER)?;
    let start = text[..first].rfind('\n').map_or(0, |end| end + 1);
    let last = members.iter().map(|member| member.node.end).max()?;
    let end = text[last..].find('\n').map_or(text.len(), |end| last + end + 1);
    let before = &text[..start];
    let blank = ["\r\n", "\n"]
        .into_iter()
        .find(|newline| before.strip_suffix(newline).is_some_and(|rest| rest.ends_with('\n')));
    Some(start - blank.map_or(0, str::len)..end)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::install::agents::{AgentDirs, InstallAgent};
    use crate::install::handler::InstallMode;

    fn wanted_in(agent: &str) -> (TomlRegistration, DesiredRegistration) {
        let agent = InstallAgent::find_by_name(agent).unwrap();
        let snell::RegistrationFormat::Toml(form) = agent.format else { unreachable!() };
        let around = AgentDirs { home: "/home/me".into(), project: "/p".into(), directory: None };
        let events: Vec<_> = agent.events().collect();
        let wanted = DesiredRegistration {
            way: InstallMode::Hook,
            entries: HandlerEntry::for_events(agent, &events, InstallMode::Hook, "/opt/a b/snell"),
            recognizer: EntryRecognizer::new(agent, &around, Path::new("/opt/a b/snell")),
        };
        (form, wanted)
    }

    #[test]
    fn what_comes_in_goes_out_again() {
        let texts = [
            "",
            "\n",
            "# only a comment\n",
            "a = 1\n",
            "a = 1\n\n\n",
            "a = 1\r\n[b]\r\nc = [\r\n 1, # one\r\n]\r\n",
            "[[hooks]]\nevent = \"Stop\"\ncommand = \"say\" # mine\n",
            "[[hooks]]\nevent = \"Stop\"\ncommand = '''\n[[hooks]]\n'''\n\n[z]\n",
        ];
        for agent in ["kimi", "vibe"] {
            let (form, wanted) = wanted_in(agent);
            for text in texts {
                let plan = plan_install(Some(text), &PriorContent::Unknown, &form, &wanted).unwrap();
                assert!(plan.after.starts_with(text), "{text}\n{}", plan.after);
                let again = plan_install(Some(&plan.after), &PriorContent::Unknown, &form, &wanted).unwrap();
                assert_eq!(again.after, plan.after);
                let edited = format!("{}\n[mine]\nd = 1\n", plan.after);
                let expected = format!("{text}\n[mine]\nd = 1\n");
                assert_eq!(strip_own_tables(&edited, &form, &wanted.recognizer).unwrap(), expected, "{edited}");
            }
        }
    }

    #[test]
    fn tables_of_an_older_installation_are_replaced() {
        let (form, wanted) = wanted_in("kimi");
        let old = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"/old/snell hook --agent kimi\"\n";
        let text = format!("a = 1\n\n{old}\n[b]\n");
        let plan = plan_install(Some(&text), &PriorContent::Unknown, &form, &wanted).unwrap();
        assert!(plan.was_ours && !plan.after.contains("/old/snell"), "{}", plan.after);
        assert!(plan.after.starts_with("a = 1\n\n[b]\n\n[[hooks]]\n"), "{}", plan.after);
        assert_eq!(plan.before.as_deref(), Some(text.as_str()));
    }

    #[test]
    fn a_file_that_takes_no_tables_is_refused_with_its_place() {
        let (form, wanted) = wanted_in("kimi");
        let cases = [
            ("hooks = []\n", 8, "leaves no place"),
            ("hooks = 1\n", 8, "must be an array of tables"),
            ("a = \n", 4, "is not valid TOML"),
        ];
        for (text, at, message) in cases {
            let fault = plan_install(Some(text), &PriorContent::Unknown, &form, &wanted).unwrap_err();
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
            assert_eq!(fault.at, at, "{text}");
        }
    }
}
