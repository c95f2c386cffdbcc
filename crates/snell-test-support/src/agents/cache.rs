//! The directory with installed agents, outside the tree: they are large, and shared between checkouts.

use std::path::{Path, PathBuf};

use crate::agents::{PackageSource, RealAgent};

/// The cache.
#[derive(Clone, Debug)]
pub struct AgentCache {
    root: PathBuf,
}

impl AgentCache {
    /// `$SNELL_AGENTS_CACHE`, else `snell-agents` in `$XDG_CACHE_HOME` or `~/.cache`. None without a home directory.
    pub fn locate() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = || path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
        let root = path("SNELL_AGENTS_CACHE").or_else(|| Some(caches()?.join("snell-agents")))?;
        Some(Self { root })
    }

    /// The directory of an agent.
    pub fn directory(&self, agent: &RealAgent) -> PathBuf {
        self.root.join(agent.name)
    }

    /// The directory with Node.js of its own.
    pub fn node_directory(&self) -> PathBuf {
        self.root.join("node22")
    }

    /// The directory with the `node` of [`AgentCache::node_directory`].
    pub fn node_programs(&self) -> PathBuf {
        self.node_directory().join("node_modules/.bin")
    }

    /// The program of an agent, whether it is there or not.
    pub fn program(&self, agent: &RealAgent) -> PathBuf {
        self.directory(agent).join(agent.program)
    }

    /// The directory with an OpenTelemetry collector.
    pub fn collector_directory(&self) -> PathBuf {
        self.root.join("otel-collector")
    }

    /// The program of that collector, whether it is there or not.
    pub fn collector_program(&self) -> PathBuf {
        self.collector_directory().join("rotel/rotel-agent")
    }

    /// The versions of an agent's packages that are missing.
    pub fn missing_packages(&self, agent: &RealAgent) -> Vec<String> {
        let directory = self.directory(agent);
        let missing = agent.packages.iter().filter(|package| match agent.source {
            PackageSource::Npm => {
                let manifest = directory.join("node_modules").join(package.name).join("package.json");
                !has_version_line(&manifest, &format!("\"version\": \"{}\"", package.version))
            }
            PackageSource::PythonVenv => {
                let folder = format!("{}-{}.dist-info", package.name.replace('-', "_"), package.version);
                !has_python_package(&directory.join("venv/lib"), &folder)
            }
        });
        missing.map(|package| format!("{} {}", package.name, package.version)).collect()
    }
}

fn has_version_line(manifest: &Path, line: &str) -> bool {
    let compact = line.replace(": ", ":");
    std::fs::read_to_string(manifest).is_ok_and(|text| text.contains(line) || text.contains(&compact))
}

/// Libraries are in `lib/pythonVERSION/site-packages`.
fn has_python_package(libraries: &Path, folder: &str) -> bool {
    let pythons = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    pythons.map(|python| python.path().join("site-packages").join(folder)).any(|path| path.is_dir())
}
