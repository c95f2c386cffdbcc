//! A PostgreSQL server with a directory of its own, and nothing else: a test can kill it, start it again, and copy it.
//!
//! It ends with the process that started it, even if that is killed: its keeper waits for the end of a pipe that this
//! process holds.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, kill_process};

use crate::process::{Signal, find_processes};
use crate::skip::{find_program, report_skipped};
use crate::wait::wait_until;

/// The users as which root starts the server: PostgreSQL refuses to run as root.
const SERVER_USERS: &[&str] = &["postgres", "nobody"];

/// At the end of the input, the server is stopped and its directory removed.
const KEEPER_SCRIPT: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
"$1/pg_ctl" --pgdata="$2/data" --mode=immediate stop
cd / && rm -rf "$2"
"#;

/// Settings for data that is thrown away.
pub const FAST_SETTINGS: &[&str] =
    &["fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off"];

/// A server. Its directory has its socket, its data in `data`, and its log.
#[derive(Debug)]
pub struct PostgresCluster {
    programs: PathBuf,
    directory: PathBuf,
    owner: Option<(u32, u32)>,
    /// Its end of the pipe is closed when this is dropped, or this process ends.
    keeper: Child,
}

impl PostgresCluster {
    /// Whether the programs are installed. Otherwise reports that the test is skipped.
    pub fn is_available() -> bool {
        let is_available = find_programs().is_some();
        if !is_available {
            report_skipped("no PostgreSQL");
        }
        is_available
    }

    /// Creates and starts a server with these settings, if its programs are installed.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let cluster = Self::create()?;
        let data = ["--username=snell", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"];
        cluster.run_program("initdb", &[&["--pgdata=data"][..], &data].concat());
        cluster.append_settings(&["listen_addresses = ''", "max_connections = 200", "max_wal_senders = 4"]);
        cluster.append_settings(settings);
        cluster.restart();
        Some(cluster)
    }

    /// Copies this server to another one, which follows it under this name.
    pub fn start_standby(&self, name: &str) -> Self {
        let standby = Self::create().unwrap();
        let source = format!("host={} user=snell application_name={name}", self.directory.display());
        standby.run_program(
            "pg_basebackup",
            &["--pgdata=data", "--checkpoint=fast", "--write-recovery-conf", "--dbname", &source],
        );
        standby.restart();
        standby
    }

    fn create() -> Option<Self> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let Some(programs) = find_programs() else {
            report_skipped("no PostgreSQL");
            return None;
        };
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("snell-postgres-{}-{number}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let mut owner = None;
        if rustix::process::geteuid().is_root() {
            let (user, group) = SERVER_USERS.iter().find_map(|name| find_user(name)).expect("a user for the server");
            chown(&directory, Some(user), Some(group)).unwrap();
            owner = Some((user, group));
        }
        let mut keeper = prepare(Command::new("sh"), &directory, owner);
        keeper.args(["-c", KEEPER_SCRIPT, "keeper"]).arg(&programs).arg(&directory);
        let keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Some(Self { programs, directory, owner, keeper })
    }

    /// The directory of its socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Adds lines to the settings, for the next start.
    pub fn append_settings(&self, settings: &[&str]) {
        let mut file = fs::OpenOptions::new().append(true).open(self.directory.join("data/postgresql.conf")).unwrap();
        for setting in settings {
            writeln!(file, "{setting}").unwrap();
        }
    }

