//! The agents of this machine.

use std::path::{Path, PathBuf};

use snell::AgentProduct;

use super::agents::{AgentDirs, InstallAgent};

/// The products that are used on this machine, by their directories in this home directory.
pub(crate) fn find_agents_here(home: &Path) -> Vec<&'static AgentProduct> {
    let around = AgentDirs { home: home.to_owned(), project: PathBuf::from("/"), directory: None };
    let here = InstallAgent::all().filter(|agent| agent.is_used(&around));
    here.filter_map(|agent| AgentProduct::find_by_name(agent.name)).collect()
}
