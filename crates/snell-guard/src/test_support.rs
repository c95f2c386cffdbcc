//! For tests: command lines that are parsed without the shell.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file_system::{FileKind, FileStatus, FileSystem};
use crate::invocation::{
    FileOpenMode, Invocation, OpenedFile, StdinSource, StdoutTarget, SymbolicPart, SymbolicText, UnknownKind,
};
use crate::judge::context::{JudgeContext, SelfFile, SelfPath};
use crate::policy::{ForbiddenAccess, PathProtection};

/// The context of all cases.
pub(crate) fn test_context() -> JudgeContext {
    JudgeContext {
        cwd: "/home/ann/work/app".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work/app".into(),
        temp: vec!["/tmp".into(), "/var/tmp".into()],
        self_paths: vec![
            SelfPath::new("/home/ann/.snell", SelfFile::Data),
            SelfPath::new("/home/ann/.local/bin/snell", SelfFile::Program),
            SelfPath::new("/home/ann/.claude/settings.json", SelfFile::Registration),
            SelfPath::new("/home/ann/work/app/snell.toml", SelfFile::Hooks),
        ],
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
    }
}

/// The protected paths of all cases.
pub(crate) fn test_protections() -> Vec<PathProtection> {
    [
        ("/home/ann/work/app/infra/prod", ForbiddenAccess::Change),
        ("/home/ann/work/app/notes/*.md", ForbiddenAccess::Change),
        ("/home/ann/vault", ForbiddenAccess::Read),
    ]
    .map(|(path, from)| PathProtection { path: path.to_owned(), from })
    .into()
}

/// Commands with blanks around `;`, `|`, `>`, `>>` and `<`. Words may be quoted; `$NAME` is anything.
pub(crate) fn parse_commands(line: &str) -> Vec<Invocation> {
    let mut all = Vec::new();
    let mut pipe: Vec<Invocation> = Vec::new();
    let mut current = empty_invocation();
    let mut words = split_words(line).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "|" => {
                current.stdout = StdoutTarget::Pipe;
                let left = std::mem::replace(&mut current, empty_invocation());
                pipe.push(Invocation { stdin: StdinSource::Inherited, ..left.clone() });
                all.push(left);
                current.stdin = StdinSource::Pipe(pipe.clone());
            }
            ";" => {
                all.push(std::mem::replace(&mut current, empty_invocation()));
                pipe.clear();
            }
            ">" | "2>" | ">>" | "<" => {
                let path = parse_value(&words.next().expect("a file follows"));
                let how = match word.as_str() {
                    ">>" => FileOpenMode::Append,
                    "<" => FileOpenMode::Read,
                    _ => FileOpenMode::Truncate,
                };
                if how == FileOpenMode::Read {
                    current.stdin = StdinSource::File(path.clone());
                }
                current.files.push(OpenedFile { path, mode: how });
            }
            _ => current.argv.push(parse_value(&word)),
        }
    }
    all.push(current);
    all
}

fn empty_invocation() -> Invocation {
    Invocation { cwd: Some(test_context().cwd), ..Invocation::default() }
}

/// Words; quoted text keeps a mark, so that nothing in it is a pattern.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.get_or_insert_default().extend(['\0', c]),
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn parse_value(word: &str) -> SymbolicText {
    let mut parts: Vec<SymbolicPart> = Vec::new();
    let mut text = String::new();
    let word = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", test_context().home),
        _ => word.to_owned(),
    };
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let part = match c {
            '\0' => {
                text.extend(rest.next());
                continue;
            }
            '*' | '?' => SymbolicPart::Pattern(c.to_string()),
            '$' if rest.peek().is_some_and(char::is_ascii_uppercase) => {
                while rest.next_if(|c| c.is_ascii_uppercase() || *c == '_').is_some() {}
                SymbolicPart::Unknown(UnknownKind::Anything)
            }
            _ => {
                text.push(c);
                continue;
            }
        };
        if !text.is_empty() {
            parts.push(SymbolicPart::Text(std::mem::take(&mut text)));
        }
        parts.push(part);
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(SymbolicPart::Text(text));
    }
    SymbolicText { parts }
}

/// The disk of the machine that runs the tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestDisk {
    pub(crate) program: Option<PathBuf>,
}

impl FileSystem for TestDisk {
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::metadata(path).map(to_file_status)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::symlink_metadata(path).map(to_file_status)
    }

    fn list_directory(&self, path: &Path, max_entries: usize) -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().flatten().take(max_entries).map(|entry| entry.path()).collect()
    }

    fn have_same_contents(&self, one: &Path, other: &Path) -> io::Result<bool> {
        Ok(fs::read(one)? == fs::read(other)?)
    }

    fn read_text(&self, path: &Path, _: u64) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn current_program(&self) -> Option<PathBuf> {
        self.program.clone()
    }
}

fn to_file_status(metadata: fs::Metadata) -> FileStatus {
    let kind = if metadata.is_file() {
        FileKind::Regular
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    };
    let (device, inode) = (metadata.dev(), metadata.ino());
    FileStatus { kind, device, inode, len: metadata.len(), hard_links: metadata.nlink() }
}
