//! The relation of a path to a place: inside it, or around it.

use super::glob;
use super::partial_path::split_names;

/// The relation of a path to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathRelation {
    /// It is the place, or inside it.
    Within,
    /// It contains the place.
    Holds,
}

/// The possible relation of a path to a place. The place may have `*` and `?`, and `**` for any number of names. A path
/// below `**` may be anywhere, but that does not make every directory there one that contains it.
pub(super) fn relate_path(path: &str, place: &str) -> Option<PathRelation> {
    match compare_texts(path, place) {
        TextComparison::Related(relation) => Some(relation),
        TextComparison::Unrelated => None,
        TextComparison::NeedsNames => relate_names(&split_names(path), place),
    }
}

/// The result of a comparison by text.
enum TextComparison {
    Related(PathRelation),
    Unrelated,
    /// A wildcard or an unusual slash decides.
    NeedsNames,
}

/// Compares a path with a place up to their first difference. Nearly all pairs differ before a wildcard, and a command
/// needs hundreds of such comparisons.
fn compare_texts(path: &str, place: &str) -> TextComparison {
    use TextComparison::{NeedsNames, Related, Unrelated};
    let (path, place) = (path.as_bytes(), place.as_bytes());
    let same = path.iter().zip(place).take_while(|(one, other)| one == other && !glob::is_wildcard(**one)).count();
    let (next, wanted) = (path.get(same), place.get(same));
    if [next, wanted].into_iter().flatten().any(|byte| glob::is_wildcard(*byte)) {
        return NeedsNames;
    }
    let is_after_name = same > 0 && !place.get(..same).is_some_and(|before| before.ends_with(b"/"));
    let is_before_name = place.get(same + 1).is_some_and(|byte| *byte != b'/' && !glob::is_wildcard(*byte));
    match (next, wanted) {
        (_, None | Some(b'/')) if !is_after_name => NeedsNames,
        (None | Some(b'/'), None) => Related(PathRelation::Within),
        (None, Some(b'/')) if is_before_name => Related(PathRelation::Holds),
        (None, Some(b'/')) => NeedsNames,
        (_, Some(_)) if same == 0 => NeedsNames,
        _ => Unrelated,
    }
}

fn relate_names(names: &[&str], place: &str) -> Option<PathRelation> {
    let mut wanted = place.split('/').filter(|name| !name.is_empty());
    // A place without names would be the whole machine.
    wanted.clone().next()?;
    let mut at = 0;
    let mut back = None;
    loop {
        let Some(next) = wanted.next() else {
            return (!leads_through_file(names, at, place)).then_some(PathRelation::Within);
        };
        if next == "**" {
            back = Some((wanted.clone(), at));
            continue;
        }
        match (names.get(at), &mut back) {
            (Some(name), _) if glob::can_match(name, next) => at += 1,
            (Some(_), Some((after, from))) => {
                *from += 1;
                (wanted, at) = (after.clone(), *from);
            }
            (None, None) => return Some(PathRelation::Holds),
            _ => return None,
        }
    }
}

/// Whether a pattern that matches the place goes on, although the place looks like a file: `*/build` is not in
/// `notes.txt`.
fn leads_through_file(names: &[&str], at: usize, place: &str) -> bool {
    let last = place.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_file = last.trim_start_matches('.').contains('.');
    let by_pattern = at.checked_sub(1).and_then(|before| names.get(before)).is_some_and(|name| !glob::is_literal(name));
    is_file && by_pattern && names.len() > at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_in_a_place_or_around_it() {
        let (within, holds) = (Some(PathRelation::Within), Some(PathRelation::Holds));
        for (path, place, expected) in [
            ("/a/b", "/a/b", within),
            ("/a/b/c/d", "/a/b", within),
            ("/a/b/c", "/a/b/", within),
            ("/a", "/a/b", holds),
            ("/", "/a/b", holds),
            ("/a/bc", "/a/b", None),
            ("/a/b", "/a/b/**", within),
            ("/a/b/c", "/a/b/**", within),
            ("/a", "/a/b/**", holds),
            ("/a/x/c", "/a/*/c", within),
            ("/a/x", "/a/*/c", holds),
            ("/a/xyz", "/a/x?z", within),
            ("/a/1/2/key", "/a/**/key", within),
            ("/a/key", "/a/**/key", within),
            ("/a/1/key/2", "/a/**/key", within),
            ("/a/1/2", "/a/**/key", None),
            ("/a", "/a/**/key", None),
            ("/a/1/x/2/y", "/a/**/x/**/y", within),
            ("/a/1/x/2/z", "/a/**/x/**/y", None),
            ("/anything", "/**", within),
            ("/a", "/", None),
            ("/a", "", None),
        ] {
            assert_eq!(relate_path(path.trim_end_matches('/'), place), expected, "{path} and {place}");
        }
    }

    #[test]
    fn the_comparison_by_text_agrees_with_the_names() {
        let texts = [
            "", "/", "a", "/a", "/b", "/a/", "/a/b", "/a//b", "/a/bc", "/a/*", "/a/b*", "/*/b", "/a/**", "/a/**/b",
            "/a/b/c", "/a/?/c",
        ];
        for path in texts.iter().filter(|text| text.is_empty() || !text.ends_with('/') && text.starts_with('/')) {
            for place in texts {
                if path.contains("//") {
                    continue;
                }
                assert_eq!(relate_path(path, place), relate_names(&split_names(path), place), "{path} and {place}");
            }
        }
    }

    #[test]
    fn a_place_of_many_stars_costs_no_more_than_the_product() {
        let path = "/a".repeat(2000);
        let place = "/**/a".repeat(500) + "/b";
        assert_eq!(relate_path(&path, &place), None);
    }
}
