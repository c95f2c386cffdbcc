//! Plans the new text of a settings file. All functions are pure.

use serde::{Deserialize, Serialize};
use serde_json::json;
use snell::{JsonRegistration, RegistrationFormat};

use super::handler::{self, HandlerEntry, InstallMode};
use super::jsonc::{JsonPathStep, SettingsDocument, SettingsFault};
use super::recognize::EntryRecognizer;
use super::scan::{self, HOOKS, RegisteredHandler};
use super::{own_file, toml_hooks};

/// The entries to register in a file.
#[derive(Clone, Debug)]
pub(crate) struct DesiredRegistration {
    pub(crate) way: InstallMode,
    pub(crate) entries: Vec<HandlerEntry>,
    /// Recognizes Snell's entries after the installation.
    pub(crate) recognizer: EntryRecognizer,
}

/// The change of a file.
#[derive(Debug)]
pub(crate) struct InstallPlan {
    /// The text after uninstalling, if the file is not changed; nothing if the file would not exist.
    pub(crate) before: Option<String>,
    /// Whether it already contained entries of Snell.
    pub(crate) was_ours: bool,
    pub(crate) after: String,
    pub(crate) containers: Vec<CreatedContainer>,
}

/// A container that was missing or empty before Snell's entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CreatedContainer {
    path: Vec<String>,
    /// Its blanks; nothing if it was missing.
    blank: Option<String>,
}

/// The content of a file before Snell, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) enum PriorContent<'a> {
    /// The file is as Snell left it, and this was its text before.
    Known(Option<&'a str>),
    /// The file was changed since.
    Changed {
        /// Containers that were missing or empty.
        containers: &'a [CreatedContainer],
        /// Whether the file existed.
        existed: bool,
    },
    /// Nothing is recorded.
    Unknown,
}

/// Plans the installation. `now` recognizes the current entries of Snell.
pub(crate) fn plan_install(
    current: Option<&str>,
    before: &PriorContent<'_>,
    now: &EntryRecognizer,
    wanted: &DesiredRegistration,
) -> Result<InstallPlan, SettingsFault> {
    match &now.format {
        RegistrationFormat::Json(_) => plan_json_install(current, before, now, wanted),
        RegistrationFormat::Toml(form) => toml_hooks::plan_install(current, before, form, wanted),
        RegistrationFormat::OwnFile(template) => own_file::plan_install(current, before, template, wanted),
    }
}

fn plan_json_install(
    current: Option<&str>,
    before: &PriorContent<'_>,
    now: &EntryRecognizer,
    wanted: &DesiredRegistration,
) -> Result<InstallPlan, SettingsFault> {
    let document = SettingsDocument::parse(current.unwrap_or_default())?;
    scan::check_shape(&document, wanted.entries.iter().map(|entry| entry.event))?;
    // If only Snell wrote the file, it starts again from the earlier text. Otherwise it changes as little as possible.
    let (base, signs) = match before {
        PriorContent::Known(text) => (SettingsDocument::parse(text.unwrap_or_default())?, &wanted.recognizer),
        PriorContent::Changed { .. } | PriorContent::Unknown => (document.clone(), now),
    };
    let stripped = strip_own_entries(&base, before, signs)?;
    let (added, containers) = add_entries(&stripped, wanted)?;
    let own = scan::find_own_handlers(&base, signs);
    let is_same_way = !own.is_empty() && own.iter().all(|handler| handler.way == Some(wanted.way));
    let after = if is_installed(&document, wanted) {
        document.text()
    } else if is_same_way {
        update_entries(base.clone(), &own, before, wanted)?
    } else {
        added
    };
    let result = SettingsDocument::parse(&after)?;
    let others = scan::strip_own_handlers(&base, signs);
    if others != scan::strip_own_handlers(&result, &wanted.recognizer) || !is_installed(&result, wanted) {
        return Err(uneditable_fault());
    }
    Ok(InstallPlan {
        before: match before {
            PriorContent::Known(text) => text.map(str::to_owned),
            PriorContent::Unknown => current.map(str::to_owned),
            PriorContent::Changed { existed, .. } => {
                let is_nothing = current.is_none() || (!existed && stripped.trim().is_empty());
                (!is_nothing).then_some(stripped)
            }
        },
        was_ours: !scan::find_own_handlers(&document, now).is_empty(),
        after: result.text(),
        containers: containers.0,
    })
}

