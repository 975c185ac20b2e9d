"""How long a large database takes to migrate, back up, verify, restore and audit, on SQLite and on PostgreSQL.

    million.py PREVIOUS SERVER FOLDER [OPERATIONS]

One offer is made by the version before the newest step, its webhook delivered and its mail sent; then it is copied by SQL with all its
rows. The audit at the end finds every rule held, so the copies are what the server would have written.
"""

import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from cluster import PROGRAMS, Cluster
from machine import OFFERS, ask, body
from service import CNPJ, Service

OPERATIONS = 1_000_000
# Of one transaction: PostgreSQL numbers the events of each together.
CHUNK = 10_000
WAIT_SECONDS = 1_800
# Each step, and backup, restore and audit together.
MINUTES = 10


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Sqlite:
    name = "SQLite"

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "service" / "data" / "preauth.db"
        self.url = None

    def open(self):
        database = sqlite3.connect(self.file, isolation_level=None)
        database.create_function("uuid", 1, lambda number: bytes.fromhex(uuid(number).replace("-", "")), deterministic=True)
        database.create_function("uuid_text", 1, uuid, deterministic=True)
        return database

    def ask(self, query):
        database = self.open()
        try:
            return database.execute(query).fetchone()[0]
        finally:
            database.close()

    def columns(self, table):
        return self.ask(f"SELECT group_concat(name) FROM pragma_table_info('{table}')").split(",")

    def copy(self, statements, first, last):
        database = self.open()
        database.execute("PRAGMA cache_size = -500000")
        for low in range(first, last + 1, CHUNK):
            high = min(low + CHUNK - 1, last)
            added = f"(WITH RECURSIVE n (id) AS (SELECT {low} UNION ALL SELECT id + 1 FROM n WHERE id < {high}) SELECT id FROM n)"
            database.execute("BEGIN IMMEDIATE")
            for statement in statements:
                database.execute(statement.replace("ADDED", added))
            database.execute("COMMIT")
        database.close()

    def size(self):
        return sum(path.stat().st_size for path in self.file.parent.glob("preauth.db*"))

    def settle(self, _service, _operations):
        pass

    def steps(self):
        database = self.open()
        return database.execute("SELECT version, description, execution_time FROM _sqlx_migrations").fetchall()

    def restored(self):
        return f"sqlite://{self.folder}/restored.db"

    def scratch(self):
        return []


class Postgres:
    name = "PostgreSQL"

    def __init__(self, folder, cluster):
        self.folder, self.cluster = folder, cluster
        cluster.run("createdb", "million")
        self.url = cluster.url("million")

    def ask(self, query):
        return self.cluster.ask(query, "million")

    def columns(self, table):
        return self.ask(
            f"SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns "
            f"WHERE table_name = '{table}' AND is_generated = 'NEVER' AND column_name <> 'xid'"
        ).split(",")

    def copy(self, statements, first, last):
        # As fast as it goes: no foreign keys, no triggers.
        functions = (
            "CREATE FUNCTION pg_temp.uuid_text(number BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS "
            "$f$ SELECT '01900000-0000-7000-8000-' || lpad(to_hex(number), 12, '0') $f$;"
            "CREATE FUNCTION pg_temp.uuid(number BIGINT) RETURNS UUID LANGUAGE sql IMMUTABLE AS "
            "$f$ SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::UUID $f$;"
        )
        script = [functions, "SET session_replication_role = replica;"]
        for low in range(first, last + 1, CHUNK):
            added = f"generate_series({low}, {min(low + CHUNK - 1, last)}) AS"
            chunk = (statement.replace("ADDED AS", added).replace("a.id", "a").replace("uuid", "pg_temp.uuid") for statement in statements)
            script += ["BEGIN;", *(f"{statement};" for statement in chunk), "COMMIT;"]
        script.append(
            f"SELECT setval('operation_ids', {last});"
            "DELETE FROM operation_counts;"
            "INSERT INTO operation_counts (head_office_id, payer_id, status, slot, count) "
            "SELECT head_office_id, payer_id, status, 0, count(*) FROM operations GROUP BY head_office_id, payer_id, status;"
            "VACUUM ANALYZE;"
        )
        ran = subprocess.run(
            [PROGRAMS / "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", self.url],
            input="\n".join(script), capture_output=True, text=True,
        )
        assert ran.returncode == 0, ran.stderr

    def size(self):
        return int(self.ask("SELECT pg_database_size('million')"))

    def settle(self, service, operations):
        """Until every event has its numbers, one for the payer and one for the supplier."""
        service.start()
        wait_for(lambda: int(self.ask("SELECT count(*) FROM event_feed")) == 2 * operations, "events are numbered")
        service.stop()

    def steps(self):
        rows = self.ask("SELECT version, description, execution_time FROM _sqlx_migrations ORDER BY 1").splitlines()
        return [(int(version), name, int(took)) for version, name, took in (row.split("|") for row in rows)]

    def restored(self):
        self.cluster.run("createdb", "restored")
        return self.cluster.url("restored")

    def scratch(self):
        self.cluster.run("createdb", "scratch")
        return ["--scratch", self.cluster.url("scratch")]


def uuid(number):
    return f"01900000-0000-7000-8000-{number:012x}"


def wait_for(condition, what):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.2)


