"""Who may do what: tokens, secret files, names of hosts, databases, keys, addresses of webhooks."""

import contextlib
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import threading
import time

from attack import HARMLESS, REFUSED, attack, expect
from service import TOKEN, code, own_address, wait_for


@contextlib.contextmanager
def listener(answer, address="127.0.0.1"):
    """A port that the attacker has; `answer` gets each connection. Yields the port and what was heard."""
    heard = []
    server = socket.create_server((address, 0))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                connection.settimeout(5)
                with connection, contextlib.suppress(OSError, struct.error):
                    answer(connection, heard)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1], heard
    finally:
        server.close()


def take_request(connection, heard):
    heard.append(connection.recv(65536))
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')


@attack(4, "the command line meets a stranger on the server's port")
def stranger_on_the_port(service):
    data = service.folder / "stopped"
    data.mkdir(mode=0o700)
    (data / "platform-token").write_text(TOKEN)
    (data / "platform-token").chmod(0o600)
    with listener(take_request) as (port, heard):
        here = {"PREAUTH_DATA": str(data), "PREAUTH_PLATFORM_LISTEN": f"127.0.0.1:{port}"}
        service.run("company", "list", **here, PREAUTH_PLATFORM_TOKEN=None)
        service.run("company", "list", **here)
        service.run("company", "list", PREAUTH_PLATFORM_URL=f"http://127.0.0.1:{port}")
    expect(not any(TOKEN.encode() in request for request in heard), "it has the operator's token")
    return REFUSED


@attack(4, "the command line meets a stranger's folder where it runs")
def strangers_folder(service):
    cwd = service.folder / "shared"
    data = cwd / "preauth-data"
    data.mkdir(parents=True)
    cwd.chmod(0o1777)
    data.chmod(0o777)
    with listener(take_request) as (port, heard), (data / "platform-address").open("w") as announced:
        announced.write(f"http://127.0.0.1:{port}")
        announced.flush()
        if os.getuid() == 0:
            for path in (data, data / "platform-address"):
                os.chown(path, 65534, 65534)
        fcntl.flock(announced, fcntl.LOCK_EX)
        service.run("company", "list", cwd=cwd, PREAUTH_DATA=None, PREAUTH_PLATFORM_LISTEN=None)
    expect(not any(TOKEN.encode() in request for request in heard), "it has the operator's token")
    return REFUSED


@attack(4, "secret files that others can read")
def readable_secrets(service):
    for setting, content in (("PLATFORM_TOKEN_FILE", TOKEN), ("MASTER_KEY_FILE", "ab" * 32), ("MAIL_SMTP_PASSWORD_FILE", "x")):
        path = service.folder / f"readable-{setting}"
        path.write_text(content)
        path.chmod(0o644)
        data = service.folder / "unused"
        change = {
            f"PREAUTH_{setting}": str(path), "PREAUTH_DATA": str(data), "PREAUTH_DATABASE": None,
            "PREAUTH_LISTEN": "127.0.0.1:0", "PREAUTH_PLATFORM_LISTEN": "127.0.0.1:0",
        }
        if setting == "PLATFORM_TOKEN_FILE":
            change["PREAUTH_PLATFORM_TOKEN"] = None
        if setting == "MAIL_SMTP_PASSWORD_FILE":
            change["PREAUTH_MAIL_SMTP_USER"] = "avisos"
        done = service.run("serve", **change, seconds=5)
        shutil.rmtree(data, ignore_errors=True)
        expect(done.returncode not in (0, None), f"{setting}: the service starts")
    return REFUSED


@attack(4, "settings that others can write")
def writable_settings(service):
    path = service.folder / "settings.toml"
    path.write_text('[webhooks]\nallowed_networks = "127.0.0.0/8"\n')
    path.chmod(0o666)
    for command in (["config", "check"], ["company", "list"]):
        done = service.run(*command, "--config", str(path), seconds=5)
        expect(done.returncode not in (0, None), f"{' '.join(command)} believes them")
    return REFUSED


@attack(4, "a database that others can write or replace")
def writable_database(service):
    for folder_mode, file_mode in ((0o755, 0o666), (0o777, 0o600), (0o777, None)):
        folder = service.folder / f"database-{folder_mode:o}-{file_mode or 0:o}"
        folder.mkdir()
        folder.chmod(folder_mode)
        if file_mode:
            (folder / "x.db").touch()
            (folder / "x.db").chmod(file_mode)
        done = service.run("migrate", PREAUTH_DATABASE=f"sqlite://{folder}/x.db", seconds=10)
        expect(done.returncode not in (0, None), f"folder {folder_mode:o}, file {file_mode or 0:o}: it is used")
    return REFUSED


