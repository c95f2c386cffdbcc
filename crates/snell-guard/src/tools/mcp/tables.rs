//! Words in the names of servers, tools and keys: `data/mcp_words.toml`, as the build script compiled it.

include!(concat!(env!("OUT_DIR"), "/mcp_words.rs"));

/// Whether this is certainly a server's name. A word that an agent's own tools may start with is not enough.
pub(super) fn is_server_name(word: &str) -> bool {
    let all = [
        servers::FILES,
        servers::FETCHERS,
        servers::SQL,
        servers::REDIS,
        servers::MONGO,
        servers::GRAPHS,
        servers::SEARCHES,
        servers::CLOUDS,
        servers::CLUSTERS,
        servers::HOSTS,
        servers::PAYMENTS,
        servers::DRIVES,
        servers::STORES,
        servers::PUBLIC,
        servers::OTHERS,
    ];
    !servers::PLAIN.contains(&word) && all.iter().any(|names| names.contains(&word))
}

/// The meaning of the first row whose words match.
pub(super) fn find_meaning(
    rows: &[(&'static str, &[&str])],
    matches: impl Fn(&[&str]) -> bool,
) -> Option<&'static str> {
    rows.iter().find(|(_, words)| matches(words)).map(|(meaning, _)| *meaning)
}

/// The word without the `s` of a plural, if it is one of these nouns.
pub(super) fn find_singular<'w>(word: &'w str, nouns: &[&str]) -> Option<&'w str> {
    Some(word.strip_suffix('s').unwrap_or(word)).filter(|singular| nouns.contains(singular))
}
