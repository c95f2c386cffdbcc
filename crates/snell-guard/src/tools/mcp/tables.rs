//! What is known of servers and of the words in the names of their tools: `data/tools.toml`, as the build script wrote it.

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// Whether this is surely a server's name. A word that an agent's own tools may begin with is not enough.
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
