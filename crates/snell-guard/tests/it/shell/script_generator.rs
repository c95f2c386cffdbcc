//! Random scripts with shell constructs around the words of a command. The only programs in them are stubs and a few
//! that read and print; they have no paths, except for empty directories.

/// Makes scripts.
pub(super) struct ScriptGenerator {
    state: u64,
    depth: usize,
    functions: usize,
    /// Whether something in the script may or may not run.
    pub(super) branches: bool,
}

const VARIABLES: &[&str] = &["a", "b", "c"];
const LITERALS: &[&str] = &["x", "yy", "a.b.c", "x/y", "-n", "1", "42", "key=v", "x,y", "A", "_", "bab"];

impl ScriptGenerator {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, depth: 0, functions: 0, branches: false }
    }

    fn random_below(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap_or_default() % count
    }

    fn pick_one<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.random_below(items.len())]
    }

    /// A whole script: every variable has a value before it is used.
    pub(super) fn script(&mut self) -> String {
        let mut text = String::new();
        for name in VARIABLES {
            let word = self.literal();
            text += &format!("{name}={word}; ");
        }
        text += "l=(p 'q r' s)\n";
        text + &self.statements()
    }

    fn statements(&mut self) -> String {
        let count = 1 + self.random_below(4);
        let lines: Vec<String> = (0..count).map(|_| self.statement()).collect();
        lines.join("\n") + "\n"
    }

    fn nested_statements(&mut self) -> String {
        self.depth += 1;
        let text = self.statements();
        self.depth -= 1;
        text
    }

    fn statement(&mut self) -> String {
        let kinds = if self.depth >= 3 { 12 } else { 40 };
        let variable = self.pick_one(VARIABLES);
        match self.random_below(kinds) {
            0..=3 => self.call(),
            4 => format!("{variable}={}", self.word()),
            5 => format!("{variable}+={}", self.literal()),
            6 => format!("l=({})", self.words()),
            7 => format!("set -- {}", self.words()),
            8 => format!("read -r {variable} c <<< {}", self.word()),
            9 => format!("printf -v {variable} '%s-%s' {} {}", self.literal(), self.literal()),
            10 => format!("export {variable}={}", self.word()),
            11 => format!("cd {}", self.pick_one(&["~", "~/../work/d1", ".", "\"$HOME\"/../work/d2", "~/../work"])),
            12 => self.function(),
            13 => format!("for {variable} in {}; do\n{}done", self.words(), self.nested_statements()),
            14 => format!("( {})", self.nested_statements()),
            15 => format!("{{ {}}}", self.nested_statements()),
            16 => format!("takes <<E\n{}\nE", self.line()),
            17 => format!("takes <<'E'\n{}\nE", self.line()),
            18 => format!("takes <<< {}", self.word()),
            19 => format!("echo {} | takes", self.words()),
            20 => format!("echo {} | xargs one", self.plain_words()),
            21 => format!(
                "printf '%s\\n' {} | while read -r {variable}; do one \"${variable}\"; done",
                self.plain_words()
            ),
            22 => format!("eval {}", quote_word(&self.nested_statements())),
            23 => format!("export a b c; sh -c {} {}", quote_word(&self.without_lists()), self.plain_words()),
            24 => format!("env {variable}={} two {}", self.literal(), self.words()),
            25 => self.branch(),
            26 => "for ((i = 0; i < 3; i++)); do one $i ${l[i]}; done".to_owned(),
            27 => format!(
                "{variable}={} ; echo {} | sh",
                self.literal(),
                quote_word(&format!("two {}", self.plain_words()))
            ),
            28 => format!("echo {} | xargs -I% two %-{}", self.literal(), self.pick_one(&["x", "%"])),
            29 => format!("nice -n 1 nohup timeout 9 one {}", self.words()),
            30 => format!("time two {}; ! one {}", self.words(), self.words()),
            31 => format!("takes < <(echo {})", self.words()),
            32 => format!("export a b c; sh <<'E'\n{}\nE", self.without_lists()),
            33 => format!("export a b c; sh <<< {}", quote_word(&self.without_lists())),
            34 => format!("env -S {}", quote_word(&format!("one {}", self.plain_words()))),
            35 => format!("(exec two {})", self.words()),
            36 => format!("\\one \\\n  'x'\"$a\"$'\\x62' {} # one never", self.words()),
            37 => format!("{{one,{},{}}}", self.literal().replace(',', ""), self.pick_one(&["x", "\"$b\""])),
            38 => format!("w=(two {}); \"${{w[@]}}\"", self.words()),
            _ => format!("command one {}; exec 3>&1; builtin echo {} | takes", self.words(), self.words()),
        }
    }

    fn branch(&mut self) -> String {
        self.branches = true;
        match self.random_below(4) {
            0 => format!(
                "if [[ -n {} ]]; then\n{}else\n{}fi",
                self.quoted_word(),
                self.nested_statements(),
                self.nested_statements()
            ),
            1 => format!("one && {}", self.call()),
            2 => format!("case {} in x) {};; *) {};; esac", self.quoted_word(), self.call(), self.call()),
            _ => format!("false || {}", self.call()),
        }
    }

    fn function(&mut self) -> String {
        self.functions += 1;
        let name = format!("f{}", self.functions);
        let body = self.nested_statements();
        let local = self.pick_one(&["", "local a=inner\n", "local b\nb=$1\n", "shift\n"]);
        format!("{name}() {{\n{local}{body}}}\n{name} {}", self.words())
    }

    fn call(&mut self) -> String {
        format!("{} {}", self.pick_one(&["one", "two", "$(echo one)"]), self.words())
    }

    /// Statements for another shell, which has no lists.
    fn without_lists(&mut self) -> String {
        let lines: Vec<String> = (0..2).map(|_| format!("one {}", self.exported_words())).collect();
        lines.join("\n")
    }

    fn exported_words(&mut self) -> String {
        let words = ["$a", "\"$b\"", "${c%.*}", "$1", "\"$@\"", "x", "$#", "$0"];
        (0..3).map(|_| self.pick_one(&words)).collect::<Vec<_>>().join(" ")
    }

    fn words(&mut self) -> String {
        let count = self.random_below(4);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn plain_words(&mut self) -> String {
        let count = 1 + self.random_below(3);
        (0..count).map(|_| self.literal()).collect::<Vec<_>>().join(" ")
    }

    fn literal(&mut self) -> String {
        self.pick_one(LITERALS).to_owned()
    }

    fn quoted_word(&mut self) -> String {
        format!("\"{}\"", self.inner())
    }

    fn line(&mut self) -> String {
        format!("{} {}", self.inner(), self.inner())
    }

    fn word(&mut self) -> String {
        let count = 1 + self.random_below(3);
        (0..count).map(|_| self.piece()).collect()
    }

    fn piece(&mut self) -> String {
        match self.random_below(12) {
            0..=2 => self.literal(),
            3 => self.pick_one(&["'s t'", "''", "\\ ", "$'t\\tu'", "'$a'", "\"\"", "\\$"]).to_owned(),
            4 => format!("\"{}\"", self.inner()),
            5 => self
                .pick_one(&["\"${l[@]}\"", "\"$@\"", "${l[*]}", "\"${l[*]}\"", "$*", "${l[@]:1}", "\"${@:2}\""])
                .to_owned(),
            6 => self.pick_one(&["{x,y}", "{1..3}", "{c..a}", "{x,}"]).to_owned(),
            7 => self.substitution(),
            _ => self.parameter(),
        }
    }

    /// Text for double quotes.
    fn inner(&mut self) -> String {
        match self.random_below(5) {
            0 => "m n".to_owned(),
            1 => self.substitution(),
            2 => self.literal(),
            _ => self.parameter(),
        }
    }

    fn parameter(&mut self) -> String {
        let v = self.pick_one(VARIABLES);
        match self.random_below(22) {
            0..=5 => format!("${{{v}}}"),
            6 => format!("${{{v}%.*}}"),
            7 => format!("${{{v}%%[./]*}}"),
            8 => format!("${{{v}#*b}}"),
            9 => format!("${{{v}##*[.b]}}"),
            10 => format!("${{{v}/b/zz}}"),
            11 => format!("${{{v}//[ab]/-}}"),
            12 => format!("${{#{v}}}"),
            13 => format!("${{{v}:1:2}}"),
            14 => format!("${{{v}: -1}}"),
            15 => format!("${{{v}^^}}"),
            16 => format!("${{{v}:-def}}"),
            17 => format!("${{{v}:+alt}}"),
            18 => "${l[1]}".to_owned(),
            19 => self.pick_one(&["${#l[@]}", "$#", "${l[-1]}", "${1:-none}"]).to_owned(),
            20 => self
                .pick_one(&["$((2 + 3 * 4))", "$((${#a} * 2))", "$((7 % 4 == 3 ? 10 : 20))", "$((1 << 3))"])
                .to_owned(),
            _ => self.pick_one(&["$1", "${2}", "${PWD##*/}"]).to_owned(),
        }
    }

    fn substitution(&mut self) -> String {
        let literal = self.literal();
        let v = self.pick_one(VARIABLES);
        match self.random_below(10) {
            0 => format!("$(echo {literal} ${v})"),
            1 => format!("`echo {literal}`"),
            2 => format!("$(printf '%s|%3s' {literal} z)"),
            3 => format!("$(echo {literal} | tr a-z b-za)"),
            4 => format!("$(echo {literal}x | rev)"),
            5 => format!("$(basename {literal}) "),
            6 => format!("$(dirname {literal})"),
            7 => "$(seq 2)".to_owned(),
            8 => format!("$(echo {literal} | cut -c1)"),
            _ => "$(echo cSBy | base64 -d)".to_owned(),
        }
    }
}

/// A text in single quotes.
fn quote_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
