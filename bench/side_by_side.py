"""Copies of a small web application with a database, all on port 3000: their tests run at once, each in its copy.

    python bench/side_by_side.py --copies 10 --folder DIR

DIR lies outside of the temporary folder, for that is what a box makes its own. What differs is said: without network
namespaces (`tw doctor`) the copies share the port, and all but one fail.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

APP = """
import http.server, json, sqlite3, sys
class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply([row[0] for row in sqlite3.connect("shop.db").execute("select name from items")])
    def do_POST(self):
        name = self.rfile.read(int(self.headers["content-length"])).decode()
        with sqlite3.connect("shop.db") as database:
            database.execute("insert into items values (?)", (name,))
        self.reply("stored")
    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
with sqlite3.connect("shop.db") as database:
    database.execute("create table if not exists items (name text)")
http.server.ThreadingHTTPServer(("127.0.0.1", 3000), Shop).serve_forever()
"""
TEST = """
import json, os, subprocess, sys, time, urllib.request
mine = os.environ["TOOLWRIGHT_COPY"]
server = subprocess.Popen([sys.executable, "app.py"])
def ask(data=None):
    with urllib.request.urlopen("http://127.0.0.1:3000/", data, timeout=5) as answer:
        return json.load(answer)
try:
    for _ in range(100):
        try:
            ask()
            break
        except OSError:
            time.sleep(0.1)
    for number in range(20):
        ask(f"{mine} {number}".encode())
        time.sleep(0.05)
    assert server.poll() is None, "the server has not started"
    assert ask() == [f"{mine} {number}" for number in range(20)], ask()
    print("GREEN", mine)
finally:
    server.kill()
"""


def tw(home: Path, *words: str, cwd: Path) -> str:
    environment = {**os.environ, "HOME": str(home)}
    ran = subprocess.run(
        [sys.executable, "-m", "toolwright", *words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    return ran.stdout + ran.stderr


def main() -> None:
    made = argparse.ArgumentParser()
    made.add_argument("--copies", type=int, default=10)
    made.add_argument("--folder", type=Path, required=True)
    options = made.parse_args()
    home, project = options.folder / "home", options.folder / "shop"
    settings = home / ".config" / "toolwright"
    for folder in (settings, project):
        folder.mkdir(parents=True, exist_ok=True)
    (settings / "toolwright.json").write_text(json.dumps({"permission": {"bash": "allow"}}))
    (project / "app.py").write_text(APP)
    (project / "test.py").write_text(TEST)
    began = time.monotonic()
    copies = [json.loads(tw(home, "copy", "create", "--json", cwd=project)) for _ in range(options.copies)]
    made_in = time.monotonic() - began
    call = json.dumps({"command": "python3 test.py"})

    def test(copy: dict[str, str]) -> str:
        return tw(home, "tool", "call", "bash", call, cwd=Path(copy["folder"]))

    with ThreadPoolExecutor(options.copies) as pool:
        printed = list(pool.map(test, copies))
    green = sum("GREEN" in one for one in printed)
    run_in = time.monotonic() - began - made_in
    print(f"{green} of {options.copies} green at once on port 3000; made in {made_in:.1f} s, run in {run_in:.1f} s")
    print("the project has a database of theirs" if (project / "shop.db").exists() else "the project is untouched")
    for one in printed:
        if "GREEN" not in one:
            print(one)
    tw(home, "copy", "drop", "--force", *(one["name"] for one in copies), cwd=project)


if __name__ == "__main__":
    main()
