"""tw web: the server of tw serve, for the page in a browser; its address is printed, and opened if wanted."""

from toolwright.cli.commands.serve_command import serve_with, serving_parser
from toolwright.cli.options import CommandParser


def main(arguments: list[str]) -> int:
    return serve_with(_parser().parse_args(arguments), "web")


def _parser() -> CommandParser:
    return serving_parser(
        "web",
        "Serve the web page: your sessions in a browser. Prints the address to open, which holds the "
        "secret; with --open it is opened for you. Everything else is as with tw serve.",
        examples="  tw web\n  tw web --open\n  tw web --port 4096 --directory ~/one --directory ~/two",
    )
