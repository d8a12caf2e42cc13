"""The options of git's subcommands that are known to be harmless, and which of those show or run something."""

from toolwright.shell.programs.arguments import names

OPTIONS = (
    "-# -a -A -b -B -c -C? -d -D -e -E -f -F -g -h -H -i -I -j? -k -l -L -m -M? -n -N -o -O -p -P -q -Q -r -R"
    " -s -S? -t -T -u? -U? -v -V -w -W -x -X: -y -z --abbrev? --abbrev-commit --abbrev-ref? --abort"
    " --absolute-git-dir --aggressive --all --all-match --allow-empty --allow-empty-message"
    " --allow-unrelated-histories --amend --ancestry-path? --anchored: --and --annotate --author: --auto"
    " --autosquash --autostash --author-date-order --bare --base: --basic-regexp --before: --binary --bisect"
    " --boundary --branch? --branches? --break --break-rewrites? --cached --cc --changed-paths --check"
    " --cherry --cherry-mark --cherry-pick --children --cleanup: --color? --color-moved? --color-words?"
    " --column? --combined-all-paths --committer: --committer-date-is-author-date --contains? --continue"
    " --count --count-objects --create --create-reflog --cumulative --date: --date-order --decorate?"
    " --deepen: --decorate-refs: --default: --delete --deleted --dense --depth: --detach --diff-algorithm:"
    " --diff-filter: --diff-merges: --dirstat? --dirty? --discard-changes --display --dry-run"
    " --edit-description --encoding: --error-unmatch --exclude-standard --exclude: --exclude-per-directory:"
    " --exclude-from< --exclude-hidden: --existing --exit-code --expand-tabs? --expire: --extended-regexp"
    " --ff --ff-only --fetch --filter: --find-copies? --find-copies-harder --find-object: --find-renames?"
    " --first-parent --fixed-strings --fixup: --follow --follow-tags --force --force-create:"
    " --force-if-includes --force-rebase --force-with-lease? --format: --format-patch --from: --full"
    " --full-diff --full-history --full-index --full-name --full-tree --function-context --fuzzy --get"
    " --get-all --get-regexp --get-urlmatch --git-common-dir --git-dir --git-path: --global --glob: --graph"
    " --grep: --grep-reflog: --group: --hard --head --heads --heading --histogram --human-readable"
    " --ignore-all-space --ignore-blank-lines --ignore-case --ignore-cr-at-eol --ignore-date"
    " --ignore-other-worktrees --ignore-space-at-eol --ignore-space-change --ignore-whitespace"
    " --ignore-submodules? --ignored? --include --include-untracked --index --indent-heuristic"
    " --initial-branch: --inline --int --inter-hunk-context: --interactive --intent-to-add --invert-grep"
    " --invert-match --is-ancestor --is-bare-repository --is-inside-git-dir --is-inside-work-tree"
    " --is-shallow-repository --ita-invisible-in-index --keep --keep-base --keep-empty --keep-index --killed"
    " --left-only --left-right --line-number --line-porcelain --list --local --local-env-vars --log?"
    " --log-size --long --max-age: --max-count: --max-depth: --max-parents: --merge --merge-base --merged?"
    " --merges --message: --min-age: --min-parents: --minimal --mirror --mixed --mode: --modified --move"
    " --multiple --name-only --name-rev --name-status --no-abbrev --no-abbrev-commit --no-all --no-autostash"
    " --no-binary --no-checkout --no-color --no-commit --no-contains? --no-decorate --no-edit --no-ext-diff"
    " --no-ff --no-focus --no-gpg-sign --no-hardlinks --no-ignore-matches --no-index --no-indent-heuristic"
    " --no-keep-index --no-local --no-log --no-merged? --no-merges --no-notes --no-patch --no-prefix"
    " --no-prune --no-quiet --no-rebase --no-recurse-submodules --no-renames --no-renames-limit --no-revs"
    " --no-flags --no-single-branch --no-stat --no-stage --no-status --no-tags --no-textconv --no-track"
    " --no-verify --no-walk? --notes? --null --numstat --object-format: --oneline --only --only-matching"
    " --onto: --open --or --ordered --origin: --orphan? --others --ours --pack --parents --parent --patch"
    " --patch-with-raw --patch-with-stat --patience --path-format: --pathspec-file-nul --pathspec-from-file<"
    " --perl-regexp --pickaxe-all --pickaxe-regex --point-at: --points-at: --porcelain? --prefix: --pretty?"
    " --progress --prune --prune-empty --prune-tags --push --quiet --quit --quiet --range: --raw --reachable"
    " --reapply-cherry-picks --rebase? --rebase-merges? --recurse-submodules? --recursive --ref: --reference:"
    " --reflog --refs --refresh --regexp-ignore-case --reject --relative-date --relative? --remerge-diff"
    " --remotes? --remove-empty --remove-section --rename --rename-section --renormalize --reset"
    " --reset-author --resolve --resolve-undo --resolved --reuse-message: --reverse --revs-only --right-only"
    " --root --rotate-to: --scope: --set-upstream --set-upstream-to: --shallow-exclude: --shallow-since:"
    " --shared? --short? --short-stat --shortstat --show-cdup --show-current --show-forced-updates"
    " --show-function --show-linear-break? --show-name --show-notes? --show-number --show-object-format?"
    " --show-origin --show-prefix --show-pulls --show-ref-format --show-scope --show-signature --show-stash"
    " --show-superproject-working-tree --show-toplevel --signoff --simplify-by-decoration --simplify-merges"
    " --since: --single-branch --skip --skip-to: --soft --sort: --source --sparse --split-index --squash"
    " --squash: --src-prefix: --dst-prefix: --stage --staged --stat? --stat-count: --stat-name-width:"
    " --stat-width: --stats --stdin --strategy-option: --strategy: --submodule? --submodules --summary"
    " --symbolic --symbolic-full-name --symbolic-ref --symref --system --tag --tags? --textconv --text"
    " --theirs --thin --threads: --time --timestamp --to: --topo-order --track? --tracked --trailer: --type:"
    " --unified: --uninteresting --union --unmerged --unset --unset-all --unset-upstream --unshallow --until:"
    " --untracked --untracked-files? --unstage --update --update-head-ok --update-refs --upstream"
    " --use-mailmap --verbose --verify --verify-signatures --version --walk-reflogs --whitespace:"
    " --with-tree: --word-diff-regex: --word-diff? --word-regexp --work-tree --worktree --worktrees"
    " --ws-error-highlight: --zero-commit -3 --3way --ext-diff! --exec! --open-files-in-pager! --upload-pack!"
    " --receive-pack! --config! --template! --extcmd! --tool! --tool-help --output> --output-directory>"
    " --edit --gpg-sign? --author-date: --add --bool --path --default-branch --after: --cover-letter"
    " --attach? --reroll-count: --in-reply-to: --numbered --no-numbered --start-number: --suffix:"
    " --subject-prefix: --rfc --thread? --batch? --batch-check? --textconv --follow-symlinks --buffer"
    " --unordered --allow-unknown-type --object-id --build --keep-cr --abbrev-ref --also-filter-submodules"
    " --reject-shallow --remote-submodules --separate-git-dir> --shallow-submodules --server-option:"
    " --bundle-uri: --dissociate --ipv4 --ipv6 --append --atomic --jobs: --negotiate-only --negotiation-tip:"
    " --refetch --refmap: --stdin --write-fetch-head --set-head --no-write-fetch-head --signed?"
    " --push-option: --all-progress --no-thin --exclude-promisor-objects --disambiguate: --end-of-options"
    " --sq --sq-quote --parseopt --not --reason: --lock --guess --no-guess --overlay --no-overlay --pathspec"
    " --conflict: --merge-conflict --overwrite-ignore --ignore-unmatch --ignore-missing --ignore-errors"
    " --ignore-removal --no-ignore-removal --chmod: --renames --no-all --dedup --deduplicate --eol --debug"
    " --unresolve --cacheinfo: --assume-unchanged --no-assume-unchanged --skip-worktree --no-skip-worktree"
    " --again --index-info --remove --index-version: --replace-all --fixed-value --comment: --value: --name:"
    " --bool-or-int --expiry-date --sq-escape --dirty --candidates: --match: --exact-match --always --first"
    " --prefix --recount --inaccurate-eof --directory: --unidiff-zero --apply --allow-overlap --no-add"
)

