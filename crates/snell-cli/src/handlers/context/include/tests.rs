use super::*;

fn sample_base(project_path: Option<&'static str>) -> IncludeBase<'static> {
    IncludeBase { project: Path::new("/home/os"), project_path, home: Some(Path::new("/home/me")) }
}

/// The file that an entry names, and where its wildcards begin if it has any.
fn resolve_to_strings(entry: &str, project_path: Option<&'static str>) -> Option<(String, Option<String>)> {
    let named = resolve_entry(entry, &sample_base(project_path))?;
    let shown = |path: PathBuf| path.to_str().unwrap().to_owned();
    Some((shown(named.literal), named.pattern.map(|pattern| shown(pattern.start))))
}

#[test]
fn an_entry_begins_in_the_project_unless_it_says_otherwise() {
    let cases = [
        ("Desktop/identity.md", None, Some(("/home/os/Desktop/identity.md", None))),
        ("./a.md", None, Some(("/home/os/./a.md", None))),
        ("/etc/motd", None, Some(("/etc/motd", None))),
        ("~/notes/a.md", None, Some(("/home/me/notes/a.md", None))),
        ("~me/a.md", None, Some(("/home/os/~me/a.md", None))),
        ("docs/*.md", None, Some(("/home/os/docs/*.md", Some("/home/os/docs")))),
        ("~//*.md", None, Some(("/home/me/*.md", Some("/home/me")))),
        ("//srv//*/a.md", None, Some(("/srv//*/a.md", Some("/srv")))),
        // An escaped wildcard is none, and neither is a bracket without its end.
        (r"a\*.md", None, Some((r"/home/os/a\*.md", None))),
        ("a[b.md", None, Some(("/home/os/a[b.md", None))),
    ];
    for (entry, project_path, expected) in cases {
        let expected =
            expected.map(|(literal, start): (&str, Option<&str>)| (literal.into(), start.map(str::to_owned)));
        assert_eq!(resolve_to_strings(entry, project_path), expected, "{entry}");
    }
}

#[test]
fn the_path_of_the_project_it_is_about_stands_for_itself() {
    let cases = [
        ("${PROJECT_PATH}/CLAUDE.md", None, None),
        ("${PROJECT_PATH}/CLAUDE.md", Some("/srv/a"), Some(("/srv/a/CLAUDE.md", None))),
        ("${PROJECT_PATH}/CLAUDE.md", Some("/srv/a/"), Some(("/srv/a//CLAUDE.md", None))),
        ("${PROJECT_PATH}/CLAUDE.md", Some("apps/a"), Some(("/home/os/apps/a/CLAUDE.md", None))),
        ("x/${PROJECT_PATH}.md", Some("a"), Some(("/home/os/x/a.md", None))),
        ("${PROJECT_PATH}/${PROJECT_PATH}", Some("a"), Some(("/home/os/a/a", None))),
        ("${PROJECT_PATH}/*.md", Some("/srv/[a]*"), Some(("/srv/[a]*/*.md", Some("/srv/[a]*")))),
        ("${PROJECT_PATH}/**/S.md", Some("/a\\b"), Some(("/a\\b/**/S.md", Some("/a\\b")))),
        ("$PROJECT_PATH/a.md", Some("/srv"), Some(("/home/os/$PROJECT_PATH/a.md", None))),
    ];
    for (entry, project_path, expected) in cases {
        let expected =
            expected.map(|(literal, start): (&str, Option<&str>)| (literal.into(), start.map(str::to_owned)));
        assert_eq!(resolve_to_strings(entry, project_path), expected, "{entry} with {project_path:?}");
    }
}

#[test]
fn a_variable_that_stands_for_nothing_is_found() {
    let cases = [
        ("a.md", None),
        ("${PROJECT_PATH}/a.md", None),
        ("${PROJECT_PATH}/${PROJECT_PATH}", None),
        ("$HOME/a.md", None),
        ("{HOME}/a.md", None),
        ("${HOME", None),
        ("${HOME}/a.md", Some("HOME")),
        ("${PROJECT_PATH}/${USER}.md", Some("USER")),
        ("x/${project_path}/a.md", Some("project_path")),
        ("${PROJECT_PATH:-x}/a.md", Some("PROJECT_PATH:-x")),
        ("${}", Some("")),
    ];
    for (entry, expected) in cases {
        assert_eq!(find_unknown_variable(entry), expected, "{entry}");
    }
}

#[test]
fn a_part_fits_names_in_its_own_directory() {
    let cases = [
        ("*", "a.md", true),
        ("*", ".a.md", false),
        ("?a", ".a", false),
        ("[.]a", ".a", false),
        (".*", ".a.md", true),
        (".a", ".a", true),
        (r"\.*", ".a", true),
        ("*.md", "a.md", true),
        ("*.md", "a.txt", false),
        ("*.md", "A.MD", false),
        ("a**b", "a1b", true),
        ("[ab]?", "b1", true),
        ("[!ab]?", "b1", false),
        ("**", "a", true),
        ("**", ".git", false),
        ("**", "node_modules", false),
        ("*", "node_modules", true),
    ];
    for (part, name, expected) in cases {
        assert_eq!(PathPatternPart::parse(part).matches_name(name), expected, "{part} on {name}");
    }
}

#[test]
fn several_deep_parts_in_a_row_are_one_and_the_last_part_names_files() {
    let parts = |entry: &str| resolve_entry(entry, &sample_base(None)).unwrap().pattern.unwrap().parts;
    assert_eq!(parts("**/**/**/*.md"), parts("**/*.md"));
    assert_eq!(parts("a/**"), parts("a/**/*"));
}
