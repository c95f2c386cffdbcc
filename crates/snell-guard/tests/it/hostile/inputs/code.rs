//! Code of other languages.

/// Programs that take code, and how.
pub(super) const INLINE: &[(&str, &str)] =
    &[("python3", "-c"), ("node", "-e"), ("perl", "-e"), ("ruby", "-e"), ("php", "-r"), ("lua", "-e")];

/// Code, to be repeated. Most of it is of some language.
pub(super) const CODE: &[&str] = &[
    "a",
    "a;",
    "a\n",
    "a(b);\n",
    "a(",
    "a.b.",
    "a(\"b\" + ",
    "a = \"rm\"\n",
    "a = a + a\n",
    "a += \"b\"; ",
    "\"",
    "\\",
    "\"\"\"",
    "`",
    "`${",
    "f\"{",
    "[",
    "{",
    "(",
    "[a, b], ",
    "#\n",
    "/*",
    "//",
    "/a/ ",
    "import os; ",
    "os.system(\"rm a\")\n",
    "require(\"fs\").rmSync(\"a\"); ",
    "exec(\"",
    "%w(",
    "q{",
    "<<E\n",
    "$x = $x . \"a\"; ",
    "if a: \n",
    "def f(): f()\n",
    "\"#{",
    "open(\"a\", \"w\").write(\"b\")\n",
];