@attack(5, "a browser is led to the private listener under another name")
def other_host(service):
    for host in ("mal.example", "mal.example:80", "127.0.0.1.mal.example", "localhost.mal.example", ""):
        status, _ = service.platform("GET", "/companies", Host=host)
        expect(status // 100 == 4, f"Host {host!r}: {status}")
    return REFUSED


def take_password(connection, heard):
    """What a PostgreSQL does that has no TLS and wants the password in plain text."""
    if len(connection.recv(8)) == 8:
        connection.sendall(b"N")
    connection.recv(4096)
    connection.sendall(b"R" + struct.pack("!ii", 8, 3))
    heard.append(connection.recv(4096))


@attack(5, "the database's password over the network in plain text")
def plain_postgres(service):
    with listener(take_password, own_address() or "127.0.0.1") as (port, heard):
        host = own_address() or "127.0.0.1"
        for mode in ("", "?sslmode=prefer", "?sslmode=disable", "?sslmode=require"):
            url = f"postgres://preauth:a-password@{host}:{port}/preauth{mode}"
            done = service.run("migrate", PREAUTH_DATABASE=url, PREAUTH_FILES_SHARED="true", seconds=10)
            expect(done.returncode != 0, f"it connects with {mode!r}")
    expect(not any(b"a-password" in text for text in heard), "it has the password")
    return REFUSED


@attack(6, "a sandbox over a database that is not its own")
def sandbox_over_another(service):
    tenant = service.tenant()
    tenant.offer()
    tenants = service.platform("GET", "/companies")[1]["pagination"]["total"]
    folder = service.folder / "sandbox"
    sandbox = ["sandbox", "--data", str(folder), "--listen", "127.0.0.1:0", "--platform-listen", "127.0.0.1:0"]
    # One that was killed leaves its files; then the database is another.
    with subprocess.Popen([service.binary, *sandbox], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
        try:
            wait_for(lambda: list(folder.glob("*.db")), "the first sandbox has a database")
        finally:
            killed.kill()
    # A mark that a sandbox left in some versions while it made its data.
    (folder / "sandbox-is-being-made").touch()
    service.stop()
    try:
        url = service.database or f"sqlite://{folder / 'another.db'}"
        if not service.database:
            shutil.copy(service.data / "preauth.db", folder / "another.db")
        before = digest(folder)
        done = service.run(*sandbox, "--database", url, seconds=20)
        expect(done.returncode not in (0, None), "the sandbox starts")
        expect(digest(folder) == before, "the database has changed")
    finally:
        service.start()
    after = service.platform("GET", "/companies")[1]["pagination"]["total"]
    expect(after == tenants, f"{after} companies in place of {tenants}")
    return REFUSED


def digest(folder):
    return {path.name: path.read_bytes() for path in folder.glob("another.db")}


@attack(13, "a suspended company goes on")
def suspended(service):
    tenant = service.tenant()
    service.make(f"{tenant.path}/suspend", reason="chave vazada")
    for method in ("GET", "POST"):
        status, answer = tenant.call(method, body=tenant.body() if method == "POST" else None)
        expect((status, code(answer)) == (403, "RBAC_FORBIDDEN"), f"{method}: {status} {code(answer)}")
    return REFUSED


@attack(13, "a leaked key that nobody can place")
def leaked_key(service):
    tenant = service.tenant()
    found = service.make("/api-key-search", text=tenant.key)["data"]
    expect(len(found) == 1, f"{len(found)} keys are found")
    service.platform("DELETE", f"/api-keys/{found[0].get('id') or found[0]['key']['id']}")
    status, _ = tenant.call("GET")
    expect(status == 401, f"the revoked key: {status}")
    return REFUSED


@attack(13, "a create whose body is still on its way when its key is revoked")
def slow_create(service):
    tenant = service.tenant()
    body = json.dumps(tenant.body()).encode()
    head = (
        "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {tenant.key}\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head.encode())
        interim = connection.recv(65536)
        assert interim.startswith(b"HTTP/1.1 100 "), interim
        found = service.make("/api-key-search", text=tenant.key)["data"]
        service.platform("DELETE", f"/api-keys/{found[0]['id']}")
        time.sleep(1.5)
        connection.sendall(body)
        answer = connection.recv(65536)
    expect(answer.startswith(b"HTTP/1.1 401 "), f"the create is answered {answer[:12]}")
    return REFUSED


# Addresses that lead into the operator's network, or that two parsers read differently.
TARGETS = [
    "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest/meta-data", "https://[::1]/",
    "https://[::ffff:169.254.169.254]/", "https://[fd00::2]/", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
    "https://localhost/", "https://db.internal/", "https://intranet/", "http://hooks.example.com/",
    "https://hooks.example.com:8443/", "https://user@hooks.example.com/", "https://hooks.example.com%00.mal.example/",
    "https:hooks.example.com/", "https:\\\\hooks.example.com/", "https://hooks.example.com/#x", "file:///etc/passwd",
]


@attack("ssrf", "webhooks into the operator's network")
def inner_targets(service):
    tenant = service.tenant()
    for url in TARGETS:
        body = {"url": url, "events": ["pre_authorization.created"]}
        status, answer = service.platform("PUT", f"{tenant.path}/webhook-endpoint", body)
        expect(status in (400, 422), f"{url}: {status} {code(answer)}")
    return REFUSED


@attack("keys", "another company's operation")
def others_operation(service):
    tenant, stranger = service.tenant(), service.tenant()
    _, made = tenant.offer()
    for method, path in (("GET", f"/{made['id']}"), ("POST", f"/{made['id']}/cancel")):
        status, answer = stranger.call(method, path)
        expect(status == 404, f"{method}: {status} {code(answer)}")
    expect(tenant.call("GET", f"/{made['id']}")[1]["status"] == "IN_PRE_AUTH", "it was cancelled")
    return REFUSED
