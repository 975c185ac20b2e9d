#!/usr/bin/env python3
"""Writes vectors.json from the standard library alone, as a second opinion on the Rust crate: vectors.py [PATH]

A new attack is one row here. Every verifier of the project has to refuse it: the crate with all its features and
with none, and each recipe.
"""

import base64
import hashlib
import hmac
import json
import pathlib
import sys

SECRET = "whsec_Zml4ZWQtdmVjdG9yLXNlY3JldC1vbmUtb2YtdHdvLTE"
OTHER = "whsec_Zml4ZWQtdmVjdG9yLXNlY3JldC10d28tb2YtdHdvLTI"
LONG = "whsec_" + "long-key-" * 10  # more than one SHA-256 block: HMAC hashes such a key first
SHORTEST = "whsec_0123456789abcdefgh"  # 24 bytes
UTF8 = "whsec_acentuação-é-de-bytes-também"
T = 1_760_000_000
BODY = '{"id":"0199c82c-0000-7000-8000-000000000001","type":"webhook.test","data":{"message":"Olá"}}'.encode()


def v1(secret, t, body):
    return hmac.new(secret.encode(), str(t).encode() + b"." + body, hashlib.sha256).hexdigest()


def header(secret=SECRET, t=T, body=BODY):
    return f"t={t},v1={v1(secret, t, body)}"


def case(name, outcome, value, body=BODY, secrets=(SECRET,), now=T, tolerance=300):
    return {
        "name": name,
        "secrets": list(secrets),
        "header": value,
        "body_hex": body.hex(),
        "now_unix_seconds": now,
        "tolerance_seconds": tolerance,
        "outcome": outcome,
    }


