//! Transcripts below the agents' own directories.

use std::fs;
use std::path::{Path, PathBuf};

use snell::{AgentProduct, TranscriptFormat, TranscriptLocation};

use snell_store::usage::UsageDirectory;

use super::{read_variable, variables};

/// How many directories are searched for a session.
const MAX_SEARCHED_DIRS: usize = 1_000;

/// The directory of a product's transcripts.
pub(crate) fn find_transcript_dir(product: &AgentProduct) -> Option<PathBuf> {
    let files = product.transcript_files.as_ref()?;
    let directory = files.directory;
    let named = directory.variable.and_then(read_variable).map(|path| Path::new(&path).join(directory.below));
    let default = || read_variable(variables::HOME).map(|home| Path::new(&home).join(directory.default));
    Some(named.or_else(default)?.join(files.below))
}

/// The directories of all products' transcripts, in which tokens are counted.
pub(crate) fn find_usage_directories() -> Vec<UsageDirectory> {
    let find = |product: &&AgentProduct| {
        Some(UsageDirectory { product: product.name.to_owned(), path: find_transcript_dir(product)? })
    };
    AgentProduct::all().iter().filter_map(find).collect()
}

/// The transcript of a session, for a product whose payloads do not always name it.
pub(crate) fn find_session_transcript(product: &AgentProduct, session_id: &str) -> Option<PathBuf> {
    let TranscriptFormat::JsonLines(lines) = product.transcript else {
        return None;
    };
    let TranscriptLocation::BelowSession(file) = lines.location else {
        return None;
    };
    // The id becomes a part of a path.
    let is_file_name = Path::new(session_id).file_name().is_some_and(|name| name == session_id);
    let directory = find_transcript_dir(product).filter(|_| is_file_name)?;
    let locate = |directory: &Path| Some(directory.join(session_id).join(file)).filter(|path| path.is_file());
    let search = || {
        let mut projects = fs::read_dir(&directory).ok()?.take(MAX_SEARCHED_DIRS).flatten();
        projects.find_map(|project| locate(&project.path()))
    };
    locate(&directory).or_else(search)
}
