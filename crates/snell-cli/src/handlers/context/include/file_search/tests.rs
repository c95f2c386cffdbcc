use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;
use crate::handlers::context::include::{IncludeBase, resolve_entry};

/// A directory with these files; a name with ` -> ` is a link.
fn create_tree(files: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        let (name, target) = file.split_once(" -> ").map_or((*file, None), |(name, to)| (name, Some(to)));
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, "").unwrap(),
        }
    }
    directory
}

fn parse_pattern(entry: &str, project: &Path) -> IncludePattern {
    let around = IncludeBase { project, project_path: None, home: None };
    resolve_entry(entry, &around).unwrap().pattern.unwrap()
}

fn find_relative_paths(entry: &str, project: &Path, search: &mut FileSearch) -> Vec<String> {
    let files = search.find_files(&parse_pattern(entry, project)).into_iter();
    files.map(|file| file.strip_prefix(project).unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_pattern_finds_files_sorted_by_their_paths() {
    let tree = create_tree(&[
        "b.md",
        "a.md",
        ".hidden.md",
        "a.txt",
        "docs/SPEC.md",
        "docs/deep/er/SPEC.md",
        "docs/.git/SPEC.md",
        ".engine/SPEC.md",
        ".engine/sub/SPEC.md",
        "node_modules/x/SPEC.md",
        "directory.md/inner.md",
        "elsewhere -> docs/deep",
        "link.md -> a.md",
        "gone.md -> nothing",
        "circle.md -> circle.md",
    ]);
    let cases: &[(&str, &[&str])] = &[
        ("*.md", &["a.md", "b.md", "circle.md", "link.md"]),
        (".*.md", &[".hidden.md"]),
        ("*", &["a.md", "a.txt", "b.md", "circle.md", "link.md"]),
        ("?.md", &["a.md", "b.md"]),
        ("[b-z].md", &["b.md"]),
        ("**/SPEC.md", &["docs/SPEC.md", "docs/deep/er/SPEC.md"]),
        ("docs/**/SPEC.md", &["docs/SPEC.md", "docs/deep/er/SPEC.md"]),
        ("**/deep/**/SPEC.md", &["docs/deep/er/SPEC.md"]),
        ("docs/**", &["docs/SPEC.md", "docs/deep/er/SPEC.md"]),
        (".engine/**/SPEC.md", &[".engine/SPEC.md", ".engine/sub/SPEC.md"]),
        (".*/SPEC.md", &[".engine/SPEC.md"]),
        // What a pattern names it gets, also what `**` passes over.
        ("docs/.git/*.md", &["docs/.git/SPEC.md"]),
        ("node_modules/**/*.md", &["node_modules/x/SPEC.md"]),
        ("*/x/SPEC.md", &["node_modules/x/SPEC.md"]),
        // `*` goes through links to directories; `**` does not.
        ("*/er/SPEC.md", &["elsewhere/er/SPEC.md"]),
        ("else*/**/SPEC.md", &["elsewhere/er/SPEC.md"]),
        ("*/../a.md", &["directory.md/../a.md", "docs/../a.md", "elsewhere/../a.md", "node_modules/../a.md"]),
        ("*.md/*", &["directory.md/inner.md"]),
        ("nothing/**/*.md", &[]),
        ("a.md/*", &[]),
        ("*/nothing.md", &[]),
    ];
    for (entry, expected) in cases {
        let mut search = FileSearch::default();
        let mut expected = expected.to_vec();
        // Behind a link, `..` is somewhere else.
        expected.retain(|path| tree.path().join(path).symlink_metadata().is_ok());
        assert_eq!(find_relative_paths(entry, tree.path(), &mut search), expected, "{entry}");
        assert!(search.bounds.is_empty() && search.unreadable.is_empty(), "{entry}: {search:?}");
    }
}

#[test]
fn a_search_ends_at_its_bounds_and_says_so() {
    let tree = create_tree(&["a/b/c/d.md", "a/b.md", "x1.md", "x2.md", "x3.md"]);
    let cases: &[(&str, usize, usize, &[SearchBound], usize)] = &[
        ("**/*.md", 20, 64, &[], 5),
        ("**/*.md", 8, 3, &[], 5),
        ("**/*.md", 20, 2, &[SearchBound::Depth], 4),
        ("**/*.md", 20, 0, &[SearchBound::Depth], 3),
        ("**/*.md", 4, 64, &[SearchBound::Names], 3),
        ("x*.md", 4, 64, &[], 3),
        ("x*.md", 0, 64, &[SearchBound::Names], 0),
    ];
    for (entry, names, deepest, bounds, files) in cases {
        let mut search = FileSearch::with_limits(*names, *deepest);
        let found = find_relative_paths(entry, tree.path(), &mut search);
        assert_eq!((search.bounds.as_slice(), found.len()), (*bounds, *files), "{entry}: {found:?}");
    }
}

#[test]
fn all_entries_together_have_one_bound() {
    let tree = create_tree(&["a.md", "b.md"]);
    let mut search = FileSearch::with_limits(3, 64);
    assert_eq!(find_relative_paths("*.md", tree.path(), &mut search), ["a.md", "b.md"]);
    assert_eq!(find_relative_paths("*.md", tree.path(), &mut search).len(), 1);
    assert_eq!(search.bounds, [SearchBound::Names]);
}

/// What a pattern means, without regard to how files are found.
fn matches_path(parts: &[&str], path: &[&str]) -> bool {
    match (parts, path) {
        ([], rest) => rest.is_empty(),
        (["**"], _) => matches_path(&["**", "*"], path),
        (["**", rest @ ..], [first, others @ ..]) => {
            let enters = !first.starts_with('.') && *first != "node_modules" && !others.is_empty();
            matches_path(rest, path) || (enters && matches_path(parts, others))
        }
        ([part, rest @ ..], [first, others @ ..]) => matches_part(part, first) && matches_path(rest, others),
        (_, []) => false,
    }
}

fn matches_part(part: &str, name: &str) -> bool {
    fn matches_bytes(part: &[u8], name: &[u8]) -> bool {
        match (part, name) {
            ([], _) => name.is_empty(),
            ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| matches_bytes(rest, &name[skipped..])),
            ([b'?', rest @ ..], [_, others @ ..]) => matches_bytes(rest, others),
            ([letter, rest @ ..], [other, others @ ..]) => letter == other && matches_bytes(rest, others),
            _ => false,
        }
    }
    (part.starts_with('.') || !name.starts_with('.')) && matches_bytes(part.as_bytes(), name.as_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_search_finds_what_the_pattern_means(
        files in proptest::collection::btree_set(
            proptest::collection::vec(proptest::sample::select(vec!["a", "b", "ab", ".h", "node_modules", "x.md"]), 1..5),
            0..14,
        ),
        parts in proptest::collection::vec(
            proptest::sample::select(vec!["*", "**", "a", "?", "a*", ".*", "x.md", "*.md", "node_modules"]),
            1..5,
        ),
    ) {
        let tree = tempfile::tempdir().unwrap();
        let mut kept: Vec<Vec<&str>> = Vec::new();
        for file in files {
            // A name is a file or a directory, not both.
            let path = tree.path().join(file.join("/"));
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
                fs::write(path, "").unwrap();
                kept.push(file);
            }
        }
        let entry = parts.join("/");
        prop_assume!(parts.iter().any(|part| part.contains(['*', '?'])));
        let mut expected: Vec<_> = kept
            .iter()
            .filter(|path| matches_path(&parts, path))
            .map(|path| tree.path().join(path.join("/")))
            .collect();
        expected.sort();
        let found = FileSearch::default().find_files(&parse_pattern(&entry, tree.path()));
        prop_assert_eq!(found, expected, "{}", entry);
    }
}
