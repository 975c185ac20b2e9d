"""The examples for nginx and Caddy in front of the real server, with a certificate of our own.

    proxies.py SERVER FOLDER

needs root, and a network namespace of its own: the examples' ports are used.
"""

import contextlib
import email
import email.policy
import http.client
import json
import os
import re
import secrets
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

from machine import OFFERS, ask, body

EXAMPLES = Path(__file__).resolve().parents[2] / "packaging/examples"
API, PORTAL = "api.example.com", "ofertas.example.com"
MIB = 1 << 20
# docs/limits.md: requests without a valid key, per client.
MAX_UNAUTHENTICATED = 600
SECONDS = 60
# The server would refuse PREAUTH_SERVER as an unknown setting.
INHERITED = {name: value for name, value in os.environ.items() if not name.startswith("PREAUTH_")}


class Through(http.client.HTTPSConnection):
    """A connection to the proxy under one of its names, from an address of this machine."""

    def __init__(self, folder, name, source="127.0.0.2"):
        context = ssl.create_default_context(cafile=folder / "fullchain.pem")
        super().__init__(name, 443, timeout=SECONDS, context=context, source_address=(source, 0))

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", 443), self.timeout, self.source_address)
        self.sock = self._context.wrap_socket(raw, server_hostname=self.host)

    def ask(self, method, path, content=None, headers=()):
        self.request(method, path, content, dict(headers))
        answer = self.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text


def wait_for(condition, what):
    end = time.monotonic() + SECONDS
    while True:
        with contextlib.suppress(OSError):
            if condition():
                return
        assert time.monotonic() < end, what
        time.sleep(0.1)


