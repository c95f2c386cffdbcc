//! The contacts file: the contacts of the user, and their tags.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use snell::{Diagnostic, DocumentValue, SpannedDocument, UserMessage, read_file};

use super::address::{MessageAddress, fold_case, split_addresses};
use super::recipients::MessageRecipient;
use super::rule::ContactStanding;
use crate::handlers::context::none_if_absent;
use crate::install::jsonc::line_and_column;

/// A larger file is rejected.
const MAX_CONTACTS_BYTES: u64 = 4 * 1024 * 1024;

/// Tags that allow messages.
pub(super) const DIRECT_TAG: &str = "claude_direct";
pub(super) const DRAFT_TAG: &str = "claude_draft";

/// Keys of a contact that hold no addresses.
const NAME: &str = "name";
const TAGS: &str = "tags";
const NOTE: &str = "note";

/// Keys of a file that are not contacts.
const FILE_KEYS: &[&str] = &["$schema", "version", NOTE];

const CONTACT_HINT: &str = "write [[contact]] with email = \"…\" below it (TOML) or {\"email\": \"…\"} (JSON)";

/// Larger integers are not exact as a floating-point number.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The contacts of a file.
#[derive(Debug, Default)]
pub(super) struct ContactList {
    entries: Vec<ContactEntry>,
    by_address: HashMap<MessageAddress, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    /// Invalid parts, which allow nothing, with their positions.
    pub(super) faults: Vec<String>,
    /// Whether there is a file.
    pub(super) exists: bool,
}

/// One contact.
#[derive(Debug)]
struct ContactEntry {
    name: Option<String>,
    standing: ContactStanding,
    /// Its position and, if it is invalid, the problem.
    place: Diagnostic,
    is_broken: bool,
}

/// The contact of a recipient.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ContactMatch {
    pub(super) standing: ContactStanding,
    /// The entry that decides: its name, its position, and its problem.
    pub(super) entry: Option<String>,
}

