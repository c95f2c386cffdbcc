//! Languages of graph databases: whether a statement deletes without saying what.

use super::desk::Desk;

pub(super) fn look(text: &str, desk: &mut Desk<'_>) {
    let words = words(text);
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

/// Words in capitals, and the beginnings of maps; without comments, and without strings unless they are run too.
fn words(text: &str) -> Vec<String> {
    // `apoc.periodic.iterate("MATCH (n) RETURN n", "DETACH DELETE n", …)`
    let runs_strings = text.contains("apoc.");
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' | '"' if !runs_strings => rest
                .get(1..)
                .and_then(|inner| inner.find(first))
                .map_or(rest.len(), |end| end + 2),
            '{' => {
                words.push("{".to_owned());
                1
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                words.push(rest.get(..end).unwrap_or_default().to_uppercase());
                end
            }
            _ => first.len_utf8(),
        };
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    words
}