def copies(database):
    """Statements that insert, for each number in ADDED, what the first offer left."""
    number = "CAST(a.id AS TEXT)"

    def text(column):
        changed = f"""replace({column}, '"anticipationId":1,', '"anticipationId":' || {number} || ',')"""
        changed = f"""replace({changed}, '{{"id":1,', '{{"id":' || {number} || ',')"""
        changed = f"""replace({changed}, '"NF-1"', '"NF-' || {number} || '"')"""
        return f"replace({changed}, (SELECT substr(body, 8, 36) FROM events WHERE operation_id = 1), uuid_text(a.id))"

    key = "uuid(a.id)"
    address = f"'financeiro' || {number} || '@fornecedor.example.com'"
    tables = {
        "operations": {"id": "a.id", "invoice_number": f"'NF-' || {number}"},
        "idempotency_replies": {"operation_id": "a.id", "key": f"'copied-key-' || {number}", "body": text("t.body")},
        "events": {"id": key, "operation_id": "a.id", "body": text("t.body")},
        "deliveries": {"id": key, "event_id": key},
        "attempts": {"delivery_id": key},
        "notices": {
            "id": key, "operation_id": "a.id", "content": text("t.content"), "recipient": address, "mailbox": address,
        },
    }
    if database.name == "SQLite":
        tables["event_feed"] = {"number": None, "event_id": key}
    for table, changed in tables.items():
        columns = [column for column in database.columns(table) if changed.get(column, "") is not None]
        values = [changed.get(column, f"t.{column}") for column in columns]
        first = {"operations": "t.id = 1", "idempotency_replies": "t.operation_id = 1", "events": "t.operation_id = 1",
                 "notices": "t.operation_id = 1"}.get(table)
        if first is None:
            event = "(SELECT id FROM events WHERE operation_id = 1)"
            first = f"t.delivery_id = (SELECT id FROM deliveries WHERE event_id = {event})" if table == "attempts" else f"t.event_id = {event}"
        yield f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} t, ADDED AS a WHERE {first}"


def timed(database, what, work, found=lambda _: ""):
    begun = time.monotonic()
    printed = work()
    took = time.monotonic() - begun
    print(f"| {database.name} | {what} | {took:.1f} s | {found(printed)} |", flush=True)
    assert took < MINUTES * 60, f"{what} took {took:.0f} s"
    return took


def measure(database, previous, present, receiver, operations):
    own = f'database = "{database.url}"\n' if database.url else ""
    files = f'[files]\nshared = true\nplace = "{database.folder}/files"\n[webhooks]\nallowed_networks = ["127.0.0.0/8"]'
    service = Service(previous, database.folder / "service", f"{own}{files}")
    service.run("migrate")
    service.start()
    erp = service.company()
    service.run("endpoint", "set", CNPJ, f"http://127.0.0.1:{receiver}/hooks", "--event", "pre_authorization.created")
    status, made = ask("POST", OFFERS, body("NF-1"), headers=erp.headers | {"Idempotency-Key": "copied-key-1"})
    assert status == 201 and made["id"] == 1, (status, made)
    for query, expected in (
        ("SELECT count(*) FROM deliveries WHERE status = 'DELIVERED'", 1),
        ("SELECT count(*) FROM notices WHERE status = 'SENT'", 1),
        ("SELECT count(*) FROM event_feed", 2),
    ):
        wait_for(lambda: int(database.ask(query)) == expected, query)
    service.stop()
    begun = time.monotonic()
    database.copy(list(copies(database)), 2, operations)
    database.settle(service, operations)
    counts = ", ".join(f"{int(database.ask(f'SELECT count(*) FROM {table}')):,} {table}" for table in ("operations", "events", "deliveries", "notices"))
    print(f"- {database.name}: {counts}, {database.size() >> 20} MiB, made in {time.monotonic() - begun:.0f} s", flush=True)

    service.program = present
    before = len(database.steps())
    timed(database, "migrate", lambda: service.run("migrate"))
    for version, name, nanoseconds in sorted(database.steps())[before:]:
        # What is not one transaction is not measured by itself.
        if nanoseconds >= 0:
            print(f"| {database.name} | of it step {version} ({name}) | {nanoseconds / 1e9:.1f} s | |", flush=True)
    backup = database.folder / "backup"
    took = timed(database, "backup", lambda: service.run("backup", backup), lambda _: f"{folder_size(backup) >> 20} MiB")
    timed(database, "backup verify", lambda: service.run("backup", "verify", backup, *database.scratch()))
    settings = f'database = "{database.restored()}"\n{files}'
    restored = Service(present, database.folder / "restored", settings.replace("/files", "/restored-files"))
    took += timed(database, "restore", lambda: restored.run("restore", backup))
    took += timed(database, "audit", lambda: restored.run("audit", "--at-rest"), lambda printed: printed.strip().splitlines()[-1])
    print(f"| {database.name} | backup, restore and audit together | {took:.1f} s | |", flush=True)
    assert took < MINUTES * 60, f"backup, restore and audit took {took:.0f} s together"


def folder_size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main(previous, present, folder, operations=OPERATIONS):
    folder = Path(folder)
    folder.mkdir()
    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    cluster = Cluster(folder / "cluster", 5435)
    try:
        for kind, arguments in ((Sqlite, ()), (Postgres, (cluster,))):
            own = folder / kind.__name__.lower()
            own.mkdir()
            measure(kind(own, *arguments), Path(previous), Path(present), receiver.server_port, int(operations))
    finally:
        cluster.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
