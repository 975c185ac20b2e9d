#!/usr/bin/env python3
"""A server of tomorrow: it answers what v1 may grow, for clients that were generated today.

    tomorrow.py COMMAND...

runs the command with the server's address in PREAUTH_BASE_URL and ends as the command ends.
Operation 1 exists; GET /event gives an event as it would be delivered.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = "/api/integration/v1/pre-authorizations"
EVENTS = "/api/integration/v1/events"
NEW = {"tier": "GOLD", "since": 2027}

OPERATION = {
    "id": 1,
    "status": "RENEGOTIATING",
    "externalReference": None,
    "payer": {"cnpj": "11222333000181", "name": "Construtora Exemplo S.A.", "rating": NEW},
    "supplier": {"cnpj": "12ABC34501DE35", "name": None, "channel": "MARKETPLACE"},
    "invoice": {
        "amount": 1234567.89,
        "dueDate": "2027-01-20",
        "number": None,
        "withheldTaxAmount": 0,
        "currency": "BRL",
    },
    "expiresAt": None,
    "createdAt": "2027-01-02T03:04:05.678Z",
    "programme": NEW,
}
LIST = {
    "data": [OPERATION],
    "pagination": {"page": 1, "limit": 20, "total": 1, "totalPages": 1, "nextCursor": "b2Zmc2V0"},
    "summary": NEW,
}
EVENT = {
    "id": "019f0000-0000-7000-8000-000000000001",
    "type": "anticipation.renegotiated",
    "createdAt": "2027-01-02T03:04:05.678Z",
    "data": {
        "anticipationId": 1,
        "status": "RENEGOTIATING",
        "origin": "MARKETPLACE",
        "stage": "BANK",
        "programme": NEW,
    },
    "attempt": 1,
}
REFUSAL = {
    "errors": [{"code": "PROGRAMME_CLOSED", "message": "O programa está encerrado.", "help": NEW}],
    "details": [{"programme": NEW}],
    "requestId": "019f0000-0000-7000-8000-000000000002",
}
BATCH = {
    "results": [
        {"index": 0, "status": 201, "preAuthorization": OPERATION, "programme": NEW},
        {"index": 1, "status": 451, "errors": REFUSAL["errors"], "details": REFUSAL["details"]},
    ],
    "summary": NEW,
}
EVENT_LIST = {
    "data": [EVENT],
    "pagination": {"next": "Y3Vyc29y" * 32, "hasMore": False, "newest": "2027-01-02T03:04:05.678Z"},
    "summary": NEW,
}
ANSWERS = {
    ("GET", ROOT): (200, LIST),
    ("POST", ROOT): (201, OPERATION),
    ("GET", f"{ROOT}/1"): (200, OPERATION),
    ("POST", f"{ROOT}/1/cancel"): (422, REFUSAL),
    ("POST", f"{ROOT}/batch"): (200, BATCH),
    ("GET", EVENTS): (200, EVENT_LIST),
    ("GET", "/event"): (200, EVENT),
}


class Tomorrow(BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, body = ANSWERS.get((self.command, self.path.partition("?")[0]), (404, REFUSAL))
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.send_header("x-new-header", "new")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Tomorrow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["PREAUTH_BASE_URL"] = f"http://127.0.0.1:{server.server_port}"
    sys.exit(subprocess.call(sys.argv[1:]))
