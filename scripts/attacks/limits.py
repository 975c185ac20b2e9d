"""How much one caller may hold: memory, disk, connections, mails, other callers' turns."""

import collections
import contextlib
import json
import re
import secrets
import socket
import sqlite3

import smtp
from attack import BOUNDED, HARMLESS, REFUSED, attack, expect
from service import code, cnpj, in_parallel, next_number, own_address, wait_for

MIB = 1024 * 1024
PDF = b"%PDF-1.4\n" + b" " * MIB + b"\n%%EOF\n"


@contextlib.contextmanager
def connections(address, port, count, data=b""):
    """Connections that send this and then nothing; those that are turned away do not count."""
    opened = []
    try:
        for _ in range(count):
            with contextlib.suppress(OSError):
                connection = socket.create_connection((address, port), timeout=5)
                opened.append(connection)
                connection.sendall(data)
        yield opened
    finally:
        for connection in opened:
            connection.close()


@attack(7, "uploads that are announced and never sent")
def idle_uploads(service):
    tenant = service.tenant()
    with contextlib.ExitStack() as held:
        for _ in range(5):
            head = (
                "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {service.tenant().key}\r\nContent-Length: {10 * MIB}\r\n"
                "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
            )
            held.enter_context(connections("127.0.0.1", service.port, 61, head.encode()))
        for _ in range(3):
            status, answer = tenant.offer_with_file(PDF, tenant.body())
            expect(status == 201, f"somebody else's upload: {status} {code(answer)}")
    return BOUNDED


@attack(7, "files of offers that are refused stay on the disk")
def refused_files(service):
    tenant = service.tenant()

    def size():
        return sum(path.stat().st_size for path in service.data.rglob("*") if path.is_file() and "preauth.db" not in path.name)

    before = size()
    for number in range(20):
        # Each file is another one, and each offer goes to the company itself.
        status, answer = tenant.offer_with_file(PDF + secrets.token_bytes(16), tenant.body(supplier=tenant.cnpj))
        expect(status in (400, 422), f"{status} {code(answer)}")
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: size() - before < MIB, "refused files go", seconds=10)
    kept = (size() - before) // MIB
    expect(kept < 1, f"{kept} MiB of 20 refused files are kept")
    return HARMLESS


