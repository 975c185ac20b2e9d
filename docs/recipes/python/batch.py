"""Offers every invoice of a list: batch.py INVOICES.csv

A row is OFFER_ID;CNPJ;NUMBER;AMOUNT;DUE_DATE. OFFER_ID is your own record's id, stored before anything is
sent: the program may be killed and started again with the same list, and creates each offer once.
PREAUTH_BASE_URL is the server's address, with or without /api/integration/v1, PREAUTH_API_KEY the key.
"""

import csv
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

BASE_URL = os.environ.get("PREAUTH_BASE_URL", "").rstrip("/").removesuffix("/api/integration/v1")
API_KEY = os.environ.get("PREAUTH_API_KEY")
ATTEMPTS = 5
ITEMS = 100  # the most that a batch takes
WORTH_REPEATING = (408, 429, 500, 502, 503, 504)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, request, answer, code, message, headers, url):
        raise RuntimeError(f"{code}: PREAUTH_BASE_URL leads to {url}")


HTTP = urllib.request.build_opener(NoRedirects)


def item(row):
    offer_id, cnpj, number, amount, due_date = row
    return {
        "idempotencyKey": f"pre-auth-{offer_id}",
        "preAuthorization": {
            "supplier": {"cnpj": cnpj, "email": "financeiro@fornecedor.example.com"},
            # An amount may be sent as text, so no binary float touches it.
            "invoice": {"amount": amount, "dueDate": due_date, "number": number},
            "externalReference": offer_id,
        },
    }


def send(items):
    """One attempt: the status, the answer's body and its headers."""
    request = urllib.request.Request(
        f"{BASE_URL}/api/integration/v1/pre-authorizations/batch",
        data=json.dumps({"items": items}).encode(),
        headers={"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"},
    )
    try:
        with HTTP.open(request, timeout=60) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal), refusal.headers


def is_open(result):
    """Whether an item may have another outcome when it is sent again: 401 and 403 are about the API key alone."""
    return result["status"] in (401, 403, *WORTH_REPEATING) or (
        result["status"] != 201 and result["errors"][0]["code"] == "IDEMPOTENCY_IN_PROGRESS"
    )


def offer(rows):
    """The result of each row, the last one of those that stay open. The keys make repeating safe: what was done is
    answered, not done again."""
    results, open_rows = {}, list(range(len(rows)))
    for attempt in range(1, ATTEMPTS + 1):
        pause = 2**attempt
        try:
            status, answer, headers = send([item(rows[place]) for place in open_rows])
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = error
        else:
            if status == 200:
                for result in answer["results"]:
                    results[open_rows[result["index"]]] = result
                open_rows = [place for place in open_rows if is_open(results[place])]
            else:
                # The batch as a whole: nothing was done.
                problem = f"{status} {answer['errors']} (request {headers.get('X-Request-Id')})"
                if status not in WORTH_REPEATING:
                    break
            pause = int(headers.get("Retry-After", pause))
        if not open_rows:
            break
        if attempt < ATTEMPTS:
            time.sleep(pause)
    if len(results) < len(rows):
        raise RuntimeError(f"not offered: {problem}")
    return [results[place] for place in range(len(rows))]


if __name__ == "__main__":
    if len(sys.argv) != 2 or not BASE_URL or not API_KEY:
        sys.exit(__doc__)
    invoices = []
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter=";")
        for row in filter(None, lines):
            if len(row) != 5:
                sys.exit(f"{sys.argv[1]}, line {lines.line_num}: {len(row)} columns in place of 5; nothing was sent")
            invoices.append(row)
    has_open = False
    for begin in range(0, len(invoices), ITEMS):
        batch = invoices[begin : begin + ITEMS]
        for row, result in zip(batch, offer(batch)):
            if result["status"] == 201:
                how = "replayed" if result.get("replayed") else "created"
                print(row[0], result["preAuthorization"]["id"], how, flush=True)
            else:
                print(row[0], result["status"], result["errors"][0]["code"], flush=True)
            has_open |= is_open(result)
    if has_open:
        sys.exit("some offers have no outcome yet: run it again with the same list")
