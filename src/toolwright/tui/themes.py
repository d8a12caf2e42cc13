"""The looks there are: four, each with the colours of the transcript."""

from rich.style import Style
from textual.theme import Theme

from toolwright.chat.screen import BOLD, CYAN, DIM, GREEN, RED, YELLOW
from toolwright.record import record
from toolwright.tui.blocks import PROMPT
from toolwright.tui.highlight import MAGENTA
from toolwright.tui.page import Palette


@record(frozen=True, slots=True, kw_only=True)
class Look:
    """A theme, and what stands for each colour of the transcript in it."""

    theme: Theme
    palette: Palette


def _look(name: str, *, dark: bool, colours: str, prompt: str) -> Look:
    """`colours`: background, panel, text, dim, red, green, yellow, cyan, magenta."""
    background, panel, text, dim, red, green, yellow, cyan, magenta = colours.split()
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
        variables={"dim": dim},
    )
    return Look(
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
        },
    )


_TERMINAL = Look(
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
            "dim": "ansi_bright_black",
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
    },
)
LOOKS = {
    look.theme.name: look
    for look in (
        _look(
            "dark",
            dark=True,
            colours="#16181d #20242c #d7dae0 #7f8694 #e06c75 #8cc570 #d7ba7d #61afef #c678dd",
            prompt="#e5c07b",
        ),
        _look(
            "light",
            dark=False,
            colours="#fafafa #ececee #24272e #6b7280 #b3261e #1f7a33 #8a5a00 #0b62b8 #8a2be2",
            prompt="#7a3e00",
        ),
        _look(
            "contrast",
            dark=True,
            colours="#000000 #1a1a1a #ffffff #c0c0c0 #ff7b7b #7dff7d #ffff66 #66d9ff #ff9cff",
            prompt="#ffff66",
        ),
        _TERMINAL,
    )
}
"""By name; `terminal` uses the sixteen colours that the terminal itself has."""
USUAL = "dark"
