//! What is to be known of `find`'s expressions, by whoever follows what it runs and by whoever judges what it deletes.

/// Tests of names: what they let through can be told from their pattern.
const NAME_TESTS: &[&str] = &["-name", "-iname"];

/// Other tests that pick something out, so that not everything is hit.
const OTHER_TESTS: &[&str] = &[
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-amin",
    "-cmin",
    "-newer",
    "-size",
    "-empty",
    "-user",
    "-perm",
    "-inum",
    "-links",
    "-lname",
    "-samefile",
    "-newermt",
];

/// Whether a word picks something out by more than its name.
pub(crate) fn is_find_filter_beyond_name(word: &str) -> bool {
    OTHER_TESTS.contains(&word)
}

/// Whether a word picks something out.
pub(crate) fn is_find_filter(word: &str) -> bool {
    NAME_TESTS.contains(&word) || is_find_filter_beyond_name(word)
}
