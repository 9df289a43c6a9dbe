"""Finds model servers that already run on this machine, so that a first office answers without set-up."""

import asyncio
from dataclasses import dataclass, field

from office.llm import list_models
from office.model_errors import ModelError
from office.providers import Endpoint

USUAL_PORTS: tuple[tuple[str, int], ...] = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080))
LIMIT_S = 0.5


@dataclass(frozen=True)
class Found:
    """A model server that answered."""

    name: str
    base_url: str
    models: list[str] = field(default_factory=list)


async def find_model_servers(ports: tuple[tuple[str, int], ...] = USUAL_PORTS, limit_s: float = LIMIT_S) -> list[Found]:
    """Asks the usual ports of this machine at once, each within `limit_s`; who does not answer is left out."""
    answers = await asyncio.gather(*(_ask(name, port, limit_s) for name, port in ports))
    return [found for found in answers if found is not None]


async def _ask(name: str, port: int, limit_s: float) -> Found | None:
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", pinned=frozenset({f"127.0.0.1:{port}"}))
    try:
        models = await list_models(endpoint, limit_s)
    except ModelError:
        return None
    return Found(name, endpoint.base_url, models)
