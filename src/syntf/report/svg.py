"""Small pictures as SVG, without text: widths are shares of the page, so they fit a phone.

Every picture has a label for who cannot see it, or is hidden from readers aloud where the
number stands beside it.
"""

from collections.abc import Sequence

from syntf.report.markup import text

HEIGHT = 16
"""Pixels of a bar."""


def bar(share: float, kind: str = "a") -> str:
    """A horizontal bar, beside its number.

    >>> bar(0.25)
    '<svg class="bar" height="16" aria-hidden="true"><rect class="a" width="25.00%" height="16"/></svg>'
    """  # noqa: E501
    width = f"{100 * min(1.0, max(share, 0.004)):.2f}%"
    rect = f'<rect class="{kind}" width="{width}" height="{HEIGHT}"/>'
    return f'<svg class="bar" height="{HEIGHT}" aria-hidden="true">{rect}</svg>'


def stack(parts: Sequence[tuple[str, float]], label: str, height: int = 36) -> str:
    """Shares of one bar, each of its own kind, one after the other."""
    drawn, start = [], 0.0
    for kind, share in parts:
        drawn.append(
            f'<rect class="{kind}" x="{100 * start:.2f}%" width="{100 * share:.2f}%" '
            f'height="{height}"/>'
        )
        start += share
    return _picture("stack", height, label, drawn)


def columns(values: Sequence[int], label: str, height: int = 120) -> str:
    """A histogram: one column a value, the highest as high as the picture."""
    most, width = max(values, default=0) or 1, 100 / max(1, len(values))
    drawn = []
    for place, value in enumerate(values):
        tall = height * value / most
        if value:
            tall = max(tall, 1.0)
        drawn.append(
            f'<rect class="a" x="{place * width + 0.1 * width:.2f}%" y="{height - tall:.1f}" '
            f'width="{0.8 * width:.2f}%" height="{tall:.1f}"/>'
        )
    return _picture("columns", height, label, drawn)


def track(before: float | None, after: float | None, floor: float | None, label: str) -> str:
    """Two scores from 0 to 1 on a line, the earlier hollow, and a dashed floor."""
    drawn = ['<line class="rule" x1="0%" x2="100%" y1="11" y2="11"/>']
    if floor is not None:
        at = f"{100 * floor:.2f}%"
        drawn.append(f'<line class="floor" x1="{at}" x2="{at}" y1="0" y2="22"/>')
    if before is not None and after is not None:
        ends = f'x1="{100 * before:.2f}%" x2="{100 * after:.2f}%"'
        drawn.append(f'<line class="way" {ends} y1="11" y2="11"/>')
    if before is not None:
        drawn.append(f'<circle class="before" cx="{100 * before:.2f}%" cy="11" r="5"/>')
    if after is not None:
        drawn.append(f'<circle class="after" cx="{100 * after:.2f}%" cy="11" r="6"/>')
    return _picture("track", 22, label, drawn)


def _picture(kind: str, height: int, label: str, drawn: Sequence[str]) -> str:
    told = text(label)
    return (
        f'<svg class="{kind}" height="{height}" role="img" aria-label="{told}">'
        f"<title>{told}</title>{''.join(drawn)}</svg>"
    )
