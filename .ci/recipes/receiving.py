"""What a receiver of webhooks must do, whatever it is written in."""

import contextlib
import hashlib
import hmac
import http.client
import os
import socket
import subprocess
import time
import urllib.parse

ID = "019f0000-0000-7000-8000-000000000001"
# Printed by somebody else: spaces, a line end of two characters, letters beyond ASCII, an escape. Whoever
# parses and prints it again has other bytes.
EVENT = (
    '{ "id": "%s", "type": "pre_authorization.declined",\r\n "createdAt": "2026-11-21T12:00:00.000Z", '
    '"data": {"anticipationId": 1, "status": "REPROVED", "reason": "Não aceito \\u2014 preço", "new": 1.50} }'
)
UNKNOWN = '{"id":"019f0000-0000-7000-8000-000000000002","type":"tomorrow.happened","createdAt":"","data":{}}'


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def program(command, port, **environment):
    """A receiver while it runs; what it tells is shown when something fails."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    with open(os.devnull) as nothing:
        process = subprocess.Popen(
            command, env=environment, stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def listens():
        assert process.poll() is None, process.stdout.read()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(port))) == 0

    try:
        wait_for(listens, f"{command} listens")
        yield
    except BaseException:
        process.terminate()
        print(process.communicate()[0])
        raise
    finally:
        process.terminate()
        process.wait()


def keeps_the_contract(url, secret):
    """Confirms what is signed, as often as it comes and though it is new; refuses all else."""
    body = (EVENT % ID).encode()
    now = int(time.time())
    header = sign(secret, now, body)
    assert post(url, header, body) // 100 == 2, "a signed event"
    assert post(url, header, body) // 100 == 2, "the same again"
    assert post(url, sign(secret, now, UNKNOWN.encode()), UNKNOWN.encode()) // 100 == 2, "an unknown type"
    assert post(url, f"{sign(secret + 'x', now, body)},{header[13:]}", body) // 100 == 2, "two signatures"
    assert post(url, header, body + b" ") == 400, "another body"
    assert post(url, sign(secret + "x", now, body), body) == 400, "another secret"
    assert post(url, sign(secret, now - 400, body), body) == 400, "too old"
    assert post(url, None, body) == 400, "no signature"


def sign(secret, at, body):
    mac = hmac.digest(secret.encode(), b"%d." % at + body, hashlib.sha256)
    return f"t={at},v1={mac.hex()}"


def post(url, signature, body):
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    headers = {"content-type": "application/json"}
    if signature is not None:
        headers["x-service-signature"] = signature
    with contextlib.closing(connection):
        connection.request("POST", address.path, body, headers)
        return connection.getresponse().status
