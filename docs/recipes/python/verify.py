"""Verifies signed webhooks. Standard library only."""

import hashlib
import hmac
import re
import time

# As the platform shows it. An empty one is everybody's, and `"whsec_new,".split(",")` has one.
SECRET = re.compile(r"whsec_[^\x00-\x20\x7f]{18,}")
# name=value: printable ASCII, neither space nor comma in it.
ITEM = re.compile(r"([!-+\--<>-~]+)=([!-+\--~]*)")
TIMESTAMP = re.compile(r"0|[1-9][0-9]{0,11}")
SIGNATURE = re.compile(r"[0-9A-Fa-f]{64}")


def refusal(secrets, header, body, now=None, tolerance=300):
    """Returns why a delivery must be refused; None if it is accepted.

    `secrets` are those in force, `header` is the value of x-service-signature (None if there is
    none), `body` are the bytes as they came. A signature may lie `tolerance` seconds from `now`.
    """
    if not secrets or not all(map(SECRET.fullmatch, secrets)):
        return "bad_secret"
    if header is None:
        return "missing_header"
    if len(header) > 2048:
        return "malformed"
    items = [ITEM.fullmatch(item) for item in header.split(",")]
    if None in items:
        return "malformed"
    timestamps = [item[2] for item in items if item[1] == "t"]
    signatures = [item[2] for item in items if item[1] == "v1"]
    if len(timestamps) != 1 or not TIMESTAMP.fullmatch(timestamps[0]):
        return "malformed"
    if not 1 <= len(signatures) <= 8 or not all(map(SIGNATURE.fullmatch, signatures)):
        return "malformed"

    age = (time.time() if now is None else now) - int(timestamps[0])
    if abs(age) > tolerance:
        return "too_old" if age > 0 else "too_new"

    # The text of t as it came, never a number printed anew.
    signed = timestamps[0].encode() + b"." + body
    matches = False
    for secret in secrets:
        expected = hmac.digest(secret.encode(), signed, hashlib.sha256)
        for signature in signatures:
            # In constant time, and all of them, whatever was found before.
            matches |= hmac.compare_digest(expected, bytes.fromhex(signature))
    return None if matches else "no_match"
