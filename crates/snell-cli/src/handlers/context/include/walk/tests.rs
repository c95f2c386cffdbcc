use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;
use crate::handlers::context::include::{Around, named};

/// A directory with these files; a name with ` -> ` is a link.
fn tree(files: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        let (name, target) = file
            .split_once(" -> ")
            .map_or((*file, None), |(name, to)| (name, Some(to)));
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, "").unwrap(),
        }
    }
    directory
}

fn pattern(entry: &str, project: &Path) -> Pattern {
    let around = Around {
        project,
        project_path: None,
        home: None,
    };
    named(entry, &around).unwrap().pattern.unwrap()
}

fn found(entry: &str, project: &Path, search: &mut Search) -> Vec<String> {
    let files = search.files(&pattern(entry, project)).into_iter();
    files
        .map(|file| file.strip_prefix(project).unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_pattern_finds_files_sorted_by_their_paths() {
    let tree = tree(&[
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
        (
            "*/../a.md",
            &[
                "directory.md/../a.md",
                "docs/../a.md",
                "elsewhere/../a.md",
                "node_modules/../a.md",
            ],
        ),
        ("*.md/*", &["directory.md/inner.md"]),
        ("nothing/**/*.md", &[]),
        ("a.md/*", &[]),
        ("*/nothing.md", &[]),
    ];
    for (entry, expected) in cases {
        let mut search = Search::default();
        let mut expected = expected.to_vec();
        // Behind a link, `..` is somewhere else.
        expected.retain(|path| tree.path().join(path).symlink_metadata().is_ok());
        assert_eq!(found(entry, tree.path(), &mut search), expected, "{entry}");
        assert!(
            search.bounds.is_empty() && search.unreadable.is_empty(),
            "{entry}: {search:?}"
        );
    }
}

#[test]
fn a_search_ends_at_its_bounds_and_says_so() {
    let tree = tree(&["a/b/c/d.md", "a/b.md", "x1.md", "x2.md", "x3.md"]);
    let cases: &[(&str, usize, usize, &[Bound], usize)] = &[
        ("**/*.md", 20, 64, &[], 5),
        ("**/*.md", 8, 3, &[], 5),
        ("**/*.md", 20, 2, &[Bound::Depth], 4),
        ("**/*.md", 20, 0, &[Bound::Depth], 3),
        ("**/*.md", 4, 64, &[Bound::Names], 3),
        ("x*.md", 4, 64, &[], 3),
        ("x*.md", 0, 64, &[Bound::Names], 0),
    ];
    for (entry, names, deepest, bounds, files) in cases {
        let mut search = Search::within(*names, *deepest);
        let found = found(entry, tree.path(), &mut search);
        assert_eq!(
            (search.bounds.as_slice(), found.len()),
            (*bounds, *files),
            "{entry}: {found:?}"
        );
    }
}

#[test]
fn all_entries_together_have_one_bound() {
    let tree = tree(&["a.md", "b.md"]);
    let mut search = Search::within(3, 64);
    assert_eq!(found("*.md", tree.path(), &mut search), ["a.md", "b.md"]);
    assert_eq!(found("*.md", tree.path(), &mut search).len(), 1);
    assert_eq!(search.bounds, [Bound::Names]);
}

/// What a pattern means, without regard to how files are found.
fn means(parts: &[&str], path: &[&str]) -> bool {
    match (parts, path) {
        ([], rest) => rest.is_empty(),
        (["**"], _) => means(&["**", "*"], path),
        (["**", rest @ ..], [first, others @ ..]) => {
            let enters = !first.starts_with('.') && *first != "node_modules" && !others.is_empty();
            means(rest, path) || (enters && means(parts, others))
        }
        ([part, rest @ ..], [first, others @ ..]) => like(part, first) && means(rest, others),
        (_, []) => false,
    }
}

fn like(part: &str, name: &str) -> bool {
    fn letters(part: &[u8], name: &[u8]) -> bool {
        match (part, name) {
            ([], _) => name.is_empty(),
            ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| letters(rest, &name[skipped..])),
            ([b'?', rest @ ..], [_, others @ ..]) => letters(rest, others),
            ([letter, rest @ ..], [other, others @ ..]) => letter == other && letters(rest, others),
            _ => false,
        }
    }
    (part.starts_with('.') || !name.starts_with('.')) && letters(part.as_bytes(), name.as_bytes())
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
            .filter(|path| means(&parts, path))
            .map(|path| tree.path().join(path.join("/")))
            .collect();
        expected.sort();
        let found = Search::default().files(&pattern(&entry, tree.path()));
        prop_assert_eq!(found, expected, "{}", entry);
    }
}
