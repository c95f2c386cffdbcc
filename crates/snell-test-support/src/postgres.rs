//! A PostgreSQL server for the tests of one process, and a new database for each of them.
//!
//! The server listens on a socket in a directory of its own, and nowhere else. It ends with the process that started it,
//! even if that is killed: its keeper waits for the end of a pipe that this process holds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::skip::{find_program, report_skipped};

/// Names another server: its address, as a user who may create databases.
pub const SERVER_VARIABLE: &str = "SNELL_TEST_POSTGRES";

/// The users as which root starts the server: PostgreSQL refuses to run as root.
const SERVER_USERS: &[&str] = &["postgres", "nobody"];

/// Starts the server with fast settings: its data is thrown away. Its output would keep a pipe of the test open. At the
/// end of the input, the server is stopped and its directory removed.
const KEEPER_SCRIPT: &str = r#"
cd "$2" || exit 1
trap '' INT TERM HUP
"$1/initdb" --pgdata=data --username=snell --auth=trust --encoding=UTF8 --no-locale --no-sync >init.log 2>&1 || exit 1
"$1/pg_ctl" --pgdata=data --wait --log=server.log --options="-c listen_addresses= -c unix_socket_directories='$2' \
  -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200 -c autovacuum=off" \
  start >start.log 2>&1 || exit 1
echo ready
exec >/dev/null
cat >/dev/null
"$1/pg_ctl" --pgdata=data --mode=immediate stop >/dev/null 2>&1
cd / && rm -rf "$2"
"#;

/// A server for tests.
#[derive(Debug)]
pub struct TestServer {
    psql: PathBuf,
    /// An address without the name of a database, and what follows the name.
    address: (String, String),
    /// Databases that can be used again, because they are as their template.
    idle: Mutex<Vec<String>>,
    /// Its end of the pipe is closed when this process ends.
    _keeper: Option<Child>,
}

impl TestServer {
    /// The server of this process, which is started on first use. Reports that the test is skipped if there is none.
    pub fn get() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<TestServer>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    /// Whether there is a server, or one can be started. Otherwise reports that the test is skipped.
    pub fn is_available() -> bool {
        let is_available = std::env::var_os(SERVER_VARIABLE).is_some() || find_programs().is_some();
        if !is_available {
            report_skipped("no PostgreSQL");
        }
        is_available
    }

    fn start() -> Option<Self> {
        let programs = find_programs();
        if let Ok(address) = std::env::var(SERVER_VARIABLE) {
            let psql = programs.map(|directory| directory.join("psql")).or_else(|| find_program("psql"))?;
            let (base, options) = address.split_once('?').unwrap_or((&address, ""));
            let end = base.rfind('/').filter(|end| !base[..*end].ends_with('/')).unwrap_or(base.len());
            let options = if options.is_empty() { String::new() } else { format!("?{options}") };
            return Some(Self {
                psql,
                address: (base[..end].to_owned(), options),
                idle: Mutex::default(),
                _keeper: None,
            });
        }
        let Some(programs) = programs else {
            report_skipped("no PostgreSQL");
            return None;
        };
        let directory = std::env::temp_dir().join(format!("snell-postgres-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER_SCRIPT, "keeper"]).arg(&programs).arg(&directory);
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        if rustix::process::geteuid().is_root() {
            let (user, group) = SERVER_USERS.iter().find_map(|name| find_user(name)).expect("a user for the server");
            chown(&directory, Some(user), Some(group)).unwrap();
            keeper.uid(user).gid(group);
        }
        let mut keeper = keeper.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "PostgreSQL does not start; see {}", directory.display());
        let host = directory.to_str().unwrap().replace('/', "%2F");
        let address = (format!("postgres://snell@{host}"), "?sslmode=disable".to_owned());
        Some(Self { psql: programs.join("psql"), address, idle: Mutex::default(), _keeper: Some(keeper) })
    }

    /// The address of a database.
    pub fn address_of(&self, database: &str) -> String {
        format!("{}/{database}{}", self.address.0, self.address.1)
    }

    /// Creates a database as a copy of another one, and returns its name.
    #[track_caller]
    pub fn create_database(&self, template: &str) -> String {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let name = format!("snell_test_{}_{number}", std::process::id());
        self.run_sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'"));
        name
    }

    /// A database as [`Self::create_database`] makes it: one that was returned, or a new one.
    #[track_caller]
    pub fn take_database(&self, template: &str) -> String {
        let idle = self.idle.lock().unwrap().pop();
        idle.unwrap_or_else(|| self.create_database(template))
    }

    /// Makes a database as new with this SQL, for another test. That takes a tenth of the time of a new one.
    pub fn return_database(&self, name: String, reset: &str) {
        self.run_sql(&name, reset);
        self.idle.lock().unwrap().push(name);
    }

    /// The lines that a query returns, as another program reads them.
    #[track_caller]
    pub fn run_sql(&self, database: &str, sql: &str) -> Vec<String> {
        let mut psql = Command::new(&self.psql);
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--command", sql]);
        let output = psql.arg(self.address_of(database)).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

/// The directory of the server's programs: of the latest version that is installed.
fn find_programs() -> Option<PathBuf> {
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
