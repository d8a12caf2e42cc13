"""What a coding agent runs on an ordinary day. Under the default rules, in a box, hardly any of it may ask.

Nothing here is ever run: every line is only judged. More lines are in `everyday.txt`.
"""

from pathlib import Path

ONE_LINE = r"""
ls
ls -la
ls -la src/ sub
ls -lt | head -5
pwd
cat README.md
cat -n src/app.py | head -40
head -20 README.md
tail -n 50 README.md
tail -f README.md &
wc -l src/*.py
wc -l $(git ls-files '*.py')
find . -name '*.py' -not -path './node_modules/*'
find . -type f -name '*.ts' | head -20
find . -name '*.pyc' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
find src -name '*.py' -exec grep -l TODO {} \;
find . -name '*.py' -print0 | xargs -0 wc -l
find . -newer README.md -type f
find . -maxdepth 2 -type d
find . -size +1M -exec ls -lh {} \;
grep -rn "TODO" src
grep -rn --include='*.py' "def main" .
grep -c one README.md
grep -E 'foo|bar' README.md | sort | uniq -c | sort -rn
grep -v '^#' README.md
rg -n "import" src
rg --files -g '*.py'
rg -l TODO | head
sed -n '1,20p' README.md
sed -n '/foo/{n;p}' README.md
sed -i 's/one/two/g' README.md
sed -e 's/a/b/' -e '/x/d' README.md
sed '1i\# header' README.md
sed 's/[^/]*$//' README.md
sed -n '$p' README.md
sed '/^$/d' README.md
sed -i.bak 's|a|b|' README.md
awk '{ print $1, $NF }' README.md
awk 'NR>=5 && NR<=10' README.md
awk '$2 > 1' README.md
awk 'length($0) > 80' README.md
awk -F: '{ print $1 }' /etc/passwd
awk '{ sum += $1 } END { print sum / NR }' README.md
awk 'NR==1{print; next} $3 >= 10 {print $1}' README.md
awk '/foo/ { count++ } END { print count }' README.md
sort README.md | uniq
sort -u -k2,2n README.md
cut -d: -f1 README.md
tr 'a-z' 'A-Z' < README.md
diff README.md src/app.py
diff -u <(sort README.md) <(sort src/app.py)
cp README.md sub/
cp -r src sub/copy
mv sub/a sub/b
mkdir -p build/out && cd build && ls
touch sub/new.txt
rm -f sub/new.txt
rm -rf build dist node_modules
rm -rf $(find . -name __pycache__)
chmod +x run.sh
chmod 644 README.md
ln -s README.md sub/readme
echo hello > sub/out.txt
echo "a: $(date)" >> sub/log.txt
printf 'a\nb\n' > sub/list.txt
tee sub/y.txt < README.md
tar czf out.tgz src
tar tzf out.tgz
tar xzf out.tgz -C sub
unzip -l a.zip
zip -r out.zip src
gzip -k README.md
du -sh .
du -sh * | sort -h
df -h
file README.md
stat -c %s README.md
md5sum README.md
sha256sum README.md > sums.txt
xxd README.md | head
base64 README.md
tree -L 2
realpath src/app.py
basename src/app.py .py
which python3
command -v node
ls -la $(which node)
type ls
env | grep PATH
printenv HOME
echo $PATH
uname -a
whoami
id -u
date +%s
date -u +%Y-%m-%dT%H:%M:%SZ
nproc
ps aux | grep python
ps -ef | head
lsof -i :3000
kill 12345
sleep 1
time make test
timeout 60 pytest -q
nohup npm start > server.log 2>&1 &
cat /etc/os-release
cat /proc/cpuinfo | head
cat /proc/meminfo
git status
git status --short
git status -sb
git log --oneline -10
git log --format='%h %an %s' --since='2 weeks ago'
git log --graph --all --oneline
git log -- src/app.py
git log --stat -3
git diff
git diff --cached
git show
git show HEAD~1
git log -p -3
git diff --stat
git diff HEAD~1 -- src/app.py
git diff main...HEAD --name-only
git show --stat HEAD
git show HEAD:src/app.py
git blame -L 1,5 src/app.py
git add -A
git add src/app.py README.md
git commit -m "Fix the thing"
git commit -am 'work'
git commit --amend --no-edit
git push
git push -u origin HEAD
git pull --rebase
git fetch --all --prune
git branch
git branch -a
git branch --show-current
git checkout -b feature/x
git checkout main
git switch -c feature/y
git stash
git stash list
git stash pop
git merge --no-ff feature/x
git rebase main
git cherry-pick abc123
git reset --soft HEAD~1
git reset HEAD README.md
git restore --staged README.md
git tag -l
git remote -v
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git ls-files | wc -l
git ls-files '*.py' | xargs wc -l
git grep -n TODO -- src
git config user.name
git config --get remote.origin.url
git check-ignore .env
git -C sub status
git --no-pager log -3
GIT_PAGER=cat git log -3
git shortlog -sn
git describe --tags --always
git rev-list --count HEAD
cd "$(git rev-parse --show-toplevel)" && ls
cd src && pytest -q; cd ..
pushd src > /dev/null && ls && popd > /dev/null
pytest
pytest -q tests/test_x.py::test_y -k 'foo and not bar'
python3 -m pytest -x -q
python3 -m pytest --cov=src --cov-report=term-missing
python3 app.py --port 8000
python3 -c "import sys; print(sys.version)"
python3 -c 'import json; print(json.load(open("a.json")))'
python3 -m json.tool a.json
python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt
python3 -m http.server 8000 &
python3 --version
python -m mypkg.cli run
pip install -e .
pip list | grep django
pip freeze > requirements.txt
uv run pytest -q
uv sync
uv pip install requests
uvx ruff check .
poetry run pytest
poetry install
ruff check . --fix
ruff format src
mypy src
black --check .
PYTHONUNBUFFERED=1 python3 app.py
DJANGO_SETTINGS_MODULE=proj.settings python3 manage.py migrate
node -e 'console.log(1)'
node -p "require('./package.json').version"
node index.js
node --version
npm install
npm ci
npm test
npm run build
npm run lint -- --fix
npm install --save-dev vitest
npm i -D --legacy-peer-deps react@18
npm ci --omit=dev --no-audit
npm run build --workspace=app --if-present
npm ls --depth=0
npm test -- --watch=false
npx tsc --noEmit
npx eslint src --ext .ts
npx prettier --write src
NODE_ENV=test npm test
CI=1 npm run build
NODE_OPTIONS=--max-old-space-size=4096 npm run build
PATH="$PWD/node_modules/.bin:$PATH" eslint .
yarn install --frozen-lockfile
pnpm -r build
pnpm --filter app test
pnpm install --frozen-lockfile
yarn test --watch=false
yarn workspace app build
pnpm add -D vitest
bun test
deno test --allow-read
cargo build --release
cargo test -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --check
RUST_BACKTRACE=1 cargo test
go build ./...
go test ./... -run TestX -v
go vet ./...
go test -race -count=1 -coverprofile=cover.out ./...
go run ./cmd/app -v
go build -ldflags="-s -w -X main.version=1" -o bin/app .
go list -m all
go env GOPATH
go mod tidy
CGO_ENABLED=0 GOOS=linux go build -o bin/app ./cmd/app
make
make test
make -j8 all
MAKEFLAGS=-j8 make
make -C src clean
make deploy ENV=staging
cmake -S . -B build && cmake --build build
gcc -Wall -O2 -o sub/a a.c && ./sub/a
mvn -q test
./gradlew build
bundle exec rspec
ruby -e 'puts 1'
perl -pe 's/a/b/' README.md
php artisan migrate
docker ps -a
docker build -t app .
docker compose up -d
docker run --rm -v "$PWD":/app -w /app node:20 npm test
docker logs -f app --tail 100
docker compose logs web
docker compose exec web sh -c 'ls /app'
docker images
docker exec -it app sh
kubectl get pods -n dev
terraform plan
gh pr view 12 --json title,body
gh pr create --title "x" --body "y"
gh run list --limit 5
aws s3 ls
curl -s http://localhost:3000/health
curl -sS -X POST -H 'Content-Type: application/json' -d '{"a":1}' http://localhost:3000/api | jq .
curl -fsSL https://example.com/data.json -o sub/data.json
curl -I https://example.com
wget -q https://example.com/file.txt -O sub/file.txt
jq '.scripts' a.json
jq -r '.[] | select(.x > 3) | .name' a.json
sqlite3 app.db '.tables'
sqlite3 app.db "select count(*) from users"
psql -c 'select 1'
redis-cli ping
openssl version
openssl rand -hex 16
openssl x509 -in cert.pem -noout -dates
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost
openssl s_client -connect example.com:443 -servername example.com
for f in src/*.py; do wc -l "$f"; done
for i in 1 2 3; do echo $i; sleep 1; done
for f in *.txt; do mv "$f" "${f%.txt}.md"; done
for d in s*/; do (cd "$d" && ls); done
while read -r l; do echo "$l"; done < README.md
printf 'a\nb' | while IFS= read -r l; do echo "$l"; done
IFS=, read -r a b <<< 1,2
x=$(grep -c one README.md); [[ $x -gt 3 ]] && echo many
n=$(ls | wc -l); if [ "$n" -gt 3 ]; then echo many; fi
i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done; echo $i
if [ -f .env ]; then echo yes; else echo no; fi
[ -f .env ] || cp .env.example .env
test -f .env && echo there
ls -la .env
cat .env.test
cat .env.example
[[ -d build ]] || mkdir build
set -euo pipefail; make test
export NODE_ENV=production; npm run build
X=1; echo "$X"
VERSION=$(cat README.md); echo "v$VERSION"
f() { echo "$1"; }; f hi
trap 'rm -f sub/tmp' EXIT; touch sub/tmp
case $1 in start) echo a ;; *) echo b ;; esac
ls -t | head -1 | xargs cat
echo hi > /tmp/x && cat /tmp/x
rm -f /tmp/foo
TMP=$(mktemp) && echo hi > "$TMP" && cat "$TMP"
OUT=$(mktemp -d); cp README.md "$OUT/"
HOME=/tmp/h npm test
pytest 2>&1 | tail -20
npm test 2>&1 | tee sub/test.log
make test || (cat test.log; exit 1)
cat README.md | head -5 | tail -1
diff <(git show HEAD:README.md) README.md
xargs -n 1 echo < README.md
seq 1 10 | paste -sd+ | bc
tail -5 sub/a | tr '\n' ' '
ls *.py 2>/dev/null || echo none
kill $(lsof -t -i:3000)
sudo apt-get install -y jq
apt list --installed | grep python
systemctl status nginx
ssh host uptime
"""

