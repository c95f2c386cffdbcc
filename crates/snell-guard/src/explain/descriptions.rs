//! Descriptions of effects, paths and inputs.

use crate::effects::PathAction;
use crate::invocation::StdinSource;
use crate::paths::{CLASS_PHRASES, PathClasses};

/// The verb for an action on a path.
pub(super) fn describe_action(kind: PathAction) -> &'static str {
    match kind {
        PathAction::Delete => "deletes",
        PathAction::Overwrite => "overwrites",
        PathAction::Put => "writes",
        PathAction::Append => "appends to",
        PathAction::Take => "moves away",
        PathAction::Read => "reads",
        PathAction::Link => "links to",
        PathAction::Mode => "changes the permissions of",
        PathAction::OpenUp => "lets every user write to",
        PathAction::SetId => "lets every user act as the owner of",
        PathAction::Chown => "changes the owner of",
        PathAction::Send => "sends",
        PathAction::SendRaw => "sends over a raw connection",
        PathAction::Fetch => "downloads",
        PathAction::Edit => "edits",
        PathAction::Replace => "replaces",
        PathAction::Use => "uses",
        PathAction::MayEdit => "may edit",
        PathAction::Make => "creates",
        PathAction::Lock => "makes inaccessible",
        PathAction::Copy => "copies",
        PathAction::Unpack => "unpacks into",
        PathAction::Load => "loads code from",
    }
}

/// The descriptions of a path's classes.
pub(super) fn describe_classes(classes: PathClasses) -> Vec<&'static str> {
    let has = CLASS_PHRASES.iter().filter(|(class, _)| classes.contains(*class));
    has.map(|(_, words)| *words).collect()
}

/// The description of a program's standard input.
pub(super) fn describe_stdin(stdin: &StdinSource) -> String {
    match stdin {
        StdinSource::Inherited => "the agent's own".to_owned(),
        StdinSource::Text(text) => format!("the text `{text}`"),
        StdinSource::File(path) => format!("the file {path}"),
        StdinSource::Pipe(left) => {
            let names = left.iter().filter_map(|left| left.argv.first());
            let names: Vec<String> = names.map(ToString::to_string).collect();
            format!("the output of {}", names.join(" | "))
        }
    }
}
