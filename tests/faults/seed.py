"""Fills the database of a served office: the cast, a model server, a sign-in for Alice and Bob. Prints it as JSON."""

import json
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office.settings")


def main(base_url: str) -> None:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    call_command("migrate", interactive=False, verbosity=0)
    from tests.cast import gather, sign_in
    from threads.actions.sit import open_thread

    cast = gather()
    cast.provider(base_url)
    hall = open_thread(cast.project).pk
    seeded = {"alice": sign_in(cast.alice), "bob": sign_in(cast.bob), "hall": hall, "lead": cast.lead.pk}
    print(json.dumps(seeded))


if __name__ == "__main__":
    main(sys.argv[1])
