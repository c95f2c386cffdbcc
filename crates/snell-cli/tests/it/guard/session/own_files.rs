//! Files that the session made, and files without another copy.

use std::fs;
use std::os::unix::fs::symlink;

use super::{AgentSession, DENIED, knows_birth_times};

const NEVER: &str = "[guard]\nsession = false\n";

#[test]
fn an_agent_removes_what_it_made() {
    let session = AgentSession::start();
    if !knows_birth_times(&session) {
        return;
    }
    session.run("mkdir -p ~/made/deep", || fs::create_dir_all(session.home("made/deep")).unwrap());
    session.run("touch ~/made.txt", || fs::write(session.home("made.txt"), "").unwrap());
    session.assert_judgements(&[("rm -rf ~/made", ""), ("rmdir ~/made/deep", ""), ("rm ~/made.txt", "")]);
    // What its later calls change there is its own too.
    session.run("echo x > ~/made/deep/a.txt", || fs::write(session.home("made/deep/a.txt"), "x").unwrap());
    session.run("cd ~/made && ./build", || fs::write(session.home("made/b.txt"), "x").unwrap());
    session.assert_judgements(&[("rm -rf ~/made", ""), ("python3 -c \"import shutil; shutil.rmtree('made')\"", "")]);
}

#[test]
fn an_agent_does_not_remove_what_it_did_not_make() {
    let session = AgentSession::start();
    let made = |name: &str| session.run(&format!("mkdir ~/{name}"), || fs::create_dir(session.home(name)).unwrap());
    // It touched a file of the user, and a program moved one under a new name.
    session.run("touch ~/user.txt", || fs::write(session.home("user.txt"), "the user's, still").unwrap());
    fs::write(session.home("moved"), "").unwrap();
    let moved = session.home("thesis/chapter.txt");
    session.run("touch ~/renamed.txt", || fs::rename(&moved, session.home("renamed.txt")).unwrap());
    session.run("touch ~/linked.txt", || fs::hard_link(session.home("user.txt"), session.home("linked.txt")).unwrap());
    session.run("touch ~/link", || symlink(session.home("thesis"), session.home("link")).unwrap());
    // It made a directory, and the user put a file there; one that moved there is as old as it is.
    made("shared");
    fs::write(session.home("shared/thesis.txt"), "the user's").unwrap();
    session.run("mkdir ~/taken && ./collect", || {
        fs::create_dir(session.home("taken")).unwrap();
        fs::rename(session.home("moved"), session.home("taken/moved")).unwrap();
    });
    // It announced a directory and did not make it: the user did.
    assert_eq!(session.judge("mkdir ~/announced").summarize(), "");
    fs::create_dir(session.home("announced")).unwrap();
    session.assert_judgements(&[
        ("rm ~/user.txt", DENIED),
        ("rm ~/renamed.txt", DENIED),
        ("rm ~/linked.txt", DENIED),
        ("rm -rf ~/link", DENIED),
        ("find ~/link/ -delete", DENIED),
        ("rm -rf ~/shared", DENIED),
        ("rm -rf ~/taken", DENIED),
        ("rm -rf ~/announced", DENIED),
        ("rm -rf ~", "deny files.delete-home"),
    ]);
    // A directory of secrets is none of its own, and neither is a link in its directory.
    session.run("mkdir ~/.ssh", || fs::create_dir(session.home(".ssh")).unwrap());
    made("own");
    session.run("cd ~/own && ./link", || symlink(session.home("thesis"), session.home("own/thesis")).unwrap());
    for command in ["rm -rf ~/.ssh", "rm -rf ~/own/thesis/chapter.txt", "echo x > ~/own/thesis/chapter.txt"] {
        assert_eq!(session.judge(command).decision.as_deref(), Some("deny"), "{command}");
    }
}

