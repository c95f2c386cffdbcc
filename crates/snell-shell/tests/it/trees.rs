//! The rules of bash's manual: a text, and its tree.

use snell_shell::parse;

use crate::tree_text::format_tree;

/// A text has this tree, and no problems.
fn assert_trees(table: &[(&str, &str)]) {
    for (text, tree) in table {
        assert_eq!(&format_tree(&parse(text)), tree, "{text}");
    }
}

#[test]
fn lists_and_pipelines_hang_together_as_they_are_written() {
    assert_trees(&[
        ("", ""),
        (" \t\n\n", ""),
        ("a; b", "[a] [b]"),
        ("a\n\nb\n", "[a] [b]"),
        ("a & b &", "(& [a]) (& [b])"),
        ("a && b || c; d", "[a] && [b] || [c] [d]"),
        ("a &&\n\n b ||\nc", "[a] && [b] || [c]"),
        ("a | b |\nc", "(pipe [a] [b] [c])"),
        ("a |& b", "(pipe [a 2>&1] [b])"),
        ("a 2>x |& b", "(pipe [a 2>x 2>&1] [b])"),
        ("! a | b", "(! (pipe [a] [b]))"),
        ("! ! a", "[a]"),
        ("! ;a", "(! (pipe )) [a]"),
        ("time -p a | b", "(time (pipe [a] [b]))"),
        ("time -- a", "(time [a])"),
        ("time -x", "(time [-x])"),
        ("! time ! a && time", "(time [a]) && (time (pipe ))"),
        ("a | time b", "(pipe [a] [time b])"),
        ("a &\\\n& b", "[a] && [b]"),
    ]);
}

#[test]
fn comments_begin_where_a_word_could() {
    assert_trees(&[
        ("# a", ""),
        ("a # b; c\nd", "[a] [d]"),
        ("a;#b", "[a]"),
        ("a#b", "[a#b]"),
        ("a \\# b", "[a '#' b]"),
        ("(#a)\nb)", "(subshell [b])"),
        ("a && #c\nb", "[a] && [b]"),
        ("a # b \\\nc", "[a] [c]"),
        ("a=(1 #2)\n3)", "[a=(1 3)]"),
        ("echo $(#a)\nb)", "[echo $([b])]"),
    ]);
}

#[test]
fn words_are_reserved_only_where_a_command_begins() {
    assert_trees(&[
        ("echo if then fi { } ! [[", "[echo if then fi { } ! [[]"),
        ("\\if a", "['i'f a]"),
        ("'if' a", "['if' a]"),
        ("a=1 if", "[a=1 if]"),
        (">x if", "[if >x]"),
        ("i\\\nf a; then b; fi", "(if [a] then [b])"),
        ("{(a);}", "(group (subshell [a]))"),
        ("{a,b}", "[{a | b}]"),
        ("!(a)", "(! (subshell [a]))"),
        ("!a", "[!a]"),
        ("! if a; then b; fi", "(! (if [a] then [b]))"),
        ("if ! a; then ! { b; }; fi", "(if (! [a]) then (! (group [b])))"),
        ("a && { b; } | (c)", "[a] && (pipe (group [b]) (subshell [c]))"),
        ("if<(a)", "[if<([a])]"),
        ("ifs", "[ifs]"),
    ]);
}

#[test]
fn compound_commands_have_their_parts() {
    assert_trees(&[
        ("(a; b)", "(subshell [a] [b])"),
        ("{ a; } >x 2>&1", "(group [a] >x 2>&1)"),
        ("if a; b; then c; elif d; then e; else f; fi", "(if [a] [b] then [c] [d] then [e] else [f])"),
        ("while a; do b; done <x", "(while [a] do [b] <x)"),
        ("until a\ndo b\ndone", "(until [a] do [b])"),
        ("for x in a 'b c' $d; do e; done", "(for x in a 'b c' $d do [e])"),
        ("for x; do a; done", "(for x do [a])"),
        ("for x do a; done", "(for x do [a])"),
        ("for x in; do a; done", "(for x in  do [a])"),
        ("for x\nin a\ndo b\ndone", "(for x in a do [b])"),
        ("for x in a; { b; }", "(for x in a do [b])"),
        ("for ((i=0; i<$n; i++)); do a; done", "(for (('i=0; i<'\"$n\"'; i++')) do [a])"),
        ("for ((;;)) { a; }", "(for ((';;')) do [a])"),
        ("select x in a b; do c; done", "(select x in a b do [c])"),
        ("case $x in a) b;; (c|d*) e;& f) ;;& *) g; esac", "(case $x (a: [b]) (c d*: [e]) (f: ) (*: [g]))"),
        ("case x in esac", "(case x )"),
        ("case x\nin\na) ;;\nesac", "(case x (a: ))"),
        ("case if in if) a;; (esac) b;; esac", "(case if (if: [a]) (esac: [b]))"),
    ]);
}

