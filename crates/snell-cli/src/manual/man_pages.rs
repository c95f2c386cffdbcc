//! Man pages of the program and its commands.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::{doc_lists, help_groups, with_full_help};
use crate::commands::docs;

/// The section of the manual for programs.
const SECTION: &str = "1";

/// A page.
#[derive(Debug)]
pub(crate) struct ManPage {
    /// The command without the program's name, such as `guard check`; empty for the program itself.
    pub(crate) command: String,
    /// `snell-guard-check.1`.
    pub(crate) file: String,
    /// The text in roff.
    pub(crate) text: String,
}

/// Every page, the program's first.
pub(crate) fn build_man_pages(root: Command) -> io::Result<Vec<ManPage>> {
    let mut root = with_full_help(root.disable_help_subcommand(true));
    root.build();
    let mut pages = Vec::new();
    collect_pages(&root, "", &mut pages)?;
    Ok(pages)
}

fn collect_pages(command: &Command, path: &str, pages: &mut Vec<ManPage>) -> io::Result<()> {
    pages.push(render_page(command, path)?);
    for below in visible_subcommands(command) {
        let path = format!("{path} {}", below.get_name());
        collect_pages(below, path.trim_start(), pages)?;
    }
    Ok(())
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

fn render_page(command: &Command, path: &str) -> io::Result<ManPage> {
    let man = Man::new(command.clone()).section(SECTION);
    let (name, version) = (page_name(path).to_uppercase(), env!("CARGO_PKG_VERSION"));
    let mut text = format!(".TH {name} {SECTION} \"\" \"snell {version}\" \"Snell\"\n").into_bytes();
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if visible_subcommands(command).next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut roff = Roff::default();
    let after_help = command.get_after_long_help().or(command.get_after_help());
    add_sections(&mut roff, &after_help.map(ToString::to_string).unwrap_or_default());
    if path.is_empty() {
        add_files_and_environment(&mut roff);
    }
    add_see_also(&mut roff, command, path);
    roff.to_writer(&mut text)?;
    Ok(ManPage {
        command: path.to_owned(),
        file: man.get_filename(),
        text: escape_non_ascii(&String::from_utf8_lossy(&text)),
    })
}

/// The first words of paragraphs after the options, and their sections. SEE ALSO has the pages of the documentation.
const SECTIONS: &[(&str, &str)] = &[("Example", "EXAMPLES"), ("Exit code", "EXIT STATUS"), ("", "NOTES")];

/// The paragraphs after the options, each in its section.
fn add_sections(roff: &mut Roff, after_help: &str) {
    let is_shown = |text: &&str| !text.is_empty() && !text.starts_with(help_groups::DOCS_LABEL);
    let paragraphs: Vec<_> = after_help.split("\n\n").filter(is_shown).collect();
    let section_of = |text: &str| SECTIONS.iter().find(|(sign, _)| text.starts_with(sign));
    for section in SECTIONS {
        let mut is_first = true;
        for paragraph in paragraphs.iter().filter(|text| section_of(text) == Some(section)) {
            if std::mem::take(&mut is_first) {
                roff.control("SH", [section.1]);
            } else {
                roff.control("PP", []);
            }
            add_paragraph(roff, paragraph, section.0);
        }
    }
}

/// A paragraph. Indented lines stay as they are. A first line that repeats the title of the section is skipped.
fn add_paragraph(roff: &mut Roff, paragraph: &str, sign: &str) {
    let mut is_indented = false;
    for line in paragraph.lines() {
        let repeats_title = line.trim_end_matches(':').trim_end_matches('s') == sign;
        match line.strip_prefix("  ") {
            _ if repeats_title => {}
            Some(line) => {
                if !is_indented {
                    roff.control("nf", []).control("RS", ["4"]);
                }
                is_indented = true;
                roff.text([roman(line)]);
            }
            None => {
                roff.text([roman(line)]);
            }
        }
    }
    if is_indented {
        roff.control("RE", []).control("fi", []);
    }
}

/// The files and variables of all commands.
fn add_files_and_environment(roff: &mut Roff) {
    roff.control("SH", ["FILES"]);
    for (contract, files) in doc_lists::find_list_entries(docs::page_text("configuration"), "Which files are read") {
        add_entry(roff, &files, &format!("Hooks of {contract}."));
    }
    add_entry(roff, "$SNELL_HOME, else $XDG_DATA_HOME/snell, else ~/.local/share/snell", "The data directory:");
    roff.control("RS", []);
    for (file, meaning) in doc_lists::find_list_entries(docs::page_text("records"), "Data directory") {
        add_entry(roff, &file, &meaning);
    }
    roff.control("RE", []);
    roff.control("SH", ["ENVIRONMENT"]);
    for (variable, meaning) in doc_lists::find_list_entries(docs::page_text("commands"), "Environment") {
        add_entry(roff, &variable, &meaning);
    }
}

fn add_entry(roff: &mut Roff, name: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(name)]);
    roff.text([roman(meaning)]);
}

/// The related commands, and the pages of the documentation.
fn add_see_also(roff: &mut Roff, command: &Command, path: &str) {
    let above = path.rsplit_once(' ').map_or("", |(above, _)| above);
    let mut names: Vec<_> = if path.is_empty() { Vec::new() } else { vec![page_name("")] };
    if !above.is_empty() {
        names.push(page_name(above));
    }
    names.extend(
        visible_subcommands(command).map(|below| page_name(format!("{path} {}", below.get_name()).trim_start())),
    );
    roff.control("SH", ["SEE ALSO"]);
    let mut line: Vec<Inline> = Vec::new();
    for name in names {
        line.extend([bold(name), roman(format!("({SECTION}), "))]);
    }
    line.extend([roman("and "), italic(help_groups::docs_commands(path))]);
    roff.text(line);
}

/// The name of a command's page.
fn page_name(command: &str) -> String {
    format!("snell {command}").trim_end().replace(' ', "-")
}

/// Escapes characters that are not ASCII, because some programs read only ASCII.
fn escape_non_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            ascii.push_str(&format!("\\[u{:04X}]", u32::from(c)));
        }
    }
    ascii
}
