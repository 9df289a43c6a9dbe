"""Input shapes of what is said. Texts are not trimmed: what people write is stored as they wrote it."""

from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator


class Words(serializers.CharField):
    """What somebody wrote. NUL and half a surrogate pair are left to the actions, which say what stands where."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        elsewhere = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
        self.validators = [one for one in self.validators if not isinstance(one, elsewhere)]


class Post(serializers.Serializer[Any]):
    client_msg_id = serializers.UUIDField()
    # Bounds and refusals of texts are the actions' (`text_too_long` and so on); this only keeps absurd bodies out.
    text = Words(trim_whitespace=False, allow_blank=True, max_length=1_000_000)
    to = serializers.ListField(child=serializers.CharField(max_length=26), max_length=20, required=False)


class Edit(serializers.Serializer[Any]):
    client_msg_id = serializers.UUIDField()
    text = Words(trim_whitespace=False, allow_blank=True, max_length=1_000_000)
    version = serializers.IntegerField(min_value=1)


class ClientId(serializers.Serializer[Any]):
    client_id = serializers.UUIDField()


class ReadTo(serializers.Serializer[Any]):
    number = serializers.IntegerField(min_value=0, max_value=2_000_000_000)
