//! The contacts file: who is known to the user, and how they are tagged.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;

use snell::{Diagnostic, Document, Part, read_file};

use super::address::{Address, addresses_in, folded};
use super::recipients::Recipient;
use super::rule::Standing;

/// A larger file is no list of contacts.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Tags that say what an agent may do.
pub(super) const DIRECT: &str = "claude_direct";
pub(super) const DRAFT: &str = "claude_draft";

/// Keys of a contact that hold no addresses.
const NAME: &str = "name";
const TAGS: &str = "tags";
const NOTE: &str = "note";

/// Keys of a whole file that say nothing of anybody.
const ABOUT_THE_FILE: &[&str] = &["$schema", "version", NOTE];

const AS_CONTACT: &str = "write [[contact]] and email = \"…\" below it (TOML) or {\"email\": \"…\"} (JSON)";

/// A number up to here is written in a document as it was meant.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_991.0;

/// Everybody in a contacts file.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    entries: Vec<Entry>,
    by_address: HashMap<Address, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    /// What grants nothing because it cannot be understood, and where it stands.
    pub(super) faults: Vec<String>,
    /// Whether there is a file.
    pub(super) is_there: bool,
}

/// One contact.
#[derive(Debug)]
struct Entry {
    name: Option<String>,
    standing: Standing,
    /// Where it stands and, if it cannot be understood, what is wrong with it.
    place: Diagnostic,
    is_broken: bool,
}

/// What the contacts file says about somebody.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) standing: Standing,
    /// The entry that decides: its name, where it stands, what is wrong with it.
    pub(super) entry: Option<String>,
}

impl Contacts {
    /// Reads the file. One that is not there has no contacts; one that cannot be read is an error that says what to do.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let shown = path.display().to_string();
        let Some(text) = read(path)? else {
            return Ok(Self::default());
        };
        let is_json = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let parse = if is_json {
            Document::from_json
        } else {
            Document::from_toml
        };
        let document = parse(shown, text).map_err(|fault| place_and_message(&fault))?;
        Self::of(&document, is_json).map_err(|fault| place_and_message(&fault))
    }

    fn of(document: &Document, is_json: bool) -> Result<Self, Diagnostic> {
        let mut contacts = Self {
            is_there: true,
            ..Self::default()
        };
        let (entries, faults) = entries(document.root(), is_json)?;
        contacts.faults.extend(faults.iter().map(place_and_message));
        for part in entries {
            contacts.add(part);
        }
        Ok(contacts)
    }

    /// One contact. What of it cannot be understood grants nothing, and its addresses count as those of a contact without
    /// tags: whoever is mentioned there was meant to be treated differently from others.
    fn add(&mut self, part: Part<'_>) {
        let at = self.entries.len();
        let mut entry = Entry {
            name: None,
            standing: Standing::Untagged,
            place: part.fault(""),
            is_broken: false,
        };
        let mut faults = Vec::new();
        let Some(members) = part.members() else {
            let message = format!("a contact must be an object, not {}; {AS_CONTACT}", part.kind());
            self.faults.push(place_and_message(&part.fault(message)));
            return;
        };
        let mut seen = HashSet::new();
        let mut can_match = false;
        for (key, value) in members {
            if !seen.insert(key) {
                faults.push(value.fault(format!("\"{key}\" is there twice; write it once, as a list if need be")));
            }
            can_match |= !matches!(key, TAGS | NOTE);
            match key {
                NOTE => {}
                NAME => match value.text() {
                    Some(name) => {
                        self.by_name.entry(folded(name)).or_default().push(at);
                        entry.name = Some(name.to_owned());
                    }
                    None => faults.push(value.fault(format!("\"name\" must be a string, not {}", value.kind()))),
                },
                TAGS => match standing(value) {
                    Ok(standing) => entry.standing = standing,
                    Err(fault) => faults.push(fault),
                },
                _ => {
                    for (text, place) in texts(key, value, &mut faults) {
                        let addresses: Vec<_> = addresses_in(&text).filter_map(Address::of_contact).collect();
                        faults.extend(why_nobody(&addresses).map(|why| place.fault(format!("\"{key}\" {why}"))));
                        addresses.into_iter().for_each(|address| self.hold(address, at));
                    }
                }
            }
        }
        if !can_match {
            faults.push(part.fault(format!("a contact must have a name or an address; {AS_CONTACT}")));
        }
        self.faults.extend(faults.iter().map(place_and_message));
        if let Some(fault) = faults.into_iter().next() {
            entry.standing = Standing::Untagged;
            entry.is_broken = true;
            entry.place = fault;
        }
        self.entries.push(entry);
    }

    /// What the file says about a recipient. An entry that names them counts before one that names their domain; of
    /// several that do, the strictest counts.
    pub(super) fn look_up(&self, recipient: &Recipient) -> Known {
        let address = &recipient.address;
        let mut named: Vec<usize> = address.same().iter().flat_map(|same| self.holders(same)).collect();
        if recipient.may_be_name && matches!(address, Address::Word(_)) {
            named.extend(self.by_name.get(&folded(&recipient.written)).into_iter().flatten());
        }
        if named.is_empty() {
            named.extend(address.domain().into_iter().flat_map(|domain| self.holders(&domain)));
        }
        let entries = named.into_iter().filter_map(|at| self.entries.get(at));
        match entries.max_by_key(|entry| (entry.standing, entry.is_broken)) {
            Some(entry) => Known {
                standing: entry.standing,
                entry: Some(entry.shown()),
            },
            None => Known {
                standing: Standing::Unknown,
                entry: None,
            },
        }
    }

    fn hold(&mut self, address: Address, at: usize) {
        let holders = self.by_address.entry(address).or_default();
        if holders.last() != Some(&at) {
            holders.push(at);
        }
    }

    fn holders(&self, address: &Address) -> Vec<usize> {
        self.by_address.get(address).cloned().unwrap_or_default()
    }
}

