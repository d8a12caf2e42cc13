"""What programs change by themselves goes with undo, whatever way they change it."""

import pytest

from tests.capture.case import captured, prepare, python

COMMANDS = {
    "written anew": "echo new > d/f1",
    "appended to": "echo more >> d/f1",
    "sed -i": "sed -i s/old/new/ d/f1 d/f2 sym1",
    "a program": python("open('d/f3', 'w').write('by itself')"),
    "deleted": "rm d/f1 sym1",
    "all deleted": "rm -rf d empty",
    "moved": "mv d/f1 d/g1; mv d/f2 d/f3",
    "a folder moved": "mv d e; echo x >> e/f2; rm e/f3; echo y > e/new",
    "folders swapped": "mv d e; mkdir d; echo 1 > d/f1; mv e d/e; echo 2 >> d/e/f1; rm -r empty; mkdir -p empty/x",
    "moved there and back": "mv d e; mv e d; echo z > d/f5",
    "moved inside and deleted": "mkdir n; mv d n/d; rm -r n",
    "modes": "chmod 700 d; chmod 600 d/f1; chmod -x tool; chmod 711 empty",
    "mode and content": "chmod 600 d/f1; echo q > d/f1",
    "empty folders": "mkdir -p a/b/c; rmdir empty",
    "links": "ln -s d l; ln -sf d/f2 sym1; rm hard0; ln d/f5 h5; echo w >> h5",
    "an old second name": "echo more >> hard0; echo more >> sym1",
    "a new second name": python("import os; os.link('d/f3', 'n3'); open('n3', 'w').write('z'); os.unlink('d/f3')"),
    "another file's second name": "rm d/f1; ln d/f2 d/f1; ln -f d/f4 d/f3",
    "a file for a folder": "rm -r d; echo file > d",
    "a folder for a file": "rm db; mkdir db; echo x > db/x",
    "a link for a folder": "mv d e; ln -s e d; echo through > d/f1",
    "a folder for a link": "rm sym1; mkdir sym1; echo y > sym1/y",
    "made and gone again": "echo x > t; mv t u; rm u; echo y > d/f1",
    "odd names": python(
        "import os\nos.mkdir('a b'); open('a b/c\\td', 'w').write('x'); open(b'new\\nline\\xff', 'w').write('y')\n"
        "os.rename('d/f1', 'd/f \"q'); os.symlink(b'\\xfe', 'l\\\\n')"
    ),
    "through another folder": "cd d && echo x > ../new && cd .. && rm d/../d/f1",
    "by its descriptor": python(
        "import os\nd = os.open('d', 0)\nos.rename('f1', 'g1', src_dir_fd=d, dst_dir_fd=d)\n"
        "os.unlink('f2', dir_fd=d)\nos.close(os.open('f3', os.O_WRONLY | os.O_TRUNC, dir_fd=d))"
    ),
    "truncated": python("import os; os.truncate('d/f1', 3)"),
    "a file without a name": python(
        "import os, ctypes\nfd = os.open('d', os.O_TMPFILE | os.O_WRONLY); os.write(fd, b'hi')\n"
        "assert ctypes.CDLL(None).linkat(-100, f'/proc/self/fd/{fd}'.encode(), -100, b'd/new', 0x400) == 0\n"
        "os.close(os.open(f\"/proc/self/fd/{os.open('d/f9', 0)}\", os.O_WRONLY | os.O_TRUNC))"
    ),
    "mapped": python("import mmap\nf = open('db', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[5:9] = b'abcd'; m.flush()"),
    "exchanged": python(
        "import ctypes\nl = ctypes.CDLL(None)\nassert l.syscall(316, -100, b'd/f1', -100, b'd/f2', 2) == 0\n"
        "assert l.syscall(316, -100, b'd', -100, b'empty', 2) == 0\nopen('empty/f1', 'a').write('q')"
    ),
    "a database": python(
        "import sqlite3\nc = sqlite3.connect('x.db'); c.execute('pragma journal_mode=wal')\n"
        "c.execute('create table t(a)')\n"
        "c.executemany('insert into t values(?)', [(i,) for i in range(1000)]); c.commit()"
    ),
    "threads": python(
        "import os, threading\n"
        "def work(k):\n"
        "    for i in range(20):\n"
        "        n = f'd/.t{k}-{i}'; open(n, 'w').write(f'{k} {i}'); os.rename(n, f'd/f{i}')\n"
        "        with open(f'd/f{(i * 7) % 20}', 'a') as f: f.write('x')\n"
        "ts = [threading.Thread(target=work, args=(k,)) for k in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]"
    ),
    "a storm of processes": "i=0; while [ $i -lt 150 ]; do (echo $i > d/f$((i%20))) & i=$((i+1)); done; wait",
    "killed in mid-storm": "(while :; do echo x > d/f1; echo y > d/f2; done) & p=$!; sleep 0.2; kill -9 $p",
    "strange calls": python(
        "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
        "assert l.syscall(425, 8, 0) == -1\nassert l.syscall(437, -100, b'd/f1', 0, 0) == -1\n"
        "assert l.open(ctypes.c_void_p(1), 1) == -1\nopen('d/f1', 'w').write('on')"
    ),
    "a changed root": "unshare -rm sh -c 'echo x > d/f1; rm d/f2' || { echo x > d/f1; }",
    "another namespace": "unshare -rm sh -c 'mount --bind d empty && echo x > empty/f1' || echo x > d/f1",
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_all_of_it_goes_with_undo(name: str) -> None:
    async with captured() as case:
        prepare(case.project)
        result = await case.is_undone(COMMANDS[name])
        assert "cannot" not in result.output


@pytest.mark.parametrize("name", ["a folder moved", "a program", "all deleted", "exchanged", "modes"])
async def test_so_it_is_in_the_other_box(name: str) -> None:
    async with captured("landlock") as case:
        prepare(case.project)
        await case.is_undone(COMMANDS[name])
