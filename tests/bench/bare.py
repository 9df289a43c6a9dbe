"""The limit: a broadcast server of the `websockets` package and nothing else. `python -m tests.bench.bare PORT`"""

import asyncio
import sys

from websockets.asyncio.server import ServerConnection, broadcast, serve

CONNECTIONS: set[ServerConnection] = set()


async def relay(connection: ServerConnection) -> None:
    """Whatever one says is sent to all, as it came."""
    CONNECTIONS.add(connection)
    try:
        async for message in connection:
            broadcast(CONNECTIONS, message)
    finally:
        CONNECTIONS.discard(connection)


async def main(port: int) -> None:
    async with serve(relay, "127.0.0.1", port, compression=None) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
