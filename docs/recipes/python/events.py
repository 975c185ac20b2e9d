"""Reads events on request, for a system that nobody can reach from outside: events.py FOLDER [once]

FOLDER keeps the place in the events and what was done: the program may be killed and started again at
any moment, and acts on each event once. With `once` it ends when there are no more events, for a
scheduler; without, it waits for the next one. PREAUTH_BASE_URL is the server's address, with or without
/api/integration/v1, PREAUTH_API_KEY the key.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("PREAUTH_BASE_URL", "").rstrip("/").removesuffix("/api/integration/v1")
API_KEY = os.environ.get("PREAUTH_API_KEY")
ATTEMPTS = 5


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, request, answer, code, message, headers, url):
        raise RuntimeError(f"{code}: PREAUTH_BASE_URL leads to {url}")


HTTP = urllib.request.build_opener(NoRedirects)


class Journal:
    """What was done, a line for each event. In your system: a table with the event's id as its key, written
    in the transaction that has the event's effect."""

    def __init__(self, path):
        self.file = open(path, "a+b")
        self.file.seek(0)
        text = self.file.read()
        # A line without its end was being written when the program was killed: it was not done.
        self.file.truncate(text.rfind(b"\n") + 1)
        self.done = {line.split()[0].decode() for line in text[: text.rfind(b"\n") + 1].splitlines()}

    def act(self, event):
        if event["id"] in self.done:
            return
        words = [event["id"], event["type"]]
        # Types that this program does not know are passed over.
        if event["type"].startswith(("pre_authorization.", "anticipation.")):
            words += [str(event["data"]["anticipationId"]), event["data"]["status"]]
        self.file.write(" ".join(words).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.done.add(event["id"])
        print(*words, flush=True)


def load(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


def store(path, cursor):
    """In place of the one before, as a whole."""
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.write(cursor)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def ask(after, wait):
    """One attempt: the status, the answer's body and its headers."""
    query = {"limit": 100, "wait": wait, **({"after": after} if after else {})}
    request = urllib.request.Request(
        f"{BASE_URL}/api/integration/v1/events?{urllib.parse.urlencode(query)}",
        headers={"Authorization": f"Bearer {API_KEY}"},
    )
    try:
        # Longer than the service may wait.
        with HTTP.open(request, timeout=45) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal), refusal.headers


def page(after, wait):
    """The next events, asking again where that may help."""
    for attempt in range(1, ATTEMPTS + 1):
        pause = 2**attempt
        try:
            status, answer, headers = ask(after, wait)
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = error
        else:
            if status == 200:
                return answer
            problem = f"{status} {answer['errors']} (request {headers.get('X-Request-Id')})"
            # 410 EVENT_CURSOR_EXPIRED: events were missed. A person compares, then deletes the cursor.
            if status not in (408, 429, 500, 502, 503, 504):
                break
            pause = int(headers.get("Retry-After", pause))
        if attempt < ATTEMPTS:
            time.sleep(pause)
    raise RuntimeError(f"no events: {problem}")


if __name__ == "__main__":
    if sys.argv[2:] not in ([], ["once"]) or len(sys.argv) < 2 or not BASE_URL or not API_KEY:
        sys.exit(__doc__)
    folder, once = sys.argv[1], sys.argv[2:] == ["once"]
    os.makedirs(folder, exist_ok=True)
    journal, cursor = Journal(os.path.join(folder, "journal")), os.path.join(folder, "cursor")
    more = True
    while more or not once:
        answer = page(load(cursor), 0 if once else 30)
        for event in answer["data"]:
            journal.act(event)
        # Only now: what was not done comes again.
        store(cursor, answer["pagination"]["next"])
        more = answer["pagination"]["hasMore"]