#[test]
fn functions_and_coprocesses_come_in_all_spellings() {
    assert_trees(&[
        ("f() { a; }", "(function f (group [a]))"),
        ("f ( )\n\n(a)", "(function f (subshell [a]))"),
        ("f() { a; } >x", "(function f (group [a] >x))"),
        ("function f { a; }", "(function f (group [a]))"),
        ("function f()\n{ a; }", "(function f (group [a]))"),
        ("function f-g ( a )", "(function f-g (subshell [a]))"),
        ("function f ((1))", "(function f (arithmetic '1'))"),
        ("function if { a; }", "(function if (group [a]))"),
        ("f() [[ a ]]", "(function f (test a))"),
        ("f@() { a; }", "(function f@ (group [a]))"),
        (":(){ :|:& };:", "(function : (group (& (pipe [:] [:])))) [:]"),
        ("coproc a b", "(coproc [a b])"),
        ("coproc N { a; }", "(coproc (group [a]))"),
        ("coproc N (a)", "(coproc (subshell [a]))"),
        ("coproc { a; }", "(coproc (group [a]))"),
        ("coproc N", "(coproc [N])"),
        ("coproc time a", "(coproc [time a])"),
        ("coproc x=1 a", "(coproc [x=1 a])"),
    ]);
}

#[test]
fn conditions_are_words_in_which_expansions_run() {
    assert_trees(&[
        ("[[ -f $x ]]", "(test -f $x)"),
        ("[[ a && ( b || ! -n $(c) ) ]]", "(test a && ( b || ! -n $([c]) ))"),
        ("[[ a == b* ]]>x", "(test a == b* >x)"),
        ("[[ a < b ]]", "(test a < b)"),
        ("[[ $x == @(a|b) ]]", "(test $x == @(a|b))"),
        ("[[ $x =~ ^(a|b c)+$ ]] && d", "(test $x =~ ^(a|b c)+$) && [d]"),
        ("[[ a\t==\\\n b\n|| c ]]", "(test a == b || c)"),
        ("[[ \"]]\" ]]", "(test ']]')"),
        ("[[a ]]", "[[[a ]]]"),
    ]);
}

#[test]
fn two_parentheses_are_arithmetic_if_two_close_them() {
    assert_trees(&[
        ("((a + $(b)))", "(arithmetic 'a + '\"$([b])\")"),
        ("(( (1) ))", "(arithmetic ' (1) ')"),
        ("((a); b)", "(subshell (subshell [a]) [b])"),
        ("((a) )", "(subshell (subshell [a]))"),
        ("( (a))", "(subshell (subshell [a]))"),
        ("echo $((1+(2)))", "[echo $(('1+(2)'))]"),
        ("echo $((a); b)", "[echo $((subshell [a]) [b])]"),
        ("echo $( (a))", "[echo $((subshell [a]))]"),
        ("echo $((a) )", "[echo $((subshell [a]))]"),
        ("echo $[1 + a[2]]", "[echo $(('1 + a[2]'))]"),
        ("(( ')) ' ))", "(arithmetic ' ))  ')"),
    ]);
}

