"""`awk` programs: whether one could run programs, or read and write files beyond those it is given."""

import re

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\\\n|#[^\n]*)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<mark>\|\||&&|>>|>=|<=|==|!=|\+\+|--|\+=|-=|\*=|/=|%=|\^=|!~|[-+*%^!~<>?:,;(){}\[\]$=|&@\n/])",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:[^\]\\\n]|\\.)*\])*/", re.DOTALL)
_ENDS_VALUE = frozenset({")", "]", "$", "++", "--", "//"})
_KEYWORDS = frozenset({"print", "printf", "return", "in", "case", "else", "do", "exit", "delete", "while", "if", "for"})
_ACTS = frozenset({"system", "getline", "ARGV", "ARGC", "include", "load", "BEGINFILE"})
_LINE_END = ("\n",)
_GOES_ON = (",", "&&", "||")
"""After these a line end ends nothing."""
_HARMLESS_TARGETS = frozenset({'"/dev/stderr"', '"/dev/stdout"', '"/dev/null"'})


def is_plain_awk(program: str) -> bool:
    """Tell whether the program does nothing but compute and print. `>` compares, unless it follows a `print`."""
    tokens = _tokens(program)
    if tokens is None:
        return False
    depth, printing, last = 0, -1, ""
    for position, token in enumerate(tokens):
        if token in _ACTS or token in ("|", "@", "&"):
            return False
        if token in ("(", "["):
            depth += 1
        elif token in (")", "]"):
            depth -= 1
        elif token in ("print", "printf"):
            printing = depth
        elif token in (";", "}", "{") or (token in _LINE_END and last not in _GOES_ON):
            printing = -1
        elif token in (">", ">>") and printing == depth:
            following = tokens[position + 1] if position + 1 < len(tokens) else ""
            after = tokens[position + 2] if position + 2 < len(tokens) else ";"
            if following not in _HARMLESS_TARGETS or after not in (";", "\n", "}"):
                return False
        last = token if token not in _LINE_END else last
    return True


def _tokens(program: str) -> list[str] | None:
    """The program in pieces; None if it has one that is not known."""
    tokens: list[str] = []
    position = 0
    while position < len(program):
        if program[position] == "/" and not _is_value(tokens[-1] if tokens else ""):
            regex = _REGEX.match(program, position)
            if regex is None:
                return None
            tokens.append("//")
            position = regex.end()
            continue
        match = _TOKEN.match(program, position)
        if match is None:
            return None
        position = match.end()
        if match.lastgroup != "blank":
            tokens.append(match.group())
    return tokens


def _is_value(token: str) -> bool:
    """Tell whether a slash after the token divides."""
    if token in _KEYWORDS:
        return False
    return token in _ENDS_VALUE or token[:1] == '"' or token[:1].isalnum() or token[:1] in "_."
