"""Harmless command lines by the hundred, made from a grammar: pipes, lists, quotes, loops, functions, wrappers.

The same seed gives the same lines. They work on the files of a scratch folder, its sub-folder `dir`, and a folder
`../outside` beside it.
"""

import random
from collections.abc import Callable, Iterator

READABLE = ["a.txt", "b.txt", "dir/c.txt", "sp ace.txt", "./a.txt", "../outside/o.txt"]
WRITABLE = ["new.txt", "dir/new.txt", "out 1", "../outside/w.txt", "a.txt", "x{y}z"]
FOLDERS = ["dir", ".", "../outside", "dir/..", "dir/deep"]
TEXTS = ["hello", "two words", "it's", 'say "hi"', "a;b", "x|y", "$HOME", "`id`", "*", "#no", "-n", "a=b", "{p,q}", "~"]


def lines(count: int, seed: int) -> Iterator[str]:
    maker = Maker(random.Random(seed))
    for _ in range(count):
        yield maker.script()


class Maker:
    """Makes statements out of smaller ones; `depth` keeps them finite."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = 0

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def one_of(self, *makers: Callable[[], str]) -> str:
        return self.chance.choice(makers)()

    def script(self) -> str:
        separators = ["; ", " && ", " || ", "\n", " ; # note\n"]
        statements = [self.statement(3) for _ in range(self.chance.choice([1, 1, 1, 2, 2, 3]))]
        text = statements[0]
        for statement in statements[1:]:
            text += self.chance.choice(separators) + statement
        return text

    def statement(self, depth: int) -> str:
        if depth == 0 or self.chance.random() < 0.45:
            return self.redirected(self.simple(depth))
        return self.one_of(
            lambda: self.pipeline(depth - 1),
            lambda: f"{{ {self.statement(depth - 1)}\n}}",
            lambda: f"( {self.statement(depth - 1)} )",
            lambda: f"! {self.simple(depth - 1)}",
            lambda: f"if {self.simple(0)}; then {self.statement(depth - 1)}\nelse {self.statement(depth - 1)}\nfi",
            lambda: f"for v in {self.words()}; do {self.statement(depth - 1)}\ndone",
            lambda: f"for v in {self.words()}; do echo {self.use_of('v')}; done",
            lambda: f"i=0; while [ $i -lt 2 ]; do {self.statement(depth - 1)}\ni=$((i + 1)); done",
            lambda: (
                f"case {self.text()} in hello) {self.statement(depth - 1)} ;; *) {self.statement(depth - 1)} ;; esac"
            ),
            lambda: self.function(depth - 1),
            lambda: self.with_variable(depth - 1),
            lambda: f"cd {self.word(self.pick(*FOLDERS))} && {self.statement(depth - 1)}",
            lambda: f"cd {self.word(self.pick(*FOLDERS))}; {self.statement(depth - 1)}",
            lambda: f"pushd {self.word(self.pick(*FOLDERS))} && {self.statement(depth - 1)}",
            lambda: f"{self.statement(depth - 1)} &\nwait",
            lambda: self.document(depth - 1),
            self.tracked,
            self.tracked,
        )

    def tracked(self) -> str:
        """Scripts whose effect depends on where they are and what they have set by then."""
        target, other = self.writable(), self.writable()
        folder = self.word(self.pick(*FOLDERS))
        set_again = self.pick(
            f"v={other}",
            f"if [ -f a.txt ]; then v={other}; fi",
            f"[ -f none ] && v={other}",
            f"[ -f none ] || v={other}",
            f"(v={other})",
            f"v={other} true",
            f"while :; do v={other}; break; v=never; done",
            f"for n in 1 2; do v={other}; continue; v=never; done",
            f"f() {{ v={other}; return; v=never; }}; f",
            f"while read v; do :; done <<< {other}",
            f"if [ -f none ]; then v=() ; fi; until false; do v={other}; break; done",
            f"case x in x) v={other} ;& y) touch $v ;; esac",
            f"v={other} | true",
            f"true | v={other}",
            f"f() {{ v={other}; }}; f",
            f"f() {{ local v={other}; }}; f",
            f"for v in {other} {target}; do :; done",
            f"eval v={other}",
            f"eval 'v={other}'",
            f"read -r v <<< {other}",
            f"printf -v v '%s' {other}",
            f"while :; do v={other}; break; done",
            f"case a.txt in *.txt) v={other} ;; esac",
            f"v=$(echo {other})",
            f"declare v={other}",
            f"export v={other}; unset v; v={target}",
            f": ${{v:={other}}}",
            f"v+={other}",
            f"{{ v={other}; }} &\nwait",
            f". /dev/null; v={other}",
        )
        use = self.use_of("v")
        moved = self.pick(
            f"cd {folder}",
            f"cd {folder} && cd ..",
            f"cd {folder}; cd ..",
            f"cd none; cd {folder}",
            f"cd none || cd {folder}",
            f"cd none && cd {folder}",
            f"(cd {folder})",
            f"cd {folder} | true",
            f"true && cd {folder} || true",
            f"! cd {folder}",
            f"if cd {folder}; then :; else cd dir; fi",
            "for d in dir deep; do cd $d; done",
            "while cd dir 2> /dev/null; do break; done",
            f"f() {{ cd {folder}; }}; f",
            "f() { cd dir && return; cd ..; }; f",
            f"eval cd {folder}",
            f"set -e; cd {folder}",
            "set -e; f() { cd none; cd dir; }; f || true",
            f"command cd {folder}",
            f"if [ -f none ]; then cd() {{ :; }}; fi; cd {folder}",
            f"cd {folder} || {{ echo no; exit 1; }}",
            f"f() {{ cd {folder} || exit; }}; f",
            f"if ! cd {folder}; then exit; fi",
            f"until cd {folder}; do :; done",
            f"(cd none || exit); cd {folder}",
            f"env cd {folder}",
            f"pushd {folder}; popd",
            f"cd {folder} &\nwait",
            f'D={folder}; cd "$D"',
            f'cd "$PWD/"{folder}',
        )
        return self.pick(
            f"v={target}\n{set_again}\ntouch {use}",
            f'v={target}\n{set_again}\n> "$v"',
            f"v={target}\n{set_again}\ncp a.txt {use}",
            f"{moved}\ntouch {target}",
            f"{moved}\nrm -f {target}",
            f"{moved}\necho hi > {target}",
            f"{moved}\ncat a.txt ../outside/o.txt",
            f"{moved}\nv={target}\n{set_again}\ntouch {use}",
            f"exec > {target}\necho hi; {moved}\necho ho >> {other}",
            f"exec {{fd}}> {target}; echo hi >&$fd",
            f'touch "${{none:-$(echo x)}}" {target}',
            'for v in a.txt b.txt; do cp $v "${v%.txt}.bak"; done',
            'for v in dir/*.txt; do cp $v "${v##*/}.bak"; touch "${v%/*}/t"; done',
            f'a() {{ touch "$1"; }}; b() {{ a {target}; a "$@"; }}; b {other}',
            f'set -- {target} {other}; touch "$1" "$2"',
            "n=2; touch new$n new$((n + 1)) new$((n++)); touch new$n",
            f"for n in 1 2; do touch new$n.txt > {target}; done",
            f"coproc touch {target}; wait",
            f"touch {target} {{{self.pick('a,b', '1..3', 'x,{y,z}', 'a..c', '01..03', ',q')}}}.new",
            f'bash -c \'cd "$1" && touch "$2"\' name {folder} {target}',
            f"sh -c 'for f; do touch \"$f\"; done' name {target} {other}",
            f"find dir -name '*.txt' -exec sh -c 'cp \"$1\" {target.replace(chr(39), '')}' name {{}} \\;",
            f"alias zz=touch\nzz {target}",
        )

    def pipeline(self, depth: int) -> str:
        stages = [self.simple(depth)] + [self.filter() for _ in range(self.chance.choice([1, 1, 2]))]
        return self.redirected(self.pick(" | ", " |& ").join(stages))

    def function(self, depth: int) -> str:
        self.names += 1
        name = f"f{self.names}"
        body = self.pick(self.statement(depth), f'cat "$1" > {self.writable()}', 'touch "$1"', "echo $1 $#")
        return f"{name}() {{ {body}\n}}\n{name} {self.word(self.pick(*READABLE))}"

    def with_variable(self, depth: int) -> str:
        self.names += 1
        name = f"v{self.names}"
        value = self.word(self.pick("a.txt", "new.txt", "dir", "cat", "../outside"))
        use = self.use_of(name)
        end = self.pick(f"cat {use}", f"touch {use}", f"echo {use}", f"> {use}", f"ls {use}/", f"cp a.txt {use}")
        return f"{name}={value}; {end}; {self.statement(depth)}"

    def use_of(self, name: str) -> str:
        return self.pick(f"${name}", f'"${name}"', f"${{{name}}}", f'"${{{name}}}"')

    def document(self, depth: int) -> str:
        delimiter = self.pick("END", "'END'", '"END"', "\\END")
        body = self.pick(
            "plain text", "a $(echo sub) b", "a `echo tick` b", "$HOME and \\$HOME", "back\\\nslash", "a \"q\" 's'"
        )
        target = self.pick("", f" > {self.writable()}", " | wc -l", " | sh -c 'cat'")
        return f"cat <<{delimiter}{target}\n{body}\nEND\n{self.statement(depth)}"

    def redirected(self, statement: str) -> str:
        if self.chance.random() < 0.65:
            return statement
        redirect = self.pick(
            f"> {self.writable()}",
            f">> {self.writable()}",
            f"2> {self.writable()}",
            f"&> {self.writable()}",
            f">| {self.writable()}",
            "2>&1",
            "> /dev/null 2>&1",
            f"< {self.readable()}",
            f"3> {self.writable()}",
            f"< {self.readable()} > {self.writable()}",
            f"> $(echo {self.writable()})",
            f"> >(cat > {self.writable()})",
            f"<<< {self.text()}",
            f"<> {self.writable()}",
        )
        return f"{statement} {redirect}"

    def simple(self, depth: int) -> str:
        command = self.one_of(self.reader, self.writer, self.printer, self.tester, self.mover)
        if self.chance.random() < 0.3:
            command = self.wrapped(command)
        if depth > 0 and self.chance.random() < 0.2:
            command = f"echo {self.substitution(depth - 1)}"
        if self.chance.random() < 0.1:
            command = f"{self.pick('X=1', 'LANG=C Y=2', 'Z=$(echo 1)')} {command}"
        return command

    def substitution(self, depth: int) -> str:
        inner = self.statement(depth)
        return self.pick(f"$({inner}\n)", f'"$({inner}\n)"', f"${{none:-$({inner}\n)}}", f"<({inner}\n)")

    def wrapped(self, command: str) -> str:
        quoted = "'" + command.replace("'", "'\\''") + "'"
        return self.pick(
            f"env {command}",
            f"env A=1 {command}",
            f"command {command}",
            f"nice {command}",
            f"nice -n 3 {command}",
            f"timeout 5 {command}",
            f"timeout -s KILL 5 {command}",
            f"nohup {command}",
            f"setsid -w {command}",
            f"stdbuf -o0 {command}",
            f"time {command}",
            f"exec {command}",
            f"sh -c {quoted}",
            f"bash -c {quoted}",
            f"eval {quoted}",
            f"bash <<< {quoted}",
            f"echo {quoted} | sh",
            f"trap {quoted} EXIT",
            f"nice timeout 5 env {command}",
            f"sh -c {quoted} name arg",
        )

    def printer(self) -> str:
        return self.pick(
            f"echo {self.text()} {self.text()}",
            f"printf '%s\\n' {self.text()}",
            f"printf {self.word('plain')}",
            "pwd",
            "date +%Y",
            "seq 3",
            f"basename {self.readable()}",
            "true",
            "false",
            ":",
        )

    def reader(self) -> str:
        return self.pick(
            f"cat {self.readable()}",
            f"cat {self.readable()} {self.readable()}",
            f"head -n 1 {self.readable()}",
            f"wc -l {self.readable()}",
            f"sort {self.readable()}",
            f"grep -c hello {self.readable()}",
            f"grep -r hello {self.word(self.pick(*FOLDERS))}",
            f"sed -n 1p {self.readable()}",
            f"sed 's/hello/bye/g' {self.readable()}",
            f"awk '{{ print $1 }}' {self.readable()}",
            f"ls {self.word(self.pick(*FOLDERS))}",
            f"find {self.word(self.pick(*FOLDERS))} -name '*.txt'",
            "find . -name '*.txt' -exec wc -l {} +",
            "find . -type f | xargs wc -l",
            f"echo {self.pick('a.txt', 'b.txt dir/c.txt')} | xargs cat",
            f"stat {self.readable()}",
            f"diff {self.readable()} {self.readable()}",
            "cat *.txt",
            "cat {a,b}.txt",
            "wc -c dir/*",
        )

    def writer(self) -> str:
        return self.pick(
            f"touch {self.writable()}",
            f"touch {self.writable()} {self.writable()}",
            "touch n{1..3}.txt",
            "touch {l,m}/x k.txt",
            f"mkdir -p {self.word(self.pick('made', 'dir/made/deep', '../outside/made'))}",
            f"tee {self.writable()}",
            f"cp {self.readable()} {self.writable()}",
            f"cp -t {self.word('dir')} {self.readable()}",
            f"cp -r dir {self.word('copied')}",
            f"install -m 600 {self.readable()} {self.writable()}",
            f"ln -s a.txt {self.writable()}",
            f"dd if=a.txt of={self.pick('d.out', 'dir/d.out', '../outside/d.out')} status=none",
            f"truncate -s 3 {self.writable()}",
            f"chmod 600 {self.readable()}",
            f"sed -i 's/hello/bye/' {self.readable()}",
            f"sort -o {self.writable()} {self.readable()}",
            f"split -l 1 {self.readable()} {self.word('part-')}",
            "tar cf t.tar dir",
            "tar -czf dir/t.tgz a.txt b.txt",
            "gzip -k a.txt",
            f"find . -name 'b.txt' -fprint {self.writable()}",
        )

    def mover(self) -> str:
        return self.pick(
            f"mv {self.readable()} {self.writable()}",
            f"rm -f {self.writable()}",
            f"rm {self.readable()}",
            "rm -rf dir",
            "find dir -name '*.txt' -delete",
            "find . -name 'c.txt' -exec rm {} \\;",
            f"unlink {self.readable()}",
            "rmdir empty",
        )

    def filter(self) -> str:
        return self.pick(
            "cat",
            "sort",
            "uniq",
            "wc -l",
            "head -n 1",
            "tr a-z A-Z",
            "cut -c1-3",
            f"tee {self.writable()}",
            f"tee -a {self.writable()} {self.writable()}",
            'while read -r line; do echo "$line"; done',
            f"{{ cat; echo end; }} > {self.writable()}",
            f"(cat > {self.writable()})",
            "grep -v x",
            "sed s/a/b/",
            "xargs -n 1 echo",
        )

    def tester(self) -> str:
        return self.pick(
            f"[ -f {self.readable()} ]",
            f"test -d {self.word('dir')}",
            f"[[ -f {self.readable()} ]]",
            f"[ {self.text()} = hello ]",
            f"[[ {self.text()} == h* ]]",
            "(( 1 < 2 ))",
            "[ 1 -lt 2 ] && [ 2 -gt 1 ]",
        )

    def words(self) -> str:
        return self.pick("a.txt b.txt", "*.txt", "1 2", "a.txt dir/c.txt", "{a,b}.txt", "$(seq 2)")

    def readable(self) -> str:
        return self.word(self.pick(*READABLE))

    def writable(self) -> str:
        return self.word(self.pick(*WRITABLE))

    def text(self) -> str:
        return self.word(self.pick(*TEXTS))

    def word(self, text: str) -> str:
        """The text as one word, in one of the many ways to write it."""
        plain = all(char.isalnum() or char in "./-_=" for char in text)
        ways: list[Callable[[str], str]] = [single_quoted, double_quoted, backslashed, ansi_quoted, mixed]
        return text if plain and self.chance.random() < 0.6 else self.chance.choice(ways)(text)


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def double_quoted(text: str) -> str:
    return '"' + "".join("\\" + char if char in '"\\$`' else char for char in text) + '"'


def backslashed(text: str) -> str:
    return "".join(char if char.isalnum() else "\\" + char for char in text)


def ansi_quoted(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(char):02x}" if not char.isalnum() else char for char in text) + "'"


def mixed(text: str) -> str:
    middle = len(text) // 2
    return backslashed(text[:middle]) + double_quoted(text[middle:])
