"""HTTP clients for many calls at once."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any
from urllib.request import getproxies

import httpx


def client_for_many(**options: Any) -> httpx.Client:
    """An `httpx.Client` for threads that call at the same time, with as many connections as there are calls in
    flight. `options` are those of `httpx.Client`.

    With each request httpx's own pool looks at every connection for every other one, which at 64 in flight takes
    longer than the calls themselves; here each call borrows a connection that nobody else uses. Behind a proxy (by
    the environment) it is httpx's pool, which knows how to speak to one.
    """
    proxies = getproxies()
    if any(proxies.get(scheme) for scheme in ("http", "https", "all")):
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        return httpx.Client(limits=limits, **options)
    return httpx.Client(transport=_Lending(), **options)


class _Lending(httpx.BaseTransport):
    """A transport of single connections. Each is lent to one request until its response is closed."""

    def __init__(self) -> None:
        self._made: list[httpx.HTTPTransport] = []
        # by whether they are encrypted; append and pop are atomic
        self._free: dict[bool, list[httpx.HTTPTransport]] = {False: [], True: []}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        encrypted = request.url.scheme == "https"
        free = self._free[encrypted]
        try:
            one = free.pop()
        except IndexError:
            # a connection without encryption has no certificate to verify
            one = httpx.HTTPTransport(verify=self._certificates if encrypted else False)
            self._made.append(one)
        try:
            response = one.handle_request(request)
        except BaseException:
            free.append(one)
            raise
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Lent(response.stream, lambda: free.append(one))
        return response

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        """Loaded once for all connections, and only where one is encrypted: it takes as long as thirty calls."""
        return httpx.create_ssl_context()

    def close(self) -> None:
        for each in self._made:
            each.close()


class _Lent(httpx.SyncByteStream):
    """The body of a response; gives the connection back when it is closed."""

    def __init__(self, stream: httpx.SyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream, self._give_back = stream, give_back

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._give_back()