EXTRA = {
    "am": "-b -c -m -s -u --patch-format: --show-current-patch? --scissors --message-id --directory: --exclude:"
    " --include:",
    "archive": "-o> -v -l --format: --prefix: --remote! --exec! --add-file< --mtime:",
    "blame": "-L: -C? -M? -b -c -e -f -l -n -p -s -S: -t -w --show-email --show-stats --incremental --contents<"
    " --ignore-rev: --ignore-revs-file<",
    "annotate": "-L: -l -t",
    "branch": "-u: -m -M -c -C -D --copy",
    "cat-file": "-e -p -s -t",
    "checkout": "-b: -B: -f -l -m -p -q -t -U: --orphan:",
    "cherry-pick": "-e -m: -n -r -s -S? -x --mainline:",
    "clean": "-d -e: -f -i -n -q -x -X --exclude:",
    "clone": "-b: -c! -j: -l -n -o: -q -s -u! -v --branch: --recursive? --no-local",
    "commit": "-a -c: -C: -e -F< -i -m: -n -o -p -q -s -S? -t< -u? -v -z --file< --template< --fixup: --squash:"
    " --reedit-message: --interactive --message: --date: --author: --no-post-rewrite --short --long"
    " --porcelain",
    "commit-tree": "-F< -m: -p: -S?",
    "config": "-e -f> -l -z --file> --blob: --edit --get-color --get-colorbool --includes --no-includes",
    "diff": "-G: -l: -O< -S: -U: -X? --color? --no-index --output> --diff-filter: --stat? --inter-hunk-context: -1 -2"
    " -3 -0",
    "fetch": "-a -f -j: -k -m -n -o: -p -P -q -t -u -v",
    "format-patch": "-k -n -N -o> -s -v: -U: --signature: --signature-file< --notes? --base: --cover-from-description:",
    "grep": "-A: -B: -C: -e: -f< -h -H -m: -O! --max-count: --after-context: --before-context: --context: --threads:"
    " --parent-basename: --not",
    "init": "-b: -q --initial-branch:",
    "log": "-G: -L: -n: -O< -S: -U: --max-count: --skip: --since-as-filter: --mailmap --no-mailmap"
    " --clear-decorations --diff-merges: --grep:",
    "ls-files": "-c -d -i -k -m -o -s -t -u -v -x: -X< -z",
    "ls-remote": "-h -t -q -o: --get-url --heads --tags",
    "ls-tree": "-d -r -t -l -z --object-only",
    "merge": "-e -F< -m: -n -q -s: -S? -v -X: --file< --into-name:",
    "mv": "-f -k -n -v",
    "notes": "-f -F< -m: -c: -C: --file< --ref:",
    "pull": "-f -j: -k -n -o: -p -q -r? -s: -S? -t -v -X: -4 -6 -a",
    "push": "-d -f -n -o: -q -u -v -4 -6 --repo:",
    "rebase": "-C: -f -i -k -m -n -p -q -r? -s: -S? -v -x: -X: --exec: --empty: --rebase-merges? --root",
    "reset": "-N -p -q",
    "restore": "-m -p -q -s: -S -U: -W --source: --staged --worktree",
    "revert": "-e -m: -n -s -S? --mainline: --reference",
    "rm": "-f -n -q -r",
    "shortlog": "-c -e -n -s -w?",
    "show": "-G: -l: -n: -O< -S: -U: --skip:",
    "stash": "-a -k -m: -p -q -S -u -U: --message: --only-untracked",
    "status": "-b -M? -s -u? -v -z",
    "switch": "-c: -C: -d -f -m -q -t --create: --force-create: --orphan:",
    "tag": "-a -d -e -f -F< -i -l -m: -n? -s -u: -v --file< --message: --local-user: --omit-empty",
    "update-index": "-g -q -z",
    "worktree": "-b: -B: -d -f -n -q -v -z",
    "apply": "-C: -p: -R -v -z --build-fake-ancestor> --directory: --exclude: --include:",
    "remote": "-a -f -m: -n -p -t: -v --mirror? --add --delete --push --all",
    "for-each-ref": "-s -p --shell --perl --python --tcl --include-root-refs",
    "maintenance": "--task: --schedule: --detach",
    "gc": "--prune? --cruft --no-cruft --keep-largest-pack --no-detach",
    "rev-list": "--objects? --disk-usage? --use-bitmap-index --no-object-names --header --max-count: -n:",
}
"""Options of a subcommand where a letter takes a value or means more than the general list says."""

