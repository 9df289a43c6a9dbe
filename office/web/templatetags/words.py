"""`{% load words %}{% say "area.key" name=value %}`: a sentence in the page's language."""

from typing import Any

from django import template
from django.template.context import Context

from office.words import say as sentence

register = template.Library()


@register.simple_tag(takes_context=True)
def say(context: Context, key: str, **values: Any) -> str:
    """The sentence for `key` in the context's `language`; Django escapes it as it does any value."""
    return sentence(key, str(context.get("language") or "en"), **values)
