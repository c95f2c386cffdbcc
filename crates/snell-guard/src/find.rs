//! What is to be known of `find`'s expressions, by whoever follows what it runs and by whoever judges what it deletes.

/// Tests of names: what they let through can be told from their pattern.
const NAMES: &[&str] = &["-name", "-iname"];

/// Other tests that pick something out, so that not everything is hit.
const OTHERS: &[&str] = &[
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
pub(crate) fn picks_beside_names(word: &str) -> bool {
    OTHERS.contains(&word)
}

/// Whether a word picks something out.
pub(crate) fn picks(word: &str) -> bool {
    NAMES.contains(&word) || picks_beside_names(word)
}
