//! What is found, in words.

use crate::effects::PathAction;
use crate::invocation::StdinSource;
use crate::paths::{PathClass, PathClasses};

/// What happens to a place.
pub(super) fn describe_action(kind: PathAction) -> &'static str {
    match kind {
        PathAction::Delete => "deletes",
        PathAction::Overwrite => "writes over",
        PathAction::Put => "puts something at",
        PathAction::Append => "adds to",
        PathAction::Take => "moves away",
        PathAction::Read => "reads",
        PathAction::Link => "links to",
        PathAction::Mode => "changes the permissions of",
        PathAction::OpenUp => "lets everybody write to",
        PathAction::SetId => "makes others become the owner of",
        PathAction::Chown => "changes the owner of",
        PathAction::Send => "sends",
        PathAction::SendRaw => "sends over a bare connection",
        PathAction::Fetch => "fetches",
        PathAction::Edit => "edits",
        PathAction::Replace => "writes in place of",
        PathAction::Use => "uses",
        PathAction::MayEdit => "may edit",
        PathAction::Make => "makes",
        PathAction::Lock => "locks",
        PathAction::Copy => "copies",
        PathAction::Unpack => "unpacks into",
    }
}

/// What a place may be, gravest first.
const CLASS_PHRASES: &[(PathClass, &str)] = &[
    (PathClass::Root, "everything on this machine"),
    (PathClass::RootIfEmpty, "everything, if a variable is empty"),
    (PathClass::Device, "a disk or the memory"),
    (PathClass::System, "the system's"),
    (PathClass::HomeRoot, "a whole home directory"),
    (PathClass::Own, "Snell's own"),
    (PathClass::HoldsOwn, "holds something of Snell's own"),
    (PathClass::OwnProgram, "Snell's program"),
    (PathClass::OwnHooks, "the project's hooks of Snell"),
    (PathClass::Sealed, "not to be read, says the user"),
    (PathClass::HoldsSealed, "holds what is not to be read, says the user"),
    (PathClass::Protected, "not to be changed, says the user"),
    (PathClass::HoldsProtected, "holds what is not to be changed, says the user"),
    (PathClass::Secret, "holds secrets"),
    (PathClass::SecretDir, "a directory of secrets"),
    (PathClass::StartUp, "read when somebody logs in or starts a program"),
    (PathClass::ProjectRoot, "the project as a whole, or around it"),
    (PathClass::Hook, "run by git itself"),
    (PathClass::ProjectGit, "the project's history"),
    (PathClass::HomeProject, "in the project, which is a home"),
    (PathClass::Project, "in the project"),
    (PathClass::TempRoot, "a temporary directory as a whole"),
    (PathClass::Temp, "in a temporary directory"),
    (PathClass::Cache, "a cache, which fills again"),
    (PathClass::Home, "in a home, outside of the project"),
    (PathClass::Personal, "where somebody keeps their own"),
    (PathClass::Vital, "what a container in use lives from"),
    (PathClass::FromInput, "wherever a file or an answer says"),
    (PathClass::Harmless, "harmless"),
    (PathClass::Network, "a connection"),
    (PathClass::Elsewhere, "elsewhere on this machine"),
    (PathClass::Unknown, "not known, at least in part"),
];

/// What a place is.
pub(super) fn describe_classes(classes: PathClasses) -> Vec<&'static str> {
    let has = CLASS_PHRASES.iter().filter(|(class, _)| classes.contains(*class));
    has.map(|(_, words)| *words).collect()
}

/// What a program would read.
pub(super) fn describe_stdin(stdin: &StdinSource) -> String {
    match stdin {
        StdinSource::Inherited => "what the agent has".to_owned(),
        StdinSource::Text(text) => format!("the text `{text}`"),
        StdinSource::File(path) => format!("the file {path}"),
        StdinSource::Pipe(left) => {
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
            assert_eq!(describe_classes([*class].into()).len(), 1, "{name}");
        }
    }
}
