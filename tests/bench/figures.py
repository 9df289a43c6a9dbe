"""Percentiles, the machine's facts, and the one table that a bench prints."""

import os
import platform
from collections.abc import Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0-1) of the values lie; NaN without values."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return percentile(values, 0.5)


def shown(value: object, digits: int = 1) -> str:
    """A cell: thousands apart, `digits` decimals for small numbers, a dash for what was not measured."""
    if value is None or value != value:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()
) -> None:
    """Prints the table as Markdown, with the machine's facts above and what must be known below."""
    cells = [list(columns), *[[shown(value) for value in row] for row in rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print(f"\n{title}\n{machine()}\n", *lines, *[f"- {note}" for note in notes], sep="\n", flush=True)


def machine() -> str:
    """Cores, Python and load: figures of a busy machine must be told from those of an idle one."""
    load = os.getloadavg()[0]
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {system}, load {load:.1f} at the end"
