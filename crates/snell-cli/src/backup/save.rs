//! Saves the files that a call would delete or overwrite.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use snell::{BackupSettings, Timestamp};
use snell_guard::FileLoss;

use super::budget::BackupBudget;
use super::file_copy::{ContentFate, copy_aside};
use super::lost_files::{LossRank, LossSearch, LostFile, LostFiles};
use super::manifest::{
    BackupManifest, ByteFaithfulPath, CopyWay, MANIFEST_VERSION, SavedFile, SavedForm, UnsavedFile, UnsavedReason,
};
use super::store::{BackupDraft, BackupStore};

/// Further files that could not be saved are only counted.
const MAX_LISTED_UNSAVED: usize = 50;

/// The mode without the type.
const PERMISSIONS: u32 = 0o7777;

/// A call for which files are saved.
#[derive(Clone, Debug)]
pub(crate) struct BackedUpCall {
    pub(crate) time: Timestamp,
    pub(crate) agent: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool: Option<String>,
    /// The call for people, without secrets.
    pub(crate) text: String,
    /// The backup that is being restored, if that is the reason.
    pub(crate) undo_of: Option<String>,
}

/// The outcome for the files of a call.
#[derive(Clone, Debug)]
pub(crate) struct BackupOutcome {
    /// The backup; nothing if it could not be written.
    pub(crate) id: Option<String>,
    /// Files that could not be saved and that the user should know about.
    pub(crate) alarming: Vec<UnsavedFile>,
}

/// Saves the files of a project that a call would delete or overwrite. Returns nothing if there are none.
pub(crate) fn save_lost_files(
    data: &Path,
    settings: &BackupSettings,
    (project, losses): (&Path, &[FileLoss]),
    started: Instant,
    call: BackedUpCall,
) -> Option<BackupOutcome> {
    let mut budget = BackupBudget::new(settings, started);
    let project = fs::canonicalize(project).ok()?;
    let data_dir = fs::canonicalize(data).unwrap_or_else(|_| data.to_owned());
    let found = LossSearch::new(&project, &data_dir, &budget).find(losses);
    if found.files.is_empty() && found.unsaved.is_empty() {
        return None;
    }
    Some(write_backup(&BackupStore::in_data_dir(data), (&project, found), &mut budget, call))
}

/// Saves these files of a project without a limit of time, before a restoration replaces them.
pub(super) fn save_present_files(
    store: &BackupStore,
    project: &Path,
    paths: &[PathBuf],
    call: BackedUpCall,
) -> Result<String, UnsavedFile> {
    let mut found = LostFiles::default();
    for path in paths {
        let unreadable =
            || UnsavedFile { path: ByteFaithfulPath::from(path.as_path()), reason: UnsavedReason::Unreadable };
        let metadata = fs::symlink_metadata(path).map_err(|_| unreadable())?;
        let file = LostFile { metadata, fate: ContentFate::Changes, rank: LossRank::Named };
        found.files.insert(path.clone(), file);
    }
    let outcome = write_backup(store, (project, found), &mut BackupBudget::unlimited(), call);
    match (outcome.id, outcome.alarming.into_iter().next()) {
        (Some(id), None) => Ok(id),
        (_, Some(unsaved)) => Err(unsaved),
        (None, None) => Err(UnsavedFile { path: ByteFaithfulPath::default(), reason: UnsavedReason::NoSpace }),
    }
}

fn write_backup(
    store: &BackupStore,
    (project, found): (&Path, LostFiles),
    budget: &mut BackupBudget,
    call: BackedUpCall,
) -> BackupOutcome {
    let Ok(draft) = store.create_draft() else {
        return BackupOutcome::without_backup(found, project);
    };
    let mut writer = BackupWriter::new(project, &draft);
    found.unsaved.iter().for_each(|unsaved| writer.note_unsaved(unsaved.clone(), LossRank::Below));
    writer.save_all(&found, budget);
    let BackupWriter { files, mut unsaved, alarming, bytes, .. } = writer;
    let unsaved_count = unsaved.len();
    unsaved.truncate(MAX_LISTED_UNSAVED);
    let manifest = BackupManifest {
        version: MANIFEST_VERSION,
        time: call.time,
        project: project.into(),
        agent: call.agent,
        session: call.session,
        tool: call.tool,
        call: call.text,
        undo_of: call.undo_of,
        files,
        unsaved,
        unsaved_count,
    };
    match draft.commit(&manifest, bytes) {
        Ok(id) => BackupOutcome { id: Some(id), alarming },
        Err(_) => BackupOutcome::without_backup(found, project),
    }
}

