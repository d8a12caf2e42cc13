"""Browsers for logins: programs that follow the page that they are given, as a browser does."""

FOLLOW = """
import sys
import urllib.request
from html import unescape
from urllib.parse import unquote

page = open(unquote(sys.argv[1].removeprefix("file://"))).read()
address = unescape(page.split("url=")[1].split('"')[0])
urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address).read()
"""
"""Goes where it is led, and is done."""
FOREGROUND = f"{FOLLOW}sys.stdin.read()\n"
"""Stays until its input ends; ours is at an end from the beginning."""
ON_THE_TERMINAL = f"""
import sys
assert sys.stdin.isatty()
{FOLLOW}
print("press q")
assert sys.stdin.readline() == "q\\n"
"""
"""Fills the terminal until it is closed there."""
