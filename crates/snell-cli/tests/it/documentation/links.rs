//! Links within the repository, and the lists of pages.

use std::collections::BTreeSet;

use snell_test_support::files::find_repository_root;

use super::{DocumentationPage, read_pages};
use crate::support::CliSandbox;

/// Where the links of a page lead, without those in code and those to other places than this repository.
fn list_links(page: &DocumentationPage) -> Vec<String> {
    let mut found = Vec::new();
    for line in iter_prose_lines(&page.text) {
        let line = strip_code(line);
        for part in line.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// The lines of a page that are no code.
fn iter_prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// A line without what stands between backquotes.
fn strip_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The anchors of a page: its headings as GitHub and others name them.
fn list_anchors(text: &str) -> BTreeSet<String> {
    iter_prose_lines(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn every_link_and_every_anchor_leads_somewhere() {
    let mut looked_at = 0;
    for page in read_pages() {
        let place = find_repository_root().join(&page.name);
        for link in list_links(&page) {
            looked_at += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => place.clone(),
                file => place.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: {link} leads nowhere", page.name);
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).unwrap();
                assert!(list_anchors(&text).contains(anchor), "{}: {link} has no such heading", page.name);
            }
        }
    }
    assert!(looked_at > 100, "only {looked_at} links were found");
}

#[test]
fn an_anchor_is_made_as_readers_of_markdown_make_it() {
    let text = "# The page\n```\n# no heading\n```\n## `on_failure` and \"why\"\n### Two ways, one end\n";
    let expected = ["the-page", "on_failure-and-why", "two-ways-one-end"];
    assert_eq!(list_anchors(text), expected.map(str::to_owned).into());
}

#[test]
fn every_page_of_docs_is_listed_in_the_index_and_shown_by_the_binary() {
    let sandbox = CliSandbox::new();
    let topics = sandbox.run_snell(&["docs"], "").stdout;
    let pages = read_pages();
    let list_links_of = |name: &str| list_links(pages.iter().find(|page| page.name == name).unwrap());
    assert!(list_links_of("README.md").contains(&"docs/README.md".to_owned()), "README.md does not link the index");
    let listed = list_links_of("docs/README.md");
    for page in &pages {
        let Some(file) = page.name.strip_prefix("docs/").filter(|file| *file != "README.md") else {
            continue;
        };
        assert!(listed.iter().any(|link| link == file), "docs/README.md does not list {file}");
        let topic = file.rsplit('/').next().unwrap().strip_suffix(".md").unwrap();
        let shown = topics.lines().any(|line| line.split_whitespace().next() == Some(topic));
        assert!(shown, "`snell docs` does not list {topic}");
    }
}
