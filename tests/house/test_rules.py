"""The house rules that a machine can hold: which way packages import, how large things may grow, who publishes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("office", "threads", "memory", "modes")  # each may import those to its left
COMPOSITION = {"office/settings.py", "office/urls.py", "office/asgi.py"}
FUNCTION_LINES, FILE_LINES, TEST_LINES = 50, 400, 40
TOP_LEVEL = {
    "manage.py", "pyproject.toml", "office", "threads", "modes", "memory", "tests", "README.md",
    ".ci", ".gitignore", "LICENSE", "constraints.txt", "Dockerfile", "compose.yaml",
}  # fmt: skip


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def imported(path: Path) -> Iterator[str]:
    """The first names of everything a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_those_to_its_left(package: str) -> None:
    forbidden = set(PACKAGES[PACKAGES.index(package) + 1 :]) | {"tests"}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(package)
        if path.relative_to(ROOT).as_posix() not in COMPOSITION
        for name in imported(path)
        if name in forbidden
    ]
    assert not wrong


def functions(path: Path) -> Iterator[tuple[int, str]]:
    """(lines, where) of each function of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or 0) - node.lineno + 1, f"{path.relative_to(ROOT)}:{node.name}"


def test_no_function_and_no_file_outgrows_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    paths = list(sources(*PACKAGES, "tests"))
    longest = sorted((entry for path in paths for entry in functions(path)), reverse=True)
    sizes = sorted(((len(path.read_text(encoding="utf-8").splitlines()), path) for path in paths), reverse=True)
    with capsys.disabled():
        print("\nten largest functions:", *(f"  {lines:3} {where}" for lines, where in longest[:10]), sep="\n")
        print("ten largest files:", *(f"  {lines:3} {path.relative_to(ROOT)}" for lines, path in sizes[:10]), sep="\n")
    assert [where for lines, where in longest if lines > FUNCTION_LINES] == []
    assert [str(path) for lines, path in sizes if lines > FILE_LINES] == []


def test_no_test_outgrows_its_limit() -> None:
    tests = [entry for path in sources("tests") for entry in functions(path)]
    assert [where for lines, where in tests if lines > TEST_LINES and ":test_" in where] == []


def test_only_the_announcer_publishes() -> None:
    """Whatever reaches a socket passes through `office/live`: nobody else may send to the layer or the hub."""
    sender = re.compile(r"group_send|get_channel_layer|\bhub\.deliver|wire\.send")
    outside = [path for path in sources(*PACKAGES) if "live" not in path.parts and path.name != "health.py"]
    assert [str(path) for path in outside if sender.search(path.read_text(encoding="utf-8"))] == []


def test_no_signal_and_no_logic_in_save() -> None:
    signal = re.compile(r"django\.db\.models\.signals|@receiver|def save\(self")
    assert [str(path) for path in sources(*PACKAGES) if signal.search(path.read_text(encoding="utf-8"))] == []


def test_the_top_level_stays_as_it_is() -> None:
    import subprocess

    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert {name.partition("/")[0] for name in listed if name} <= TOP_LEVEL


def test_every_public_module_opens_with_its_purpose() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources(*PACKAGES)
        if path.name != "__init__.py" and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []
