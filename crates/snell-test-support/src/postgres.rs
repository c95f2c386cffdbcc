//! A PostgreSQL server for the tests of one process, and a new database for each of them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::postgres_cluster::{FAST_SETTINGS, PostgresCluster, find_programs, run_psql};
use crate::skip::find_program;

/// Names another server: its address, as a user who may create databases.
pub const SERVER_VARIABLE: &str = "SNELL_TEST_POSTGRES";

/// A server for tests.
#[derive(Debug)]
pub struct TestServer {
    psql: PathBuf,
    /// An address without the name of a database, and what follows the name.
    address: (String, String),
    /// Databases that can be used again, because they are as their template.
    idle: Mutex<Vec<String>>,
    /// It ends with this process, because statics are not dropped.
    _cluster: Option<PostgresCluster>,
}

impl TestServer {
    /// The server of this process, which is started on first use. Reports that the test is skipped if there is none.
    pub fn get() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<TestServer>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    /// Whether there is a server, or one can be started. Otherwise reports that the test is skipped.
    pub fn is_available() -> bool {
        std::env::var_os(SERVER_VARIABLE).is_some() || PostgresCluster::is_available()
    }

    fn start() -> Option<Self> {
        if let Ok(address) = std::env::var(SERVER_VARIABLE) {
            let psql = find_programs().map(|directory| directory.join("psql")).or_else(|| find_program("psql"))?;
            let (base, options) = address.split_once('?').unwrap_or((&address, ""));
            let end = base.rfind('/').filter(|end| !base[..*end].ends_with('/')).unwrap_or(base.len());
            let options = if options.is_empty() { String::new() } else { format!("?{options}") };
            let address = (base[..end].to_owned(), options);
            return Some(Self { psql, address, idle: Mutex::default(), _cluster: None });
        }
        let cluster = PostgresCluster::start(FAST_SETTINGS)?;
        let address = (format!("postgres://snell@{}", cluster.host()), "?sslmode=disable".to_owned());
        Some(Self { psql: cluster.psql(), address, idle: Mutex::default(), _cluster: Some(cluster) })
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
        run_psql(&self.psql, &self.address_of(database), sql)
    }
}
