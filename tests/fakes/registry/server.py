"""The fake registry's sockets: a port of its own at 127.0.0.1, a log, and faults on demand.

    with FakeRegistry() as registry:
        registry.fail(Fault(Phase.UPLOAD_END, Reset(body=1000)))
        ...                       # talk to registry.host
        registry.content.state()  # what it holds now
        registry.log              # what it was asked, in order

A connection that breaks in the middle of a chunk or of the final PUT ends the upload session, as it does with
docker's registry 2.8.
"""

import threading
from typing import Self

from fakes.registry.access import Access
from fakes.registry.connection import Server
from fakes.registry.content import Content
from fakes.registry.exchange import Exchange, Phase, Request
from fakes.registry.faults import Fault, Faults, Happening
from fakes.registry.options import Options
from fakes.registry.service import Service


class FakeRegistry:
    """A registry to talk to, until the `with` block ends."""

    def __init__(
        self,
        options: Options | None = None,
        *,
        access: Access | None = None,
        content: Content | None = None,
    ) -> None:
        self.content = content or Content()
        """What it holds; may be shared with another server."""
        self.log: list[Exchange] = []
        """Every request, in the order of arrival."""
        self.faults = Faults()
        """What is still to go wrong."""
        self.service = Service(self.content, options or Options(), access)
        """What answers when nothing goes wrong."""
        self._lock = threading.Lock()
        self._server = Server(self.service, self.arrive)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.002})
        self._thread.start()

    @property
    def host(self) -> str:
        """Host and port, as in an image's name."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Its address without a slash at the end."""
        return self._server.url

    def fail(self, *faults: Fault) -> None:
        """Let these faults happen."""
        self.faults.arm(*faults)

    def heal(self) -> None:
        """Forget all faults that have not happened."""
        self.faults.clear()

    def phases(self) -> list[Phase]:
        """The steps of the protocol that were asked for, in order."""
        return [exchange.request.phase for exchange in self.log]

    def requests(self, phase: Phase) -> list[Request]:
        """The requests of one kind, in order."""
        return [exchange.request for exchange in self.log if exchange.request.phase is phase]

    def received(self) -> int:
        """Bytes of request bodies that came in."""
        return sum(exchange.received for exchange in self.log)

    def arrive(self, exchange: Exchange) -> Happening | None:
        """For the connection: log a request; what it meets."""
        with self._lock:
            self.log.append(exchange)
            return self.faults.next(exchange.request)

    def stop(self) -> None:
        """Close the port and every connection."""
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
