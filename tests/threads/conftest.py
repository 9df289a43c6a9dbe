"""Desks for the tests of what is said."""

from tests.modes.conftest import alice, bob, dm, hall, model

__all__ = ["alice", "bob", "dm", "hall", "model"]
