"""Creates a pre-authorization: create.py OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE

OFFER_ID is your own record's id, stored before anything is sent: with the same id this may be run
again and again, and creates once. PREAUTH_BASE_URL is the server's address,
with or without /api/integration/v1, PREAUTH_API_KEY the key.
"""

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


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, request, answer, code, message, headers, url):
        raise RuntimeError(f"{code}: PREAUTH_BASE_URL leads to {url}")


HTTP = urllib.request.build_opener(NoRedirects)


def send(body, idempotency_key):
    """One attempt: the status, the answer's body and its headers."""
    request = urllib.request.Request(
        f"{BASE_URL}/api/integration/v1/pre-authorizations",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {API_KEY}",
            "Content-Type": "application/json",
            "Idempotency-Key": idempotency_key,
        },
    )
    try:
        with HTTP.open(request, timeout=30) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal), refusal.headers


def create(body, idempotency_key):
    """Creates, repeating what may be repeated, always under the same key."""
    for attempt in range(1, ATTEMPTS + 1):
        wait = 2**attempt
        try:
            status, answer, headers = send(body, idempotency_key)
        except (OSError, ValueError, http.client.HTTPException) as error:
            # No answer, or none of the API's: it may have been done. The key makes repeating safe.
            problem = error
        else:
            if status == 201:
                return answer, headers.get("Idempotency-Replayed") == "true"
            problem = f"{status} {answer['errors']} (request {headers.get('X-Request-Id')})"
            is_in_progress = answer["errors"][0]["code"] == "IDEMPOTENCY_IN_PROGRESS"
            if status not in (408, 429, 500, 502, 503, 504) and not is_in_progress:
                break
            wait = int(headers.get("Retry-After", wait))
        if attempt < ATTEMPTS:
            time.sleep(wait)
    raise RuntimeError(f"not created: {problem}")


if __name__ == "__main__":
    if len(sys.argv) != 6 or not BASE_URL or not API_KEY:
        sys.exit(__doc__)
    offer_id, cnpj, number, amount, due_date = sys.argv[1:]
    offer = {
        "supplier": {"cnpj": cnpj, "email": "financeiro@fornecedor.example.com"},
        # An amount may be sent as text, so no binary float touches it.
        "invoice": {"amount": amount, "dueDate": due_date, "number": number},
        "externalReference": offer_id,
    }
    operation, replayed = create(offer, idempotency_key=f"pre-auth-{offer_id}")
    print(operation["id"], operation["status"], "replayed" if replayed else "created")