SIG = v1(SECRET, T, BODY)
WRONG = "0" * 64
CASES = [
    case("one secret, one signature", "accepted", header()),
    case("a compact webhook.test body", "accepted",
         header("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE", T, b'{"type":"webhook.test"}'),
         b'{"type":"webhook.test"}', ("whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE",), T + 12),
    case("an empty body", "accepted", header(body=b""), b""),
    case("a body that is not UTF-8", "accepted", header(body=bytes(range(256))), bytes(range(256))),
    case("a body of exactly one hash block with its timestamp", "accepted",
         header(body=b"x" * 53), b"x" * 53),
    case("a body of 4 KiB", "accepted", header(body=b"a" * 4096), b"a" * 4096),
    case("a secret longer than a hash block", "accepted", header(LONG), secrets=(LONG,)),
    case("a secret beyond ASCII is its UTF-8 bytes", "accepted", header(UTF8), secrets=(UTF8,)),
    case("a secret of 24 bytes", "accepted", header(SHORTEST), secrets=(SHORTEST,)),
    case("the second of two secrets", "accepted", header(OTHER), secrets=(SECRET, OTHER)),
    case("the second of two signatures", "accepted", f"t={T},v1={WRONG},v1={SIG}"),
    case("the first of two signatures", "accepted", f"t={T},v1={SIG},v1={WRONG}"),
    case("during a rotation: two signatures, the receiver knows the old secret", "accepted",
         f"t={T},v1={v1(OTHER, T, BODY)},v1={SIG}"),
    case("the eighth of eight signatures", "accepted", f"t={T}" + f",v1={WRONG}" * 7 + f",v1={SIG}"),
    case("upper-case hex digits", "accepted", f"t={T},v1={SIG.upper()}"),
    case("the signature before the timestamp", "accepted", f"v1={SIG},t={T}"),
    case("unknown schemes", "accepted", f"v0=abc,t={T},v2=QUJD==,v1={SIG},v1a=x"),
    case("at the end of the tolerance", "accepted", header(), now=T + 300),
    case("at the beginning of the tolerance", "accepted", header(), now=T - 300),
    case("a tolerance of an hour", "accepted", header(), now=T + 3600, tolerance=3600),
    case("at the beginning of time", "accepted", header(t=0), now=0),
    case("a header of 2048 bytes", "accepted", f"{header()},x=".ljust(2048, "y")),

    # Anybody can sign with these; a receiver that holds one accepts nothing at all.
    case("no secret", "bad_secret", header(), secrets=()),
    case("an empty secret, and a forger who knows", "bad_secret", header(""), secrets=("",)),
    case("a comma at the end of the secrets, and a forger who knows", "bad_secret", header(""), secrets=(SECRET, "")),
    case("a comma at the end of the secrets", "bad_secret", header(), secrets=(SECRET, "")),
    case("a comma before the secrets", "bad_secret", header(), secrets=("", SECRET)),
    case("an empty secret, no header", "bad_secret", None, secrets=("",)),
    case("the prefix alone", "bad_secret", header("whsec_"), secrets=("whsec_",)),
    case("a secret of 23 bytes", "bad_secret", header(SHORTEST[:-1]), secrets=(SHORTEST[:-1],)),
    case("a secret without its prefix", "bad_secret", header(SECRET[6:]), secrets=(SECRET[6:],)),
    case("a secret in capitals", "bad_secret", header(SECRET.upper()), secrets=(SECRET.upper(),)),
    case("a space before the secret", "bad_secret", header(" " + SECRET), secrets=(" " + SECRET,)),
    case("a line end after the secret", "bad_secret", header(SECRET + "\n"), secrets=(SECRET + "\n",)),
    case("two secrets that nobody separated", "bad_secret", header(f"{SECRET} {OTHER}"), secrets=(f"{SECRET} {OTHER}",)),
    case("a NUL after the secret: the same key to HMAC", "bad_secret", header(), secrets=(SECRET + "\0",)),
    case("a secret of spaces", "bad_secret", header("whsec_" + " " * 18), secrets=("whsec_" + " " * 18,)),

    case("no header", "missing_header", None),
    case("one second too old", "too_old", header(), now=T + 301),
    case("one second too new", "too_new", header(), now=T - 301),
    case("a tolerance of nothing", "too_old", header(), now=T + 1, tolerance=0),
    case("the largest timestamp that is read", "too_new", header(t=999_999_999_999)),

    case("another secret", "no_match", header(OTHER)),
    case("another body", "no_match", header(), BODY + b" "),
    case("another time", "no_match", f"t={T + 1},v1={SIG}"),
    case("a MAC of the body alone", "no_match",
         f"t={T},v1={hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()}"),
    case("a MAC under the secret without its prefix", "no_match",
         f"t={T},v1={hmac.new(SECRET[6:].encode(), f'{T}.'.encode() + BODY, hashlib.sha256).hexdigest()}"),
    case("a dot moved from the body into the time", "no_match",
         f"t=1760000000,v1={v1(SECRET, '1760000000.1', b'23')}", b"123"),
    case("a signature under another scheme's name only beside a wrong one", "no_match",
         f"t={T},v0={SIG},v1={WRONG}"),
    case("a signature of zeros", "no_match", f"t={T},v1={WRONG}"),
    case("a MAC under the empty key", "no_match", header("")),
    case("a MAC under the prefix", "no_match", header("whsec_")),
    case("a MAC under two secrets joined", "no_match", header(f"{SECRET},{OTHER}"), secrets=(SECRET, OTHER)),
    case("a hash of secret and message", "no_match",
         f"t={T},v1={hashlib.sha256(SECRET.encode() + f'{T}.'.encode() + BODY).hexdigest()}"),
    case("a hash of the message", "no_match", f"t={T},v1={hashlib.sha256(f'{T}.'.encode() + BODY).hexdigest()}"),
    case("a MAC without the time", "no_match", f"t={T},v1={v1(SECRET, '', BODY)}"),
    case("a MAC by SHA-512, cut", "no_match",
         f"t={T},v1={hmac.new(SECRET.encode(), f'{T}.'.encode() + BODY, hashlib.sha512).hexdigest()[:64]}"),
    case("eight signatures, none of them right", "no_match", f"t={T}" + f",v1={WRONG}" * 8),
    case("another body of the same length", "no_match", header(), BODY.replace(b"test", b"Test")),
    case("a body without its last byte", "no_match", header(), BODY[:-1]),
    case("a body with a NUL at its end", "no_match", header(), BODY + b"\0"),
    case("no body", "no_match", header(), b""),

    case("an empty header", "malformed", ""),
    case("no timestamp", "malformed", f"v1={SIG}"),
    case("no signature", "malformed", f"t={T}"),
    case("an empty signature", "malformed", f"t={T},v1="),
    case("a prefix of the signature", "malformed", f"t={T},v1={SIG[:32]}"),
    case("one hex digit too few", "malformed", f"t={T},v1={SIG[:-1]}"),
    case("one hex digit too many", "malformed", f"t={T},v1={SIG}0"),
    case("a right signature beside a broken one", "malformed", f"t={T},v1={SIG},v1=zz"),
    case("nine signatures", "malformed", f"t={T}" + f",v1={SIG}" * 9),
    case("two timestamps, the first right", "malformed", f"t={T},t={T + 1},v1={SIG}"),
    case("two equal timestamps", "malformed", f"t={T},t={T},v1={SIG}"),
    case("a plus sign", "malformed", f"t=+{T},v1={v1(SECRET, f'+{T}', BODY)}"),
    case("a leading zero", "malformed", f"t=0{T},v1={v1(SECRET, f'0{T}', BODY)}"),
    case("a leading zero, signed as the number", "malformed", f"t=0{T},v1={SIG}"),
    case("the smallest 64-bit number", "malformed", f"t={-2**63},v1={WRONG}"),
    case("one more than the largest 64-bit number", "malformed", f"t={2**63},v1={WRONG}"),
    case("milliseconds", "malformed", header(t=T * 1000)),
    case("an empty timestamp", "malformed", f"t=,v1={v1(SECRET, '', BODY)}"),
    case("a space after the comma", "malformed", f"t={T}, v1={SIG}"),
    case("a comma at the end", "malformed", header() + ","),
    case("a name without a value", "malformed", f"t={T},v1,v1={SIG}"),
    case("digits beyond ASCII", "malformed", f"t=١٧٦٠٠٠٠٠٠٠,v1={SIG}"),
    case("a timestamp after a space", "malformed", f"t= {T},v1={SIG}"),
    case("a fraction", "malformed", f"t={T}.0,v1={v1(SECRET, f'{T}.0', BODY)}"),
    case("a power of ten", "malformed", f"t=1e9,v1={v1(SECRET, '1e9', BODY)}", now=10**9),
    case("hexadecimal seconds", "malformed", f"t={T:#x},v1={v1(SECRET, f'{T:#x}', BODY)}"),
    case("underscores between the digits", "malformed", f"t=1_760_000_000,v1={v1(SECRET, '1_760_000_000', BODY)}"),
    case("a negative timestamp", "malformed", f"t=-{T},v1={v1(SECRET, f'-{T}', BODY)}", now=-T),
    case("minus zero", "malformed", f"t=-0,v1={v1(SECRET, '-0', BODY)}", now=0),
    case("two zeros", "malformed", f"t=00,v1={v1(SECRET, '00', BODY)}", now=0),
    case("a thousand digits", "malformed", f"t={'9' * 1000},v1={WRONG}"),
    case("no number", "malformed", f"t=NaN,v1={v1(SECRET, 'NaN', BODY)}"),
    case("infinity", "malformed", f"t=Infinity,v1={v1(SECRET, 'Infinity', BODY)}"),
    case("a right timestamp after a stale one", "malformed", f"t=1,t={T},v1={SIG}"),
    case("the ninth of nine signatures", "malformed", f"t={T}" + f",v1={WRONG}" * 8 + f",v1={SIG}"),
    case("twenty-seven signatures", "malformed", f"t={T}" + f",v1={SIG}" * 27),
    case("nothing but commas", "malformed", "," * 2048),
    case("nothing but equal signs", "malformed", "=" * 2048),
    case("a comma at the beginning", "malformed", "," + header()),
    case("an item without a name", "malformed", f"t={T},={SIG},v1={SIG}"),
    case("a semicolon for a comma", "malformed", f"t={T};v1={SIG}"),
    case("a line end at the end", "malformed", header() + "\n"),
    case("a line end after the timestamp", "malformed", f"t={T}\n,v1={SIG}"),
    case("a line end among the signatures", "malformed", f"t={T},v1={SIG}\r\n,v1={SIG}"),
    case("a tab", "malformed", f"t={T},\tv1={SIG}"),
    case("a NUL at the end", "malformed", header() + "\0"),
    case("letters beyond ASCII under another name", "malformed", header() + ",x=é"),
    case("names in capitals", "malformed", f"T={T},V1={SIG}"),
    case("two headers joined", "malformed", f"{header()}, {header()}"),
    case("two headers joined without a space", "malformed", f"{header()},{header()}"),
    case("hexadecimal digits with a prefix", "malformed", f"t={T},v1=0x{SIG[2:]}"),
    case("a letter that is no hexadecimal digit", "malformed", f"t={T},v1={SIG[:-1]}g"),
    case("signature digits beyond ASCII", "malformed", f"t={T},v1={SIG[:-1]}٣"),
    case("a signature in base64", "malformed", f"t={T},v1={base64.b64encode(bytes.fromhex(SIG)).decode()}"),
    case("a right signature of another scheme only", "malformed", f"t={T},v0={SIG}"),
    case("a header of 2049 bytes", "malformed", f"{header()},x=".ljust(2049, "y")),
    case("a header of more than 2048 bytes", "malformed", header() + ",x=" + "y" * 2048),
    case("a header of 8 KiB", "malformed", header() + "," * 2**13),
]

DOCUMENT = {
    "about": "Deliveries and what a verifier makes of them. The body is given in hexadecimal; "
             "`header` null means that the request has none. `outcome` is one of accepted, "
             "bad_secret, missing_header, malformed, too_old, too_new, no_match; bad_secret "
             "may be found before there is a delivery.",
    "cases": CASES,
}

if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("vectors.json")
    path.write_text(json.dumps(DOCUMENT, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
