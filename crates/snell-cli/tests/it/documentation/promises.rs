//! The page about security names the test that proves each promise; each of them is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use snell_test_support::files::find_repository_root;

use super::{list_directories, list_files_ending};

/// The page on which promises stand, each with its proof.
const PAGE: &str = "SECURITY.md";

/// A test by its path: where its module stands, and what it is called.
type TestPath = (String, String);

/// Every test of the workspace: `crate::module::module`, and its name.
fn list_tests() -> BTreeSet<TestPath> {
    let mut found = BTreeSet::new();
    for package in list_directories(&find_repository_root().join("crates")) {
        let name = package.file_name().unwrap().to_str().unwrap().to_owned();
        for (place, prefix) in
            [("src", name.clone()), ("tests/it", name.clone()), ("tests/browser", format!("{name}::browser"))]
        {
            collect_tests(&package.join(place), &prefix, &mut found);
        }
    }
    found
}

/// The tests in a directory of modules, and below it.
fn collect_tests(place: &Path, module: &str, found: &mut BTreeSet<TestPath>) {
    if !place.is_dir() {
        return;
    }
    for file in list_files_ending(place, ".rs") {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let module = match name {
            "mod" | "main" | "lib" => module.to_owned(),
            name => format!("{module}::{name}"),
        };
        let text = fs::read_to_string(&file).unwrap();
        found.extend(list_test_names(&text).map(|test| (module.clone(), test)));
    }
    for directory in list_directories(place) {
        let name = directory.file_name().unwrap().to_str().unwrap();
        collect_tests(&directory, &format!("{module}::{name}"), found);
    }
}

/// The functions of a source that stand below an attribute that makes them tests.
fn list_test_names(text: &str) -> impl Iterator<Item = String> {
    let mut marked = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        marked |= line == "#[test]" || line.starts_with("#[tokio::test");
        let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
        let is_test = std::mem::take(&mut marked);
        is_test.then(|| rest.split('(').next().unwrap_or_default().to_owned())
    })
}

/// What stands in backquotes in the last column of the rows of tables, and looks like the path of a test.
fn list_claimed_tests(page: &str) -> Vec<TestPath> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let proofs = rows.filter_map(|row| row.trim_end_matches('|').rsplit_once('|').map(|(_, proof)| proof));
    let quoted = proofs.flat_map(|proof| proof.split('`').skip(1).step_by(2));
    quoted
        .filter_map(|path| path.rsplit_once("::"))
        .map(|(module, name)| (module.to_owned(), name.to_owned()))
        .collect()
}

#[test]
fn every_test_that_proves_a_promise_is_there() {
    let page = fs::read_to_string(find_repository_root().join(PAGE)).unwrap();
    let tests = list_tests();
    let claimed = list_claimed_tests(&page);
    assert!(claimed.len() > 20, "only {} tests are named in {PAGE}", claimed.len());
    let missing: Vec<_> = claimed.iter().filter(|claim| !tests.contains(claim)).collect();
    assert!(missing.is_empty(), "{PAGE} names tests that are not there: {missing:#?}");
}

/// A promise without a proof is a wish.
#[test]
fn every_promise_names_a_test() {
    let page = fs::read_to_string(find_repository_root().join(PAGE)).unwrap();
    let (_, promises) = page.split_once("\n## Promises\n").expect("the section is there");
    let promises = promises.split("\n## ").next().unwrap();
    let rows = promises.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    for row in rows {
        assert!(!list_claimed_tests(row).is_empty(), "no test is named: {row}");
    }
}

#[test]
fn a_test_is_found_by_its_module_and_its_name_and_nothing_else_is_one() {
    let text = "#[test]\nfn one() {\n}\nfn helper() {}\n/// Why.\n#[tokio::test(flavor = \"x\")]\nasync fn two() {}\n";
    assert_eq!(list_test_names(text).collect::<Vec<_>>(), ["one", "two"]);
    let here = ("snell-cli::documentation::promises".to_owned(), "every_promise_names_a_test".to_owned());
    assert!(list_tests().contains(&here));
    let claims = list_claimed_tests("| a `b` | `x::y::z`, `v::w` |\n|---|---|\ntext `n::o`\n");
    assert_eq!(claims, [("x::y", "z"), ("v", "w")].map(|(a, b)| (a.to_owned(), b.to_owned())));
}
