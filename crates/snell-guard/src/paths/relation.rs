//! How a path lies to a place: in it, or around it.

use super::glob;

/// How a path lies to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// It is the place, or lies in it.
    Within,
    /// The place lies in it.
    Holds,
}

/// How names may lie to a place. Its names may hold `*` and `?`, and one that is `**` stands for any number of names: what
/// follows it may be anywhere below, which does not make every directory there one that holds it.
pub(super) fn of(names: &[&str], place: &str) -> Option<Relation> {
    let mut wanted = place.split('/').filter(|name| !name.is_empty());
    // The machine as a whole is nobody's.
    wanted.clone().next()?;
    let mut at = 0;
    let mut back = None;
    loop {
        let Some(next) = wanted.next() else {
            return Some(Relation::Within);
        };
        if next == "**" {
            back = Some((wanted.clone(), at));
            continue;
        }
        match (names.get(at), &mut back) {
            (Some(name), _) if glob::may_be(name, next) => at += 1,
            (Some(_), Some((after, from))) => {
                *from += 1;
                (wanted, at) = (after.clone(), *from);
            }
            (None, None) => return Some(Relation::Holds),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::shape;

    #[test]
    fn a_path_lies_in_a_place_or_around_it() {
        let (within, holds) = (Some(Relation::Within), Some(Relation::Holds));
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
            assert_eq!(of(&shape::names(path), place), expected, "{path} and {place}");
        }
    }

    #[test]
    fn a_place_of_many_stars_costs_no_more_than_the_product() {
        let path = "/a".repeat(2000);
        let place = "/**/a".repeat(500) + "/b";
        assert_eq!(of(&shape::names(&path), &place), None);
    }
}