/// Plans the removal; nothing if the file would not exist without Snell.
pub(crate) fn plan_uninstall(
    current: &str,
    before: &PriorContent<'_>,
    signs: &EntryRecognizer,
) -> Result<Option<String>, SettingsFault> {
    if let PriorContent::Known(text) = before {
        return Ok(text.map(str::to_owned));
    }
    match &signs.format {
        RegistrationFormat::Json(_) => strip_own_entries(&SettingsDocument::parse(current)?, before, signs).map(Some),
        RegistrationFormat::Toml(form) => toml_hooks::strip_own_tables(current, form, signs).map(Some),
        RegistrationFormat::OwnFile(_) => Ok(None),
    }
}

/// A file without Snell's entries.
fn strip_own_entries(
    document: &SettingsDocument,
    before: &PriorContent<'_>,
    signs: &EntryRecognizer,
) -> Result<String, SettingsFault> {
    let mut stripped = document.clone();
    for handler in scan::find_own_handlers(document, signs).iter().rev() {
        remove_handler(&mut stripped, handler, before)?;
    }
    remove_root_members(&mut stripped, before, &scan::json_form(signs))?;
    if scan::strip_own_handlers(document, signs) != scan::strip_own_handlers(&stripped, signs) {
        return Err(uneditable_fault());
    }
    Ok(stripped.text())
}

pub(super) fn uneditable_fault() -> SettingsFault {
    SettingsFault { at: 0, message: "Snell cannot edit this file without changing other parts of it".into() }
}

/// Whether exactly these entries of Snell are registered.
fn is_installed(document: &SettingsDocument, wanted: &DesiredRegistration) -> bool {
    let own = scan::find_own_handlers(document, &wanted.recognizer);
    let has = |entry: &HandlerEntry| own.iter().filter(|handler| matches_entry(handler, entry)).count() == 1;
    own.len() == wanted.entries.len() && wanted.entries.iter().all(has)
}

/// Whether a handler always does the same as an entry. Its timeout is the user's choice.
pub(super) fn matches_entry(handler: &RegisteredHandler, entry: &HandlerEntry) -> bool {
    handler.event == entry.event && handler.call.as_ref() == Some(&entry.call) && handler.limits().is_empty()
}

/// Adds entries to a file without entries of Snell.
fn add_entries(before: &str, wanted: &DesiredRegistration) -> Result<(String, ContainerLog), SettingsFault> {
    let mut document = SettingsDocument::parse(before)?;
    let mut containers = ContainerLog::default();
    let form = scan::json_form(&wanted.recognizer);
    begin_file(&mut document, &form, &mut containers)?;
    for entry in &wanted.entries {
        insert_entry(&mut document, entry, &form, &mut containers)?;
    }
    Ok((document.text(), containers))
}

/// Updates Snell's entries in place.
fn update_entries(
    mut document: SettingsDocument,
    own: &[RegisteredHandler],
    before: &PriorContent<'_>,
    wanted: &DesiredRegistration,
) -> Result<String, SettingsFault> {
    let form = scan::json_form(&wanted.recognizer);
    // From the end, so that earlier positions stay valid.
    for (index, handler) in own.iter().enumerate().rev() {
        let entry = wanted.entries.iter().find(|entry| entry.event == handler.event);
        match entry.filter(|_| find_kept_handler(own, &handler.event) == Some(index)) {
            Some(entry) if matches_entry(handler, entry) => {}
            Some(entry) => document.replace(&handler.json_path(), &entry.to_handler(&form))?,
            None => remove_handler(&mut document, handler, before)?,
        }
    }
    let missing = |entry: &&HandlerEntry| find_kept_handler(own, entry.event).is_none();
    for entry in wanted.entries.iter().filter(missing) {
        insert_entry(&mut document, entry, &form, &mut ContainerLog::default())?;
    }
    Ok(document.text())
}

/// The handler of Snell to keep for an event: the first one without a matcher.
fn find_kept_handler(own: &[RegisteredHandler], event: &str) -> Option<usize> {
    own.iter().position(|handler| handler.event == event && handler.matcher.is_none())
}

/// Adds the members that the file must have.
fn begin_file(
    document: &mut SettingsDocument,
    form: &JsonRegistration,
    containers: &mut ContainerLog,
) -> Result<(), SettingsFault> {
    if document.root().is_none() {
        document.begin_object()?;
        containers.record_container(&[], None);
    }
    containers.record_if_empty(document, &[]);
    for (key, value) in form.root {
        let path = [JsonPathStep::Key(key)];
        if document.node_at(&path).is_none() {
            document.append(&[], Some(key), &handler::parse_constant(value))?;
            containers.record_container(&path, None);
        }
    }
    Ok(())
}