    /// Writes a file into its data, which only it can read.
    pub fn write_data_file(&self, name: &str, content: &str) {
        let path = self.directory.join("data").join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, group)) = self.owner {
            chown(&path, Some(user), Some(group)).unwrap();
        }
    }

    /// Stops it.
    #[track_caller]
    pub fn stop(&self) {
        self.run_program("pg_ctl", &["--pgdata=data", "--wait", "--mode=fast", "stop"]);
    }

    /// Starts a server that was stopped or killed.
    #[track_caller]
    pub fn restart(&self) {
        let socket = format!("-c unix_socket_directories='{}'", self.directory.display());
        self.run_program("pg_ctl", &["--pgdata=data", "--wait", "--log=server.log", "--options", &socket, "start"]);
    }

    /// Makes a standby the server that can write.
    #[track_caller]
    pub fn promote(&self) {
        self.run_program("pg_ctl", &["--pgdata=data", "--wait", "promote"]);
    }

    /// Kills all of its processes, as when its machine fails.
    #[track_caller]
    pub fn kill(&self) {
        let data = self.directory.join("data");
        wait_until(|| {
            // Each of them works there; new ones may begin until the first one is gone.
            let all = find_processes(|process| process.working_directory() == data);
            for pid in &all {
                // It may have ended.
                let _ = Pid::from_raw(pid.cast_signed()).map(|pid| kill_process(pid, Signal::KILL));
            }
            all.is_empty().then_some(())
        });
        // Otherwise the server does not start while its former process waits to be reaped.
        for lock in ["data/postmaster.pid", ".s.PGSQL.5432.lock"] {
            fs::remove_file(self.directory.join(lock)).unwrap();
        }
    }

    /// Its address, with the name of a database, over its socket.
    pub fn address_of(&self, database: &str) -> String {
        format!("postgres://snell@{}/{database}?sslmode=disable", self.host())
    }

    /// Its host in an address.
    pub fn host(&self) -> String {
        self.directory.to_str().unwrap().replace('/', "%2F")
    }

    /// Runs a program of PostgreSQL as the user of the server, in its directory.
    #[track_caller]
    pub fn run_program(&self, name: &str, args: &[&str]) {
        let log = self.directory.join(format!("{name}.log"));
        let output = fs::File::create(&log).unwrap();
        let mut command = prepare(Command::new(self.programs.join(name)), &self.directory, self.owner);
        // The server keeps the output of the program that starts it.
        command.args(args).stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
        let status = command.status().unwrap();
        let server_log = fs::read_to_string(self.directory.join("server.log")).unwrap_or_default();
        assert!(status.success(), "{name} {args:?}: {}{server_log}", fs::read_to_string(log).unwrap());
    }

    /// The lines that a query returns, as another program reads them.
    #[track_caller]
    pub fn run_sql(&self, database: &str, sql: &str) -> Vec<String> {
        run_psql(&self.programs.join("psql"), &self.address_of(database), sql)
    }

    /// The program that runs queries.
    pub fn psql(&self) -> PathBuf {
        self.programs.join("psql")
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // It removes the directory; if it cannot, nothing is lost.
        let _ = self.keeper.wait();
    }
}

/// The lines that a query returns.
#[track_caller]
pub(crate) fn run_psql(psql: &Path, address: &str, sql: &str) -> Vec<String> {
    let mut command = Command::new(psql);
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--command", sql]);
    let output = command.arg(address).output().unwrap();
    assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A command of the server's user, which the signals of a terminal do not reach.
fn prepare(mut command: Command, directory: &Path, owner: Option<(u32, u32)>) -> Command {
    command.current_dir(directory).process_group(0);
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    command
}

/// The directory of the server's programs: of the latest version that is installed.
pub(crate) fn find_programs() -> Option<PathBuf> {
    let is_complete = |directory: &Path| ["initdb", "pg_ctl", "psql"].iter().all(|name| directory.join(name).is_file());
    if let Some(directory) = find_program("initdb").as_deref().and_then(Path::parent).filter(|path| is_complete(path)) {
        return Some(directory.to_owned());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest =
        versions.map(|entry| entry.path()).filter(|path| version(path) >= Some(15)).max_by_key(|path| version(path));
    newest.map(|path| path.join("bin")).filter(|path| is_complete(path))
}

/// The numbers of a user and its group.
fn find_user(name: &str) -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}