impl ContactList {
    /// Reads the file. A missing file has no contacts; an unreadable one is an error.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let shown = path.display().to_string();
        let Some(text) = read_contacts_file(path)? else {
            return Ok(Self::default());
        };
        let is_json = is_json_file(path);
        let parse = if is_json { SpannedDocument::from_json } else { SpannedDocument::from_toml };
        let document = parse(shown, text).map_err(|fault| format_diagnostic(&fault))?;
        Self::from_document(&document, is_json).map_err(|fault| format_diagnostic(&fault))
    }

    fn from_document(document: &SpannedDocument, is_json: bool) -> Result<Self, Diagnostic> {
        let mut contacts = Self { exists: true, ..Self::default() };
        let (entries, faults) = find_contacts(document.root(), is_json)?;
        contacts.faults.extend(faults.iter().map(format_diagnostic));
        for part in entries {
            contacts.add_contact(part);
        }
        Ok(contacts)
    }

    /// Adds one contact. Its invalid parts allow nothing, and its addresses are those of a contact without tags: the user listed
    /// them to treat them differently.
    fn add_contact(&mut self, part: DocumentValue<'_>) {
        let Some(members) = part.members() else {
            let message = UserMessage::new(format!("a contact must be an object, not {}", part.kind_name()));
            self.faults.push(format_diagnostic(&part.make_error(message.with_hint(CONTACT_HINT))));
            return;
        };
        let place = part.make_error("");
        let mut entry = ContactEntry { name: None, standing: ContactStanding::Untagged, place, is_broken: false };
        let mut faults = Vec::new();
        let mut keys = HashSet::new();
        for (key, value) in members {
            if !keys.insert(key) {
                let message = UserMessage::new(format!("\"{key}\" is written twice"));
                faults.push(value.make_error(message.with_hint("write it once, as a list if it has several values")));
            }
            match (key, value.as_text()) {
                (NOTE, _) => {}
                (NAME, Some(name)) => {
                    self.by_name.entry(fold_case(name)).or_default().push(self.entries.len());
                    entry.name = Some(name.to_owned());
                }
                (NAME, None) => {
                    faults.push(value.make_error(format!("\"name\" must be a string, not {}", value.kind_name())));
                }
                (TAGS, _) => match parse_tags(value) {
                    Ok(standing) => entry.standing = standing,
                    Err(fault) => faults.push(fault),
                },
                _ => self.index_addresses(key, value, &mut faults),
            }
        }
        if keys.iter().all(|key| matches!(*key, TAGS | NOTE)) {
            let message = UserMessage::new("a contact must have a name or an address").with_hint(CONTACT_HINT);
            faults.push(part.make_error(message));
        }
        self.faults.extend(faults.iter().map(format_diagnostic));
        if let Some(fault) = faults.into_iter().next() {
            entry = ContactEntry { standing: ContactStanding::Untagged, is_broken: true, place: fault, ..entry };
        }
        self.entries.push(entry);
    }

    /// Indexes the addresses of one key of the contact that is being added.
    fn index_addresses(&mut self, key: &str, value: DocumentValue<'_>, faults: &mut Vec<Diagnostic>) {
        let at = self.entries.len();
        for (text, place) in collect_texts(key, value, faults) {
            let addresses: Vec<_> = split_addresses(&text).filter_map(MessageAddress::parse_contact).collect();
            faults.extend(find_address_fault(key, &addresses).map(|message| place.make_error(message)));
            for address in addresses {
                let holders = self.by_address.entry(address).or_default();
                if holders.last() != Some(&at) {
                    holders.push(at);
                }
            }
        }
    }

    /// The contact of a recipient. An entry for the recipient precedes one for the domain; of several entries, the strictest applies.
    pub(super) fn look_up(&self, recipient: &MessageRecipient) -> ContactMatch {
        let address = &recipient.address;
        let mut named: Vec<usize> = address.equivalents().iter().flat_map(|same| self.find_by_address(same)).collect();
        if recipient.may_be_name && matches!(address, MessageAddress::Word(_)) {
            named.extend(self.by_name.get(&fold_case(&recipient.written)).into_iter().flatten());
        }
        if named.is_empty() {
            named.extend(address.mail_domain().into_iter().flat_map(|domain| self.find_by_address(&domain)));
        }
        let entries = named.into_iter().filter_map(|at| self.entries.get(at));
        match entries.max_by_key(|entry| (entry.standing, entry.is_broken)) {
            Some(entry) => ContactMatch { standing: entry.standing, entry: Some(entry.describe_entry()) },
            None => ContactMatch { standing: ContactStanding::Unknown, entry: None },
        }
    }

    fn find_by_address(&self, address: &MessageAddress) -> Vec<usize> {
        self.by_address.get(address).cloned().unwrap_or_default()
    }
}

impl ContactEntry {
    fn describe_entry(&self) -> String {
        let Diagnostic { path, line, column, message, .. } = &self.place;
        let name = self.name.as_deref().map_or_else(String::new, |name| format!("{name}, "));
        let fault = if self.is_broken { format!(": {message}") } else { String::new() };
        format!("{name}{path}:{line}:{column}{fault}")
    }
}

/// The text of the file; nothing if it does not exist.
fn read_contacts_file(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| format!("cannot read {shown}: {error}");
    // A relative path would be in the project.
    if path.is_relative() {
        let message = UserMessage::new(format!("{shown} is relative, because the home directory is unknown"));
        return Err(message.with_hint("write an absolute path").to_string());
    }
    let Some(bytes) = none_if_absent(read_file(path, MAX_CONTACTS_BYTES)).map_err(unreadable)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(&bytes[..error.utf8_error().valid_up_to()]).into_owned();
        let (line, column) = line_and_column(&before, before.len());
        let message = UserMessage::new(format!("{shown}:{line}:{column}: not UTF-8 text"));
        message.with_hint("save it as UTF-8").to_string()
    })?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// Whether a contacts file is JSON rather than TOML.
pub(super) fn is_json_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn format_diagnostic(fault: &Diagnostic) -> String {
    let Diagnostic { path, line, column, .. } = fault;
    format!("{path}:{line}:{column}: {}", fault.user_message())
}