def counted(service, metric):
    """The sum of a counter over the labels that begin so."""
    _, text = service.platform("GET", "/metrics", prefix="")
    lines = [line for line in text.decode().splitlines() if line.startswith(metric)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


@contextlib.contextmanager
def no_commits(service):
    """Nothing can be committed meanwhile, where that can be had from outside: SQLite takes one writer."""
    if service.database:
        yield
        return
    with contextlib.closing(sqlite3.connect(service.data / "preauth.db", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


@attack(8, "a key beyond its limit keeps others from their turn")
def exhausted_key(service):
    stranger, tenant = service.tenant(), service.tenant()
    while stranger.call("GET")[0] == 200:
        pass
    request = f"GET /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {stranger.key}\r\n\r\n"
    answered = collections.Counter()

    def ask(connection, times):
        connection.sendall(request.encode() * times)
        answers = b""
        while answers.count(b"HTTP/1.1 ") < times:
            received = connection.recv(65536)
            expect(received, "the connection of the key beyond its limit was closed")
            answers += received
        answered.update(re.findall(rb"HTTP/1\.1 (\d+)", answers))

    # A refusal that waited for a commit would never come.
    with no_commits(service), socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        ask(connection, 200)
    expect(answered == {b"429": 200}, f"without commits the key is answered {dict(answered)}")

    offers = 'preauth_commits_total{outcome="ok",write="new_operation"}'
    before = {name: counted(service, name) for name in (offers, "preauth_queue_refusals_total")}
    is_over = False

    def flood():
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
            while not is_over:
                ask(connection, 25)

    threads = in_parallel(8, flood)
    try:
        for _ in range(10):
            seen = answered.total()
            wait_for(lambda: answered.total() >= seen + 100, "the flood goes on")
            status, answer = tenant.offer()
            expect(status == 201, f"somebody else's offer: {status} {code(answer)}")
    finally:
        is_over = True
        for thread in threads:
            thread.join()
    made = counted(service, offers) - before[offers]
    expect(made == 10, f"{made:.0f} of ten offers were committed beside {answered.total()} refusals")
    turned_away = counted(service, "preauth_queue_refusals_total") - before["preauth_queue_refusals_total"]
    expect(turned_away == 0, f"{turned_away:.0f} requests found their queue full")
    return BOUNDED


def mails_to(service, name):
    """Mails to the address with this name, plus-tags aside."""
    sent = list(service.mails.mails)
    return [mail for recipient, mail in sent if recipient.split("@")[0].split("+")[0] == name]


def all_mails_are_out(service, tenant):
    def is_empty():
        _, waiting = service.platform("GET", f"{tenant.path}/notices?status=PENDING")
        return waiting["pagination"]["total"] == 0

    wait_for(is_empty, "mails are sent or held", seconds=60)


@attack(9, "one address flooded under plus-tags, and silenced for others")
def plus_tags(service):
    stranger, tenant, name = service.tenant(), service.tenant(), f"vitima{next_number()}"
    supplier = cnpj(next_number())
    for number in range(40):
        stranger.offer(supplier=supplier, email=f"{name}+{number}@fornecedor.example")
    all_mails_are_out(service, stranger)
    count = len(mails_to(service, name))
    expect(count <= 20, f"{count} mails to one person")
    tenant.offer(supplier=supplier, email=f"{name}@fornecedor.example", name="Outro nome")
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: len(mails_to(service, name)) > count, "somebody else's mail arrives")
    expect(len(mails_to(service, name)) > count, "another company's offer does not reach the address any more")
    return BOUNDED


@attack(9, "a mail greets by what a stranger wrote")
def greeting(service):
    tenant, name = service.tenant(), f"saudado{next_number()}"
    text = "Ganhe em www.mal.example"
    tenant.offer(email=f"{name}@fornecedor.example", name=text, contact=text)
    wait_for(lambda: mails_to(service, name), "the invitation arrives")
    mail = mails_to(service, name)[0]
    shown = str(mail["subject"]) + str(mail["to"]) + mail.get_body(("plain", "html")).get_content()
    expect("mal.example" not in shown and "Olá, Ganhe" not in shown, "the mail greets by the stranger's words")
    return HARMLESS


@attack(10, "2,100 silent connections")
def idle_connections(service):
    tenant, address = service.tenant(), own_address()
    # A first request lets them stay longer.
    with connections(address or "127.0.0.1", service.port, 2_100, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
        for origin in filter(None, ("127.0.0.1", address)):
            try:
                status, _ = tenant.call("GET", address=origin, timeout=10)
            except OSError as error:
                status = error
            expect(status == 200, f"a request from {origin}: {status}")
    return BOUNDED


def others_are_served(service, tenant):
    for _ in range(5):
        status, answer = tenant.offer()
        expect(status == 201, f"somebody else's offer: {status} {code(answer)}")
    status, answer = tenant.call("GET", address=own_address() or "127.0.0.1")
    expect(status == 200, f"somebody else's list: {status} {code(answer)}")


def first_answer(connection):
    """Status, headers and JSON of the first answer on a connection, or None while there is none."""
    connection.settimeout(0)
    try:
        data = connection.recv(65536)
    except BlockingIOError:
        return None
    except OSError:
        data = b""
    head, _, body = data.partition(b"\r\n\r\n")
    expect(head.startswith(b"HTTP/1.1 "), "a connection was closed without an answer")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return int(first.split(" ")[1]), headers, json.loads(body)


@attack(10, "hundreds of slow creates under the keys of one company")
def slow_creates(service):
    stranger, tenant = service.tenant(), service.tenant()
    body = json.dumps(stranger.body())
    # A key has 120 requests in a window, so it takes several to occupy more than the share of a head office.
    keys, count, share = [stranger.new_key() for _ in range(4)], 130, 256
    answered, held = collections.Counter(), []
    with contextlib.ExitStack() as opened:
        for key in keys:
            head = (
                "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            data = (head + body[:-1]).encode()
            held += opened.enter_context(connections("127.0.0.1", service.port, count, data))
        expect(len(held) == count * len(keys), f"only {len(held)} connections were accepted")

        def only_the_share_is_left():
            for connection in list(held):
                if found := first_answer(connection):
                    status, headers, refusal = found
                    held.remove(connection)
                    answered[status, code(refusal)] += 1
                    expect(headers["retry-after"].isdigit(), "a refusal without Retry-After")
                    expect(len(headers["x-request-id"]) == 36, "a refusal without a request id")
                    expect(refusal["errors"][0]["message"], "a refusal without a message")
            return len(held) <= share

        try:
            wait_for(only_the_share_is_left, "all others are refused", seconds=15)
        except TimeoutError:
            expect(False, f"{len(held)} requests of one company are in progress")
        expect(set(answered) == {(429, "RATE_LIMITED")}, f"the others are answered {dict(answered)}")
        expect(len(held) >= share // 2, f"only {len(held)} were taken: {dict(answered)}")
        others_are_served(service, tenant)
    fresh = {"Authorization": f"Bearer {stranger.new_key()}"}
    wait_for(lambda: stranger.call("GET", headers=fresh)[0] == 200, "the company itself is served again")
    return BOUNDED


@attack(10, "answers that nobody reads")
def unread_answers(service):
    stranger, tenant = service.tenant(), service.tenant()
    for _ in range(100):
        stranger.offer()
    memory = counted(service, "process_resident_memory_bytes")
    with contextlib.ExitStack() as opened:
        for _ in range(60):
            request = (
                "GET /api/integration/v1/pre-authorizations?limit=100 HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {stranger.new_key()}\r\n\r\n"
            )
            connection = opened.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((own_address() or "127.0.0.1", service.port))
            # As many as a key may send; their answers are more than any buffer on the way takes.
            connection.sendall(request.encode() * 120)
        others_are_served(service, tenant)
        grown = (counted(service, "process_resident_memory_bytes") - memory) / MIB
        expect(grown < 128, f"{grown:.0f} MiB are held for answers that nobody reads")
        expect(connection.recv(12) == b"HTTP/1.1 200", "there was no answer to read")
    return BOUNDED


@attack(11, "keys that are guessed, under forged addresses")
def guessed_keys(service):
    tenant, address = service.tenant(), own_address() or "127.0.0.1"
    statuses = set()
    for number in range(1, 700):
        headers = {
            "Authorization": f"Bearer service_sk_{secrets.token_hex(28)}",
            "X-Forwarded-For": f"203.0.113.{number % 250}",
            "Forwarded": f"for=203.0.113.{number % 250}",
        }
        statuses.add(tenant.call("GET", headers=headers, address=address)[0])
        if 429 in statuses:
            break
    expect(429 in statuses, f"{number} guesses: {statuses}")
    status, answer = tenant.call("GET", address=address)
    expect(status == 200, f"a valid key from the same address: {status} {code(answer)}")
    return BOUNDED


# What two parsers could read differently: lines of the head, and the body; LENGTH and BODY are true ones.
LENGTH, CHUNKED = "Content-Length: LENGTH", "Transfer-Encoding: chunked"
HEADS = [
    ("a length of 20 digits", ["Content-Length: 99999999999999999999"], "BODY"),
    ("the length in 20 digits", ["Content-Length: 0000000000000000LENGTH"], "BODY"),
    ("a negative length", ["Content-Length: -1"], "BODY"),
    ("a length with a sign", ["Content-Length: +LENGTH"], "BODY"),
    ("two lengths", [LENGTH, "Content-Length: 3"], "BODY"),
    ("two lengths, the last one true", ["Content-Length: 3", LENGTH], "BODY"),
    ("two lengths in one", ["Content-Length: LENGTH, 3"], "BODY"),
    ("a length and chunks", [LENGTH, CHUNKED], "0\r\n\r\n"),
    ("chunks that are not last", [LENGTH, "Transfer-Encoding: chunked, identity"], "BODY"),
    ("an unknown encoding", [LENGTH, "Transfer-Encoding: xchunked"], "BODY"),
    ("chunks in HTTP/1.1 twice", [CHUNKED, CHUNKED], "0\r\n\r\n"),
    ("a space before the colon", [LENGTH, "Transfer-Encoding : chunked"], "BODY"),
    ("a folded line", [LENGTH, "X-Folded: a", " Transfer-Encoding: chunked"], "BODY"),
    ("a line that begins with a tab", [LENGTH, "\tTransfer-Encoding: chunked"], "BODY"),
    ("a NUL in a value", [LENGTH, "X-Nul: a\0b"], "BODY"),
    ("a lone carriage return", [LENGTH, "X-Return: a\rTransfer-Encoding: chunked"], "BODY"),
    ("a lone line feed", [LENGTH, "X-Feed: a\nTransfer-Encoding: chunked"], "BODY"),
    ("two types", [LENGTH, "Content-Type: text/plain"], "BODY"),
]


@attack(12, "heads that two parsers read differently")
def ambiguous_heads(service):
    tenant = service.tenant()
    start = (
        "POST /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {tenant.key}\r\nContent-Type: application/json\r\n"
    )
    smuggled = f"GET /api/integration/v1/pre-authorizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {tenant.key}\r\n\r\n"
    for name, lines, body in HEADS:
        offer = json.dumps(tenant.body())
        head = "".join(f"{line}\r\n".replace("LENGTH", str(len(offer))) for line in lines)
        answer = service.raw((start + head + "\r\n" + body.replace("BODY", offer) + smuggled).encode())
        statuses = re.findall(rb"^HTTP/1\.1 (\d+)", answer, re.MULTILINE)
        expect(len(statuses) <= 1, f"{name}: {len(statuses)} answers")
        expect(statuses in ([], [b"400"]), f"{name}: {statuses}")
    return REFUSED


@attack(15, "the log repeats the answers of a mail server")
def mail_servers_words(service):
    tenant = service.tenant()
    tenant.offer(email=f"x@{smtp.REFUSED_DOMAIN}")
    is_refused = lambda: service.platform("GET", f"{tenant.path}/notices?status=FAILED")[1]["pagination"]["total"] > 0
    wait_for(is_refused, "the mail server refuses", seconds=60)
    log = service.log.read_text()
    for text in (smtp.SECRET_ADDRESS, smtp.REFUSED_DOMAIN):
        expect(text not in log, f"the log has {text}")
    return HARMLESS
