//! Symlinks, through the library alone: the embedding program passes the disk.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::json;
use snell_guard::{
    FileStatus, FileSystem, Guard, GuardDecision, GuardPolicy, GuardToolCall, JudgeContext, NoFileSystem,
};

/// A disk that consists of symlinks.
#[derive(Debug)]
struct SymlinkDisk(BTreeMap<PathBuf, PathBuf>);

impl FileSystem for SymlinkDisk {
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.get(path).cloned().ok_or(io::ErrorKind::InvalidInput.into())
    }

    fn metadata(&self, _: &Path) -> io::Result<FileStatus> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn symlink_metadata(&self, _: &Path) -> io::Result<FileStatus> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list_directory(&self, _: &Path, _: usize) -> Vec<PathBuf> {
        Vec::new()
    }

    fn have_same_contents(&self, _: &Path, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn read_text(&self, _: &Path, _: u64) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn current_program(&self) -> Option<PathBuf> {
        None
    }
}

fn build_context() -> JudgeContext {
    JudgeContext {
        cwd: "/home/ann/work".into(),
        home: "/home/ann".into(),
        user: "ann".into(),
        project: "/home/ann/work".into(),
        temp: vec!["/tmp".into()],
        self_paths: Vec::new(),
        ignores_case: false,
        agent_pid: None,
        variables: Vec::new(),
        links: Vec::new(),
        current_push: None,
    }
}

#[test]
fn a_path_is_judged_where_its_symlinks_lead() {
    let links = [("/home/ann/work/key", "../.ssh/id_ed25519"), ("/home/ann/work/up", "/home/ann")];
    let disk = SymlinkDisk(links.map(|(link, target)| (link.into(), target.into())).into());
    let with_disk = Guard::new(GuardPolicy::default(), build_context(), Rc::new(disk));
    let without = Guard::new(GuardPolicy::default(), build_context(), Rc::new(NoFileSystem));
    let cases = [
        ("Bash", json!({"command": "cat key"}), GuardDecision::Deny),
        ("Read", json!({"file_path": "key"}), GuardDecision::Deny),
        ("Bash", json!({"command": "rm -rf build"}), GuardDecision::Allow),
        ("Read", json!({"file_path": "src/main.rs"}), GuardDecision::Allow),
    ];
    for (tool, input, expected) in cases {
        let call = GuardToolCall { tool, input: &input };
        let judgement = with_disk.judge(&call, None);
        assert_eq!(judgement.decision, expected, "{input}: {judgement:?}");
        assert_eq!(with_disk.explain(&call, None).judgement, judgement, "{input}");
        assert_eq!(without.judge(&call, None).decision, GuardDecision::Allow, "{input}");
    }
}
