"""Makes the tables of addresses and events from the code: `python -m tests.house.tables` writes them into the pages."""

import ast
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office.settings")
os.environ.setdefault("OFFICE_DATA", tempfile.mkdtemp(prefix="office-tables-"))

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "office/live/PROTOCOL.md"
API_PAGE = ROOT / "office/api/API.md"
# `end_run` picks the event by how the run ended.
ENDS = ["run.failed", "run.finished", "run.stopped"]
METHODS = ("get", "post", "patch", "delete")


def api_table() -> str:
    """Address, methods, and the first line that its view says of itself."""
    from office.urls import BUILDING, TALK, WORK

    rows = sorted((str(pattern.pattern), pattern.callback.view_class) for pattern in [*BUILDING, *TALK, *WORK])
    lines = ["| address | methods | what it is |", "|---|---|---|"]
    for address, view in rows:
        plain = re.sub(r"<str:(\w+)>", r"{\1}", address)
        methods = " ".join(method.upper() for method in METHODS if hasattr(view, method))
        said = (view.__doc__ or "").strip().split("\n")[0]
        lines.append(f"| `{plain}` | {methods} | {said} |")
    return "\n".join(lines)


def appended_events() -> Iterator[tuple[str, str, str]]:
    """(event, keys of its payload, module) of every `log.append(stream, "noun.past", …)` in the code."""
    for package in ("office", "threads", "memory", "modes"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("log.append"):
                    for name in re.findall(r"'(\w+\.\w+)'", ast.unparse(node.args[1])) or ENDS:
                        yield name, keys_of(node.args[2]), path.relative_to(ROOT).as_posix()


def keys_of(payload: ast.expr) -> str:
    if isinstance(payload, ast.Dict):
        return ", ".join(f"`{key.value}`" for key in payload.keys if isinstance(key, ast.Constant))
    return "see the module"


def event_table() -> str:
    """Every durable event with its payload's keys and where it arises."""
    lines = ["| event | payload | arises in |", "|---|---|---|"]
    rows: dict[str, tuple[set[str], set[str]]] = {}
    for name, keys, module in appended_events():
        entry = rows.setdefault(name, (set(), set()))
        entry[0].add(keys)
        entry[1].add(module)
    for name, (keys, modules) in sorted(rows.items()):
        shown = " or ".join(sorted(keys - {"see the module"}) or ["see the module"])
        lines.append(f"| `{name}` | {shown} | {', '.join(f'`{module}`' for module in sorted(modules))} |")
    return "\n".join(lines)


def with_table(page: str, table: str) -> str:
    """The page with the table between its two markers."""
    return re.sub(
        r"(<!-- table -->\n).*?(<!-- end -->)", lambda found: found[1] + table + "\n" + found[2], page, flags=re.S
    )


def main() -> None:
    import django

    django.setup()
    for page, table in ((PAGE, event_table()), (API_PAGE, api_table())):
        page.write_text(with_table(page.read_text(encoding="utf-8"), table), encoding="utf-8")


if __name__ == "__main__":
    main()
