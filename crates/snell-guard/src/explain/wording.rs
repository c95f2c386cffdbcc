//! What is found, in words.

use crate::effects::Kind;
use crate::invocation::Stdin;
use crate::paths::{Class, Classes};

/// What happens to a place.
pub(super) fn does(kind: Kind) -> &'static str {
    match kind {
        Kind::Delete => "deletes",
        Kind::Overwrite => "writes over",
        Kind::Put => "puts something at",
        Kind::Append => "adds to",
        Kind::Take => "moves away",
        Kind::Read => "reads",
        Kind::Link => "links to",
        Kind::Mode => "changes the permissions of",
        Kind::OpenUp => "lets everybody write to",
        Kind::SetId => "makes others become the owner of",
        Kind::Chown => "changes the owner of",
        Kind::Send => "sends",
        Kind::SendRaw => "sends over a bare connection",
        Kind::Fetch => "fetches",
        Kind::Edit => "edits",
        Kind::Replace => "writes in place of",
        Kind::Use => "uses",
        Kind::MayEdit => "may edit",
        Kind::Make => "makes",
        Kind::Lock => "locks",
        Kind::Copy => "copies",
        Kind::Unpack => "unpacks into",
    }
}

/// What a place may be, gravest first.
const PLACES: &[(Class, &str)] = &[
    (Class::Root, "everything on this machine"),
    (Class::RootIfEmpty, "everything, if a variable is empty"),
    (Class::Device, "a disk or the memory"),
    (Class::System, "the system's"),
    (Class::HomeRoot, "a whole home directory"),
    (Class::Own, "Snell's own"),
    (Class::HoldsOwn, "holds something of Snell's own"),
    (Class::OwnProgram, "Snell's program"),
    (Class::OwnHooks, "the project's hooks of Snell"),
    (Class::Sealed, "not to be read, says the user"),
    (Class::HoldsSealed, "holds what is not to be read, says the user"),
    (Class::Protected, "not to be changed, says the user"),
    (Class::HoldsProtected, "holds what is not to be changed, says the user"),
    (Class::Secret, "holds secrets"),
    (Class::SecretDir, "a directory of secrets"),
    (Class::StartUp, "read when somebody logs in or starts a program"),
    (Class::ProjectRoot, "the project as a whole, or around it"),
    (Class::Hook, "run by git itself"),
    (Class::ProjectGit, "the project's history"),
    (Class::HomeProject, "in the project, which is a home"),
    (Class::Project, "in the project"),
    (Class::TempRoot, "a temporary directory as a whole"),
    (Class::Temp, "in a temporary directory"),
    (Class::Cache, "a cache, which fills again"),
    (Class::Home, "in a home, outside of the project"),
    (Class::Personal, "where somebody keeps their own"),
    (Class::Vital, "what a container in use lives from"),
    (Class::Told, "wherever a file or an answer says"),
    (Class::Harmless, "harmless"),
    (Class::Network, "a connection"),
    (Class::Elsewhere, "elsewhere on this machine"),
    (Class::Unknown, "not known, at least in part"),
];

/// What a place is.
pub(super) fn place(classes: Classes) -> Vec<&'static str> {
    let has = PLACES.iter().filter(|(class, _)| classes.has(*class));
    has.map(|(_, words)| *words).collect()
}

/// What a program would read.
pub(super) fn stdin(stdin: &Stdin) -> String {
    match stdin {
        Stdin::Inherited => "what the agent has".to_owned(),
        Stdin::Text(text) => format!("the text `{text}`"),
        Stdin::File(path) => format!("the file {path}"),
        Stdin::Pipe(left) => {
            let names = left.iter().filter_map(|left| left.argv.first());
            let names: Vec<String> = names.map(ToString::to_string).collect();
            format!("what {} prints", names.join(" | "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::CLASSES;

    #[test]
    fn every_class_of_places_has_words() {
        for (name, class) in CLASSES {
            assert_eq!(place([*class].into()).len(), 1, "{name}");
        }
    }
}
