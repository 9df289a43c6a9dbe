"""`python -m tests`: style, types, then the whole suite on SQLite and again on PostgreSQL where one is reachable.

With CI=true a missing service is a failure, not a skip. Arguments are handed to pytest.
"""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STRICT = os.environ.get("CI", "").lower() in ("1", "true")
POSTGRES = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/9")


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run(title: str, *command: str, **environment: str) -> bool:
    """Runs one step and says how it went."""
    print(f"\n== {title}", flush=True)
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env={**os.environ, **environment}).returncode == 0


def missing() -> list[str]:
    """The services that the suite needs and this machine lacks."""
    lacking = []
    if not reachable(5432):
        lacking.append("PostgreSQL on port 5432")
    if not reachable(6379):
        lacking.append("Redis on port 6379")
    if not shutil.which("chromium"):
        lacking.append("Chromium")
    return lacking


def main(arguments: list[str]) -> int:
    lacking = missing()
    for service in lacking:
        print(f"missing: {service}; its tests are {'a failure' if STRICT else 'skipped'}")
    redis = {} if "Redis on port 6379" in lacking else {"TEST_REDIS_URL": REDIS}
    # One worker a core; a file stays with one worker, because browsers and servers are opened once a file.
    suite = ("pytest", "-n", "auto", "--dist", "loadfile", *arguments)
    steps = [
        run("style", "ruff", "check", "."),
        run("format", "ruff", "format", "--check", "."),
        run("types", "mypy", "office", "threads", "memory", "modes"),
        run("migrations", "tests.migrations"),
        run("tests on SQLite", *suite, **redis),
    ]
    if "PostgreSQL on port 5432" not in lacking:
        # The browser sees the same page whatever the database is; once is enough.
        steps.append(run("tests on PostgreSQL", *suite, "-m", "not browser", DATABASE_URL=POSTGRES, **redis))
    failed = not all(steps) or (STRICT and bool(lacking))
    print("\nsomething failed" if failed else "\nall is well")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
