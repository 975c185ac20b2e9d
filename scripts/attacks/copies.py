"""What strangers copy: the recipes' receivers, with a setting that has a comma too many."""

import contextlib
import hashlib
import hmac
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from attack import REFUSED, attack, expect
from service import free_port, wait_for

RECIPES = Path(__file__).resolve().parents[2] / "docs/recipes"
SECRET = "whsec_c29tZWJvZHktZWxzZXMtc2VjcmV0LW9mLTMyLWI"
BODY = b'{"id":"1","type":"anticipation.paid","createdAt":"","data":{"anticipationId":1,"status":"TO_RECEIVE"}}'


@contextlib.contextmanager
def receiver(secrets):
    port = free_port()
    command = [sys.executable, RECIPES / "python/receive.py", str(port)]
    environment = {**os.environ, "WEBHOOK_SECRET": secrets}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            def listens():
                with socket.socket() as probe:
                    return probe.connect_ex(("127.0.0.1", port)) == 0

            wait_for(listens, "the receiver listens")
            yield port
        finally:
            process.terminate()


def post(port, secret, length=len(BODY)):
    at = int(time.time())
    signature = hmac.digest(secret.encode(), b"%d." % at + BODY, hashlib.sha256).hex()
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\nX-Service-Signature: t={at},v1={signature}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head.encode() + BODY)
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            answer = connection.recv(4096)
            return int(answer.split()[1]) if answer else 0
        return 0


@attack(14, "a forged webhook, signed with the empty secret after a comma")
def empty_secret(service):
    with receiver(f"{SECRET},") as port:
        expect(post(port, "") // 100 != 2, "the forged webhook is taken")
    with receiver(SECRET) as port:
        expect(post(port, SECRET) == 204, "a true webhook is not taken")
        expect(post(port, "") // 100 != 2, "the forged webhook is taken")
    return REFUSED


@attack(14, "a webhook of a negative length")
def negative_length(service):
    with receiver(SECRET) as port:
        for length in (-1, 10**20, "0x10"):
            expect(post(port, SECRET, length) // 100 != 2, f"length {length}")
    return REFUSED
