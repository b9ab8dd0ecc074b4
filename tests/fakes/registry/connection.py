"""HTTP/1.1 on the fake registry's sockets: bodies in, answers out, and every way in which that may go wrong."""

import socket
import struct
import threading
from collections.abc import Callable
from http.client import responses
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fakes.registry.exchange import Exchange, Phase, Reply, Request
from fakes.registry.faults import Answer, Changed, Happening, LostReply, Meanwhile, Reset, Stall
from fakes.registry.service import Service

_PIECE = 1 << 16
_EARLY = 1 << 18
"""A body is read so far and no further when the head alone is refused (Go's servers do likewise)."""
_PATIENCE = 30.0
"""Seconds without a byte after which a connection is given up, so that no test hangs."""


class Gone(Exception):
    """The client hung up in the middle of its request."""


class Server(ThreadingHTTPServer):
    """Accepts connections, knows the open ones, and says nothing on stderr."""

    daemon_threads = False  # server_close waits for the answers that are being written

    def __init__(self, service: Service, arrive: Callable[[Exchange], Happening | None]) -> None:
        self.service = service
        self.arrive = arrive
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Connection)

    @property
    def url(self) -> str:
        """The server's address without a slash at its end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def server_bind(self) -> None:
        """Take a port, with a small window: a client notices soon that nobody reads its body."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
        super().server_bind()

    def get_request(self) -> tuple[socket.socket, Any]:
        """The next connection."""
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection without the polite end that would turn a reset into a close."""
        with self._lock:
            self._open.discard(request)
        self.close_request(request)

    def hang_up(self) -> None:
        """End every open connection, so that their threads end."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the client was faster

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what some tests are about."""


class _Connection(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE
    disable_nagle_algorithm = True

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Whatever the method is: http.server looks for `do_GET` and so on."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        names = {name.lower() for name in self.headers}
        given = {name: ", ".join(self.headers.get_all(name, ())) for name in names}  # RFC 9110, 5.3
        self.exchange = Exchange(Request.parse(self.command, self.path, given))
        happening = self.server.arrive(self.exchange)
        try:
            self._meet(happening)
        except Gone:
            self._break_session()
            self.close_connection = True

    def _meet(self, happening: Happening | None) -> None:
        match happening:
            case Reset(body=count):
                self._body(count)
                self._break_session()
                self._reset()
            case LostReply():
                self._carry_out()
                self._reset()
            case Stall():
                self._body()
                self.close_connection = True
                self.rfile.read(1)  # returns when the client hangs up
            case Answer(reply=reply, early=None):
                self._body()
                self._send(reply)
            case Answer(reply=reply, early=count):
                self._body(count)
                self._break_session()
                self._send(reply, last=True)
            case Changed(change=change):
                self._send(change(self._carry_out()))
            case Meanwhile(do=do, after=after):
                reply = self._carry_out(before=None if after else do)
                if after:
                    do(self.server.service.content)
                self._send(reply)
            case None:
                self._send(self._carry_out())

    def _carry_out(self, before: Callable[[Any], object] | None = None) -> Reply:
        service, request = self.server.service, self.exchange.request
        refused = service.refuse(request, self.server.url)
        if refused is not None:
            whole = self._body(_EARLY) is not None
            self.close_connection = self.close_connection or not whole
            return refused
        body = self._body() or b""
        if before is not None:
            before(service.content)
        return service.answer(request, body, self.server.url)

    def _body(self, limit: int | None = None) -> bytes | None:
        """The request's body, or None when it is longer than the limit: the rest then stays unread."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunked()
        length = int(self.headers.get("Content-Length", 0))
        data = bytearray()
        wanted = length if limit is None else min(limit, length)
        while len(data) < wanted:
            piece = self.rfile.read(min(_PIECE, wanted - len(data)))
            if not piece:
                raise Gone
            data += piece
            self.exchange.received += len(piece)
        return bytes(data) if wanted == length else None

    def _chunked(self) -> bytes:
        data = bytearray()
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            piece = self.rfile.read(size)
            if len(piece) < size:
                raise Gone
            data += piece
            self.exchange.received += size
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return bytes(data)

    def _send(self, reply: Reply, *, last: bool = False) -> None:
        self.close_connection = self.close_connection or last or reply.keep is not None
        self.exchange.status = reply.status
        body = reply.body if reply.keep is None else reply.body[: reply.keep]
        headers = dict(reply.headers)
        if reply.status not in (204, 304):
            declared = len(reply.body) if reply.declared is None else reply.declared
            headers["Content-Length"] = str(declared)
        headers |= {"Connection": "close"} if last else {}
        head = f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write(head.encode("latin-1") + b"\r\n" + (b"" if self.command == "HEAD" else body))
        if reply.reset:
            self._reset()

    def _reset(self) -> None:
        """End the connection by a reset: closing with a linger time of zero."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _break_session(self) -> None:
        """An upload whose request broke off is over."""
        request = self.exchange.request
        if request.phase in (Phase.UPLOAD_CHUNK, Phase.UPLOAD_END):
            with self.server.service.content.lock:
                self.server.service.content.sessions.pop(request.reference, None)

    def log_message(self, *_arguments: Any) -> None:
        """Keep stderr for the tests: the log is `FakeRegistry.log`."""
