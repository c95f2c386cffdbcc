//! Judges a tool by the verb and the noun in its name. The noun decides about the loss: none, everyday, ask the user,
//! or deny.

use crate::tools::mcp::findings::FindingSink;
use crate::tools::mcp::request::McpRequest;
use crate::tools::mcp::tables::{nouns, servers, verbs};

/// For losses that are denied.
const DESTROY_RULE: &str = "infra.tool-destroy";
/// For losses that the user decides about.
const REMOVE_RULE: &str = "infra.tool-remove";

/// The severity of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LossSeverity {
    Trivial,
    Small,
    Unknown,
    Ordinary,
    Grave,
}

/// The action of the verb on the noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DestructiveAction {
    Destroy,
    Empty,
    Stop,
    Pause,
    Revoke,
}

/// Verbs and their actions.
const ACTION_VERBS: &[(&[&str], DestructiveAction)] = &[
    (verbs::DESTROYS, DestructiveAction::Destroy),
    (verbs::EMPTIES, DestructiveAction::Empty),
    (verbs::STOPS, DestructiveAction::Stop),
    (verbs::PAUSES, DestructiveAction::Pause),
    (verbs::REVOKES, DestructiveAction::Revoke),
];

pub(in crate::tools::mcp) fn analyze_destructive_verb(request: &McpRequest<'_>, sink: &mut FindingSink<'_>) -> bool {
    let Some(deed) = find_destructive_action(request).filter(|_| !request.is_dry_run()) else {
        return false;
    };
    let grade = raise_severity(assess_severity(request), request);
    let in_cloud = request.has_server_word(servers::CLOUDS);
    let rule = match (deed, grade) {
        (_, LossSeverity::Trivial) => None,
        (DestructiveAction::Destroy, LossSeverity::Grave) => Some(DESTROY_RULE),
        (DestructiveAction::Destroy, LossSeverity::Ordinary) => Some(REMOVE_RULE),
        (DestructiveAction::Destroy, LossSeverity::Unknown) if in_cloud => Some(DESTROY_RULE),
        (DestructiveAction::Destroy, LossSeverity::Unknown) if request.has_action_word(verbs::DESTROYS_ALL) => {
            Some(REMOVE_RULE)
        }
        (DestructiveAction::Empty, LossSeverity::Grave) => Some(DESTROY_RULE),
        (DestructiveAction::Stop, LossSeverity::Grave) if in_cloud => Some(DESTROY_RULE),
        (DestructiveAction::Pause, LossSeverity::Ordinary | LossSeverity::Grave) if in_cloud => Some(REMOVE_RULE),
        (DestructiveAction::Stop | DestructiveAction::Revoke, LossSeverity::Ordinary | LossSeverity::Grave) => {
            Some(REMOVE_RULE)
        }
        (DestructiveAction::Revoke, _) if request.has_server_word(servers::PAYMENTS) => Some(REMOVE_RULE),
        _ => None,
    };
    rule.into_iter().for_each(|rule| sink.mark_rule(rule));
    rule.is_some()
}

/// The action of the first verb, in the tool's name and then in the action of the input.
fn find_destructive_action(request: &McpRequest<'_>) -> Option<DestructiveAction> {
    // `repository_write` stands for every change: the action in the input decides.
    let tool = match request.tool_words() {
        [rest @ .., last] if last == "write" && !rest.is_empty() => rest,
        all => all,
    };
    match classify_first_verb(tool) {
        VerbClass::Destructive(deed) => Some(deed),
        VerbClass::Harmless => None,
        VerbClass::None => match classify_first_verb(&request.action) {
            VerbClass::Destructive(deed) => Some(deed),
            VerbClass::Harmless | VerbClass::None => None,
        },
    }
}

enum VerbClass {
    Destructive(DestructiveAction),
    Harmless,
    None,
}