DOCUMENTS = [
    "cat > sub/new.py <<'END'\nprint(1)\nEND",
    "cat <<'END' | tee sub/x.txt\ntext\nEND",
    "git commit -m \"$(cat <<'END'\nFix\n\nMore text\nEND\n)\"",
    "python3 - <<'END'\nprint(1)\nEND",
    "cat >> README.md <<END\nversion $VERSION\nEND",
    "python3 -c \"\nimport json\nfor k, v in json.load(open('a.json')).items():\n    print(k, v)\n\"",
    "cat > /tmp/t.js <<'X' && node /tmp/t.js\nconsole.log(1)\nX",
    "cat > src/x.ts << 'EOF'\nexport const a = `x${1}`;\nEOF\nnpx tsc --noEmit",
    "git commit -F - <<'EOF'\nFix it\n\nCo-Authored-By: x\nEOF",
    "gh pr create --title x --body \"$(cat <<'EOF'\n## Summary\n- a `b`\nEOF\n)\"",
    "sqlite3 app.db <<'SQL'\nselect 1;\nSQL",
    "ed -s README.md <<'E'\n1d\nw\nq\nE",
    "bash <<'E'\nset -e\nls\nE",
    "make \\\n  -j2 \\\n  test",
]

MORE = Path(__file__).with_name("everyday.txt").read_text("utf-8")

EVERYDAY = [*ONE_LINE.strip().splitlines(), *MORE.splitlines(), *DOCUMENTS]
