//! Checks the variables in agents' settings. An agent starts hooks with them, so they reach Snell too, and a project's settings
//! can set any variable.

use snell::{SpannedMember, SpannedNode};

use super::subject::{InspectedSettingsFile, SettingsContent};
use super::{DoctorFinding, DoctorSubject, FindingLevel as Level, new_finding};
use crate::install::jsonc::{JsonPathStep, SettingsDocument};
use crate::output;

/// The key of the variables in a settings file.
const ENV_KEY: &str = "env";
/// A value is shown up to this width.
const MAX_SHOWN_CELLS: usize = 60;
const REMEDY: &str = "remove it, unless you set it yourself and know why";

/// Effects of variables on Snell: a level, a name or prefix, and the effect. The first match applies.
const EFFECTS: &str = include_str!("env_vars.txt");

fn find_effect(variable: &str) -> Option<(Level, &'static str)> {
    let fits = |name: &str| match name.strip_suffix('*') {
        Some(prefix) => variable.starts_with(prefix),
        None => variable == name,
    };
    EFFECTS.lines().find_map(|line| {
        let (level, rest) = line.split_once(' ')?;
        let (name, effect) = rest.trim_start().split_once(' ')?;
        fits(name).then_some((Level::from_label(level)?, effect.trim_start()))
    })
}

pub(super) fn check_environment(subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let files = subject.agents.iter().flat_map(|inspected| &inspected.files);
    files.flat_map(check_file_variables).collect()
}

fn check_file_variables(file: &InspectedSettingsFile) -> Vec<DoctorFinding> {
    let SettingsContent::Settings { document: Some(document), .. } = &file.content else {
        return Vec::new();
    };
    let variables = document.node_at(&[JsonPathStep::Key(ENV_KEY)]).and_then(SpannedNode::members);
    let variables = variables.unwrap_or_default().iter();
    variables.filter_map(|variable| check_variable(file, document, variable)).collect()
}

fn check_variable(
    file: &InspectedSettingsFile,
    document: &SettingsDocument,
    variable: &SpannedMember,
) -> Option<DoctorFinding> {
    let (usual_level, effect) = find_effect(&variable.key)?;
    let value = variable.node.text().unwrap_or_default();
    let is_set_here = std::env::var_os(&variable.key).is_some_and(|here| here == value);
    let level = if is_set_here { Level::Note } else { usual_level };
    let what = format!(
        "{}:{} ({}): \"env\" sets {} to \"{}\": {}",
        file.path.display(),
        document.line_number(&variable.node),
        file.scope.title(),
        variable.key,
        output::shorten_to_one_line(value, MAX_SHOWN_CELLS),
        effect
    );
    Some(DoctorFinding { remedy: level.needs_attention().then(|| REMEDY.to_owned()), ..new_finding(level, what) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::agents::SettingsScope;

    #[test]
    fn variables_that_reach_snell_are_found_where_they_are_set() {
        let text = r#"{
          "env": {
            "EDITOR": "vi",
            "SNELL_NOW": "x",
            "SNELL_FUTURE": "1",
            "DYLD_INSERT_LIBRARIES": "/x.dylib",
            "LD_TRACE_LOADED_OBJECTS": "1",
            "LD_SHOW_AUXV": "1",
            "LD_DEBUG": "help",
            "LD_BIND_NOW": "1",
            "GLIBC_TUNABLES": "x",
            "ENV": "/x.sh",
            "SNELL_SCRIBE": "off",
            "HOME": 7
          }
        }"#;
        let found =
            check_file_variables(&InspectedSettingsFile::with_content(SettingsScope::Project, "settings.json", text));
        let found: Vec<_> = found.iter().map(|one| (one.level, one.what.as_str())).collect();
        let expected = [
            (Level::Problem, "settings.json:4 (project): \"env\" sets SNELL_NOW to \"x\": "),
            (Level::Warning, "settings.json:5 (project): \"env\" sets SNELL_FUTURE to \"1\": "),
            (Level::Problem, "settings.json:6 (project): \"env\" sets DYLD_INSERT_LIBRARIES to "),
            (Level::Problem, "settings.json:7 (project): \"env\" sets LD_TRACE_LOADED_OBJECTS to "),
            (Level::Problem, "settings.json:8 (project): \"env\" sets LD_SHOW_AUXV to "),
            (Level::Problem, "settings.json:9 (project): \"env\" sets LD_DEBUG to "),
            (Level::Problem, "settings.json:10 (project): \"env\" sets LD_BIND_NOW to "),
            (Level::Problem, "settings.json:11 (project): \"env\" sets GLIBC_TUNABLES to "),
            (Level::Warning, "settings.json:12 (project): \"env\" sets ENV to "),
            (Level::Note, "settings.json:13 (project): \"env\" sets SNELL_SCRIBE to \"off\": "),
            (Level::Problem, "settings.json:14 (project): \"env\" sets HOME to \"\": "),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((level, what), (expected_level, beginning)) in found.into_iter().zip(expected) {
            assert!(level == expected_level && what.starts_with(beginning), "{level:?} {what}");
        }
    }
}