#[test]
fn another_session_and_a_guard_that_forgets_judge_a_call_by_itself() {
    for (config, asking, expected) in
        [("", "session-one", ""), ("", "session-two", DENIED), ("", "", DENIED), (NEVER, "session-one", DENIED)]
    {
        let session = AgentSession::start_with(config);
        if !knows_birth_times(&session) {
            return;
        }
        session.run("mkdir ~/made", || fs::create_dir(session.home("made")).unwrap());
        let told = session.judge_in(asking, "rm -rf ~/made");
        assert_eq!(told.summarize(), expected, "{config:?} {asking:?}: {told:?}");
        assert_eq!(session.fact_files().is_empty(), config == NEVER);
        // A session that is not known starts with its first call.
        let sole = if config == NEVER || asking.is_empty() { "" } else { "ask session.sole-copy" };
        let told = session.judge_in(asking, "rm notes.md");
        assert_eq!(told.summarize(), sole, "{config:?} {asking:?}: {told:?}");
    }
}

#[test]
fn an_agent_removes_its_branch_and_no_other() {
    let session = AgentSession::start();
    if !knows_birth_times(&session) {
        return;
    }
    let branch = |name: &str| session.project(&format!(".git/refs/heads/{name}"));
    fs::create_dir_all(branch("x").parent().unwrap()).unwrap();
    fs::write(branch("users"), "1").unwrap();
    fs::write(session.project(".git/packed-refs"), "0123 refs/heads/packed\n").unwrap();
    for name in ["mine", "shared", "users"] {
        session.run(&format!("git switch -c {name}"), || fs::write(branch(name), "2").unwrap());
    }
    session.run("git branch packed", || fs::write(branch("packed"), "2").unwrap());
    // A commit of the session moves its branch, and a commit of the user another one.
    session.run("git commit -m x", || fs::write(branch("mine"), "333").unwrap());
    fs::write(branch("shared"), "4444").unwrap();
    session.assert_judgements(&[
        ("git branch -D mine", ""),
        ("git branch -D shared", "ask git.branch-delete"),
        ("git branch -D users", "ask git.branch-delete"),
        ("git branch -D packed", "ask git.branch-delete"),
        ("git branch -D mine users", "ask git.branch-delete"),
        ("git branch -D ../heads/mine", "ask git.branch-delete"),
    ]);
}

#[test]
fn the_only_copy_of_a_file_is_asked_about_before_it_is_lost() {
    let session = AgentSession::start();
    session.run("echo x > fresh.md", || fs::write(session.project("fresh.md"), "new").unwrap());
    const SOLE: &str = "ask session.sole-copy";
    session.assert_judgements(&[
        ("rm notes.md", SOLE),
        ("rm -f *.md", SOLE),
        ("rm -rf todo", SOLE),
        ("find . -name notes.md -delete", SOLE),
        ("find . -type f -name 'l*.md' -delete", SOLE),
        ("mv tracked.txt notes.md", SOLE),
        ("cp tracked.txt notes.md", SOLE),
        ("mv notes.md /tmp/notes.md", SOLE),
        ("python3 -c \"import os; os.remove('notes.md')\"", SOLE),
        // Git has it, ignores it, or the session made it; a program writes it again; it stays under another name.
        ("rm tracked.txt", ""),
        ("find . -name '*.txt' -delete", ""),
        ("find . -name '*.log' -delete", ""),
        ("find . -name '*.md' -mtime +7 -delete", ""),
        ("find . -maxdepth 1 -name 'l*.md' -delete", ""),
        ("rm old.ignored", ""),
        ("rm run.log", ""),
        ("rm fresh.md", ""),
        ("rm missing.md", ""),
        ("mv notes.md docs.md", ""),
        ("mv fresh.md other.md", ""),
        ("cat notes.md", ""),
        ("echo more >> notes.md", ""),
    ]);
    // If it is not known what git has, nothing is certain.
    fs::write(session.project(".git/index"), "damaged").unwrap();
    session.assert_judgements(&[("rm notes.md", "")]);
}
