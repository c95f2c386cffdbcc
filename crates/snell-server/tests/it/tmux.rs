//! Only tmux sockets that no other user can replace are used.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use snell_server::reconciler::tmux::TmuxServer;
use snell_test_support::files::set_file_mode;
use snell_test_support::skip::require_program;
use tempfile::TempDir;

/// The number of attack attempts: at least so many queries, and so many swaps of the symlink while they run.
const TRIES: usize = 1_500;

/// A socket that counts connections and closes each at once, until the test ends.
fn count_visitors(path: &Path) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(path).unwrap();
    let visitors = Arc::new(AtomicUsize::new(0));
    let counted = visitors.clone();
    thread::spawn(move || {
        for _ in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    visitors
}

fn query_panes(socket: &Path) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = TmuxServer::new(Some(socket.display().to_string()));
    let panes = runtime.block_on(server.list_panes());
    panes.map(drop).map_err(|error| error.to_string())
}

/// Our own directory, and one in it that every user may change.
fn create_exposed_directory() -> (TempDir, std::path::PathBuf) {
    let own = tempfile::tempdir().unwrap();
    let exposed = own.path().join("exposed");
    fs::create_dir(&exposed).unwrap();
    set_file_mode(&exposed, 0o777);
    (own, exposed)
}

#[test]
fn a_swapped_symlink_never_leads_to_a_socket_of_another_user() {
    if require_program("tmux").is_none() {
        return;
    }
    let (own, exposed) = create_exposed_directory();
    let good = own.path().join("good");
    let evil = exposed.join("evil");
    let _good_visitors = count_visitors(&good);
    let evil_visitors = count_visitors(&evil);
    let link = exposed.join("link");
    symlink(&good, &link).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicUsize::new(0));
    let swapper = {
        let (stop, swaps, exposed, link) = (stop.clone(), swaps.clone(), exposed.clone(), link.clone());
        let targets = [good.clone(), evil.clone()];
        thread::spawn(move || {
            let other = exposed.join("other");
            while !stop.load(Ordering::SeqCst) {
                let swap = swaps.fetch_add(1, Ordering::SeqCst);
                symlink(&targets[swap % 2], &other).unwrap();
                fs::rename(&other, &link).unwrap();
            }
        })
    };
    let mut queries = 0;
    while queries < TRIES || swaps.load(Ordering::SeqCst) < TRIES {
        query_panes(&link).unwrap_err();
        queries += 1;
        assert!(!swapper.is_finished(), "the thread that swaps the symlink ended early");
    }
    stop.store(true, Ordering::SeqCst);
    swapper.join().unwrap();
    assert_eq!(evil_visitors.load(Ordering::SeqCst), 0);
}

#[test]
fn a_socket_is_used_only_where_no_other_user_can_replace_it() {
    if require_program("tmux").is_none() {
        return;
    }
    let (own, exposed) = create_exposed_directory();
    let below = exposed.join("below");
    let group = own.path().join("group");
    let sticky = own.path().join("sticky");
    for (directory, mode) in [(&below, 0o700), (&group, 0o770), (&sticky, 0o1777)] {
        fs::create_dir(directory).unwrap();
        set_file_mode(directory, mode);
    }
    let file = own.path().join("file");
    fs::write(&file, "").unwrap();
    let link = own.path().join("link");
    let refused = |directory: &Path| format!("other users can change {}", directory.display());
    let rows = [
        (own.path().join("s"), None),
        (sticky.join("s"), None),
        (exposed.join("s"), Some(refused(&exposed))),
        (below.join("s"), Some(refused(&exposed))),
        (group.join("s"), Some(refused(&group))),
    ];
    for (socket, expected) in &rows {
        let visitors = count_visitors(socket);
        let _ = fs::remove_file(&link);
        symlink(socket, &link).unwrap();
        for way in [socket, &link] {
            let said = query_panes(way).unwrap_err();
            match expected {
                Some(expected) => assert!(said.contains(expected), "{way:?}: {said}"),
                None => assert!(!said.contains("not a socket") && !said.contains("can change"), "{way:?}: {said}"),
            }
        }
        assert_eq!(visitors.load(Ordering::SeqCst) > 0, expected.is_none(), "{socket:?}");
    }
    let others = [
        (file.as_path(), "is not a socket that you own"),
        (own.path(), "is not a socket that you own"),
        (Path::new("relative/s"), "is not an absolute path"),
        (Path::new("/nowhere/s"), "no tmux server is running at /nowhere/s"),
    ];
    for (path, expected) in others {
        let said = query_panes(path).unwrap_err();
        assert!(said.contains(expected), "{path:?}: {said}");
    }
}
