"""`python -m tests.bench fanout|first_token|streams [--quick]`: one table, with ratios taken in the same run.

Everything runs on this machine's loopback; the bench starts its servers itself and ends them with itself.
"""

import argparse
import importlib
import sys

from tests.bench.processes import Failed, end_on_signal

NAMES = ("fanout", "first_token", "streams")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--quick", action="store_true", help="a small version: does it work, not how fast is it")
    parser.add_argument("--only", help="run only the servers whose name contains this text")
    given = parser.parse_args()
    end_on_signal()
    try:
        importlib.import_module(f"tests.bench.{given.name}").run(given.quick, given.only)
    except ModuleNotFoundError as missing:
        if missing.name != "picows":
            raise
        print("The load client needs picows: pip install -e '.[bench]'", file=sys.stderr)
        return 2
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
