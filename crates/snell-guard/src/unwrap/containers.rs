//! What a container can see of the machine: the flags that say so.

use super::Job;
use crate::invocation::{Container, Mount, Value};
use crate::paths::locate;
use crate::shell::Walker;

/// `-v here:there`, `-v here:there:ro`
const VOLUMES: &[&str] = &["-v", "--volume"];

/// `--mount type=bind,source=here,target=there`
const MOUNTS: &[&str] = &["--mount"];

/// The program that runs instead of the one that the container is made for.
const ENTRY: &[&str] = &["--entrypoint"];

/// What is known of the container in which a program runs others.
pub(super) fn container(walker: &Walker<'_>, job: &Job<'_>) -> Container {
    let volumes = job.given.values(VOLUMES).filter_map(Value::as_text).filter_map(volume);
    let mounts = job.given.values(MOUNTS).filter_map(Value::as_text).filter_map(mount);
    let absolute = |(here, there): (&str, &str)| {
        let here = locate(&Value::text(here), walker.scope.cwd(), walker.world).path?;
        let there = locate(&Value::text(there), None, walker.world).path?;
        Some(Mount {
            here: if here == "/" { String::new() } else { here },
            there: if there == "/" { String::new() } else { there },
        })
    };
    Container {
        fresh: job.wrapper.fresh,
        abroad: walker.around.elsewhere,
        mounts: volumes.chain(mounts).filter_map(absolute).collect(),
    }
}

/// The program that a container starts with, if it is told to start with another.
pub(super) fn entry(job: &Job<'_>) -> Option<Value> {
    let entry = job.given.values(ENTRY).last().filter(|_| job.wrapper.elsewhere)?;
    (entry.as_text() != Some("")).then(|| entry.clone())
}

/// A name without a slash is a volume of the containers' own.
fn volume(written: &str) -> Option<(&str, &str)> {
    let mut parts = written.split(':');
    let (here, there) = (parts.next()?, parts.next()?);
    here.starts_with(['/', '.', '~']).then_some((here, there))
}

fn mount(written: &str) -> Option<(&str, &str)> {
    let field = |names: &[&str]| {
        let mut fields = written.split(',').filter_map(|field| field.split_once('='));
        fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
    };
    let bound = field(&["type"]) == Some("bind");
    let here = field(&["source", "src"]).filter(|_| bound)?;
    Some((here, field(&["target", "destination", "dst"])?))
}