impl BackupOutcome {
    /// Nothing could be saved.
    fn without_backup(found: LostFiles, project: &Path) -> Self {
        let files = found.files.into_iter().filter(|(_, file)| !file.metadata.is_dir());
        let alarming = files.map(|(path, _)| UnsavedFile {
            path: path.strip_prefix(project).unwrap_or(&path).into(),
            reason: UnsavedReason::NoSpace,
        });
        Self { id: None, alarming: alarming.collect() }
    }
}

/// Writes the files of one backup.
struct BackupWriter<'a> {
    project: &'a Path,
    draft: &'a BackupDraft,
    files: Vec<SavedFile>,
    unsaved: Vec<UnsavedFile>,
    /// Those of them that the user should know about.
    alarming: Vec<UnsavedFile>,
    bytes: u64,
}

impl<'a> BackupWriter<'a> {
    fn new(project: &'a Path, draft: &'a BackupDraft) -> Self {
        Self { project, draft, files: Vec::new(), unsaved: Vec::new(), alarming: Vec::new(), bytes: 0 }
    }

    /// Saves named files first, and small ones before large ones.
    fn save_all(&mut self, found: &LostFiles, budget: &mut BackupBudget) {
        let mut files: Vec<_> = found.files.iter().collect();
        files.sort_by_key(|(_, file)| (file.rank, file.metadata.len()));
        for (path, file) in files {
            match self.save_file(path, file, budget) {
                Ok(()) => {}
                // A directory without its files is worth no note.
                Err(_) if file.metadata.is_dir() => {}
                Err(reason) => {
                    let path = path.strip_prefix(self.project).unwrap_or(path).into();
                    self.note_unsaved(UnsavedFile { path, reason }, file.rank);
                }
            }
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
    }

    fn note_unsaved(&mut self, file: UnsavedFile, rank: LossRank) {
        if file.reason.matters() && rank < LossRank::Generated {
            self.alarming.push(file.clone());
        }
        self.unsaved.push(file);
    }

    fn save_file(&mut self, path: &Path, file: &LostFile, budget: &mut BackupBudget) -> Result<(), UnsavedReason> {
        if budget.is_over_for(file.metadata.len(), self.files.len()) {
            return Err(UnsavedReason::NoTime);
        }
        let mut metadata = file.metadata.clone();
        let kind = metadata.file_type();
        let form = if kind.is_dir() {
            SavedForm::Directory
        } else if kind.is_symlink() {
            let target = fs::read_link(path).map_err(|_| UnsavedReason::Unreadable)?;
            SavedForm::Symlink { target: ByteFaithfulPath(target) }
        } else {
            let (way, copied) = self.copy_contents(path, file, budget)?;
            metadata = copied;
            self.bytes += metadata.len();
            SavedForm::File { size: metadata.len(), content: self.files.len().to_string(), way }
        };
        self.files.push(SavedFile {
            path: path.strip_prefix(self.project).unwrap_or(path).into(),
            form,
            mode: metadata.mode() & PERMISSIONS,
            modified: (metadata.mtime(), u32::try_from(metadata.mtime_nsec()).unwrap_or_default()),
        });
        Ok(())
    }

    fn copy_contents(
        &self,
        path: &Path,
        file: &LostFile,
        budget: &mut BackupBudget,
    ) -> Result<(CopyWay, fs::Metadata), UnsavedReason> {
        let size = file.metadata.len();
        if !budget.allows_size(size) {
            return Err(UnsavedReason::TooLarge);
        }
        if !budget.take(size) {
            return Err(UnsavedReason::TooMany);
        }
        copy_aside(path, &file.metadata, file.fate, &self.draft.content_path(self.files.len()), budget)
    }
}
