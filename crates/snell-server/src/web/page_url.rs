//! Addresses of the page.

use url::form_urlencoded::Serializer;

/// An address with parameters. Empty values are omitted.
pub(super) fn build_url<'a>(path: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded() {
        let cases = [
            (vec![], "/x"),
            (vec![("a", "")], "/x"),
            (vec![("a", "1"), ("b", ""), ("c", "2")], "/x?a=1&c=2"),
            (vec![("q", "a&b=c #d\"<ö")], "/x?q=a%26b%3Dc+%23d%22%3C%C3%B6"),
        ];
        for (parameters, expected) in cases {
            assert_eq!(build_url("/x", parameters), expected);
        }
    }
}
