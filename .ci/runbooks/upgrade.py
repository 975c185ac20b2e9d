"""docs/upgrade.md: two instances of the version before on one PostgreSQL become two of the present one, while an ERP goes on; then a
way back that there is, and one that there is not.

    upgrade.py PREVIOUS SERVER FOLDER
"""

import sys
import threading
import time
from pathlib import Path

from cluster import Cluster
from machine import OFFERS, ask, body
from page import Page
from service import Service

HOSTS = ("127.0.0.1", "127.0.0.2")
# Before this an offer must have been answered, while instances are replaced.
OFFER_SECONDS = 30
OFFERS_BETWEEN_STEPS = 10
UNSUPPORTED = 2


class Load:
    """An ERP that creates one offer after the other, each under its idempotency key, at the instance that answers, as a proxy picks it."""

    def __init__(self, key):
        self.key, self.made, self.over, self.failure = key, {}, threading.Event(), None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while not self.over.is_set():
                number = f"NF-{len(self.made)}"
                self.made[self.offer(number)] = number
                time.sleep(0.02)
        except BaseException as failure:  # noqa: BLE001
            self.failure = failure

    def offer(self, number):
        headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": f"offer-{number}"}
        end, seen = time.monotonic() + OFFER_SECONDS, []
        while time.monotonic() < end:
            for host in HOSTS:
                try:
                    status, made = ask("POST", OFFERS, body(number), headers=headers, host=host)
                except OSError as lost:
                    seen.append(lost)
                    continue
                if status == 201:
                    return made["id"]
                # The proxy has not seen yet that it stops.
                assert status == 503, (status, made)
                seen.append((status, made))
            time.sleep(0.05)
        raise AssertionError(f"no answer in {OFFER_SECONDS} s: {seen[-4:]}")

    def go_on(self):
        end, target = time.monotonic() + 2 * OFFER_SECONDS, len(self.made) + OFFERS_BETWEEN_STEPS
        while len(self.made) < target:
            assert self.failure is None and time.monotonic() < end, self.failure
            time.sleep(0.05)

    def end(self):
        self.over.set()
        self.thread.join()
        assert self.failure is None, self.failure
        return self.made


def stored(cluster, database):
    rows = cluster.ask("SELECT id || ' ' || invoice_number FROM operations", database)
    return {int(row.split()[0]): row.split()[1] for row in rows.splitlines()}


def upgrade(page, previous, present, folder, cluster):
    def url(database):
        """As the service's own user, who is no superuser."""
        return cluster.url(database).replace("postgres://postgres@", "postgres://preauth@")

    folder.mkdir()
    (folder / "backups").mkdir()
    limit, files = "[rate_limit]\nrequests = 100000", f'[files]\nshared = true\nplace = "{folder}/invoice-files"'
    settings = f'database = "{url("service")}"\n{limit}\n{files}'
    cluster.run("createuser", "preauth")
    cluster.run("createdb", "--owner", "preauth", "service")
    instances = [Service(previous, folder / f"instance-{at}", settings, host) for at, host in enumerate(HOSTS)]
    first = instances[0]
    known = cluster.variables() | {
        "CONFIG": first.config, "BACKUPS": folder / "backups", "PLATFORM": f"http://{first.host}:8081",
        "SCRATCH": url("scratch"), "RESTORED": url("restored"), "NEW": present.parent,
    }
    known["PATH"] = f"{previous.parent}:{known['PATH']}"

    def follow(block, expect=0, **more):
        return page.run(block, folder, known | more, expect=expect)

    first.run("migrate")
    for instance in instances:
        instance.start()
    load = Load(first.company().key)
    load.go_on()

    assert "will make these steps" in follow("check")
    follow("backup")
    in_backup = set(load.made)
    load.go_on()
    assert "nothing to do" in follow("migrate")
    for instance in instances:
        assert instance.readiness()[0] == 200, "the version before goes on"
    load.go_on()
    for instance in instances:
        instance.stop()
        instance.program = present
        instance.launch()
        assert "preauth_build_info" in follow("wait", PLATFORM=f"http://{instance.host}:8081")
        load.go_on()
    found = follow("watch")
    assert "preauth_database_up 1" in found and "every rule holds" in found, found

    assert "nothing to do" in follow("back"), "the version before supports the schema"
    instances[1].stop()
    instances[1].program = previous
    instances[1].start()
    load.go_on()
    made = load.end()
    assert stored(cluster, "service") == made, "each offer that was answered, once"
    for instance in instances:
        instance.stop()

    # A later version contracts the schema.
    newest = cluster.ask("SELECT max(version) FROM _sqlx_migrations", "service")
    cluster.ask(f"UPDATE schema_compatibility SET oldest_supported = {newest}", "service")
    assert "too new for this build" in follow("back", expect=UNSUPPORTED)
    refused = instances[1].run("serve", expect=1)
    assert "too new for this build" in refused, refused
    assert stored(cluster, "service") == made, "nothing is changed by a refusal"
    found = follow("restore")
    assert "every rule holds" in found, found
    first.program = previous
    first.start()
    restored = stored(cluster, "restored")
    assert set(restored) <= set(made) and len(restored) >= OFFERS_BETWEEN_STEPS, restored
    assert set(restored) <= in_backup, "what came after the backup is lost"
    first.stop()
    steps = int(newest) - int(cluster.ask("SELECT max(version) FROM _sqlx_migrations", "restored"))
    print(f"- upgrade: {steps} steps, {len(made)} offers meanwhile, all there once; the way back keeps {len(restored)} of them")


def main(previous, present, folder):
    folder = Path(folder)
    page = Page("upgrade")
    folder.mkdir()
    cluster = Cluster(folder / "cluster", 5434)
    try:
        upgrade(page, Path(previous), Path(present), folder / "upgrade", cluster)
    finally:
        cluster.stop()
    page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
