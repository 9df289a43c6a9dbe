"""Input shapes of the building's API. They read and bound fields; every rule lives in the actions."""

from typing import Any

from rest_framework import serializers

from office.models import Role
from office.words import LANGUAGES


class CoworkerSheet(serializers.Serializer[Any]):
    """Hiring takes all of these; changing takes any of them with the `version` they were read at."""

    name = serializers.CharField(max_length=200)
    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
    persona = serializers.CharField(max_length=20_000, required=False, allow_blank=True, trim_whitespace=False)
    language = serializers.ChoiceField(choices=LANGUAGES, required=False)
    provider = serializers.CharField(max_length=26)
    model = serializers.CharField(max_length=200, required=False, allow_blank=True)
    max_output_tokens = serializers.IntegerField(min_value=1, max_value=1_000_000, required=False, allow_null=True)
    hue = serializers.IntegerField(min_value=0, max_value=359, required=False)
    version = serializers.IntegerField(min_value=1, required=False)


class ProviderSheet(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    base_url = serializers.CharField(max_length=500)
    key = serializers.CharField(max_length=500, required=False, allow_blank=True, write_only=True)
    default_model = serializers.CharField(max_length=200, required=False, allow_blank=True)
    models = serializers.ListField(child=serializers.CharField(max_length=200), max_length=500, required=False)
    prices = serializers.DictField(child=serializers.DictField(), required=False)
    context_window = serializers.IntegerField(min_value=1024, max_value=100_000_000, required=False, allow_null=True)


class ChannelSheet(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200)
    people = serializers.ListField(child=serializers.CharField(max_length=26), max_length=200, required=False)
    coworkers = serializers.ListField(child=serializers.CharField(max_length=26), max_length=100, required=False)


class ChannelMemberSheet(serializers.Serializer[Any]):
    person = serializers.CharField(max_length=26, required=False)
    coworker = serializers.CharField(max_length=26, required=False)


class InviteSheet(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.values)
    days = serializers.IntegerField(min_value=1, max_value=90, required=False)


class RoleSheet(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=Role.values)


class TokenSheet(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)


class OfficeSheet(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    language = serializers.ChoiceField(choices=LANGUAGES, required=False)


class MeSheet(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False)
    language = serializers.ChoiceField(choices=LANGUAGES, required=False)


class GiveToAllSheet(serializers.Serializer[Any]):
    model = serializers.CharField(max_length=200, allow_blank=True)
