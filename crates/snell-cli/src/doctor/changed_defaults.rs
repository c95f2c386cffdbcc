//! Changes of defaults. The doctor reports each once, to a setup of an earlier version.

use std::path::Path;

use snell_store::EventRecorder;

use crate::env::ConfigArgs;
use crate::env::once_markers::OnceMarkers;
use crate::install::backup::InstallLog;

/// A change of defaults.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChangedDefault {
    /// The default preset asks about rules that it denied.
    Preset,
    /// Some handlers run only with a profile.
    Profile,
}

impl ChangedDefault {
    const ALL: [Self; 2] = [Self::Preset, Self::Profile];

    /// The key of its marker. Another change of the same default gets another key, so that users read about it again.
    fn marker_key(self) -> &'static [&'static str] {
        match self {
            Self::Preset => &["standard-asks"],
            Self::Profile => &["changed default", "profile"],
        }
    }

    /// Whether the change was not reported before.
    pub(super) fn claim_report(self, data: &Path) -> bool {
        OnceMarkers::lasting_in_data_dir(data).claim_once(self.marker_key())
    }
}

/// Marks all changes as reported if this is the first use of Snell: its user knows no earlier defaults.
pub(crate) fn skip_reports_in_new_setup() {
    let config = ConfigArgs::new(None, None);
    let data = config.data_dir();
    let has_settings = config.user_config_file().is_some_and(|file| file.exists());
    if has_settings || InstallLog::exists_in(&data) || EventRecorder::database_path(&data).exists() {
        return;
    }
    for change in ChangedDefault::ALL {
        change.claim_report(&data);
    }
}
