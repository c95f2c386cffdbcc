//! Servers of PostgreSQL as they are in use: with TLS, and with a standby that takes over.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use snell_store::{DatabaseLocation, PostgresAddress, Store, StoreError};
use snell_test_support::http::find_unused_address;
use snell_test_support::postgres_cluster::PostgresCluster;
use snell_test_support::skip::require_program;
use snell_test_support::wait::wait_until;
use tempfile::TempDir;

use crate::support::{build_prompt, make_timestamp};

fn open_store(address: &str) -> Result<Store, StoreError> {
    let address: PostgresAddress = address.parse()?;
    Ok(Store::open_at(&DatabaseLocation::from(address))?.store)
}

/// A root certificate, and a certificate that it issued for `localhost`: `ca.pem`, `server.pem` and `server.key`.
fn create_certificates(directory: &Path) {
    std::fs::write(directory.join("names"), "subjectAltName = DNS:localhost").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for command in [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=root -days 2"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names"
            .into(),
    ] {
        let mut openssl = Command::new("openssl");
        openssl.args(command.split(' ')).current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(openssl.status().unwrap().success(), "{command}");
    }
}

#[test]
fn tls_is_used_and_checked_as_far_as_the_address_says() {
    if require_program("openssl").is_none() {
        return;
    }
    let port = find_unused_address().port();
    let network = ["listen_addresses = 'localhost'", &format!("port = {port}")];
    let Some(cluster) = PostgresCluster::start(&[]) else { return };
    let (own, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    create_certificates(own.path());
    create_certificates(other.path());
    for name in ["server.pem", "server.key"] {
        cluster.write_data_file(name, &std::fs::read_to_string(own.path().join(name)).unwrap());
    }
    cluster.write_data_file("pg_hba.conf", "local all all trust\nhostssl all all all trust\n");
    cluster.append_settings(&network);
    cluster.append_settings(&["ssl = on", "ssl_cert_file = 'server.pem'", "ssl_key_file = 'server.key'"]);
    cluster.stop();
    cluster.restart();
    let root = |directory: &TempDir| format!("sslrootcert={}", directory.path().join("ca.pem").display());
    let (known, foreign) = (root(&own), root(&other));
    for (host, options, expected) in [
        ("localhost", "sslmode=disable".to_owned(), Err("no encryption")),
        ("localhost", String::new(), Ok(())),
        ("localhost", "sslmode=require".to_owned(), Ok(())),
        ("127.0.0.1", format!("sslmode=verify-ca&{known}"), Ok(())),
        ("127.0.0.1", format!("sslmode=verify-full&{known}"), Err("not valid for name")),
        ("localhost", format!("sslmode=verify-full&{known}"), Ok(())),
        ("localhost", format!("sslmode=verify-ca&{foreign}"), Err("certificate")),
        ("localhost", format!("sslmode=require&{foreign}"), Err("certificate")),
        // Browsers do not know the root.
        ("localhost", "sslmode=verify-full".to_owned(), Err("UnknownIssuer")),
        ("localhost", "sslmode=verify-full&sslrootcert=/missing.pem".to_owned(), Err("/missing.pem")),
    ] {
        let opened = open_store(&format!("postgres://snell@{host}:{port}/postgres?{options}"));
        match (opened, expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{options}: {error}"),
            (opened, _) => panic!("{host} {options}: {:?}", opened.map(drop).map_err(|error| error.to_string())),
        }
    }
    // Without TLS at the server.
    cluster.append_settings(&["ssl = off"]);
    cluster.write_data_file("pg_hba.conf", "local all all trust\nhost all all all trust\n");
    cluster.stop();
    cluster.restart();
    assert!(open_store(&format!("postgres://snell@localhost:{port}/postgres")).is_ok());
    let refused = open_store(&format!("postgres://snell@localhost:{port}/postgres?sslmode=require"));
    assert!(refused.is_err_and(|error| error.to_string().contains("TLS")));
}

#[test]
fn a_synchronous_standby_takes_over_without_loss() {
    let Some(primary) = PostgresCluster::start(&["wal_level = replica"]) else { return };
    primary.run_sql("postgres", "CREATE DATABASE team");
    let standby = primary.start_standby("standby");
    primary.run_sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    primary.run_sql("postgres", "SELECT pg_reload_conf()");
    let is_synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait_until(|| (primary.run_sql("postgres", is_synchronous) == ["1"]).then_some(()));
    let address =
        format!("postgres://snell@{},{}/team?target_session_attrs=read-write", primary.host(), standby.host());
    let (acknowledged, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let count = || acknowledged.lock().unwrap().len();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let (address, acknowledged, is_over) = (&address, &acknowledged, &is_over);
            scope.spawn(move || store_until(address, writer, is_over, acknowledged));
        }
        wait_until(|| (count() > 200).then_some(()));
        primary.kill();
        standby.promote();
        let before = count();
        wait_until(|| (count() > before + 200).then_some(()));
        is_over.store(true, Ordering::Relaxed);
    });
    let mut acknowledged = acknowledged.into_inner().unwrap();
    acknowledged.sort();
    assert_eq!(standby.run_sql("team", "SELECT event_id FROM events ORDER BY event_id"), acknowledged);
    assert_eq!(standby.run_sql("team", "SELECT count(*) = max(change_id) FROM changes"), ["t"]);
}

/// Stores events, each until it is acknowledged.
fn store_until(address: &str, writer: usize, is_over: &AtomicBool, acknowledged: &Mutex<Vec<String>>) {
    let mut store = wait_until(|| open_store(address).ok());
    let mut number = 0;
    while !is_over.load(Ordering::Relaxed) {
        let records: Vec<_> = (number..number + 8)
            .map(|number| {
                let prompt = build_prompt(&format!("s{writer}"), &format!("prompt {number}"));
                let mut record = prompt.with_host(&format!("box{writer}")).into_record_in(Path::new("/work"));
                record.event_id = format!("{writer}-{number}");
                record.at = make_timestamp(number);
                record
            })
            .collect();
        number += 8;
        wait_until(|| store.ingest_all(records.clone()).ok());
        acknowledged.lock().unwrap().extend(records.into_iter().map(|record| record.event_id));
    }
}