RUNS = names(
    "add--interactive bisect--helper credential credential-cache credential-store daemon difftool--helper fast-import"
    " fetch-pack filter-branch fsmonitor--daemon hook http-backend http-fetch http-push imap-send index-pack instaweb"
    " merge-index merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree p4 quiltimport"
    " receive-pack remote-ext remote-fd remote-ftp remote-ftps remote-http remote-https send-email send-pack shell"
    " submodule--helper svn unpack-file unpack-objects upload-archive upload-pack web--browse"
)
"""Parts of git that run programs, or fetch, send and write in ways of their own."""

KNOWN = names(
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap"
    " check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph"
    " commit-tree config count-objects describe diff diff-files diff-index diff-tree difftool fast-export fetch"
    " for-each-ref for-each-repo format-patch fsck gc grep hash-object help init lfs log ls-files ls-remote"
    " ls-tree maintenance merge merge-base merge-file merge-tree mergetool mktag mktree mv name-rev notes"
    " pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace"
    " request-pull rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref"
    " sparse-checkout stage stash status stripspace submodule subtree switch symbolic-ref tag update-index"
    " update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree"
    " write-tree"
)

PLAIN_PARTS = {
    "lfs": names(
        "checkout env fetch fsck help install ls-files locks logs merge-driver pointer post-checkout prune pull status"
        " track untrack version"
    ),
    "maintenance": names("run"),
    "subtree": names("add merge pull split"),
}
"""Parts of these subcommands that neither publish anything nor have programs run later."""

STRATEGIES = names("octopus ort ours recursive resolve subtree")
"""Strategies by which git merges by itself; any other name is that of a program."""

PLAIN_GLOBAL = names(
    "--bare --exec-path --glob-pathspecs --help --html-path --icase-pathspecs --info-path --literal-pathspecs"
    " --man-path --no-advice --no-lazy-fetch --no-optional-locks --no-pager --no-replace-objects"
    " --noglob-pathspecs --paginate --version -P -h -p -v"
)