fn classify_first_verb(words: &[String]) -> VerbClass {
    for (at, word) in words.iter().enumerate() {
        let word = word.as_str();
        if let Some((_, deed)) = ACTION_VERBS.iter().find(|(known, _)| known.contains(&word)) {
            return VerbClass::Destructive(*deed);
        }
        let first = at == 0 && (verbs::READS_FIRST.contains(&word) || verbs::WRITES_FIRST.contains(&word));
        if first || verbs::READS.contains(&word) || verbs::WRITES.contains(&word) {
            // `create_or_delete`, `refund_create`: the next word may still be about money or loss.
            return match words.get(at + 1).map(String::as_str) {
                Some("or" | "and") => classify_first_verb(words.get(at + 2..).unwrap_or_default()),
                Some(next @ ("refund" | "payout" | "transfer")) if verbs::WRITES.contains(&word) => {
                    classify_first_verb(&[next.to_owned()])
                }
                _ => VerbClass::Harmless,
            };
        }
    }
    VerbClass::None
}

/// The severity by the last noun, which the others describe: `delete_repository_label` is about a label.
fn assess_severity(request: &McpRequest<'_>) -> LossSeverity {
    for words in [&request.kind[..], request.tool_words(), &request.action[..]] {
        if let Some(noun) = find_head_noun(words) {
            return assess_noun_severity(noun, request);
        }
    }
    if request.has_action_word(verbs::DESTROYS_ALL) && request.has_server_word(servers::CLOUDS) {
        return LossSeverity::Grave;
    }
    if is_database_server(request) { LossSeverity::Small } else { LossSeverity::Unknown }
}

/// The last word that is neither a verb nor a preposition or an adverb.
fn find_head_noun(words: &[String]) -> Option<&str> {
    let end = words.iter().position(|word| nouns::PREPOSITIONS.contains(&word.as_str()));
    let words = words.get(..end.unwrap_or(words.len()))?;
    let is_verb = |word: &str| ACTION_VERBS.iter().any(|(known, _)| known.contains(&word));
    let says = |word: &&String| !nouns::FILLERS.contains(&word.as_str()) && !is_verb(word) && word.len() > 1;
    words.iter().rev().find(says).map(String::as_str)
}

fn assess_noun_severity(noun: &str, request: &McpRequest<'_>) -> LossSeverity {
    let is = |known: &[&str]| singular_forms(noun).any(|single| known.contains(&single.as_str()));
    let is_at = |server: &[&str], known: &[&str]| request.has_server_word(server) && is(known);
    let is_database = is_database_server(request);
    let is_index = is(&["index"]);
    let grades = [
        (is_database && is(nouns::SMALL_IN_DATA), LossSeverity::Small),
        (is_at(servers::DRIVES, &["file", "folder", "item"]), LossSeverity::Ordinary),
        (is_at(servers::BRANCHED, &["branch"]), LossSeverity::Grave),
        (is_index && request.is_about(servers::SEARCHES), LossSeverity::Grave),
        (is_database && is(&["collection", "table"]), LossSeverity::Grave),
        (is_database && is_index, LossSeverity::Small),
        (is_at(servers::CLOUDS, nouns::GRAVE_IN_CLOUDS), LossSeverity::Grave),
        (is_at(servers::HOSTS, &["project", "group", "workspace", "environment"]), LossSeverity::Grave),
        (is(nouns::GRAVE), LossSeverity::Grave),
        (is(nouns::TRIVIAL), LossSeverity::Trivial),
        (is(nouns::ORDINARY), LossSeverity::Ordinary),
        (is(nouns::SMALL), LossSeverity::Small),
    ];
    grades.into_iter().find(|(applies, _)| *applies).map_or(LossSeverity::Unknown, |(_, grade)| grade)
}

/// Raises the severity if everything, or dependent data, is included.
fn raise_severity(grade: LossSeverity, request: &McpRequest<'_>) -> LossSeverity {
    let all = request.has_action_word(&["all", "everything", "every"])
        || request.has_flag(&["all", "deleteall", "cascade", "purge"]);
    match grade {
        LossSeverity::Small if all => LossSeverity::Ordinary,
        LossSeverity::Ordinary if all => LossSeverity::Grave,
        other => other,
    }
}

/// The noun, and its singular forms: `keys`, `indices`, `boxes`, `entities`.
fn singular_forms(noun: &str) -> impl Iterator<Item = String> + '_ {
    let endings = [("", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ices", "ex")];
    endings.into_iter().filter_map(move |(many, one)| Some(format!("{}{one}", noun.strip_suffix(many)?)))
}

fn is_database_server(request: &McpRequest<'_>) -> bool {
    let databases = [servers::REDIS, servers::MONGO, servers::SQL, servers::SEARCHES, servers::GRAPHS];
    request.has_server_word_in(&databases)
}
