//! The reference pages are complete: every command with its options, every key, every contract, every event.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use snell::EventName;
use snell_test_support::files::find_repository_root;

use super::capability_tables::CONTRACTS;
use super::examples::list_code_blocks;
use super::{list_directories, read_pages};
use crate::support::CliSandbox;

fn read_page(name: &str) -> String {
    fs::read_to_string(find_repository_root().join("docs").join(name)).unwrap()
}

/// The names that a help text lists below "Commands:", or in groups, except `help`.
fn parse_command_names(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").or_else(|| help.split_once("\nSet up:\n"));
    let lines = list.map_or("", |(_, list)| list).lines().take_while(|line| !line.starts_with("Options:"));
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The long options that a help text lists, but for those that every command has.
fn parse_option_names(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '=', '[', '<', '.']));
    let options = words.filter(|word| word.starts_with("--") && word.len() > 2);
    options.filter(|option| !["--help", "--version"].contains(option)).map(str::to_owned).collect()
}

/// What a page says below a heading, up to the next one of the same rank.
pub fn find_section<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

/// Options that several commands share have a section of their own, and those of the receiver a page.
#[test]
fn every_command_has_a_section_that_names_its_options() {
    let sandbox = CliSandbox::new();
    let page_of_commands = read_page("reference/commands.md");
    let shared =
        find_section(&page_of_commands, "Common options").unwrap().to_owned() + &read_page("reference/http.md");
    let found = parse_command_names(&sandbox.run_snell(&["--help"], "").stdout);
    assert!(found.len() > 20, "{found:?}");
    for command in found {
        let told = find_section(&page_of_commands, &format!("snell {command}"));
        let told = told.unwrap_or_else(|| panic!("docs/reference/commands.md has no section about snell {command}"));
        let help = sandbox.run_snell(&[&command, "--help"], "").stdout;
        let mut helps = vec![help.clone()];
        for part in parse_command_names(&help) {
            assert!(told.contains(&part), "docs/reference/commands.md does not tell of snell {command} {part}");
            helps.push(sandbox.run_snell(&[&command, &part, "--help"], "").stdout);
        }
        for option in helps.iter().flat_map(|help| parse_option_names(help)) {
            let is_told = told.contains(&option) || shared.contains(&option);
            assert!(is_told, "docs/reference/commands.md does not tell of {option} of snell {command}");
        }
    }
}

/// The calls of `snell` in a block of shell, without what is done with their output.
fn list_snell_calls(block: &str) -> Vec<String> {
    let lines = block.lines().filter(|line| line.starts_with("snell ") && *line != "snell --version");
    let ends = [" | ", " > ", " < ", " && ", " || ", " # ", "; ", "  #"];
    let call = |line: &str| {
        ends.iter().filter_map(|end| line.find(end)).min().map_or(line.to_owned(), |at| line[..at].to_owned())
    };
    lines.map(call).collect()
}

/// Help is asked for, so nothing is done; but what comes before it is read, and must be there.
#[test]
fn every_call_in_the_documentation_can_be_typed() {
    let sandbox = CliSandbox::new();
    let mut tried = 0;
    for page in read_pages() {
        for call in list_code_blocks(&page.text, "sh").iter().flat_map(|block| list_snell_calls(block)) {
            let line = call.replacen("snell", "\"$0\"", 1);
            let output = sandbox.shell(&format!("{line} --help"), &[]).output().unwrap();
            let helped = String::from_utf8_lossy(&output.stdout).contains("Usage: snell");
            assert!(output.status.success() && helped, "{}: {call}: {output:?}", page.name);
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} calls were found");
}

/// The keys of everything in a JSON Schema.
fn collect_schema_keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let own = members.get("properties").and_then(Value::as_object);
            found.extend(own.into_iter().flat_map(|own| own.keys().cloned()));
            members.values().for_each(|member| collect_schema_keys(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_schema_keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_snell_toml_is_on_the_page_about_configuration() {
    let schema = CliSandbox::new().run_snell(&["docs", "schema-config"], "").json();
    let mut found = BTreeSet::new();
    collect_schema_keys(&schema, &mut found);
    assert!(found.len() > 50, "{found:?}");
    let page = read_page("reference/configuration.md");
    let is_told = |key: &String| {
        let written = [format!("`{key}`"), format!("`{key}.…`"), format!("[{key}]"), format!("\n{key} = ")];
        written.iter().any(|written| page.contains(written))
    };
    let missing: Vec<_> = found.iter().filter(|key| !is_told(key)).collect();
    assert!(missing.is_empty(), "docs/reference/configuration.md does not tell of {missing:?}");
}

#[test]
fn every_contract_and_every_event_has_its_place() {
    let contracts = read_page("reference/contracts.md");
    for contract in CONTRACTS {
        assert!(
            find_section(&contracts, contract).is_some(),
            "docs/reference/contracts.md has no section about {contract}"
        );
    }
    let events = read_page("reference/events.md");
    for name in EventName::all_names() {
        assert!(events.contains(&format!("`{name}`")), "docs/reference/events.md does not tell of {name}");
    }
}

/// "1.76 times" was measured.
#[test]
fn figures_of_other_pages_stand_on_the_page_about_performance() {
    let pages = ["reference/compatibility.md", "reference/comparison.md"].map(read_page).concat();
    let measured = read_page("internals/performance.md");
    let words: Vec<_> = pages.split_whitespace().collect();
    let figures = words.windows(2).filter(|pair| pair[1].starts_with("times") && pair[0].parse::<f64>().is_ok());
    let figures: Vec<_> = figures.map(|pair| pair[0]).collect();
    assert!(figures.len() > 2, "{figures:?}");
    for figure in figures {
        assert!(measured.contains(&format!(" {figure}")), "{figure} times is not on the page");
    }
}

/// Whoever changes the code finds every module on one screen.
#[test]
fn the_map_names_every_module() {
    let map = fs::read_to_string(find_repository_root().join("ARCHITECTURE.md")).unwrap();
    for package in list_directories(&find_repository_root().join("crates")) {
        let name = package.file_name().unwrap().to_str().unwrap().to_owned();
        let told =
            find_section(&map, &format!("Inside `{name}`")).unwrap_or_else(|| panic!("{name} is not on the map"));
        let home = ["lib.rs", "main.rs"].map(|file| fs::read_to_string(package.join("src").join(file)));
        let source = home.into_iter().find_map(Result::ok).unwrap();
        let modules = source.lines().filter_map(|line| line.strip_suffix(';')?.rsplit_once("mod "));
        for (visibility, module) in modules {
            let is_told = [format!("`{module}`"), format!("`{module}::")].iter().any(|name| told.contains(name));
            assert!(is_told || visibility.starts_with("//"), "ARCHITECTURE.md does not tell of {module} in {name}");
        }
    }
}

#[test]
fn help_is_read_as_it_is_printed() {
    let help = "Usage: x\n\nCommands:\n  run   Fire\n        an event\n  help  Print\n\nOptions:\n      --all            All\n  \
                -o, --output <FILE>  Where\n      --project[=<DIR>]  Which\n  -h, --help\n";
    assert_eq!(parse_command_names(help), ["run"]);
    assert_eq!(parse_option_names(help), ["--all", "--output", "--project"].map(str::to_owned).into());
    assert_eq!(find_section("# A\n\n## b\none\n### c\ntwo\n## d\n", "b"), Some("one\n### c\ntwo"));
}
