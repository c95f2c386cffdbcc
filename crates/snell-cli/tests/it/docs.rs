//! `snell docs`: every page is there, is found, and can be read at a terminal.

use std::fs;
use std::path::PathBuf;

use snell_test_support::files::find_repository_root;
use snell_test_support::process::spawn_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use crate::support::CliSandbox;

/// The topics that are listed.
fn list_topics(sandbox: &CliSandbox) -> Vec<String> {
    let listed = sandbox.run_snell(&["docs"], "");
    assert_eq!(listed.code, 0);
    let topics = listed.stdout.lines().filter_map(|line| line.strip_prefix("  "));
    topics.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The files of a directory of the documentation that end like this.
fn list_docs_files(directory: &str, extension: &str) -> Vec<PathBuf> {
    let docs = find_repository_root().join("docs").join(directory);
    let entries = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[test]
fn every_file_of_the_documentation_is_a_topic() {
    let sandbox = CliSandbox::new();
    let topics = list_topics(&sandbox);
    let directories = ["", "guide", "reference", "internals"];
    let pages: Vec<_> = directories.into_iter().flat_map(|directory| list_docs_files(directory, "md")).collect();
    assert!(pages.len() > 20, "{pages:?}");
    for page in pages {
        let topic = page.file_stem().unwrap().to_str().unwrap();
        // The list of topics is the index.
        if topic == "README" {
            continue;
        }
        assert!(topics.iter().any(|listed| listed == topic), "{topic} is not listed");
        let shown = sandbox.run_snell(&["docs", topic], "");
        assert_eq!((shown.code, shown.stdout), (0, fs::read_to_string(&page).unwrap()), "{topic}");
    }
    let mut shown: Vec<_> = topics.iter().filter(|topic| topic.starts_with("schema-")).collect();
    shown.retain(|topic| {
        let shown = sandbox.run_snell(&["docs", topic], "").stdout;
        list_docs_files("schema", "json").iter().any(|file| fs::read_to_string(file).unwrap() == shown)
    });
    assert_eq!(shown.len(), list_docs_files("schema", "json").len());
}

#[test]
fn a_topic_is_found_by_its_beginning() {
    let sandbox = CliSandbox::new();
    for (word, begins) in [
        ("conf", "# Configuration"),
        ("gua", "# "),
        ("commands.md", "# Commands"),
        ("Events", "# Events"),
        ("schema-run", "{"),
    ] {
        let ran = sandbox.run_snell(&["docs", word], "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{word}");
        assert!(ran.stdout.starts_with(begins), "{word}: {}", &ran.stdout[..40]);
    }
    for (word, said) in [
        ("g", "error: several topics start with \"g\": guard, glossary"),
        ("comands", "error: unknown topic \"comands\"\nhint: did you mean \"commands\"?\n"),
        ("nonsense", "error: unknown topic \"nonsense\"\nhint: `snell docs` lists all topics, "),
    ] {
        let ran = sandbox.run_snell(&["docs", word], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{word}");
        assert!(ran.stderr.starts_with(said), "{word}: {}", ran.stderr);
        let search = format!("and `snell docs --search '{word}'` finds it\n");
        assert_eq!(ran.stderr.ends_with(&search), word == "nonsense", "{word}: {}", ran.stderr);
    }
}

#[test]
fn former_names_of_topics_still_work() {
    let sandbox = CliSandbox::new();
    for (former, now) in [
        ("getting-started", "start"),
        ("guest", "agents"),
        ("install", "use-agents"),
        ("memory", "records"),
        ("notify", "run-a-receiver"),
        ("page", "read-the-page"),
        ("running", "processes"),
        ("server", "http"),
    ] {
        let shown = sandbox.run_snell(&["docs", former], "");
        assert_eq!((shown.code, shown.stdout), (0, sandbox.run_snell(&["docs", now], "").stdout), "{former}");
    }
}

#[test]
fn words_are_found_on_all_pages_or_on_one() {
    let sandbox = CliSandbox::new();
    let everywhere = sandbox.run_snell(&["docs", "--search", "EXIT code"], "");
    assert_eq!(everywhere.code, 0);
    let lines: Vec<_> = everywhere.stdout.lines().collect();
    assert!(lines[0].starts_with("TOPIC") && lines.len() > 10, "{lines:?}");
    assert!(lines[1..].iter().all(|line| line.to_lowercase().contains("exit code")), "{lines:?}");
    let here = sandbox.run_snell(&["docs", "processes", "--search", "exit code"], "").stdout;
    let here: Vec<_> = here.lines().skip(1).map(|line| line.split_once("  ").unwrap().0).collect();
    assert!(!here.is_empty() && here.iter().all(|topic| *topic == "processes"), "{here:?}");
    // A schema is looked through by those who name it.
    let schema = sandbox.run_snell(&["docs", "schema-run", "--search", "leaked"], "");
    assert_eq!((schema.code, schema.stderr.as_str()), (0, ""));
    assert!(schema.stdout.contains("schema-run  line "), "{}", schema.stdout);
    let everywhere = sandbox.run_snell(&["docs", "--search", "leaked"], "").stdout;
    assert!(!everywhere.lines().any(|line| line.starts_with("schema-")), "{everywhere}");
    // What is looked for may look like an option.
    let option = sandbox.run_snell(&["docs", "--search", "--keep"], "");
    assert_eq!((option.code, option.stderr.as_str()), (0, ""));
    assert!(option.stdout.contains("--keep"), "{}", option.stdout);
    for (args, said) in [
        (&["--search", "xyzzy"][..], "error: cannot find \"xyzzy\" in the documentation"),
        (&["events", "--search", "xyzzy"], "error: cannot find \"xyzzy\" in events"),
        (&["--search", " "], "error: --search needs a text"),
        (&["--raw"], "error: "),
    ] {
        let ran = sandbox.run_snell(&[&["docs"], args].concat(), "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(ran.stderr.starts_with(said), "{args:?}: {ran:?}");
    }
}

/// What a terminal of 80 columns shows of `snell docs` with these arguments; nothing if there is no way to get one here.
fn run_docs_in_terminal(sandbox: &CliSandbox, args: &str, variables: &[(&str, &str)]) -> Option<String> {
    require_util_linux_script()?;
    let line = format!("exec script --quiet --return --command \"stty cols 80; exec $0 docs {args}\" /dev/null");
    let mut command = sandbox.shell(&line, &[]);
    command.env("TERM", "xterm").env("PAGER", "cat").envs(variables.iter().copied());
    let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
    assert!(output.status.success(), "{args}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[test]
fn the_list_of_topics_fits_on_a_terminal() {
    let sandbox = CliSandbox::new();
    let whole = sandbox.run_snell(&["docs"], "").stdout;
    for columns in [40, 80] {
        let Some(shown) = sandbox.run_in_terminal(columns, "docs") else {
            return;
        };
        for line in shown.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&shown), words(&whole), "{columns}");
    }
}

#[test]
fn every_page_is_set_for_a_terminal() {
    let sandbox = CliSandbox::new();
    for topic in list_topics(&sandbox).iter().filter(|topic| !topic.starts_with("schema-")) {
        let Some(shown) = run_docs_in_terminal(&sandbox, topic, &[("NO_COLOR", "1")]) else {
            return;
        };
        let is_code = |line: &&str| line.starts_with("      ");
        for line in shown.lines().filter(|line| !is_code(line)) {
            let without_code: String = line.split('`').step_by(2).collect();
            for mark in ["](", "**", "```", "|--"] {
                assert!(!without_code.contains(mark), "{topic}: {mark} in {line}");
            }
            // Words are not broken but in tables, which have gaps between their columns.
            let is_wide = line.chars().count() > 80;
            let is_table = line.trim_start().contains("  ");
            let longest = line.split_whitespace().map(|word| word.chars().count()).max();
            assert!(!is_wide || longest > Some(30) && !is_table, "{topic}: {line}");
        }
        assert!(!shown.contains('\u{1b}'), "{topic}");
    }
    let Some(coloured) = run_docs_in_terminal(&sandbox, "events", &[]) else {
        return;
    };
    assert!(coloured.starts_with("\u{1b}[1mEVENTS\u{1b}[0m\n"), "{coloured}");
    assert!(coloured.contains("\u{1b}[33mPreToolUse\u{1b}[0m"), "{coloured}");
    assert!(!coloured.contains("`PreToolUse`"), "{coloured}");
}

#[test]
fn a_page_is_shown_in_the_pager_that_its_reader_has() {
    let sandbox = CliSandbox::new();
    // The pager, and whether the terminal then shows the page.
    for (pager, is_shown) in
        [("cat > paged; true", false), ("", true), ("no-such-pager-anywhere", true), ("true", false)]
    {
        let Some(shown) = run_docs_in_terminal(&sandbox, "trust", &[("PAGER", pager)]) else {
            return;
        };
        assert_eq!(shown.contains("snell trust"), is_shown, "{pager}: {shown}");
    }
    assert!(sandbox.read("paged").contains("snell trust"));
    let raw = run_docs_in_terminal(&sandbox, "trust --raw", &[("PAGER", "false")]).unwrap();
    assert!(raw.starts_with("# ") && raw.contains("```"), "{raw}");
}
