//! Examples of the documentation: what is typed after `$ ` is typed, and what stands below it is what comes.

mod comparison;
mod hosts;
mod scenes;

use std::process::Stdio;

use snell_test_support::files::find_repository_root;
use snell_test_support::process::{CommandOutput, run_with_stdin};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::report_skipped;

use super::read_pages;
use crate::serve::start_server;
use crate::support::CliSandbox;
use comparison::{describe_difference, normalize_text};
use scenes::{ExampleScene, NOT_PLAYED, SCENES, SceneRequirement};

/// A line that is typed, and what comes of it.
struct ConsoleStep {
    typed: String,
    expected: Vec<String>,
}

/// An example: what stands in one block of a page.
struct ConsoleExample {
    page: String,
    /// The heading under which it stands.
    heading: String,
    steps: Vec<ConsoleStep>,
}

impl ConsoleExample {
    /// Whether there is a reason not to play it.
    fn is_excused(&self) -> bool {
        NOT_PLAYED.iter().any(|excuse| self.is_excused_by(excuse))
    }

    fn is_excused_by(&self, (page, begin, _): &(&str, &str, &str)) -> bool {
        self.page == *page && self.steps[0].typed.starts_with(begin)
    }
}

/// The blocks of a page that are written in this language.
pub fn list_code_blocks(text: &str, language: &str) -> Vec<String> {
    list_headed_blocks(text, language).map(|(_, block)| block).collect()
}

/// The same, each with the heading under which it stands.
pub(super) fn list_headed_blocks(text: &str, language: &str) -> impl Iterator<Item = (String, String)> {
    let open = format!("```{language}");
    let (mut heading, mut block) = (String::new(), None::<(bool, String)>);
    text.lines().filter_map(move |line| match (&mut block, line.starts_with("```")) {
        (None, true) => {
            block = Some((line == open, String::new()));
            None
        }
        (None, false) => {
            if line.starts_with('#') {
                line.trim_start_matches('#').trim().clone_into(&mut heading);
            }
            None
        }
        (Some(_), true) => {
            let (wanted, text) = block.take()?;
            wanted.then(|| (heading.clone(), text))
        }
        (Some((_, text)), false) => {
            *text += line;
            text.push('\n');
            None
        }
    })
}

fn read_examples() -> Vec<ConsoleExample> {
    let mut found = Vec::new();
    for page in read_pages() {
        found.extend(list_headed_blocks(&page.text, "console").map(|(heading, block)| ConsoleExample {
            page: page.name.clone(),
            heading,
            steps: parse_steps(&block),
        }));
    }
    found
}

fn parse_steps(block: &str) -> Vec<ConsoleStep> {
    let mut steps: Vec<ConsoleStep> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(typed), _) => steps.push(ConsoleStep { typed: typed.to_owned(), expected: Vec::new() }),
            (None, Some(step)) => step.expected.push(line.to_owned()),
            (None, None) => panic!("an example begins with what is typed: {block}"),
        }
    }
    steps
}

/// Between what comes of one line and of the next.
const MARK: &str = "\u{1}the end of a step\u{1}";

/// Types the lines of an example into one shell, and answers what came of each.
fn run_example(
    scene: &ExampleScene,
    sandbox: &CliSandbox,
    port: Option<u16>,
    example: &ConsoleExample,
) -> Vec<Vec<String>> {
    let mut script = String::new();
    for step in &example.steps {
        let typed = match port {
            Some(port) => step.typed.replace(":7433", &format!(":{port}")),
            None => step.typed.clone(),
        };
        script += &format!("{}\nprintf '%s\\n' '{MARK}'\n", scene.to_real_text(sandbox, &typed));
    }
    let mut command = sandbox.program("/bin/sh");
    if let Some(port) = port {
        command.env("SNELL_URL", format!("http://127.0.0.1:{port}"));
    }
    let output = command.args(["-c", &format!("exec 2>&1\n{script}")]).stdin(Stdio::null()).output().unwrap();
    let text = normalize_text(&scene.to_page_text(sandbox, port, &String::from_utf8(output.stdout).unwrap()));
    let mut parts: Vec<_> =
        text.split(&format!("{MARK}\n")).map(|part| part.lines().map(str::to_owned).collect()).collect();
    parts.truncate(example.steps.len());
    parts
}

