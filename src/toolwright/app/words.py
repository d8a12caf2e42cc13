"""Small words for people: things counted, money, times, the beginning of a text."""

_ENDS = {"the user stopped the turn": "Stopped.", "the program ended in the middle of it": "tw was ended here."}
"""Words for a person in the place of the reasons that a record has."""


def plural(count: int, thing: str) -> str:
    """Count things: `1 file`, `2 files`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def money(dollars: float) -> str:
    """Tell dollars, small ones to a hundredth of a cent."""
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.4f}"


def duration(seconds: float) -> str:
    """Tell a time: `12 s`, `3 min 5 s`."""
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def end_line(reason: str) -> str:
    """Tell why a reply ended before its time."""
    return _ENDS.get(reason, f"! {reason}")


def summary_line(failed: str | None) -> str:
    """Tell that a summary stands for what was said before, or why it does not."""
    if failed is None:
        return "what was said before is summarised for the model"
    return (
        f"! What was said before could not be summarised: {failed} The model is sent the prompts and the last answer."
    )


def first_line(text: str) -> str:
    """Return the first line of a text that says anything."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def first_sentence(text: str) -> str:
    """Return what stands first in a description."""
    return first_line(text).partition(". ")[0]
