"""The looks there are: four, each with the colours of the transcript."""

from rich.style import Style
from textual.theme import Theme

from toolwright.record import record
from toolwright.terminal.flow import ITALIC
from toolwright.terminal.screen import BOLD, CYAN, DIM, GREEN, RED, YELLOW
from toolwright.tui.blocks import PROMPT, SAID
from toolwright.tui.diffs import ADDED, ADDED_WORD, REMOVED, REMOVED_WORD
from toolwright.tui.highlight import MAGENTA
from toolwright.tui.page import Palette

DIFF = (ADDED, REMOVED, ADDED_WORD, REMOVED_WORD)


@record(frozen=True, slots=True, kw_only=True)
class ThemeColours:
    """A theme, and what stands for each colour of the transcript in it."""

    theme: Theme
    palette: Palette


def _look(name: str, *, dark: bool, colours: str, prompt: str, diff: str) -> ThemeColours:
    """`colours`: background, panel, text, dim, red, green, yellow, cyan, magenta.

    `diff`: what lies behind added rows, removed rows, added words and removed words.
    """
    background, panel, text, dim, red, green, yellow, cyan, magenta = colours.split()
    tints = dict(zip(DIFF, diff.split(), strict=True))
    theme = Theme(
        name=name,
        dark=dark,
        primary=cyan,
        secondary=magenta,
        accent=cyan,
        warning=yellow,
        error=red,
        success=green,
        foreground=text,
        background=background,
        surface=background,
        panel=panel,
        variables={"dim": dim, "word": text, **tints},
    )
    return ThemeColours(
        theme=theme,
        palette={
            BOLD: Style(bold=True),
            DIM: Style(color=dim),
            RED: Style(color=red),
            GREEN: Style(color=green),
            YELLOW: Style(color=yellow),
            CYAN: Style(color=cyan),
            MAGENTA: Style(color=magenta),
            PROMPT: Style(color=prompt, bold=True),
            SAID: Style(color=text, bgcolor=panel),
            ITALIC: Style(italic=True),
            **{code: Style(bgcolor=tint, bold=code.endswith("word")) for code, tint in tints.items()},
        },
    )


_TERMINAL = ThemeColours(
    theme=Theme(
        name="terminal",
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        accent="ansi_cyan",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        variables={
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "dim": "ansi_bright_black",
            "added": "ansi_default",
            "removed": "ansi_default",
            "word": "ansi_black",
            "added-word": "ansi_green",
            "removed-word": "ansi_red",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-background": "ansi_white",
            "input-cursor-background": "ansi_white",
            "input-cursor-foreground": "ansi_black",
            "screen-selection-background": "ansi_bright_blue",
            "screen-selection-foreground": "ansi_black",
        },
    ),
    palette={
        BOLD: Style(bold=True),
        DIM: Style(dim=True),
        RED: Style(color="red"),
        GREEN: Style(color="green"),
        YELLOW: Style(color="yellow"),
        CYAN: Style(color="cyan"),
        MAGENTA: Style(color="magenta"),
        PROMPT: Style(color="blue", bold=True),
        SAID: Style(bold=True),
        ITALIC: Style(italic=True),
        ADDED: Style(color="green"),
        REMOVED: Style(color="red"),
        ADDED_WORD: Style(color="green", reverse=True),
        REMOVED_WORD: Style(color="red", reverse=True),
    },
)
LOOKS = {
    look.theme.name: look
    for look in (
        _look(
            "dark",
            dark=True,
            colours="#16181d #20242c #d7dae0 #8b93a3 #e87f88 #8cc570 #d7ba7d #61afef #c678dd",
            prompt="#e5c07b",
            diff="#1c2b22 #35202a #2f5a3a #6e2f3b",
        ),
        _look(
            "light",
            dark=False,
            colours="#fafafa #ececee #24272e #5b626e #b3261e #1a6b2c #7d5200 #0b5cad #8a2be2",
            prompt="#7a3e00",
            diff="#e3f4e6 #fbe6e6 #aee2b8 #f5bcbc",
        ),
        _look(
            "contrast",
            dark=True,
            colours="#000000 #1a1a1a #ffffff #c0c0c0 #ff7b7b #7dff7d #ffff66 #66d9ff #ff9cff",
            prompt="#ffff66",
            diff="#003300 #4d0000 #006600 #990000",
        ),
        _TERMINAL,
    )
}
"""By name; `terminal` uses the sixteen colours that the terminal itself has."""
USUAL = "dark"


def usual_look(colours: str | None, *, is_plain: bool) -> str:
    """Return the theme where none is chosen: the terminal's own colours where it has few, or where none are wanted."""
    return "terminal" if is_plain or colours == "standard" else USUAL