impl Entry {
    fn shown(&self) -> String {
        let Diagnostic {
            path,
            line,
            column,
            message,
            ..
        } = &self.place;
        let name = self
            .name
            .as_deref()
            .map_or_else(String::new, |name| format!("{name}, "));
        let fault = if self.is_broken {
            format!(": {message}")
        } else {
            String::new()
        };
        format!("{name}{path}:{line}:{column}{fault}")
    }
}

/// The text of the file; nothing if there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| format!("{shown}: cannot be read: {error}");
    // It would begin wherever the agent works, and be the project's.
    if path.is_relative() {
        return Err(format!(
            "{shown}: the home directory is not known; write an absolute path"
        ));
    }
    let bytes = match read_file(path, MAX_BYTES) {
        Err(error) if is_absence(&error) => return Ok(None),
        read => read.map_err(unreadable)?,
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(&bytes[..error.utf8_error().valid_up_to()]).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{shown}:{line}:{column}: is not UTF-8 text; save it as UTF-8")
    })?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn place_and_message(fault: &Diagnostic) -> String {
    let Diagnostic {
        path,
        line,
        column,
        message,
        ..
    } = fault;
    format!("{path}:{line}:{column}: {message}")
}

/// The contacts of a document: an array, or what stands under `contact` or `contacts`; and what stands beside them and is
/// nobody. In JSON, an object without such a key is a contact itself. In TOML it is a contact whose `[[contact]]` was
/// forgotten, and above the first one it cannot be told to whom a key belongs.
fn entries(root: Part<'_>, is_json: bool) -> Result<(Vec<Part<'_>>, Vec<Diagnostic>), Diagnostic> {
    if let Some(items) = root.items() {
        return Ok((items.collect(), Vec::new()));
    }
    let Some(members) = root.members() else {
        return Err(root.fault(format!("must be a list of contacts, not {}", root.kind())));
    };
    let (lists, others): (Vec<_>, Vec<_>) = members.partition(|(key, _)| matches!(*key, "contact" | "contacts"));
    let is_stray = |(key, _): &(&str, Part<'_>)| !ABOUT_THE_FILE.contains(key);
    let strays: Vec<_> = others.into_iter().filter(is_stray).collect();
    if is_json && lists.is_empty() && !strays.is_empty() {
        return Ok((vec![root], Vec::new()));
    }
    let stray = |(key, value): &(&str, Part<'_>)| value.fault(format!("\"{key}\" belongs to no contact; {AS_CONTACT}"));
    let faults: Vec<_> = strays.iter().map(stray).collect();
    if let (true, Some(fault)) = (lists.is_empty(), faults.first()) {
        return Err(fault.clone());
    }
    let mut entries = Vec::new();
    for (key, value) in lists {
        let Some(items) = value.items() else {
            let message = format!(
                "\"{key}\" must be a list, not {}; write [[{key}]] (TOML) or \"{key}\": [ … ] (JSON)",
                value.kind()
            );
            return Err(value.fault(message));
        };
        entries.extend(items);
    }
    Ok((entries, faults))
}

/// Why these addresses of a contact are nobody's.
fn why_nobody(addresses: &[Address]) -> Option<String> {
    if addresses.is_empty() {
        return Some("is empty; write an address".to_owned());
    }
    let is_pattern = |address: &&Address| address.text().contains('*');
    let pattern = addresses.iter().find(is_pattern)?;
    Some(format!(
        "has a pattern that matches nobody (\"{}\"): * may only stand for all mailboxes of one domain; write \"*@example.com\"",
        pattern.text().escape_debug()
    ))
}

fn standing(tags: Part<'_>) -> Result<Standing, Diagnostic> {
    let wrong = |part: Part<'_>| {
        let kind = part.kind();
        part.fault(format!(
            "\"tags\" must be a list of strings, not {kind}; write tags = [\"{DIRECT}\"]"
        ))
    };
    let mut texts = Vec::new();
    match (tags.text(), tags.items()) {
        (Some(text), _) => texts.push(text),
        (None, Some(items)) => {
            for item in items {
                texts.push(item.text().ok_or_else(|| wrong(item))?);
            }
        }
        (None, None) => return Err(wrong(tags)),
    }
    let has = |tag: &str| texts.iter().any(|text| text.trim().eq_ignore_ascii_case(tag));
    Ok(match (has(DIRECT), has(DRAFT)) {
        (true, _) => Standing::Direct,
        (false, true) => Standing::Draft,
        (false, false) => Standing::Untagged,
    })
}

/// The texts of a key that holds addresses, and where they stand. A whole number is one as well: telephone numbers are written so.
fn texts<'d>(key: &str, value: Part<'d>, faults: &mut Vec<Diagnostic>) -> Vec<(String, Part<'d>)> {
    let parts: Vec<_> = match value.items() {
        Some(items) => items.collect(),
        None => vec![value],
    };
    let mut texts = Vec::new();
    for part in parts {
        let whole = part
            .number()
            .filter(|number| number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE);
        match (part.text(), whole) {
            (Some(text), _) => texts.push((text.to_owned(), part)),
            (None, Some(number)) => texts.push((format!("{number}"), part)),
            (None, None) => faults.push(part.fault(format!(
                "\"{key}\" must be an address or a list of them, not {}; what is no address belongs into \"note\"",
                part.kind()
            ))),
        }
    }
    texts
}
