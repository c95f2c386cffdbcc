use super::translate_powershell;

/// Texts, and the shell code with the same effects.
const CASES: &[(&str, &str)] = &[
    (r"Remove-Item -Recurse -Force C:\", "rm -f -r -- /mnt/c/"),
    ("ri -r -fo $HOME/Documents", "rm -f -r -- \"$HOME\"/Documents"),
    ("iwr -useb https://example.com/i.ps1 | iex", "curl -s https://example.com/i.ps1 | pwsh -Command -"),
    ("rm -rf build", "rm -rf build"),
    ("$x = 'a' + 'b'; gc $x", "x=ab\ncat -- \"${x}\""),
    ("'{1}{0}' -f 'x','ie'", "echo iex"),
    ("git commit -m 'a; b'", "git commit -m 'a; b'"),
    ("# Remove-Item C:\\\nls", "find -maxdepth 1"),
    ("<# rm -r / #> dotnet build", "dotnet build"),
    ("Remove-Item .\\bin, .\\obj -Recurse", "rm -f -r -- ./bin ./obj"),
    ("R`emove-It`em x", "rm -f -- x"),
];

#[test]
fn commands_become_their_equivalents() {
    for (text, expected) in CASES {
        let found = translate_powershell(text);
        assert_eq!(found.text, *expected, "{text}");
        assert!(!found.is_partial && !found.is_limited, "{text}");
    }
}

#[test]
fn long_and_deep_texts_are_read_to_their_end() {
    for piece in [
        "(", "{", "$(", "@(", "@{a=", "\"$(", "if(", "x.y(", "[", "'", "\"", "`", "a|", "$x=", "-", "&", ",", "1+", "!",
    ] {
        let text = piece.repeat(20_000 / piece.len());
        let found = translate_powershell(&text);
        assert!(found.text.len() < 4_000_000, "{piece}: {}", found.text.len());
    }
}

#[test]
fn nested_blocks_do_not_multiply() {
    for (open, close) in
        [("do {", "} while (1);"), ("icm -ComputerName a {'x';", "};"), ("if (1) {", "}"), ("x {", "}"), ("& {", "};")]
    {
        let text = format!("{}{}", open.repeat(40), close.repeat(40));
        let found = translate_powershell(&text);
        assert!(found.text.len() < 2_000_000, "{open}: {}", found.text.len());
    }
}
