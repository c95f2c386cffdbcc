//! Commands that grow during the analysis.

use super::MEBIBYTE;

pub(super) type GrowingCommand = (&'static str, fn() -> String);

/// Commands that grow during the analysis.
pub(super) const GROWN: &[GrowingCommand] = &[
    ("10 000 here-documents on one line", || {
        let bodies = repeat_numbered(10_000, |i| format!("x $y\nM{i}\n"));
        format!("cat{}\n{bodies}", repeat_numbered(10_000, |i| format!(" <<M{i}")))
    }),
    ("10 000 here-documents below each other", || repeat_numbered(10_000, |i| format!("cat <<M{i}\nx $y\nM{i}\n"))),
    ("10 000 here-documents to shells", || repeat_numbered(10_000, |i| format!("sh <<M{i}\nrm x{i}\nM{i}\n"))),
    ("500 000 operands", || format!("rm{}", " a".repeat(500_000))),
    ("150 000 operands that are different", || format!("rm {}", repeat_numbered(150_000, |i| format!("a{i} ")))),
    ("100 000 operands outside", || format!("rm -rf{}", " ~/a/b".repeat(100_000))),
    ("100 000 patterns", || format!("rm -rf{}", " ~/*/?[a]".repeat(100_000))),
    ("100 000 options", || format!("rm{}", " --recursive".repeat(80_000))),
    ("one cluster of options", || format!("rm -{} /", "rf".repeat(500_000))),
    ("80 000 outputs of a program that nobody knows", || format!("some-tool{}", " --output a/b".repeat(80_000))),
    ("25 000 tokens for their owner", || {
        let token = " ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        format!("curl https://api.github.com/user{}", token.repeat(25_000))
    }),
    ("listings that are deleted", || "rm $(ls -d a/*);".repeat(60_000)),
    ("a listing through many pipes", || format!("rm -rf $(ls{})", " | sort".repeat(100_000))),
    ("searches whose files are deleted", || "rm $(grep -rl snell ~);".repeat(40_000)),
    ("a search in 200 000 directories", || format!("rm $(grep -rl snell{})", " ~".repeat(200_000))),
    ("a search through many pipes", || format!("grep -rl snell ~{} | xargs rm", " | sort".repeat(100_000))),
    ("40 000 links, and what is written behind them", || {
        repeat_numbered(20_000, |i| format!("ln -s ~/.claude l{i};"))
            + &repeat_numbered(20_000, |i| format!("echo > l{i}/a;"))
    }),
    ("links that lead to each other", || {
        repeat_numbered(20_000, |i| format!("ln -s l{} l{i};", i + 1)) + &"echo > l0/a;".repeat(20_000)
    }),
    ("copies that run", || repeat_numbered(20_000, |i| format!("cp rm c{i};./c{i} -rf a;"))),
    ("100 000 variables", || repeat_numbered(100_000, |i| format!("x{i}=a;"))),
    ("50 000 variables, then their uses", || {
        repeat_numbered(50_000, |i| format!("x{i}=a;")) + &repeat_numbered(50_000, |i| format!("$x{i};"))
    }),
    ("assignments that take over each other", || {
        "x0=rm;".to_owned() + &repeat_numbered(50_000, |i| format!("x{}=$x{i};", i + 1)) + "$x50000 -rf /"
    }),
    ("variables that name each other", || {
        repeat_numbered(40_000, |i| format!("declare -n n{}=n{i};", i + 1)) + "$n40000"
    }),
    ("doubling", || format!("x=aa;{}$x", "x=$x$x;".repeat(10_000))),
    ("doubling of arrays", || format!("x=(a b);{}rm ${{x[@]}}", "x=(\"${x[@]}\" \"${x[@]}\");".repeat(10_000))),
    ("doubling of arguments", || format!("set -- a b;{}rm \"$@\"", "set -- \"$@\" \"$@\";".repeat(10_000))),
    ("doubling by eval", || format!("x='eval \"$x$x\"';{}", "eval \"$x\";".repeat(10_000))),
    ("doubling by functions", || {
        "f0() { rm a; };".to_owned()
            + &repeat_numbered(20_000, |i| format!("f{}() {{ f{i}; f{i}; }};", i + 1))
            + "f20000"
    }),
    ("functions that call each other", || {
        repeat_numbered(20_000, |i| format!("f{i}() {{ f{}; f{}; }};", (i + 1) % 20_000, (i * 7) % 20_000)) + "f0"
    }),
    ("functions that redefine each other", || "f() { g() { f; }; g; };".repeat(20_000) + "f"),
    ("functions in pipes", || "f() { f|f; };f|f|f;".repeat(20_000)),
    ("aliases of aliases", || {
        "shopt -s expand_aliases\n".to_owned()
            + &repeat_numbered(30_000, |i| format!("alias a{}='a{i} x'\n", i + 1))
            + "a30000"
    }),
    ("traps on traps", || "trap 'trap \"rm a\" EXIT' EXIT;".repeat(20_000)),
    ("lists side by side", || format!("rm {}", "{a,b}".repeat(200_000))),
    ("lists within each other", || format!("rm {}x{}", "{a,{b,".repeat(10_000), "}}".repeat(10_000))),
    ("one list with 300 000 alternatives", || format!("rm {{{}b}}", "a,".repeat(300_000))),
    ("ranges side by side", || format!("rm {}", "{1..99}".repeat(100_000))),
    ("numbers", || format!("echo $(({}1))", "1+".repeat(500_000))),
    ("numbers in brackets", || format!("echo $(({}1{}))", "(".repeat(400_000), ")".repeat(400_000))),
    ("powers", || format!("echo $((2{}))", "**2".repeat(300_000))),
    ("choices of numbers", || format!("echo $((1{}))", "?1:1".repeat(200_000))),
    ("numbers that count", || format!("x=1;{}", "((x=x*x+x));".repeat(80_000))),
    ("comparisons", || format!("[[ {} ]]", "a = b && ".repeat(100_000))),
    ("one comparison with a long pattern", || {
        format!("x={};[[ $x == {} ]] && rm -rf /", "ab".repeat(4_000), "*a".repeat(200_000))
    }),
    ("replacing in a long text", || format!("x={};{}", "ab".repeat(100_000), "y=${x//a*b/c};".repeat(30_000))),
    ("a case with 100 000 branches", || {
        format!("case $x in {} esac", repeat_numbered(60_000, |i| format!("a{i}) b;;")))
    }),
    ("a case whose branches set variables", || {
        format!("case $x in {} esac; rm $y", repeat_numbered(40_000, |i| format!("a{i}) y=b{i};;")))
    }),
    ("a pipeline of 100 000", || format!("a{}", "|b".repeat(300_000))),
    ("a pipeline of texts", || format!("echo rm{}|sh", "|cat".repeat(200_000))),
    ("a pipeline of filters", || format!("echo rm -rf{}|sh", "|tr a b|rev".repeat(80_000))),
    ("pipes into shells", || "echo 'rm a'|sh|sh;".repeat(40_000)),
    ("decoding again and again", || format!("echo cm0K{}|sh", "|base64|base64 -d".repeat(50_000))),
    ("substitutions side by side", || format!("rm {}", "$(echo a)".repeat(100_000))),
    ("a long text through substitutions", || format!("x={};{}", "a".repeat(200_000), "y=$(echo $x);".repeat(40_000))),
    ("eval of a long text", || format!("x='{}';{}", "rm a;".repeat(40_000), "eval \"$x\";".repeat(20_000))),
    ("eval of eval", || (0..11).fold("rm a".to_owned(), |text, _| format!("eval '{}'", text.replace('\'', r"'\''")))),
    ("bash -c of bash -c", || {
        (0..9).fold("rm a".to_owned(), |text, _| {
            let text = format!("bash -c '{}'", text.replace('\'', r"'\''"));
            format!("{text};{text}")
        })
    }),
    ("loops in loops", || {
        let open = repeat_numbered(60, |i| format!("for i{i} in 1 2 3 4 5 6 7 8;do "));
        format!("{open}rm $i0$i59;{}", "done;".repeat(60))
    }),
    ("a loop over 300 000 words", || format!("for x in {};do rm $x;done", "a ".repeat(300_000))),
    ("a loop over lines", || format!("while read x;do rm \"$x\";done <<'E'\n{}E", "a b\n".repeat(200_000))),
    ("a loop that collects", || format!("for x in {};do y=$y$x$x;done;rm $y", "a ".repeat(300_000))),
    ("branches that collect", || "if a;then x=$x$y;else y=$x$y;fi;".repeat(30_000) + "rm $x $y"),
    ("changes of directory", || "a&&cd b||cd c;".repeat(60_000) + "rm -rf *"),
    ("a long way up", || format!("cd /{};rm -rf *", "../".repeat(300_000))),
    ("a long way down", || format!("rm -rf /{}", "a/".repeat(500_000))),
    ("a long way down and up", || format!("rm -rf /{}{}", "a/".repeat(100_000), "../".repeat(100_000))),
    ("files that are written and run", || repeat_numbered(25_000, |i| format!("echo rm a>f{i};sh f{i};"))),
    ("one file that is written again and again", || "echo rm a>>f;".repeat(60_000) + "sh f"),
    ("a file that is read into itself", || {
        format!("echo a>f;{}", format!("cat {}>>f;", "f ".repeat(30)).repeat(1_000))
    }),
    ("a file in branches", || repeat_numbered(20_000, |i| format!("a&&echo b{i}>>f;c||echo d{i}>f;"))),
    ("a file that is printed again and again", || {
        format!("echo {}>f;x=$(cat {})", "a".repeat(200_000), "f ".repeat(200_000))
    }),
    ("a long text joined", || format!("x={};a=({});y=\"${{a[*]}}\"", "b".repeat(200_000), "$x ".repeat(1_000))),
    ("descriptors", || "exec 3>a 4>&3 5<&4;echo b>&5;".repeat(30_000)),
    ("xargs with many words", || format!("echo {}|xargs -n1 rm -rf", "~ ".repeat(400_000))),
    ("xargs that replaces", || format!("echo {}|xargs -I{{}} rm {}", "a".repeat(400_000), "{}".repeat(100_000))),
    ("find with many expressions", || format!("find ~ {} -delete", "-name a -o ".repeat(80_000))),
    ("find with many programs", || format!("find . {}", "-exec rm {} + ".repeat(60_000))),
    ("parallel", || format!("parallel rm ::: {}", "a ".repeat(400_000))),
    ("git with many settings", || format!("git {} log", "-c alias.x='!rm a' ".repeat(40_000))),
    ("sql", || format!("psql -c '{}'", "drop table a;".repeat(70_000))),
    ("sql with comments within each other", || format!("psql -c '{}'", "/* ".repeat(300_000))),
    ("awk", || format!("awk 'BEGIN {{ {} }}'", "system(\"rm a\");".repeat(60_000))),
    ("sed", || format!("sed '{}' f", "s/a/rm b/e;".repeat(80_000))),
    ("a message that mentions much", || format!("git commit -m '{}'", "sudo rm -rf / && $(kill 1) ".repeat(38_000))),
    ("16 mebibytes of ;", || ";".repeat(16 * MEBIBYTE)),
    ("more than is looked at", || "a;".repeat(9 * MEBIBYTE)),
];

/// Numbered lines.
fn repeat_numbered(count: usize, line: fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}