/// Removes the members that Snell added, if nothing else is left.
fn remove_root_members(
    document: &mut SettingsDocument,
    before: &PriorContent<'_>,
    form: &JsonRegistration,
) -> Result<(), SettingsFault> {
    let is_added = |key: &str| match before {
        PriorContent::Changed { containers, .. } => containers.iter().any(|container| container.path == [key]),
        PriorContent::Known(_) | PriorContent::Unknown => false,
    };
    for (key, _) in form.root.iter().rev().filter(|(key, _)| is_added(key)) {
        document.remove(&[JsonPathStep::Key(key)])?;
    }
    if form.root.is_empty() || document.blank_inside(&[]).is_none() {
        return Ok(());
    }
    restore_container(document, &[], before)
}

fn insert_entry(
    document: &mut SettingsDocument,
    entry: &HandlerEntry,
    form: &JsonRegistration,
    containers: &mut ContainerLog,
) -> Result<(), SettingsFault> {
    let (hooks, event) = (JsonPathStep::Key(HOOKS), JsonPathStep::Key(entry.event));
    if document.node_at(&[hooks]).is_none() {
        document.append(&[], Some(HOOKS), &json!({}))?;
        containers.record_container(&[hooks], None);
    }
    containers.record_if_empty(document, &[hooks]);
    if document.node_at(&[hooks, event]).is_none() {
        containers.record_container(&[hooks, event], None);
        return document.append(&[hooks], Some(entry.event), &json!([entry.to_element(form)]));
    }
    containers.record_if_empty(document, &[hooks, event]);
    document.append(&[hooks, event], None, &entry.to_element(form))
}

/// Removes a handler of Snell, and containers that exist only for it.
fn remove_handler(
    document: &mut SettingsDocument,
    handler: &RegisteredHandler,
    before: &PriorContent<'_>,
) -> Result<(), SettingsFault> {
    let path = handler.json_path();
    let neighbours = match path.get(..4) {
        Some(handlers) => document.node_at(handlers).and_then(|node| node.items()).map_or(0, <[_]>::len),
        None => 1,
    };
    if neighbours > 1 {
        return document.remove(&path);
    }
    document.remove(&path[..3])?;
    for length in (0..=2).rev() {
        if document.blank_inside(&path[..length]).is_none() {
            return Ok(());
        }
        restore_container(document, &path[..length], before)?;
        if document.node_at(&path[..length]).is_some() {
            return Ok(());
        }
    }
    Ok(())
}

/// Removes an empty container that was missing before, or restores its blanks.
fn restore_container(
    document: &mut SettingsDocument,
    container: &[JsonPathStep<'_>],
    before: &PriorContent<'_>,
) -> Result<(), SettingsFault> {
    match before.container_origin(container) {
        // Comments that were added since must stay.
        ContainerOrigin::Absent if document.has_comments_inside(container) => Ok(()),
        ContainerOrigin::Absent if container.is_empty() => document.remove_root(),
        ContainerOrigin::Absent => document.remove(container),
        ContainerOrigin::Blank(blank) => document.set_blank_inside(container, &blank),
        // It had other content, which was removed since.
        ContainerOrigin::Full => Ok(()),
    }
}

/// The state of a container before Snell's entries.
enum ContainerOrigin {
    Absent,
    Blank(String),
    Full,
}

impl PriorContent<'_> {
    fn container_origin(&self, path: &[JsonPathStep<'_>]) -> ContainerOrigin {
        match self {
            Self::Changed { containers, .. } => {
                let names = key_path(path);
                match containers.iter().find(|container| container.path == names) {
                    Some(CreatedContainer { blank: None, .. }) => ContainerOrigin::Absent,
                    Some(CreatedContainer { blank: Some(blank), .. }) => ContainerOrigin::Blank(blank.clone()),
                    None => ContainerOrigin::Full,
                }
            }
            // An empty array or object is Snell's; an empty file may be the user's.
            _ if path.is_empty() => ContainerOrigin::Blank(String::new()),
            _ => ContainerOrigin::Absent,
        }
    }
}

fn key_path(path: &[JsonPathStep<'_>]) -> Vec<String> {
    let keys = path.iter().filter_map(|step| match step {
        JsonPathStep::Key(key) => Some((*key).to_owned()),
        JsonPathStep::Item(_) => None,
    });
    keys.collect()
}

/// Containers that were missing or empty, each as first found.
#[derive(Debug, Default)]
struct ContainerLog(Vec<CreatedContainer>);

impl ContainerLog {
    fn record_container(&mut self, path: &[JsonPathStep<'_>], blank: Option<String>) {
        let path = key_path(path);
        if self.0.iter().all(|known| known.path != path) {
            self.0.push(CreatedContainer { path, blank });
        }
    }

    fn record_if_empty(&mut self, document: &SettingsDocument, path: &[JsonPathStep<'_>]) {
        if let Some(blank) = document.blank_inside(path) {
            self.record_container(path, Some(blank));
        }
    }
}

#[cfg(test)]
mod tests;