#[test]
fn quotes_are_gone_and_what_they_meant_is_kept() {
    assert_trees(&[
        (r"r\m 'a b'\''c' ''", r"[r'm' 'a b\'c' '']"),
        (r#""a\$\`\"\\\b$x""#, r#"['a$`\"\\\\b'"$x"]"#),
        ("\"a\\\nb\" c\\\nd 'e\\\nf'", r"['ab' cd 'e\\\nf']"),
        (r#"a"b"c''"#, "[a'b'c'']"),
        (r#"$"a" "$'b'""#, r"['a' '$\'b\'']"),
        (r"$'\a\b\e\E\f\n\r\t\v\\\'\?'", r"['\u{7}\u{8}\u{1b}\u{1b}\u{c}\n\r\t\u{b}\\\'?']"),
        (r"$'\101\x41\x{41}\u41\U1F600\cA\c?\8\q\x'", r"['AAAA😀\u{1}\u{7f}\\8\\q\\x']"),
        (r"$'a\0b'c", "['a'c]"),
        (r"$'\xc3\xa9'", "['é']"),
        ("a\\", r"[a'\\']"),
        ("a\r\nb", r"[a\r] [b]"),
        ("\u{feff}a", r"[\u{feff}a]"),
    ]);
}

#[test]
fn parameters_have_their_operations() {
    assert_trees(&[
        ("$x$1$10 $@ $$ $ $% \"$*\"", "[$x$1$10 $@ $$ $ $% \"$*\"]"),
        ("${x} ${10} ${#} ${#x} ${##} ${#-} ${#-x} ${!}", "[$x $10 $# ${#x} ${##} ${#-} ${#-x} $!]"),
        (
            "${x:-a} ${x-a} ${x:=a} ${x=a} ${x:+a} ${x+a} ${x:?a} ${x?a}",
            "[${x:-a} ${x-a} ${x:=a} ${x=a} ${x:+a} ${x+a} ${x:?a} ${x?a}]",
        ),
        ("${x#a*} ${x##a} ${x%a} ${x%%[ab]}", "[${x#a*} ${x##a} ${x%a} ${x%%[ab]}]"),
        (
            "${x/a/b} ${x//a} ${x/#a/b} ${x/%a/b} ${x//\\//_} ${x////_}",
            "[${x/ a / b} ${x// a / } ${x/# a / b} ${x/% a / b} ${x// '/' / _} ${x// / / _}]",
        ),
        ("${x:1} ${x:1:2} ${x: -1} ${x:a?b:c:d}", "[${x : '1'} ${x : '1' : '2'} ${x : ' -1'} ${x : 'a?b:c' : 'd'}]"),
        ("${x^} ${x^^a} ${x,} ${x,,} ${x@Q}", "[${x^} ${x^^a} ${x,} ${x,,} ${x@Q}]"),
        ("${!x} ${!x:-a} ${!x*} ${!x@} ${!#}", "[${!x} ${!x:-a} ${!x*} ${!x*} ${!#}]"),
        ("${a[0]} ${a[@]} ${#a[*]} ${!a[@]} ${a[$(b)]}", "[${a[0]} ${a[@]} ${#a[*]} ${!a[@]} ${a[$([b])]}]"),
        ("${x:-$(a \"${y:-`b`}\")}", "[${x:-$([a \"${y:-\"$([b])\"}\"])}]"),
        ("${x:-a}b} ${x:-{a,b}} ${x:-a  b} ${x:-~}", "[${x:-a}b} ${x:-{a,b}} ${x:-a  b} ${x:-(~)}]"),
        (r#""${x:-\}'a}'"b c"}" ${x:-'}'}"#, r#"["${x:-'}\'a}\'b c'}" ${x:-'}'}]"#),
        ("\"${x:-'$(a)'}\" \"${x#'*'}\"", r#"["${x:-'\''"$([a])"'\''}" "${x#'*'}"]"#),
        ("${ a; } ${| b; }", "[$([a]) $([b])]"),
    ]);
}

#[test]
fn substitutions_hold_scripts() {
    assert_trees(&[
        ("$(a | b) \"$(c \"d\")\" $()", "[$((pipe [a] [b])) \"$([c 'd'])\" $()]"),
        ("a <(b) >(c;d) x<(e)", "[a <([b]) >([c] [d]) x<([e])]"),
        ("$(<f)", "[$([<f])]"),
        ("$(case x in a) b;; esac)", "[$((case x (a: [b])))]"),
        ("`a b` \"`c \\\"d e\\\"`\" \"`f \"g h\"`\"", "[$([a b]) \"$([c 'd e'])\" \"$([f 'g h'])\"]"),
        (r"`a \`b \\\`c\\\`\``", "[$([a $([b $([c])])])]"),
        (r"`a \$x \\\\`", r"[$([a $x '\\'])]"),
        ("`a\nb # c`", "[$([a] [b])]"),
        ("``", "[$()]"),
    ]);
}

#[test]
fn redirections_stand_anywhere() {
    assert_trees(&[
        (">a b <c d 2>>e", "[b d >a <c 2>>e]"),
        ("a >|b <>c &>d &>>e >&f >&2 <&3 2>&- 2>&1-", "[a >|b <>c &>d &>>e &>f >&2 >&3 2>&- 2>&1-]"),
        ("a 2 >b 2>c", "[a 2 >b 2>c]"),
        ("{x}>a {y[1]}<b c", "[c {x}>a {y[1]}<b]"),
        ("{a,b}>c", "[{a | b} >c]"),
        ("a 99999999999>b", "[a 99999999999 >b]"),
        ("a 2>(b)", "[a 2>([b])]"),
        ("a <<<b\"c\"", "[a <<<b'c']"),
        ("exec 3<>/dev/tcp/h/1", "[exec 3<>/dev/tcp/h/1]"),
        ("a >& $x 2>&$y", "[a &>$x 2>&$y]"),
        (">a", "[>a]"),
        ("a 2>&1>b", "[a 2>&1 >b]"),
    ]);
}

#[test]
fn here_documents_stand_below() {
    assert_trees(&[
        ("a <<E; b\nx $y\nE\nc", "[a <<'x '\"$y\"'\\n'] [b] [c]"),
        ("a <<'E'\nx $y\nE", "[a <<'x $y\\n']"),
        ("a <<E\"\"\n$y\nE", "[a <<'$y\\n']"),
        ("a <<A <<B\n1\nA\n2\nB\nc", "[a <<'1\\n' <<'2\\n'] [c]"),
        ("a <<-E\n\t\tx\n\ty\n\tE\nb", "[a <<'x\\ny\\n'] [b]"),
        ("a <<E | b <<F\n1\nE\n2\nF", "(pipe [a <<'1\\n'] [b <<'2\\n'])"),
        ("a <<E && {\n1\nE\nb\n}", "[a <<'1\\n'] && (group [b])"),
        ("while a; do b; done <<E\n$(c)\nE", "(while [a] do [b] <<\"$([c])\"'\\n')"),
        ("a <<E\n\"$x\" '$y' \\$z \\\\ \\q\nE", "[a <<'\\\"'\"$x\"'\\\" \\''\"$y\"'\\' $z \\\\ \\\\q\\n']"),
        ("a <<E\nx\\\nE\nE", "[a <<'xE\\n']"),
        ("a <<E\nx\nE\\\n\nb", "[a <<'x\\n'] [b]"),
        ("a <<$x\n1\n$x\nb", "[a <<'1\\n'] [b]"),
        ("a <<''\n1\n\nb", "[a <<'1\\n'] [b]"),
        ("a $(b <<E\n1\nE\n) c", "[a $([b <<'1\\n']) c]"),
        ("a $(b <<E)\n1\nE\nc", "[a $([b <<'1\\n'])] [c]"),
        ("a <<E $(b\nc)\n1\nE", "[a $([b] [c]) <<'1\\n']"),
        ("a <<E \"\n\"\n1\nE", "[a '\\n' <<'1\\n']"),
        ("a <<E\n$(b <<F\n1\nF\n)\nE", "[a <<\"$([b <<'1\\n'])\"'\\n']"),
        ("`a <<E\n\\$x\nE`", "[$([a <<\"$x\"'\\n'])]"),
        ("a <<E\n`b`\nE", "[a <<\"$([b])\"'\\n']"),
    ]);
}

#[test]
fn assignments_stand_before_the_name() {
    assert_trees(&[
        ("a=1 b+=2 c", "[a=1 b+=2 c]"),
        ("a= b", "[a= b]"),
        ("a=1", "[a=1]"),
        ("env a=1 b", "[env a=1 b]"),
        ("a[0]=1 a[i + 1]+=2", "[a[0]=1 a[i + 1]+=2]"),
        ("a[0]b", "[a[0]b]"),
        ("1a=2 'a'=3", "[1a=2 'a'=3]"),
        ("a=(b 'c d'\n[2]=e [x y]=f $(g))", "[a=(b 'c d' [2]=e [x y]=f $([g]))]"),
        ("a+=(b)", "[a+=(b)]"),
        ("export a=(1 2) b=3 c", "[export a=(1 2) b=3 c]"),
        ("x=1 declare -A m=([a]=1)", "[x=1 declare -A m=([a]=1)]"),
        ("a=(b)$(c)", "[a=(b)$([c])]"),
        ("a=$(b) c=`d`", "[a=$([b]) c=$([d])]"),
    ]);
}

#[test]
fn braces_are_lists_where_bash_says_so() {
    assert_trees(&[
        ("{a,b}{c,d} x{1,2}y {,} {a,}", "[{a | b}{c | d} x{1 | 2}y { | } {a | }]"),
        ("{a} {} {a,b {a,b{c,d} {{a,b}", "[{a} {} {a,b {a,b{c | d} {{a | b}]"),
        ("{{a,b},c} {a,b}} a{},b} {},b} {a}b,c}", "[{{a | b} | c} {a | b}} a{} | b} {},b} {a}b | c}]"),
        ("{1..3} {a..c} {-1..2} {1..5..2} {01..03}", "[{1..3} {a..c} {-1..2} {1..5..2} {01..03}]"),
        ("x{1..a} x{a..} x{..b} x{1..3..} x{1..2..x}", "[x{1..a} x{a..} x{..b} x{1..3..} x{1..2..x}]"),
        ("{1..2,x} {a..{b,c}}", "[{1..2 | x} {a..{b | c}}]"),
        ("{'a,b'} {a','b} \\{a,b} {a,\"b,c\"} {a,b\\}c}", "[{'a,b'} {a','b} '{'a,b} {a | 'b,c'} {a | b'}'c}]"),
        ("{$x,`b`}", "[{$x | $([b])}]"),
        ("$x{a,b} ${x}{a,b}", "[$x{a | b} $x{a | b}]"),
        ("a={b,c} d", "[a={b,c} d]"),
        ("d a={b,c}", "[d a={b | c}]"),
        ("a >{b,c} <<<{d,e}", "[a >{b,c} <<<{d,e}]"),
        ("case {a,b} in {a,b}) ;; esac", "(case {a,b} ({a,b}: ))"),
        ("a=({b,c})", "[a=({b | c})]"),
    ]);
}

#[test]
fn tildes_are_homes_at_the_beginning_and_in_assignments() {
    assert_trees(&[
        ("~ ~/a ~b/c ~+ a~ :~ -~ ~:~", "[(~) (~)/a (~b)/c (~+) a~ :~ -~ (~):~]"),
        ("'~' \\~ ~'a' ~\"/\" ~$x ~:'a'", "['~' '~' ~'a' ~'/' ~$x ~:'a']"),
        ("a=~ b=~/x:~y/z:w~ c", "[a=(~) b=(~)/x:(~y)/z:w~ c]"),
        ("c a=~ a+=x:~ --a=~", "[c a=(~) a+=x:(~) --a=~]"),
        ("{~,~/a} ~{/,/a} {a,~}", "[{(~) | (~)/a} {(~)/ | (~)/a} {a | (~)}]"),
        ("c a=~/{b,c} ~{a,b}/c", "[c a=~/{b | c} {(~a)/c | (~b)/c}]"),
        ("{,a}~/b {,}~", "[{(~)/b | a~/b} {(~) | (~)}]"),
        ("a >~/b <~", "[a >(~)/b <(~)]"),
        ("\"~\" \"${x:-~}\"", "['~' \"${x:-'~'}\"]"),
    ]);
}

#[test]
fn unquoted_signs_are_patterns() {
    assert_trees(&[
        ("a* ?b [c]d [!e] '*' \\* \"?\"", "[a* ?b [c]d [!e] '*' '*' '?']"),
        ("[ a ] [a", "[[ a ] [a]"),
        ("[]a] [!]a] [[:alpha:]_] [a-z]", "[[]a] [!]a] [[:alpha:]_] [a-z]]"),
        ("/et[\"c\"] [\"a-b\"] [\\]]", "[/et[c] [a\\-b] [\\]]]"),
        ("@(a|b*) !(c) +(d|@(e)) ?(f) *(g h)", "[@(a|b*) !(c) +(d|@(e)) ?(f) *(g h)]"),
    ]);
}

#[test]
fn a_pattern_is_more_than_its_text() {
    use snell_shell::{ShellCommandKind, WordPart};
    let parsed = parse("a* [b]");
    let ShellCommandKind::Simple { words, .. } = &parsed.script.items[0].pipelines[0].1.commands[0].kind else {
        panic!("a simple command");
    };
    assert_eq!(words[0].parts[1], WordPart::Wildcard('*'));
    assert_eq!(words[1].parts[0], WordPart::Bracket("b".to_owned()));
}
