"""A running service, its operator's view of it, and companies that call it."""

import http.client
import itertools
import json
import os
import secrets
import socket
import subprocess
import threading
import time
from datetime import date, timedelta
from types import SimpleNamespace

import smtp

TOKEN = "operator-token-" + secrets.token_hex(16)
DUE_DATE = (date.today() + timedelta(days=30)).isoformat()
numbers = itertools.count(10_000_000 + secrets.randbelow(80_000_000))


def next_number():
    """Eight digits that nobody has had: a root of a CNPJ, a part of an invoice's number."""
    return next(numbers)


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def own_address():
    """An address of this machine that is not loopback, or None. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            return None
        return probe.getsockname()[0]


def cnpj(root, branch=1):
    digits = [int(digit) for digit in f"{root:08}{branch:04}"]
    for weights in ([5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2], [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]):
        rest = sum(digit * weight for digit, weight in zip(digits, weights)) % 11
        digits.append(0 if rest < 2 else 11 - rest)
    return "".join(map(str, digits))


class Service:
    """`serve` on a fresh database, with mails that go to a server of ours."""

    def __init__(self, binary, folder, database):
        self.binary, self.folder, self.database = binary, folder, database
        folder.chmod(0o755)
        self.data, self.log = folder / "data", folder / "log"
        self.port, self.platform_port = free_port(), free_port()
        self.mails = smtp.Server()
        (folder / "master.key").write_text(secrets.token_hex(32) + "\n")
        (folder / "master.key").chmod(0o600)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PREAUTH_")},
            "PREAUTH_LISTEN": f"0.0.0.0:{self.port}",
            "PREAUTH_PLATFORM_LISTEN": f"127.0.0.1:{self.platform_port}",
            "PREAUTH_DATA": str(self.data),
            "PREAUTH_PLATFORM_TOKEN": TOKEN,
            "PREAUTH_MASTER_KEY_FILE": str(folder / "master.key"),
            "PREAUTH_MAIL_SMTP_HOST": "127.0.0.1",
            "PREAUTH_MAIL_SMTP_PORT": str(self.mails.port),
            "PREAUTH_MAIL_SMTP_TLS": "none",
            "PREAUTH_MAIL_FROM": "avisos@plataforma.example",
        }
        if database:
            self.environment |= {"PREAUTH_DATABASE": database, "PREAUTH_FILES_SHARED": "true"}

    def __enter__(self):
        if self.database:
            subprocess.run([self.binary, "migrate"], env=self.environment, check=True, capture_output=True)
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.mails.close()

    def start(self):
        with self.log.open("ab") as log:
            command = [self.binary, "serve"]
            self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, cwd=self.folder)

        def is_ready():
            assert self.process.poll() is None, self.log.read_text()
            try:
                return self.platform("GET", "/readyz", prefix="")[0] == 200
            except OSError:
                return False

        wait_for(is_ready, "the service is ready")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def run(self, *arguments, cwd=None, seconds=30, **environment):
        """A command of the service's binary with the settings of `serve`; a name that is None is taken out."""
        merged = {**self.environment, **environment}
        merged = {name: value for name, value in merged.items() if value is not None}
        try:
            return subprocess.run(
                [self.binary, *arguments], env=merged, cwd=cwd or self.folder, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return SimpleNamespace(returncode=None, stdout="", stderr="it goes on")

    def call(self, method, path, body=None, headers=(), address="127.0.0.1", port=None, timeout=30):
        """The status and the JSON that answer."""
        connection = http.client.HTTPConnection(address, port or self.port, timeout=timeout)
        headers = dict(headers)
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        is_json = "json" in answer.headers.get("Content-Type", "")
        return answer.status, json.loads(text) if is_json and text else text

    def platform(self, method, path, body=None, prefix="/api/platform/v1", token=TOKEN, **headers):
        headers = {"Authorization": f"Bearer {token}", **headers}
        return self.call(method, prefix + path, body, headers, port=self.platform_port)

    def make(self, path, method="POST", **body):
        """What the operator makes; it has to be made."""
        status, made = self.platform(method, path, body)
        assert status // 100 == 2, f"{path}: {status} {made}"
        return made

    def tenant(self):
        """A construction company that may do everything, with a key."""
        return Tenant(self)

    def raw(self, data, address="127.0.0.1", timeout=10):
        """All that is answered to these bytes."""
        with socket.create_connection((address, self.port), timeout=timeout) as connection:
            answer = b""
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    answer += part
            except TimeoutError:
                raise
            except OSError:
                pass
            return answer


class Tenant:
    def __init__(self, service):
        self.service, self.root = service, next_number()
        self.cnpj = cnpj(self.root)
        name = f"Construtora {self.root} Ltda."
        self.id = service.make("/companies", cnpj=self.cnpj, name=name, kind="CONSTRUCTION")["id"]
        self.path = f"/companies/{self.id}"
        service.make(f"{self.path}/credit-analysis", "PUT", maxTermDays=120, maxInvoiceAmount=250_000)
        permissions = ["REQUEST_ADVANCES", "PRE_AUTHORIZE_ADVANCES"]
        user = service.make(f"{self.path}/users", name="Ana", email="ana@erp.example", permissions=permissions)
        self.user = user["id"]
        self.key = self.new_key()
        self.headers = {"Authorization": f"Bearer {self.key}"}

    def new_key(self):
        scopes = ["preauth:read", "preauth:write"]
        key = self.service.make(f"{self.path}/api-keys", name="ERP", responsibleUserId=self.user, scopes=scopes)
        return key["key"]

    def body(self, supplier=None, number=None, email="contato@fornecedor.example", name="Fornecedor Ltda.", contact="Rui"):
        supplier = {"cnpj": supplier or cnpj(next_number()), "email": email, "name": name, "contactName": contact}
        invoice = {"amount": 1000, "dueDate": DUE_DATE, "number": number or f"NF-{next_number()}"}
        return {"supplier": supplier, "invoice": invoice}

    def call(self, method, path="", body=None, headers=(), **options):
        path = f"/api/integration/v1/pre-authorizations{path}"
        return self.service.call(method, path, body, {**self.headers, **dict(headers)}, **options)

    def offer(self, **what):
        return self.call("POST", body=self.body(**what))

    def offer_with_file(self, content, body, address="127.0.0.1"):
        form, boundary = b"", "x" * 24
        for name in ("supplier", "invoice"):
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            form += head.encode() + json.dumps(body[name]).encode() + b"\r\n"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="invoiceFile"; filename="nf.pdf"\r\n'
        form += head.encode() + b"Content-Type: application/pdf\r\n\r\n" + content + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.call("POST", body=form, headers=headers, address=address)


def code(answer):
    """The code of a refusal."""
    return answer["errors"][0]["code"] if isinstance(answer, dict) and "errors" in answer else None


def in_parallel(count, work):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads
