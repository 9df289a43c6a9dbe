"""Makes an office for a bench, through the product's own actions, in its own process; prints it as JSON.

`python -m tests.bench.staging --channels 3 --dms 25 --model http://127.0.0.1:9009/v1`
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from tests.bench.processes import ROOT, Failed, clean_environment, die_with_parent

MODEL = "scripted-1"


@dataclass(frozen=True)
class Place:
    """A thread to post in, and the coworker who answers there."""

    thread: str
    coworker: str

    @property
    def stream(self) -> str:
        return f"thread:{self.thread}"


@dataclass(frozen=True)
class Stage:
    """The owner's session cookie, project channels, and DMs, each with another coworker."""

    session: str
    channels: list[Place]
    dms: list[Place]


def stage(folder: str, *, channels: int = 0, dms: int = 0, model: str = "") -> Stage:
    """Sets an office up in `folder`; `model` is the base URL of the scripted server."""
    command = ["-m", "tests.bench.staging", "--channels", str(channels), "--dms", str(dms), "--model", model]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=clean_environment(**environment(folder, model)), capture_output=True,
        text=True, timeout=120, preexec_fn=die_with_parent,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"the office could not be set up:\n{done.stderr[-3000:]}")
    made = json.loads(done.stdout.splitlines()[-1])
    places = [[Place(**place) for place in made[kind]] for kind in ("channels", "dms")]
    return Stage(made["session"], *places)


def environment(folder: str, model: str = "") -> dict[str, str]:
    """What the product is given to live in `folder` and to reach the scripted server."""
    allowed = model.removeprefix("http://").partition("/")[0]
    return {"OFFICE_DATA": folder, "OFFICE_PRIVATE_ENDPOINTS": allowed, "DJANGO_SETTINGS_MODULE": "office.settings"}


def build(channels: int, dms: int, model: str) -> dict[str, Any]:
    """Runs inside the set-up process, after Django's."""
    from office.actions.channels import open_channel, open_dm
    from office.actions.staff import hire_coworker
    from tests.cast import gather, sign_in
    from threads.actions.sit import open_thread

    cast = gather()
    if model:
        cast.provider(model)
    provider = cast.lead.provider_id if not model else cast.office.providers.get(base_url=model).pk
    staff = [hire_coworker(cast.alice, provider=provider, name=f"Clerk {number}", model=MODEL) for number in range(dms)]
    direct = [{"thread": open_thread(open_dm(cast.alice, coworker=one.pk)).pk, "coworker": one.pk} for one in staff]
    lead, projects = cast.lead.pk, []
    for number in range(channels):
        channel = open_channel(cast.alice, name=f"Project {number}", coworkers=[lead])
        projects.append({"thread": open_thread(channel).pk, "coworker": lead})
    return {"session": sign_in(cast.alice), "channels": projects, "dms": direct}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=0)
    parser.add_argument("--dms", type=int, default=0)
    parser.add_argument("--model", default="")
    given = parser.parse_args()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    print(json.dumps(build(given.channels, given.dms, given.model)))


if __name__ == "__main__":
    main()
