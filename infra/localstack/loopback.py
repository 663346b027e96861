"""Runs LocalStack on 127.0.0.1. By itself it takes only the port from GATEWAY_LISTEN, and listens on every address."""

from functools import partial

from twisted.internet import endpoints

endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")

from localstack.runtime.main import main  # noqa: E402

main()