@contextlib.contextmanager
def running(command, log, **environment):
    with log.open("wb") as out:
        process = subprocess.Popen(command, env={**INHERITED, **environment}, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield process
    except Exception:
        print(log.read_text()[-3000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait(SECONDS)


def nginx(folder):
    example = (EXAMPLES / "nginx.conf").read_text().replace("/etc/ssl/preauth", str(folder))
    (folder / "preauth.conf").write_text(example)
    temporary = "".join(f"{it}_temp_path {folder};\n" for it in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"user root; daemon off; pid {folder}/pid; error_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}include {folder}/preauth.conf;\n}}\n"
    )
    return ["nginx", "-c", str(folder / "nginx.conf")]


def caddy(folder, file=EXAMPLES / "Caddyfile", program="caddy"):
    example = file.read_text()
    for name in (API, PORTAL):
        example = example.replace(f"\n{name} {{\n", f"\n{name} {{\n\ttls {folder}/fullchain.pem {folder}/privkey.pem\n")
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + example)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def upload(number, size):
    """A create with an invoice file of so many bytes."""
    parts, boundary = b"", "b" * 24
    for name, part in body(number).items():
        parts += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{json.dumps(part)}\r\n'.encode()
    file = b"%PDF-1.4\n" + b" " * (size - 16) + b"\n%%EOF\n"
    assert len(file) == size
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="invoiceFile"; filename="nf.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
    parts += head.encode() + file + f"\r\n--{boundary}--\r\n".encode()
    return parts, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def spooled(process):
    """Bytes of uploads in progress that the server has put on its disk, in files without a name."""
    found = 0
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if "/data/uploads/" in os.readlink(descriptor):
                found += descriptor.stat().st_size
    return found


def passes_on_as_it_comes(proxy, folder, authorized, server):
    """Half of an upload is at the server before the rest is sent: as the examples say, the proxy keeps nothing back."""
    content, headers = upload(f"NF-{proxy}-half", 8 * MIB)
    half = len(content) // 2
    with contextlib.closing(Through(folder, API)) as connection:
        connection.putrequest("POST", OFFERS)
        for name, value in {**authorized, **headers, "Content-Length": str(len(content))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(content[:half])
        wait_for(lambda: spooled(server) > 3 * MIB, f"{proxy} passes on half of an upload")
        connection.send(content[half:])
        answer = connection.getresponse()
        assert answer.status == 201, (proxy, answer.status, answer.read())


def mailed_path(folder, number):
    """The path of the supplier's page in the mail about this invoice."""
    for file in (folder / "data/mails").glob("*.eml"):
        mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        text = mail.get_body(("plain",)).get_content()
        if f"Nota fiscal: {number}\n" in text.replace("\r\n", "\n"):
            return re.search(rf"https://{PORTAL}(/\S+)", text)[1]
    return None


def supplier_requests(proxy, folder, number):
    """A supplier opens the link of the mail and requests the advance, by the page's own form."""
    wait_for(lambda: mailed_path(folder, number), f"a mail about {number}")
    path = mailed_path(folder, number)

    def page(method, path, **headers):
        with contextlib.closing(Through(folder, PORTAL)) as connection:
            connection.request(method, path, "nome=Fornecedor+Ltda." if method == "POST" else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers

    status, shown, headers = page("GET", path)
    assert status == 200 and number in shown, (proxy, status, shown)
    assert headers["Cache-Control"] == "no-store", (proxy, headers.items())
    form = re.search(r'href="([^"]*/solicitar)"', shown)[1]
    status, shown, _ = page("GET", form)
    assert status == 200 and 'method="post"' in shown, (proxy, status, shown)
    typed = {"Content-Type": "application/x-www-form-urlencoded"}
    status, shown, _ = page("POST", form, Origin="https://elsewhere.example.com", **typed)
    assert status == 403, (proxy, status, shown)
    status, shown, headers = page("POST", form, Origin=f"https://{PORTAL}", **typed)
    assert status == 303, (proxy, status, shown)
    status, shown, _ = page("GET", headers["Location"].removeprefix(f"https://{PORTAL}"))
    assert status == 200 and "/solicitar" not in shown, (proxy, status, shown)


def check(proxy, folder, key, server):
    authorized = {"Authorization": f"Bearer {key}"}

    def once(name, *arguments, **options):
        with contextlib.closing(Through(folder, name, **options)) as connection:
            return connection.ask(*arguments)

    wait_for(lambda: once(API, "GET", OFFERS, None, authorized)[0] == 200, f"{proxy} answers")
    for path in ("/console", "/api/platform/v1/companies", "/metrics", "/readyz", "/api/integration/../platform/v1/companies"):
        for name in (API, PORTAL):
            assert once(name, "GET", path, None, authorized)[0] in (301, 400, 404), (proxy, name, path)

    content, headers = upload(f"NF-{proxy}", 10 * MIB)
    status, made = once(API, "POST", OFFERS, content, authorized | headers)
    assert status == 201, (proxy, status, made)
    content, headers = upload(f"NF-{proxy}-2", 10 * MIB + 1)
    status, refused = once(API, "POST", OFFERS, content, authorized | headers)
    assert (status, refused["errors"][0]["code"]) == (413, "FILE_TOO_LARGE"), (proxy, status, refused)
    passes_on_as_it_comes(proxy, folder, authorized, server)
    supplier_requests(proxy, folder, f"NF-{proxy}")
    status, requested = once(API, "GET", f"{OFFERS}/{made['id']}", None, authorized)
    assert (status, requested["status"]) == (200, "TO_APPROVE"), (proxy, status, requested)

    # Without anything new the answer waits.
    began, after = time.monotonic(), ""
    while True:
        status, page = once(API, "GET", f"/api/integration/v1/events?limit=100&wait=3{after}", None, authorized)
        assert status == 200, (proxy, status, page)
        if not page["data"]:
            break
        after = f"&after={page['pagination']['next']}"
    assert time.monotonic() - began >= 3, "it waited"

    # A header of the client's own does not make it another client.
    codes = []
    with contextlib.closing(Through(folder, API, source="127.0.0.9")) as connection:
        for at in range(MAX_UNAUTHENTICATED + 5):
            forged = {"Authorization": "Bearer nobody", "X-Forwarded-For": f"198.51.100.{at % 250}"}
            codes.append(connection.ask("GET", OFFERS, None, forged)[0])
    assert codes[0] == 401 and codes[-1] == 429, (proxy, codes[0], codes[-1])
    assert once(API, "GET", OFFERS, None, {"Authorization": "Bearer nobody"})[0] == 401, "another client is another one"
    print(f"- {proxy}: 10 MiB pass as they come, 413 is the server's, the supplier's page, long waits, clients distinguished, nothing private")


def company(server, environment):
    def run(*arguments):
        command = [server, *arguments, "--json", "--lang", "en"]
        return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)

    cnpj = "45.723.001/0001-00"
    run("company", "add", "--cnpj", cnpj, "--name", "Construtora Azul S.A.", "--kind", "construction")
    run("credit", "set", cnpj, "--max-term-days", "120", "--max-invoice-amount", "250000")
    rights = "request_advances,pre_authorize_advances"
    run("user", "add", cnpj, "--name", "Ana", "--email", "ana@azul.example.com", "--permission", rights)
    scopes = "preauth:read,preauth:write"
    return run("key", "create", cnpj, "--name", "ERP", "--user", "ana@azul.example.com", "--scope", scopes)["key"]


def certificate(folder):
    """Of both names, for this run."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
         f"/CN={API}", "-addext", f"subjectAltName=DNS:{API},DNS:{PORTAL}", "-keyout", folder / "privkey.pem", "-out",
         folder / "fullchain.pem"], check=True, capture_output=True,
    )


def main(server, folder):
    folder = Path(folder)
    folder.mkdir()
    certificate(folder)
    settings = {
        "PREAUTH_DATA": str(folder / "data"),
        "PREAUTH_TRUSTED_PROXIES": "127.0.0.1/32",
        "PREAUTH_PORTAL_LISTEN": "127.0.0.1:8082",
        "PREAUTH_PORTAL_URL": f"https://{PORTAL}",
        "PREAUTH_PLATFORM_TOKEN": secrets.token_hex(24),
        "PREAUTH_RATE_LIMIT_REQUESTS": "1000",
    }
    for number, proxy in enumerate((nginx, caddy)):
        own = folder / str(number)
        with running([server, "serve"], folder / "server.log", **settings, XDG_DATA_HOME=str(own)) as process:
            wait_for(lambda: ask("GET", "/readyz", port=8081)[0] == 200, "the server is ready")
            if number == 0:
                key = company(server, {**INHERITED, **settings})
            with running(proxy(folder), folder / f"{proxy.__name__}.log", HOME=str(folder)):
                check(proxy.__name__, folder, key, process)


if __name__ == "__main__":
    main(*sys.argv[1:])