/// Plays all examples of a scene, one after the other, and answers where something else came.
fn play_scene(scene: &ExampleScene, examples: &[&ConsoleExample]) -> Vec<String> {
    let mut differences = Vec::new();
    if let Some(missing) = scene.needs.iter().find_map(SceneRequirement::describe_missing) {
        report_skipped(&format!("{}: {missing}", scene.page));
        return differences;
    }
    let sandbox = scene.create_sandbox();
    let mut server: Option<ServeProcess> = None;
    for example in examples {
        if example.steps[0].typed == "snell serve" {
            let started = start_server(&sandbox, &["--addr", "127.0.0.1:0", "--log", "off"]);
            let line = format!("Snell listens on {}", started.url(""));
            let line = normalize_text(&scene.to_page_text(&sandbox, Some(started.port()), &line));
            differences.extend(describe_difference(&example.page, &example.steps[0], &[line]));
            server = Some(started);
            continue;
        }
        let port = server.as_ref().map(ServeProcess::port);
        let came = run_example(scene, &sandbox, port, example);
        let steps = example.steps.iter().zip(&came);
        differences.extend(steps.filter_map(|(step, came)| describe_difference(&example.page, step, came)));
    }
    differences
}

#[test]
fn every_example_is_as_it_is_written() {
    let examples = read_examples();
    let mut differences = Vec::new();
    for scene in SCENES {
        for heading in scene.under {
            let stands = |example: &ConsoleExample| example.page == scene.page && example.heading == *heading;
            assert!(examples.iter().any(stands), "{} has no example under {heading:?}", scene.page);
        }
        let its: Vec<_> = examples.iter().filter(|example| scene.contains_example(example)).collect();
        differences.extend(play_scene(scene, &its));
    }
    assert!(differences.is_empty(), "something else comes than is written:\n\n{}", differences.join("\n"));
}

/// What is not played says why, so that nothing is left out by accident.
#[test]
fn every_example_is_played_or_has_a_reason_not_to_be() {
    let examples = read_examples();
    let is_left_out = |example: &&ConsoleExample| {
        !example.is_excused() && !SCENES.iter().any(|scene| scene.contains_example(example))
    };
    let left_out = examples.iter().filter(is_left_out);
    let left_out: Vec<_> = left_out.map(|example| (&example.page, &example.steps[0].typed)).collect();
    assert!(left_out.is_empty(), "put them into a scene, or say why not: {left_out:#?}");
    for excuse in NOT_PLAYED {
        let is_needed = examples.iter().any(|example| example.is_excused_by(excuse));
        assert!(is_needed, "there is no such example any more: {excuse:?}");
    }
}

/// Runs lines of shell from a page as they are written, in which `snell` is the program.
fn run_lines(sandbox: &CliSandbox, lines: &str) -> CommandOutput {
    let line = format!("snell() {{ \"$0\" \"$@\"; }}\n{lines}");
    run_with_stdin(&mut sandbox.shell(&line, &[]), "")
}

/// The block of shell on a page that has these words in it.
fn find_shell_block(page: &str, words: &str) -> String {
    let page = std::fs::read_to_string(find_repository_root().join(page)).unwrap();
    let block = list_code_blocks(&page, "sh").into_iter().find(|block| block.contains(words));
    block.unwrap()
}

#[test]
fn what_the_guide_says_about_hosts_can_be_typed_as_it_is() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = run_lines(&sandbox, &find_shell_block("docs/guide/build-an-agent.md", "snell run PreToolUse --guard"));
    assert!(!ran.stderr.contains("snell:") && !ran.stderr.contains("event.json"), "{ran:?}");
    let verdicts: Vec<_> = ran.stdout.lines().filter(|line| line.starts_with("{\"event\"")).collect();
    assert_eq!(verdicts.len(), 2, "{ran:?}");
    assert!(verdicts[1].contains("\"decision\":\"block\""), "{}", verdicts[1]);
    assert!(sandbox.run_snell(&["log"], "").stdout.contains("PreToolUse"));
}

#[test]
fn what_is_said_about_completions_works_in_an_empty_home() {
    let sandbox = CliSandbox::new();
    let ran = run_lines(&sandbox, &find_shell_block("docs/reference/commands.md", "snell completions bash"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for file in
        [".local/share/bash-completion/completions/snell", ".zfunc/_snell", ".config/fish/completions/snell.fish"]
    {
        let script = std::fs::read_to_string(sandbox.home().join(file)).unwrap();
        assert!(script.contains("snell"), "{file}");
    }
}

/// The lines of the demo in the README come, in this order; it shows some of them, cut to a width, and numbers differ.
#[test]
fn the_demo_tells_what_the_readme_shows_of_it() {
    let sandbox = CliSandbox::new();
    let told = sandbox.run_snell(&["demo", "--fast", "--once"], "").stdout;
    let mut told = told.lines().map(comparison::zero_numbers);
    let readme = std::fs::read_to_string(find_repository_root().join("README.md")).unwrap();
    let block = list_code_blocks(&readme, "text").into_iter().find(|block| block.starts_with("Snell's page")).unwrap();
    for line in block.lines().map(comparison::zero_numbers) {
        let comes = told.any(|told| comparison::matches_line(&line, &told));
        assert!(comes, "the demo does not tell this, or not in this order: {line}");
    }
}
