//! Query languages of graph databases: whether a statement deletes without a filter.

use crate::effects::database::query_lexer::{QueryDialect, split_query_words};
use crate::tools::mcp::findings::FindingSink;

/// The syntax of these languages. The start of a map is a word, because it is a filter.
const GRAPH_DIALECT: QueryDialect = QueryDialect { comments: &["//"], quotes: "'\"", signs: "{" };

/// The same with the contents of strings, which run too: `apoc.periodic.iterate("MATCH (n) RETURN n", "DETACH DELETE
/// n", …)`.
const APOC_DIALECT: QueryDialect = QueryDialect { quotes: "", ..GRAPH_DIALECT };

pub(in crate::tools::mcp) fn analyze_graph_query(text: &str, sink: &mut FindingSink<'_>) {
    let words = split_query_words(text, if text.contains("apoc.") { &APOC_DIALECT } else { &GRAPH_DIALECT });
    let has = |word: &str| words.iter().any(|known| known == word);
    let pair = |first: &str, second: &str| words.windows(2).any(|two| two == [first, second]);
    let is_filtered = has("WHERE") || has("FILTER") || has("LIMIT") || has("{");
    let drops = pair("DROP", "DATABASE") || pair("DROP", "GRAPH") || pair("CLEAR", "ALL") || pair("DROP", "ALL");
    if drops {
        sink.mark_rule("infra.drop-database");
    } else if (!is_filtered && (has("DELETE") || is_aql_removal(&words))) || is_gremlin_drop(text) {
        sink.mark_rule("infra.delete-all-rows");
    }
}

/// `FOR d IN users REMOVE d IN users`
fn is_aql_removal(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "FOR") && words.iter().any(|word| word == "REMOVE")
}

/// `g.V().drop()`, without a filter in between.
fn is_gremlin_drop(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.contains("V().drop()") || dense.contains("E().drop()")
}
