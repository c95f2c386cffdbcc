//! PowerShell and cmd: their texts are translated into POSIX shell, so that one set of tables judges all shells.
//!
//! Commands become their equivalents (`data/windows_shells.toml`), variables stay variables and pipes stay pipes; paths are
//! written as WSL writes them: `C:\Users` is `/mnt/c/Users`. A text that is not understood completely is marked.

mod batch;
mod paths;
mod powershell;
mod shell_words;
mod templates;

pub(crate) use batch::translate_batch;
pub(crate) use powershell::translate_powershell;

/// The tables: `data/windows_shells.toml`, as the build script compiled it.
mod words {
    include!(concat!(env!("OUT_DIR"), "/windows_shells.rs"));
}

/// How deep brackets are followed.
const MAX_DEPTH: usize = 48;

/// A text of another shell as POSIX shell.
#[derive(Debug, Default)]
pub(crate) struct ShellTranslation {
    pub(crate) text: String,
    /// Whether a part was not understood.
    pub(crate) is_partial: bool,
    /// Whether a limit was reached.
    pub(crate) is_limited: bool,
}
