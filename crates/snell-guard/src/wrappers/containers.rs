//! The mounts of containers, by their flags.

use super::WrapperCall;
use crate::interpret::ShellInterpreter;
use crate::invocation::{ContainerMount, ContainerSpec, SymbolicText};
use crate::paths::locate_path;

/// `-v here:there`, `-v here:there:ro`
const VOLUME_FLAGS: &[&str] = &["-v", "--volume"];

/// `--mount type=bind,source=here,target=there`
const MOUNT_FLAGS: &[&str] = &["--mount"];

/// The program that replaces the container's own.
const ENTRYPOINT_FLAGS: &[&str] = &["--entrypoint"];

/// The container in which a wrapper runs programs.
pub(super) fn build_container(interpreter: &ShellInterpreter<'_>, job: &WrapperCall<'_>) -> ContainerSpec {
    let volumes = job.args.flag_values(VOLUME_FLAGS).filter_map(SymbolicText::as_text).filter_map(parse_volume);
    let mounts = job.args.flag_values(MOUNT_FLAGS).filter_map(SymbolicText::as_text).filter_map(parse_mount);
    let absolute = |(here, there): (&str, &str)| {
        let here = locate_path(&SymbolicText::from_text(here), interpreter.scope.cwd(), interpreter.world).path?;
        let there = locate_path(&SymbolicText::from_text(there), None, interpreter.world).path?;
        Some(ContainerMount {
            host_path: if here == "/" { String::new() } else { here },
            container_path: if there == "/" { String::new() } else { there },
        })
    };
    ContainerSpec {
        fresh: job.wrapper.fresh,
        on_remote_host: interpreter.context.elsewhere,
        mounts: volumes.chain(mounts).filter_map(absolute).collect(),
    }
}

/// The program that replaces the container's own, if any.
pub(super) fn find_entrypoint(job: &WrapperCall<'_>) -> Option<SymbolicText> {
    let entry = job.args.flag_values(ENTRYPOINT_FLAGS).last().filter(|_| job.wrapper.elsewhere)?;
    (entry.as_text() != Some("")).then(|| entry.clone())
}

/// A name without a slash is a named volume.
fn parse_volume(written: &str) -> Option<(&str, &str)> {
    let mut parts = written.split(':');
    let (here, there) = (parts.next()?, parts.next()?);
    here.starts_with(['/', '.', '~']).then_some((here, there))
}

fn parse_mount(written: &str) -> Option<(&str, &str)> {
    let field = |names: &[&str]| {
        let mut fields = written.split(',').filter_map(|field| field.split_once('='));
        fields.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
    };
    let bound = field(&["type"]) == Some("bind");
    let here = field(&["source", "src"]).filter(|_| bound)?;
    Some((here, field(&["target", "destination", "dst"])?))
}
