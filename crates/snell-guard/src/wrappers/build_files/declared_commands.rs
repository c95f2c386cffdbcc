//! Manifests that declare what happens: the commands that do the same.

/// How far from the name of a path its key may be, in lines.
const MAX_DISTANCE: usize = 6;

/// The calls of `docker run` that do the same as a manifest of containers: directories of this machine, rights, processes.
pub(super) fn list_container_commands(text: &str) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        let item = trim_value(line.trim_start_matches("- "));
        let is_host_path =
            |path: &str| path.starts_with(['/', '~']) || path.starts_with("$HOME") || path.starts_with("${HOME");
        match line.split_once(':').map(|(key, value)| (key.trim_start_matches("- ").trim(), trim_value(value))) {
            Some(("source" | "device", path)) if is_host_path(path) => flags.push(format!("-v {path}:/host")),
            Some(("path", path)) if is_host_path(path) && is_after(&lines, at, "hostPath:") => {
                flags.push(format!("-v {path}:/host"));
            }
            // `volumes: ["/:/host"]`
            Some(("volumes", list)) if list.starts_with('[') => {
                let items = list.trim_matches(['[', ']']).split(',').map(trim_value).filter(|item| is_host_path(item));
                flags.extend(items.map(|item| format!("-v {item}")));
            }
            Some(("privileged", "true")) => flags.push("--privileged".to_owned()),
            Some(("pid", "host")) | Some(("hostPID", "true")) => flags.push("--pid=host".to_owned()),
            _ if line.starts_with("- ") && is_host_path(item) && item.contains(':') && !item.contains(' ') => {
                flags.push(format!("-v {item}"));
            }
            _ => {}
        }
    }
    flags.into_iter().map(|flag| format!("docker run {flag} image")).collect()
}

/// Deletions and programs that playbooks and build files declare.
pub(super) fn list_declared_commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    if text.contains("absent") {
        commands.extend(list_absent_paths(text).map(|path| format!("rm -rf {path}")));
    }
    if text.contains('<') {
        commands.extend(list_deleted_places(text).map(|path| format!("rm -rf {path}")));
        commands.extend(join_elements(text, "<executable>", "<argument>"));
    }
    commands
}

/// Ansible: `path: …` beside `state: absent`.
fn list_absent_paths(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_absent = |line: &&str| line.replace(' ', "").contains("state:absent") || line.contains("state=absent");
    let absent: Vec<usize> = lines.iter().enumerate().filter(|(_, line)| is_absent(line)).map(|(at, _)| at).collect();
    lines.into_iter().enumerate().filter_map(move |(at, line)| {
        let is_near = absent.iter().any(|other| other.abs_diff(at) <= MAX_DISTANCE);
        let after = ["path:", "path=", "dest:", "dest="].iter().find_map(|key| line.split_once(key))?.1;
        is_near.then(|| trim_value(after).split([' ', ',', '}']).next().unwrap_or_default())
    })
}

/// Ant and MSBuild: `<delete dir="…"/>`, `<RemoveDir Directories="…"/>`.
fn list_deleted_places(text: &str) -> impl Iterator<Item = &str> {
    const ELEMENTS: &[(&str, &[&str])] =
        &[("<delete ", &["dir=\"", "file=\""]), ("<RemoveDir ", &["Directories=\""]), ("<Delete ", &["Files=\""])];
    ELEMENTS.iter().flat_map(move |(element, keys)| {
        let calls = text.split(element).skip(1).filter_map(|rest| rest.split_once('>').map(|(call, _)| call));
        calls.flat_map(move |call| keys.iter().filter_map(move |key| call.split_once(key)?.1.split('"').next()))
    })
}

/// Maven: `<executable>rm</executable>` and the arguments after it.
fn join_elements(text: &str, program: &str, argument: &str) -> Vec<String> {
    let content = |rest: &str| rest.split('<').next().unwrap_or_default().trim().to_owned();
    let calls = text.split(program).skip(1);
    let words = calls.map(|rest| {
        let arguments = rest.split(argument).skip(1).map(content);
        std::iter::once(content(rest)).chain(arguments).collect::<Vec<_>>().join(" ")
    });
    words.collect()
}

/// Whether one of the few lines before has this key.
fn is_after(lines: &[&str], at: usize, key: &str) -> bool {
    lines.get(at.saturating_sub(2)..at).is_some_and(|before| before.iter().any(|line| line.contains(key)))
}

fn trim_value(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}
