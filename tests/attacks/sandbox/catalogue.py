"""Ways out of the box and past the rules that it keeps: what is tried, under which rules, and what must come of it.

Every attempt is a script that a program of the project runs, so that no analysis of the command line sees what it does.
`$OUT` is a folder outside, `$HOME` the user's, `$DATA` our own. Whatever lies in them, in the settings of the project
and among what git runs must be the same afterwards, and no secret may be printed: SECRET stands in all that is secret.
"""

from dataclasses import dataclass

DENIED = "deny"
ASKED = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attempt."""

    script: str
    """What the program of the project does."""
    visible: str = ""
    """What the command line does before it runs that program; it is granted."""
    rules: tuple[str, ...] = ()
    agent: str = ""
    changes: tuple[str, ...] = ()
    """What may be different afterwards, because it was granted: names as they stand in the list of what is watched."""
    prints: str = ""
    """What must be printed, for the attempt to have been one."""


GRANTS = {
    "a yes to read a file opens nothing to be written": Attack(
        visible="cat $HOME/notes", script='echo x >> "$HOME/notes"; echo x > "$HOME/.bashrc"; echo x > "$HOME/new"'
    ),
    "a rule that allows a folder opens nothing of it to be written by a read": Attack(
        rules=("external_directory *: allow",),
        visible="cat $OUT/kept",
        script='echo x > "$OUT/kept"; echo x > "$OUT/new"',
    ),
    "a yes to write a file opens that file alone": Attack(
        visible="echo granted > $OUT/kept",
        script='cat "$OUT/kept"; echo x > "$OUT/other"; echo x > "$OUT/new"; rm "$OUT/other"',
        changes=("outside/kept",),
        prints="granted",
    ),
    "a yes to write a new file in the home folder opens no other": Attack(
        visible="echo granted > $HOME/fresh",
        script='cat "$HOME/fresh"; echo x > "$HOME/.bashrc"; echo x > "$HOME/.profile"',
        changes=("home/fresh",),
        prints="granted",
    ),
    "a yes to delete a file leaves the others": Attack(
        visible="rm $OUT/gone", script='rm -f "$OUT/kept"; echo x > "$OUT/other"', changes=("outside/gone",)
    ),
    "a yes to work in the home folder does not open it": Attack(
        visible="(cd $HOME && ls)", prints="notes", script='echo x > "$HOME/.bashrc"; echo x > "$HOME/new"'
    ),
    "a yes to a folder uncovers no program that is denied": Attack(
        rules=("bash rm *: deny", "external_directory *: allow"),
        visible="ln -sf /bin/rm foo; touch /usr/bin/rm",
        script="./foo seed; rm seed; /bin/rm seed; cp /usr/bin/rm r; ./r seed",
    ),
    "a yes to a folder uncovers nothing in it that may not be read": Attack(
        rules=("read $HOME/.ssh/*: deny", "external_directory *: allow"),
        visible="ls -d $HOME/.ssh/id $HOME/.ssh/deep; (cd $HOME/.ssh)",
        script='cat "$HOME/.ssh/id"; ls -l "$HOME/.ssh" | sed s/id/SECRET/; cat "$HOME/.ssh/deep/key"',
    ),
    "nor does one to write there": Attack(
        rules=("read $HOME/.ssh/*: deny", "external_directory *: allow"),
        visible="touch $HOME/.ssh/id; (cd $HOME/.ssh/deep)",
        script='cat "$HOME/.ssh/id" "$HOME/.ssh/deep/key"; echo x > "$HOME/.ssh/id"; echo x > "$HOME/.ssh/deep/new"',
    ),
    "nor one to delete what is beside it": Attack(
        rules=("read $OUT/secret1: deny", "external_directory *: allow"),
        visible="rm $OUT/leaves",
        script='cat "$OUT/secret1"; mv "$OUT/secret1" "$OUT/here"; cat "$OUT/here"; rm "$OUT/secret1"',
        changes=("outside/leaves",),
    ),
    "a yes to work in a folder opens nothing in it that may not be edited": Attack(
        rules=("edit $OUT/other: deny", "edit $OUT/nest/*: deny", "external_directory *: allow"),
        visible="(cd $OUT && ls)",
        script=(
            'cd "$OUT"; for f in other nest/egg; do echo x > $f; mv $f /tmp/x; rm $f; done; mv nest n; rm -r nest; ls'
        ),
        prints="kept",
    ),
    "nor does one to write a folder around it": Attack(
        rules=("edit $OUT/nest/deep/*: deny", "external_directory *: allow"),
        visible="mkdir -p $OUT/nest && touch $OUT/nest",
        script='cd "$OUT/nest"; echo x > deep/egg; mv deep d; rm -r deep; mkdir deep; echo x > deep/egg',
    ),
    "plan writes its plan among our data and nothing else there": Attack(
        agent="plan",
        visible="echo plan > $DATA/plans/a.md",
        script='echo x > "$DATA/approvals.json"; echo x > "$DATA/sandbox.json"; rm "$DATA/trust.json"; echo x > seed',
        changes=("data/plans/a.md",),
    ),
    "plan writes nowhere": Attack(agent="plan", script='echo x > seed; echo x > new; rm seed; echo x > "$OUT/new"'),
    "explore writes nowhere": Attack(agent="explore", script="echo x > seed; echo x > new; mkdir folder"),
}

GIT = {
    "commondir": Attack(script="mkdir -p evil; echo ../evil > .git/commondir; cat .git/commondir"),
    "commondir in place of what stands there": Attack(
        script="rm -f .git/commondir; mv .git/commondir x; ln -sf ../evil .git/commondir; printf evil > .git/commondir"
    ),
    "a hook where there was no folder for hooks": Attack(
        script="rmdir .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; mv .git/hooks .git/h"
    ),
    "settings of a work tree": Attack(script="printf '[core]\\nfsmonitor = x\\n' > .git/config.worktree"),
    "settings": Attack(script="git config core.fsmonitor evil; echo x >> .git/config; rm .git/config"),
    "attributes and what else is in info": Attack(script="echo '* filter=x' > .git/info/attributes; rm -rf .git/info"),
    "another git folder in place of this one": Attack(script="mv .git .old; cp -r .old .git; echo x > .git/config"),
    "the settings of a repository within": Attack(
        script="cd inner; git config core.fsmonitor x; echo x >> .git/config; mkdir .git/hooks; echo x > .git/hooks/p"
    ),
    "another repository in place of the one within": Attack(
        script="cd inner; mv .git .old; cp -r .old .git; echo x > .git/config; mv .old .git"
    ),
    "something of a name that git does not write": Attack(script="echo x >> .git/custom; rm .git/custom"),
}

SETTINGS = {
    f"{name} that was not there": Attack(script=f'echo \'{{"sandbox": "off"}}\' > {name}')
    for name in ("toolwright.json", "toolwright.jsonc", "opencode.jsonc")
} | {
    "settings that are there": Attack(script="echo x > opencode.json; rm opencode.json; mv opencode.json o"),
    "a folder of settings that was not there": Attack(
        script="mkdir -p .opencode/agent; echo x > .opencode/agent/evil.md"
    ),
    "a folder of settings that is there": Attack(
        script="echo x > .toolwright/evil.md; mv .toolwright t; rm -r .toolwright"
    ),
    "a link as settings": Attack(script="echo '{}' > evil; ln -s evil toolwright.json"),
}

OURS = {
    "read our keys": Attack(script='cat "$DATA/auth.json" "$DATA"/*'),
    "read the settings with the user's keys": Attack(script='cat "$HOME/.config/toolwright/toolwright.json"'),
    "read the keys of our kin": Attack(script='cat "$HOME/.local/share/opencode/auth.json" "$HOME/.config/opencode/"*'),
    "write our approvals and trust": Attack(
        script='echo x > "$DATA/approvals.json"; rm "$DATA/trust.json"; rm -r "$DATA"'
    ),
    "read the secret of a server": Attack(
        script='cat "$HOME/.local/state/toolwright/server/"*; ls "$HOME/.local/state/toolwright" | sed s/^/SECRET/'
    ),
    "read the token of a fleet": Attack(script='cat "$HOME/.ray/auth_token"; ls "$HOME/.ray" | sed s/^/SECRET/'),
    "read what other projects have printed": Attack(script='cat "$DATA/tool-output/"*; ls "$DATA/tool-output"'),
}

RULES = {
    "read what is denied": Attack(script="cat .env; grep -rh SECRET .env deep; cp .env x; cat x; cat < deep/.env"),
    "read what is asked about": Attack(
        rules=("read *.key: ask",), script="cat private.key; grep -rh SECRET --include=*.key .; base64 private.key"
    ),
    "read what is denied in other people's folders": Attack(script="cat node_modules/pack/.env .venv/.env"),
    "read what is denied elsewhere": Attack(rules=("read $OUT/secret*: deny",), script='cat "$OUT"/secret*'),
    "read a folder that is denied elsewhere": Attack(
        rules=("read $HOME/.ssh/*: deny",), script='cat "$HOME/.ssh/id"; ls "$HOME/.ssh"'
    ),
    "carry a folder off to read it later": Attack(
        rules=("read secrets/*: deny",), script="mv secrets other; cat other/key; cp -r secrets copy; cat copy/key"
    ),
    "read what was taken out of git again": Attack(
        script="for c in $(git log --all --format=%h -- old.env); do git show $c; git diff $c^ $c; git log -p -1 $c;"
        " git grep -h API $c -- old.env; git format-patch -1 $c --stdout; git archive $c old.env | tr -d '\\0'; done",
        prints="by mistake",
    ),
    "and in plan": Attack(agent="plan", script="git log -p --all -- old.env", prints="by mistake"),
    "change what may not be edited": Attack(
        rules=("edit migrations/*: deny",),
        script="for f in 1 2; do :> migrations/$f.sql; done; rm -rf migrations; mv migrations m; chmod 0 ./migrations",
    ),
    "change what a link leads to that may be edited": Attack(
        rules=("edit migrations/*: deny", "edit migrations/free*: allow"), script="echo x > migrations/free"
    ),
    "change a file that may not be edited": Attack(
        rules=("edit *.lock: deny",), script="echo x > seed.lock; rm seed.lock; mv seed.lock x; sed -i s/k/x/ seed.lock"
    ),
    "run a program that is denied outright": Attack(
        rules=("bash rm *: deny",),
        script="rm seed; /bin/rm seed; env rm seed; cp /bin/rm r && ./r seed; find seed -exec rm {} +",
    ),
    "a rule that was added a moment ago": Attack(rules=("read later.txt: deny",), script="cat later.txt"),
}

DOORS = {
    "a socket in the home folder": Attack(script='python3 knock.py "$HOME/.docker/run/docker.sock"'),
    "a socket in an odd place of the home folder": Attack(script='python3 knock.py "$HOME/odd.sock"'),
    "a socket without a name": Attack(script='python3 knock.py "@$(cat .door)"'),
    "what is in /run": Attack(script="ls /run/user /run/docker.sock /run/dbus 2>/dev/null | sed 's/^/SECRET /'"),
    "shared memory": Attack(script="python3 segment.py; echo x > /dev/shm/toolwright-attack"),
    "the terminals of the user": Attack(
        script='for t in /dev/pts/[0-9]*; do [ "$t" = "/dev/pts/[0-9]*" ] || echo "SECRET $t"; done'
    ),
    "keys that the kernel keeps for the user's session": Attack(script="python3 keys.py"),
    "files that make others root": Attack(
        script="cp /bin/true up; chmod 4755 up; chmod u+s up; install -m 4755 /bin/true u2;"
        " [ $(id -u) != 0 ] || find . -perm -4000 | sed s/^/SECRET/"
    ),
}

CACHES = {
    name: Attack(script=script)
    for name, script in {
        "settings of cargo where there are none": 'mkdir -p "$HOME/.cargo"; echo x > "$HOME/.cargo/config.toml"',
        "a prompt that every shell reads": 'echo x > "$HOME/.cache/p10k-instant-prompt-ada.zsh"',
        "programs of pre-commit": 'cd "$HOME/.cache"; mkdir -p pre-commit/r/bin; echo x > pre-commit/r/bin/x',
        "an interpreter of uv": 'echo x > "$HOME/.local/share/uv/python/3/bin/python3"',
        "programs of npx": 'mkdir -p "$HOME/.npm/_npx/1/.bin"; echo x > "$HOME/.npm/_npx/1/.bin/x"',
    }.items()
}

PLAN_ONLINE = Attack(agent="plan", script="python3 reach.py")

ATTACKS: dict[str, dict[str, Attack]] = {
    "what was granted": GRANTS,
    "what git runs": GIT,
    "settings": SETTINGS,
    "our own data": OURS,
    "rules": RULES,
    "doors": DOORS,
    "caches": CACHES,
    "plan": {
        "plan reaches nobody over the network": PLAN_ONLINE,
        "nor the machine around a virtual one": Attack(agent="plan", script="python3 around.py"),
    },
}

HARMLESS = {
    "git status is clean although a hidden file is under git": ("git status --short", ""),
    "git diff shows nothing": ("git diff; git diff HEAD", ""),
    "git adds all but what is hidden": (
        "echo n > news && git add -A && git status --short && git rm -q --cached news && rm news",
        "A  news",
    ),
    "git commits all": (
        "echo n > news && git add -A && git commit -qam news && git show --stat --format=%s HEAD",
        "news | 1 +",
    ),
    "git stashes and brings back": (
        "echo m > seed && git stash -q && cat seed && git stash pop -q && cat seed && git checkout -q seed",
        "kept",
    ),
    "git resets": ("git reset -q --hard && git status --short", ""),
    "git switches branches": ("git switch -q -c side && git switch -q - && git status --short", ""),
    "git takes back into its index what is hidden": (
        "git rm -q --cached .env.stage && git reset -q && git status --short",
        "",
    ),
    "git makes another work tree, in which that is hidden as well": (
        'git worktree add -q other-tree side && python3 -c \'print(open("other-tree/.env" + ".stage").read())\'',
        "Hidden from commands",
    ),
    "git makes a work tree beside the project": ("git worktree add -q ../beside -b beside && ls ../beside", "seed"),
    "git's settings are written once that was allowed": (
        "git config user.email a@b.c && git remote add up nowhere && git config user.email && git remote",
        "a@b.c\nup",
    ),
    "git cleans up, and leaves alone what is only there for the box": ("touch news && git clean -fdq; echo $?", "0"),
    "git packs what it has": ("git gc -q 2>&1", ""),
    "git refuses to add what is hidden": (
        'python3 -c \'import subprocess; subprocess.run(["git", "add", "-f", "deep/" + ".env"])\'',
        "clean filter",
    ),
    "a cache is filled for the user too": (
        'mkdir -p "$HOME/.cache/pip" && echo x > "$HOME/.cache/pip/wheel" && cat "$HOME/.cache/pip/wheel"',
        "x",
    ),
    "a cache of another program works": (
        'mkdir -p "$HOME/.cache/tool" && echo x > "$HOME/.cache/tool/y" && cat "$HOME/.cache/tool/y"',
        "x",
    ),
    "temporary files stay from one command to the next": ("echo one > /tmp/one", ""),
    "and are there": ("cat /tmp/one", "one"),
    "a program on the PATH below the temporary folder runs": ("temporary-program", "it runs"),
    "processes see themselves": ("sleep 0 & wait; test -d /proc/$$ && echo seen", "seen"),
    "a terminal of its own": ("python3 -c 'import pty; print(pty.openpty()[1] > 0)'", "True"),
    "shared memory of its own": ("echo x > /dev/shm/y && cat /dev/shm/y", "x"),
    "a job is left running and found": ("sleep 300 & echo started", "is still running"),
}
"""What must work as if there were no box: a command, and what it prints among other things."""
