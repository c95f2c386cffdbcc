//! Languages of graph databases: whether a statement deletes without saying what.

use super::desk::Desk;
use crate::queries::{Dialect, words};

/// How these languages are written. The beginning of a map is a word: it says what.
const GRAPH: Dialect = Dialect {
    comments: &["//"],
    quotes: "'\"",
    signs: "{",
};

/// The same where strings are run too: `apoc.periodic.iterate("MATCH (n) RETURN n", "DETACH DELETE n", …)`.
const IN_STRINGS: Dialect = Dialect { quotes: "", ..GRAPH };

pub(super) fn look(text: &str, desk: &mut Desk<'_>) {
    let words = words(text, if text.contains("apoc.") { &IN_STRINGS } else { &GRAPH });
    let has = |word: &str| words.iter().any(|known| known == word);
    let pair = |first: &str, second: &str| words.windows(2).any(|two| two == [first, second]);
    let is_filtered = has("WHERE") || has("FILTER") || has("LIMIT") || has("{");
    let drops = pair("DROP", "DATABASE") || pair("DROP", "GRAPH") || pair("CLEAR", "ALL") || pair("DROP", "ALL");
    if drops {
        desk.mark("infra.drop-database");
    } else if (!is_filtered && (has("DELETE") || is_aql(&words))) || is_gremlin(text) {
        desk.mark("infra.delete-all-rows");
    }
}

/// `FOR d IN users REMOVE d IN users`
fn is_aql(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "FOR") && words.iter().any(|word| word == "REMOVE")
}

/// `g.V().drop()`, with nothing between that chooses.
fn is_gremlin(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.contains("V().drop()") || dense.contains("E().drop()")
}
