//! The browser and the other programs that tests need.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use snell_test_support::agents::AgentCache;

/// A program that tests need.
struct RequiredProgram {
    /// Its possible names in `PATH`.
    names: &'static [&'static str],
    /// The environment variable with the path of another one.
    variable: Option<&'static str>,
}

const REQUIRED_PROGRAMS: &[RequiredProgram] = &[
    RequiredProgram { names: &["chromium", "chromium-browser", "google-chrome"], variable: Some("SNELL_CHROMIUM") },
    RequiredProgram { names: &["chromedriver"], variable: Some("SNELL_CHROMEDRIVER") },
    RequiredProgram { names: &["curl"], variable: None },
    RequiredProgram { names: &["tmux"], variable: None },
    RequiredProgram { names: &["pg_ctlcluster", "initdb"], variable: Some("SNELL_TEST_POSTGRES") },
];

/// The Debian packages that have it.
const DEBIAN_PACKAGES: &[&str] = &["chromium", "chromium-driver", "curl", "postgresql", "tmux"];

/// Installs it if that needs no interaction, and otherwise prints how to install it.
pub(crate) fn install_missing_programs() -> anyhow::Result<()> {
    if REQUIRED_PROGRAMS.iter().all(is_program_available) {
        return Ok(());
    }
    if !is_on_path("apt-get") {
        bail!(
            "the tests need Chromium, its driver, curl, PostgreSQL and tmux; install them, and if they have other names than usual, name \
             them in SNELL_CHROMIUM and SNELL_CHROMEDRIVER"
        );
    }
    crate::print_message(&format!("installing {} for the tests", DEBIAN_PACKAGES.join(", ")));
    run_apt_get(&["update", "--quiet"])?;
    run_apt_get(&[&["install", "--quiet", "--yes", "--no-install-recommends"], DEBIAN_PACKAGES].concat())
}

/// The package of an OpenTelemetry collector on PyPI, and the platform of its program.
const COLLECTOR_PACKAGE: &str = "rotel==0.0.1a15";
const COLLECTOR_PLATFORM: &str = "manylinux_2_34_x86_64";

/// Installs an OpenTelemetry collector into the cache of agents. Without it, the tests that need it are skipped.
pub(crate) fn install_collector() {
    let Some(cache) = AgentCache::locate() else {
        return;
    };
    if cache.collector_program().is_file() {
        return;
    }
    if let Err(error) = unpack_collector(&cache) {
        crate::print_message(&format!("skipped: no OpenTelemetry collector for the tests: {error:#}"));
    }
}

fn unpack_collector(cache: &AgentCache) -> anyhow::Result<()> {
    let directory = cache.collector_directory();
    std::fs::create_dir_all(&directory)?;
    let download = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
    let select = ["--only-binary=:all:", "--python-version", "3.11", "--platform", COLLECTOR_PLATFORM, "--dest", "."];
    run_python(&directory, &[&download[..], &select[..], &[COLLECTOR_PACKAGE]].concat())?;
    let files = std::fs::read_dir(&directory)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let wheel = files.into_iter().find(|name| name.ends_with(".whl")).context("pip downloaded nothing")?;
    run_python(&directory, &["-m", "zipfile", "-e", &wheel, "."])?;
    std::fs::set_permissions(cache.collector_program(), Permissions::from_mode(0o755))?;
    Ok(())
}

fn run_python(directory: &Path, args: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("python3").args(args).current_dir(directory).status().context("cannot start python3")?;
    if !status.success() {
        bail!("`python3 {}` failed", args.join(" "));
    }
    Ok(())
}

fn run_apt_get(args: &[&str]) -> anyhow::Result<()> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let (program, first): (_, &[&str]) = if is_root { ("apt-get", &[]) } else { ("sudo", &["apt-get"]) };
    let status = Command::new(program)
        .args(first)
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    if !status.success() {
        bail!("`apt-get {}` failed; install {} yourself", args.join(" "), DEBIAN_PACKAGES.join(", "));
    }
    Ok(())
}

fn is_program_available(needed: &RequiredProgram) -> bool {
    let is_named = needed.variable.is_some_and(|name| std::env::var_os(name).is_some());
    is_named || needed.names.iter().any(|name| is_on_path(name))
}

fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}
