//! What the names alone say: which verb, on what. There are things that nobody misses, things that agents remove all day,
//! things about which the user is asked, and things that must not go.

use super::desk::Desk;
use super::request::Request;
use super::tables::{nouns, servers, verbs};

/// What must not go.
const DESTROY: &str = "infra.tool-destroy";
/// What the user is asked about.
const REMOVE: &str = "infra.tool-remove";

/// How much something would be missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Trivial,
    Small,
    Unknown,
    Ordinary,
    Grave,
}

/// What is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Destroy,
    Empty,
    Stop,
    Pause,
    Revoke,
}

/// Verbs, and what they do.
const DEEDS: &[(&[&str], Deed)] = &[
    (verbs::DESTROYS, Deed::Destroy),
    (verbs::EMPTIES, Deed::Empty),
    (verbs::STOPS, Deed::Stop),
    (verbs::PAUSES, Deed::Pause),
    (verbs::REVOKES, Deed::Revoke),
];

pub(super) fn look(request: &Request<'_>, desk: &mut Desk<'_>) -> bool {
    let Some(deed) = deed(request).filter(|_| !request.is_dry()) else {
        return false;
    };
    let grade = raised(grade(request), request);
    let in_cloud = is_cloud(request);
    let rule = match (deed, grade) {
        (_, Grade::Trivial) => None,
        (Deed::Destroy, Grade::Grave) => Some(DESTROY),
        (Deed::Destroy, Grade::Ordinary) => Some(REMOVE),
        (Deed::Destroy, Grade::Unknown) if in_cloud => Some(DESTROY),
        (Deed::Destroy, Grade::Unknown) if request.does(verbs::DESTROYS_ALL) => Some(REMOVE),
        (Deed::Empty, Grade::Grave) => Some(DESTROY),
        (Deed::Stop, Grade::Grave) if in_cloud => Some(DESTROY),
        (Deed::Pause, Grade::Ordinary | Grade::Grave) if in_cloud => Some(REMOVE),
        (Deed::Stop | Deed::Revoke, Grade::Ordinary | Grade::Grave) => Some(REMOVE),
        (Deed::Revoke, _) if request.serves(servers::PAYMENTS) => Some(REMOVE),
        _ => None,
    };
    rule.into_iter().for_each(|rule| desk.mark(rule));
    rule.is_some()
}

/// What the first verb does, of the tool's name and then of the action that it is told.
fn deed(request: &Request<'_>) -> Option<Deed> {
    // `repository_write`, for everything that changes one: the action tells.
    let tool = match request.tool() {
        [rest @ .., last] if last == "write" && !rest.is_empty() => rest,
        all => all,
    };
    match first_verb(tool) {
        Verb::Deed(deed) => Some(deed),
        Verb::Harmless => None,
        Verb::None => match first_verb(&request.action) {
            Verb::Deed(deed) => Some(deed),
            Verb::Harmless | Verb::None => None,
        },
    }
}

enum Verb {
    Deed(Deed),
    Harmless,
    None,
}

fn first_verb(words: &[String]) -> Verb {
    for (at, word) in words.iter().enumerate() {
        let word = word.as_str();
        if let Some((_, deed)) = DEEDS.iter().find(|(known, _)| known.contains(&word)) {
            return Verb::Deed(*deed);
        }
        let first = at == 0 && (verbs::READS_FIRST.contains(&word) || verbs::WRITES_FIRST.contains(&word));
        if first || verbs::READS.contains(&word) || verbs::WRITES.contains(&word) {
            // `create_or_delete`, `refund_create`: what comes after it may still be money or loss.
            return match words.get(at + 1).map(String::as_str) {
                Some("or" | "and") => first_verb(words.get(at + 2..).unwrap_or_default()),
                Some(next @ ("refund" | "payout" | "transfer")) if verbs::WRITES.contains(&word) => {
                    first_verb(&[next.to_owned()])
                }
                _ => Verb::Harmless,
            };
        }
    }
    Verb::None
}

/// Of the last noun, which is what the others belong to: `delete_repository_label` is about a label.
fn grade(request: &Request<'_>) -> Grade {
    for words in [&request.kind[..], request.tool(), &request.action[..]] {
        if let Some(noun) = head(words) {
            return grade_of(noun, request);
        }
    }
    if request.does(verbs::DESTROYS_ALL) && is_cloud(request) {
        return Grade::Grave;
    }
    if is_data(request) { Grade::Small } else { Grade::Unknown }
}

/// The last word that is neither a verb nor says where or how.
fn head(words: &[String]) -> Option<&str> {
    let end = words
        .iter()
        .position(|word| nouns::PREPOSITIONS.contains(&word.as_str()));
    let words = words.get(..end.unwrap_or(words.len()))?;
    let is_verb = |word: &str| DEEDS.iter().any(|(known, _)| known.contains(&word));
    let says = |word: &&String| !nouns::FILLERS.contains(&word.as_str()) && !is_verb(word) && word.len() > 1;
    words.iter().rev().find(says).map(String::as_str)
}

fn grade_of(noun: &str, request: &Request<'_>) -> Grade {
    let is = |known: &[&str]| singulars(noun).any(|single| known.contains(&single.as_str()));
    if is_data(request) && is(nouns::SMALL_IN_DATA) {
        return Grade::Small;
    }
    if request.serves(servers::DRIVES) && is(&["file", "folder", "item"]) {
        return Grade::Ordinary;
    }
    if request.serves(servers::BRANCHED) && is(&["branch"]) {
        return Grade::Grave;
    }
    if is_search(request) && is(&["index"]) || is_data(request) && is(&["collection", "table"]) {
        return Grade::Grave;
    }
    if is_data(request) && is(&["index"]) {
        return Grade::Small;
    }
    if is_cloud(request) && is(nouns::GRAVE_IN_CLOUDS) {
        return Grade::Grave;
    }
    if request.serves(servers::HOSTS) && is(&["project", "group", "workspace", "environment"]) {
        return Grade::Grave;
    }
    [
        (nouns::GRAVE, Grade::Grave),
        (nouns::TRIVIAL, Grade::Trivial),
        (nouns::ORDINARY, Grade::Ordinary),
        (nouns::SMALL, Grade::Small),
    ]
    .into_iter()
    .find(|(known, _)| is(known))
    .map_or(Grade::Unknown, |(_, grade)| grade)
}

/// Everything of it, or what hangs on it too.
fn raised(grade: Grade, request: &Request<'_>) -> Grade {
    let all = request.does(&["all", "everything", "every"]) || request.flag(&["all", "deleteall", "cascade", "purge"]);
    match grade {
        Grade::Small if all => Grade::Ordinary,
        Grade::Ordinary if all => Grade::Grave,
        other => other,
    }
}

/// As it is, and without what makes many of one: `keys`, `indices`, `boxes`, `entities`.
fn singulars(noun: &str) -> impl Iterator<Item = String> + '_ {
    let endings = [("", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ices", "ex")];
    endings
        .into_iter()
        .filter_map(move |(many, one)| Some(format!("{}{one}", noun.strip_suffix(many)?)))
}

fn is_cloud(request: &Request<'_>) -> bool {
    request.serves(servers::CLOUDS)
}

fn is_search(request: &Request<'_>) -> bool {
    request.is_about(servers::SEARCHES)
}

fn is_data(request: &Request<'_>) -> bool {
    [
        servers::REDIS,
        servers::MONGO,
        servers::SQL,
        servers::SEARCHES,
        servers::GRAPHS,
    ]
    .iter()
    .any(|names| request.serves(names))
}
