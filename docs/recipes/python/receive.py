"""Receives webhooks: receive.py PORT, with the signing secret in WEBHOOK_SECRET."""

import json
import os
import re
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from verify import refusal

# During a rotation with overlap: the new secret and the old one, separated by a comma.
SECRETS = os.environ["WEBHOOK_SECRET"].split(",")
MAX_BODY = 1024 * 1024

# In your system: the database that holds the invoices.
database = sqlite3.connect(os.environ.get("DATABASE", ":memory:"))
database.execute("CREATE TABLE IF NOT EXISTS seen (event_id TEXT PRIMARY KEY)")
database.execute("CREATE TABLE IF NOT EXISTS operation (id INTEGER PRIMARY KEY, status TEXT)")


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds for each read

    def do_POST(self):
        # Digits alone: int() reads "-1", too, and read(-1) has no end.
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,7}", length) or int(length) > MAX_BODY:
            return self.answer(413)
        body = self.rfile.read(int(length))
        reason = refusal(SECRETS, self.headers.get("x-service-signature"), body)
        if reason:
            print(f"refused: {reason}", flush=True)
            return self.answer(400)
        event = json.loads(body)
        # Effect and id in one transaction: an event has its effect exactly once, however often it
        # comes, and a 2xx confirms that both are stored.
        with database:
            try:
                database.execute("INSERT INTO seen VALUES (?)", [event["id"]])
            except sqlite3.IntegrityError:
                return self.answer(204)
            apply(event)
        print(f"accepted: {event['type']} {event['id']}", flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def apply(event):
    # Types that this program does not know are acknowledged, too.
    if event["type"].startswith(("pre_authorization.", "anticipation.")):
        data = event["data"]
        # Events may arrive out of order. Where that matters, GET the operation and store its answer.
        database.execute(
            "INSERT OR REPLACE INTO operation VALUES (?, ?)", [data["anticipationId"], data["status"]]
        )


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