/// The contacts of a document, and its invalid keys. The contacts are an array, or the value of `contact` or `contacts`. In
/// JSON, an object without such a key is itself a contact. In TOML, other keys are invalid, because the `[[contact]]` above
/// them is missing.
fn find_contacts(
    root: DocumentValue<'_>,
    is_json: bool,
) -> Result<(Vec<DocumentValue<'_>>, Vec<Diagnostic>), Diagnostic> {
    if let Some(items) = root.items() {
        return Ok((items.collect(), Vec::new()));
    }
    let Some(members) = root.members() else {
        return Err(root.make_error(format!("the file must be a list of contacts, not {}", root.kind_name())));
    };
    let (lists, others): (Vec<_>, Vec<_>) = members.partition(|(key, _)| matches!(*key, "contact" | "contacts"));
    let is_stray = |(key, _): &(&str, DocumentValue<'_>)| !FILE_KEYS.contains(key);
    let strays: Vec<_> = others.into_iter().filter(is_stray).collect();
    if is_json && lists.is_empty() && !strays.is_empty() {
        return Ok((vec![root], Vec::new()));
    }
    let stray = |(key, value): &(&str, DocumentValue<'_>)| {
        value.make_error(UserMessage::new(format!("\"{key}\" must be inside a contact")).with_hint(CONTACT_HINT))
    };
    let faults: Vec<_> = strays.iter().map(stray).collect();
    if let (true, Some(fault)) = (lists.is_empty(), faults.first()) {
        return Err(fault.clone());
    }
    let mut entries = Vec::new();
    for (key, value) in lists {
        let Some(items) = value.items() else {
            let message = UserMessage::new(format!("\"{key}\" must be a list, not {}", value.kind_name()));
            let hint = format!("write [[{key}]] (TOML) or \"{key}\": [ … ] (JSON)");
            return Err(value.make_error(message.with_hint(hint)));
        };
        entries.extend(items);
    }
    Ok((entries, faults))
}

/// Why these addresses of a contact match no recipient.
fn find_address_fault(key: &str, addresses: &[MessageAddress]) -> Option<UserMessage> {
    if addresses.is_empty() {
        return Some(UserMessage::new(format!("\"{key}\" is empty")).with_hint("write an address"));
    }
    let is_pattern = |address: &&MessageAddress| address.text().contains('*');
    let pattern = addresses.iter().find(is_pattern)?;
    let pattern = pattern.text().escape_debug();
    let message = UserMessage::new(format!("\"{key}\" has a pattern that matches no address: \"{pattern}\""));
    Some(message.with_hint("write \"*@example.com\" for all mailboxes of a domain"))
}

fn parse_tags(tags: DocumentValue<'_>) -> Result<ContactStanding, Diagnostic> {
    let wrong = |part: DocumentValue<'_>| {
        let message = UserMessage::new(format!("\"tags\" must be a list of strings, not {}", part.kind_name()));
        part.make_error(message.with_hint(format!("write tags = [\"{DIRECT_TAG}\"]")))
    };
    let mut texts = Vec::new();
    match (tags.as_text(), tags.items()) {
        (Some(text), _) => texts.push(text),
        (None, Some(items)) => {
            for item in items {
                texts.push(item.as_text().ok_or_else(|| wrong(item))?);
            }
        }
        (None, None) => return Err(wrong(tags)),
    }
    let has = |tag: &str| texts.iter().any(|text| text.trim().eq_ignore_ascii_case(tag));
    Ok(match (has(DIRECT_TAG), has(DRAFT_TAG)) {
        (true, _) => ContactStanding::Direct,
        (false, true) => ContactStanding::Draft,
        (false, false) => ContactStanding::Untagged,
    })
}

/// The texts of an address key, and their positions. An integer is allowed too, because telephone numbers are written so.
fn collect_texts<'d>(
    key: &str,
    value: DocumentValue<'d>,
    faults: &mut Vec<Diagnostic>,
) -> Vec<(String, DocumentValue<'d>)> {
    let parts: Vec<_> = match value.items() {
        Some(items) => items.collect(),
        None => vec![value],
    };
    let mut texts = Vec::new();
    for part in parts {
        let whole = part.as_number().filter(|number| number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER);
        match (part.as_text(), whole) {
            (Some(text), _) => texts.push((text.to_owned(), part)),
            (None, Some(number)) => texts.push((format!("{number}"), part)),
            (None, None) => {
                let kind = part.kind_name();
                let message =
                    UserMessage::new(format!("\"{key}\" must be an address or a list of addresses, not {kind}"));
                faults.push(part.make_error(message.with_hint("put other information into \"note\"")));
            }
        }
    }
    texts
}
