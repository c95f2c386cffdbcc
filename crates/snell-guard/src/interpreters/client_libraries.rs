//! Client libraries of databases and clouds: each call is judged as the equivalent command of the client.

use super::eval::{CallArgument, ScriptValue};
use super::lexer::{ScriptStringPart, ScriptToken};
use crate::interpreters::words::libraries as words;
use crate::invocation::SymbolicText;

/// The service that a library connects to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientLibrary {
    Sql,
    Redis,
    Mongo,
    Aws,
    Docker,
    Cluster,
}

/// Names of modules, classes and functions that show that code uses a library.
const LIBRARIES: &[(&[&str], ClientLibrary)] = &[
    (words::SQL, ClientLibrary::Sql),
    (words::REDIS, ClientLibrary::Redis),
    (words::MONGO, ClientLibrary::Mongo),
    (words::AWS, ClientLibrary::Aws),
    (words::DOCKER, ClientLibrary::Docker),
    (words::CLUSTER, ClientLibrary::Cluster),
];

/// The libraries that some code uses.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientLibraries(Vec<ClientLibrary>);

impl ClientLibraries {
    /// Finds them. A database in memory or in a temporary directory does not count.
    pub(super) fn from_tokens(tokens: &[ScriptToken]) -> Self {
        let mut found = Vec::new();
        for token in tokens {
            let name = match token {
                ScriptToken::Name(name) => name.as_str(),
                ScriptToken::Text { pieces, .. } => match pieces.as_slice() {
                    [ScriptStringPart::Text(text)] => text.as_str(),
                    _ => continue,
                },
                _ => continue,
            };
            if words::THROWAWAY_DATABASES.iter().any(|start| name.contains(start)) {
                return Self::default();
            }
            let name = name.strip_prefix("@aws-sdk/").map_or(name, |_| "aws-sdk");
            let service = LIBRARIES.iter().find(|(names, _)| names.contains(&name)).map(|(_, service)| *service);
            found.extend(service.filter(|service| !found.contains(service)));
        }
        Self(found)
    }

    /// The commands that are equivalent to a call.
    pub(super) fn equivalent_commands(&self, name: &str, arguments: &[CallArgument]) -> Vec<Vec<SymbolicText>> {
        let method = name.rsplit('.').next().unwrap_or(name);
        let commands = self.0.iter().map(|service| match service {
            ClientLibrary::Sql if words::STATEMENT_CALLS.contains(&method) => build_sql_commands(arguments),
            ClientLibrary::Redis if method.to_ascii_lowercase().starts_with("flush") => {
                vec![vec![SymbolicText::from_text("redis-cli"), SymbolicText::from_text(method.replace("Async", ""))]]
            }
            ClientLibrary::Mongo if is_unfiltered(arguments) => build_mongo_commands(method),
            // `bucket.objects.all().delete()`
            ClientLibrary::Aws if arguments.is_empty() && matches!(method, "delete" | "terminate") => {
                vec![["aws", "s3", "rm", "objects"].map(SymbolicText::from_text).to_vec()]
            }
            ClientLibrary::Aws => build_aws_commands(method),
            ClientLibrary::Docker if matches!(method, "prune" | "pruneVolumes" | "prune_volumes") => {
                vec![["docker", "volume", "prune"].map(SymbolicText::from_text).to_vec()]
            }
            ClientLibrary::Cluster => build_cluster_commands(method),
            ClientLibrary::Sql | ClientLibrary::Redis | ClientLibrary::Mongo | ClientLibrary::Docker => Vec::new(),
        });
        commands.flatten().collect()
    }
}

fn build_sql_commands(arguments: &[CallArgument]) -> Vec<Vec<SymbolicText>> {
    let texts = arguments.iter().map(|(_, worth)| worth.to_value());
    let known = texts.filter(|value| !value.leading_text().is_empty());
    known.map(|statement| vec![SymbolicText::from_text("psql"), SymbolicText::from_text("-c"), statement]).collect()
}

fn build_mongo_commands(method: &str) -> Vec<Vec<SymbolicText>> {
    let equivalent = words::MONGO_EQUIVALENTS.iter().find(|(_, calls)| calls.contains(&method));
    let command = |(code, _): &(&str, _)| ["mongosh", "--eval", code].map(SymbolicText::from_text).to_vec();
    equivalent.map(command).into_iter().collect()
}

/// Whether no argument selects documents.
fn is_unfiltered(arguments: &[CallArgument]) -> bool {
    arguments.iter().all(|(_, worth)| match worth {
        ScriptValue::Dict(list) => list.is_empty(),
        _ => true,
    })
}

/// `delete_bucket`, `deleteBucket` and `DeleteBucketCommand` are `delete-bucket`. Deleting messages of a queue is
/// normal.
fn build_aws_commands(method: &str) -> Vec<Vec<SymbolicText>> {
    let mut command = String::new();
    for c in method.strip_suffix("Command").unwrap_or(method).chars() {
        if c.is_uppercase() && !command.is_empty() {
            command.push('-');
        }
        command.extend(if c == '_' { '-' } else { c }.to_lowercase());
    }
    if !command.contains('-') || command.starts_with("delete-message") {
        return Vec::new();
    }
    vec![["aws", "service", &command].map(SymbolicText::from_text).to_vec()]
}

/// `delete_namespace` and `deleteNamespacedDeployment` are `kubectl delete`. Pods and jobs come back or were made to end.
fn build_cluster_commands(method: &str) -> Vec<Vec<SymbolicText>> {
    let kind = method.to_ascii_lowercase().replace('_', "");
    let Some(kind) = kind.strip_prefix("delete") else { return Vec::new() };
    let kind = kind.strip_prefix("collectionnamespaced").or_else(|| kind.strip_prefix("namespaced")).unwrap_or(kind);
    if kind.is_empty() {
        return Vec::new();
    }
    vec![["kubectl", "delete", kind, "object"].map(SymbolicText::from_text).to_vec()]
}
