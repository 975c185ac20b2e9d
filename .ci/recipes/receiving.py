"""What a receiver of webhooks must do, in any language."""

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import shlex
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# An event with an effect.
CREATED = ROOT / "preauth-core/tests/wire/golden/event_created.json"
ID = "019f0000-0000-7000-8000-000000000001"
# Printed by another encoder: spaces, a line end of two characters, letters beyond ASCII, an escape.
# A receiver that parses and prints it again has other bytes.
EVENT = (
    '{ "id": "%s", "type": "pre_authorization.declined",\r\n "createdAt": "2026-11-21T12:00:00.000Z", '
    '"data": {"anticipationId": 1, "status": "REPROVED", "reason": "Não aceito \\u2014 preço", "new": 1.50} }'
)
MAX_BODY = 1024 * 1024
# Requests that declare a false length, or whose body is longer than a webhook's: a name, a header,
# the body as it is sent. Each is signed, so that only its length is wrong. A new attack is one row.
BODY = (EVENT % ID).encode()
LONG = json.dumps({**json.loads(BODY), "pad": "x" * MAX_BODY}).encode()
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
LENGTHS = [
    ("a negative length", "content-length: -1", BODY),
    ("the smallest length of 64 bits", "content-length: -9223372036854775808", BODY),
    ("a length of 20 digits", "content-length: 99999999999999999999", BODY),
    ("a length that is no number", "content-length: x", BODY),
    ("a length in hexadecimal", f"content-length: {len(BODY):#x}", BODY),
    ("a length of nothing", "content-length: 0", BODY),
    ("a body above the bound", f"content-length: {len(LONG)}", LONG),
    ("chunks above the bound", "transfer-encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(LONG), LONG)),
    ("chunks without end", "transfer-encoding: chunked", CHUNK * 64),
    ("a chunk of a negative length", "transfer-encoding: chunked", b"-1\r\n" + BODY + b"\r\n0\r\n\r\n"),
]
# What `php -S` survives: PHP's development server allocates as many bytes as the declared length,
# and dies.
PHP_LENGTHS = [row for row in LENGTHS if "99999" not in row[1]]
UNKNOWN = '{"id":"019f0000-0000-7000-8000-000000000002","type":"tomorrow.happened","createdAt":"","data":{}}'


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@contextlib.contextmanager
def program(command, port, **environment):
    """A running receiver; its output is shown when something fails."""
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


def keeps_the_contract(url, secret, lengths=LENGTHS):
    """Confirms what is signed, as often as it comes and though it is new; refuses all else."""
    body, now = BODY, int(time.time())
    header = sign(secret, now, body)
    assert post(url, header, body) // 100 == 2, "a signed event"
    assert post(url, header, body) // 100 == 2, "the same again"
    assert post(url, sign(secret, now, UNKNOWN.encode()), UNKNOWN.encode()) // 100 == 2, "an unknown type"
    assert post(url, f"{sign(secret + 'x', now, body)},{header[13:]}", body) // 100 == 2, "two signatures"
    for name, length, sent in lengths:
        status = send(url, length, sent, secret)
        assert status // 100 != 2, f"{name}: {status}"
    assert post(url, header, body) // 100 == 2, "a signed event after those"
    assert post(url, header, body + b" ") == 400, "another body"
    assert post(url, sign(secret + "x", now, body), body) == 400, "another secret"
    assert post(url, sign(secret, now - 400, body), body) == 400, "too old"
    assert post(url, None, body) == 400, "no signature"


def passes_the_probe(url, secret, database=None, event=CREATED):
    """`preauth-server probe`, a sender on a bad day, finds nothing; with the effects counted, where they are rows of a table."""
    built = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target", "debug/preauth-server")
    command = [os.environ.get("PREAUTH_SERVER") or built, "probe", url, "--json"]
    if event:
        command += ["--event", event]
    if database:
        path, table = database
        rows = f"import sqlite3; print(*sqlite3.connect('{path}').execute('SELECT count(*) FROM {table}').fetchone())"
        command += ["--count-command", shlex.join(["python3", "-c", rows])]
    environment = {**os.environ, "WEBHOOK_SECRET": secret}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    unseen = set() if database else {"work-unseen"}
    wrong = [it for it in found if it.get("result", "ok") != "ok" and it["code"] not in unseen]
    assert done.returncode == 0 and found and not wrong, f"{url}: {wrong}{done.stderr}"


def accepts_nothing(url, secret):
    """Its list of secrets has an empty one: refuses a forger's delivery, and all others too, so that it shows."""
    now = int(time.time())
    assert post(url, sign("", now, BODY), BODY) // 100 != 2, "signed with the empty secret"
    assert post(url, sign(secret, now, BODY), BODY) // 100 != 2, "signed, to a receiver with an empty secret"


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


def send(url, length, body, secret):
    """The status that answers these very bytes; 0 if the connection is closed instead."""
    address = urllib.parse.urlsplit(url)
    signed = LONG if len(body) > MAX_BODY else BODY
    head = [
        f"POST {address.path} HTTP/1.1",
        f"host: {address.netloc}",
        "content-type: application/json",
        f"x-service-signature: {sign(secret, int(time.time()), signed)}",
        length,
    ]
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        try:
            connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4096)
        except TimeoutError:
            raise
        except OSError:
            return 0
    return int(answer.split()[1]) if answer else 0
