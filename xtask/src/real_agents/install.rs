//! Installs agents into the cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use snell_test_support::agents::{AgentCache, PackageSource, RealAgent};

use crate::print_message;

/// Several agents need it.
const NODE_MAJOR: u32 = 22;

/// The oldest minor version of Python 3 that agents need.
const PYTHON_MINOR: u32 = 12;

/// Installs agents, and returns those that are there afterwards. A failure is reported, and the next agent follows.
pub(crate) fn install_agents(cache: &AgentCache, agents: &[&'static RealAgent]) -> Vec<&'static RealAgent> {
    let mut installed = Vec::new();
    for (agent, number) in agents.iter().copied().zip(1..) {
        let progress = format!("[{number}/{}] {} {}", agents.len(), agent.title, agent.version());
        let missing = cache.missing_packages(agent);
        if missing.is_empty() {
            print_message(&format!("{progress}: in the cache"));
            installed.push(agent);
            continue;
        }
        print_message(&format!("{progress}: installing {}", missing.join(", ")));
        match install_agent(cache, agent) {
            Ok(()) => installed.push(agent),
            Err(error) => print_message(&format!("{progress}: skipped: {error:#}")),
        }
    }
    installed
}

fn install_agent(cache: &AgentCache, agent: &RealAgent) -> anyhow::Result<()> {
    let directory = cache.directory(agent);
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    match agent.source {
        PackageSource::Npm => {
            let path = find_node_path(cache)?;
            let packages = agent.packages.iter().map(|package| format!("{}@{}", package.name, package.version));
            run_npm(&directory, &path, packages)?;
        }
        PackageSource::PythonVenv => install_python_packages(&directory, agent)?,
    }
    let missing = cache.missing_packages(agent);
    if !missing.is_empty() {
        bail!("not installed: {}", missing.join(", "));
    }
    Ok(())
}

/// A `PATH` whose `node` is new enough. Installs one into the cache if the machine has none.
fn find_node_path(cache: &AgentCache) -> anyhow::Result<OsString> {
    let machine_path = std::env::var_os("PATH").unwrap_or_default();
    if read_version(Path::new("node")).is_some_and(|(major, _)| major >= NODE_MAJOR) {
        return Ok(machine_path);
    }
    if !cache.node_programs().join("node").exists() {
        let directory = cache.node_directory();
        print_message(&format!("installing Node.js {NODE_MAJOR} into {}", directory.display()));
        std::fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        run_npm(&directory, &machine_path, [format!("node@{NODE_MAJOR}")].into_iter())?;
    }
    let paths = [cache.node_programs()].into_iter().chain(std::env::split_paths(&machine_path));
    Ok(std::env::join_paths(paths)?)
}

fn run_npm(directory: &Path, path: &OsString, packages: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--save-exact", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(directory);
    run_installer(npm.args(packages).env("PATH", path).current_dir(directory), "install Node.js with npm")
}

fn install_python_packages(directory: &Path, agent: &RealAgent) -> anyhow::Result<()> {
    let environment = directory.join("venv");
    let hint = format!("install Python 3.{PYTHON_MINOR} or newer, or uv");
    let mut create = match find_python() {
        Some(python) => {
            let mut command = Command::new(python);
            command.args(["-m", "venv"]);
            command
        }
        None => {
            let mut command = Command::new("uv");
            command.args(["venv", "--seed", "--python"]).arg(format!("3.{PYTHON_MINOR}"));
            command
        }
    };
    run_installer(create.arg(&environment), &hint)?;
    let packages = agent.packages.iter().map(|package| format!("{}=={}", package.name, package.version));
    let mut pip = Command::new(environment.join("bin/python"));
    run_installer(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages), &hint)
}

/// A Python that is new enough: on the path, or of pyenv.
fn find_python() -> Option<PathBuf> {
    let names = (PYTHON_MINOR..PYTHON_MINOR + 4).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let of_pyenv = std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv/versions"));
    let of_pyenv = of_pyenv.and_then(|versions| std::fs::read_dir(versions).ok()).into_iter().flatten().flatten();
    let of_pyenv = of_pyenv.map(|version| version.path().join("bin/python3"));
    let is_new_enough = |python: &PathBuf| read_version(python).is_some_and(|version| version >= (3, PYTHON_MINOR));
    names.chain([PathBuf::from("python3")]).chain(of_pyenv).find(is_new_enough)
}

/// The major and minor version that a program prints.
fn read_version(program: &Path) -> Option<(u32, u32)> {
    let output = Command::new(program).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.trim_start_matches(|character: char| !character.is_ascii_digit()).split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn run_installer(command: &mut Command, hint: &str) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {program} (hint: {hint})"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        bail!("{program} failed: {last}");
    }
    Ok(())
}
