"""docs/point-in-time.md: a recovery to a moment between two creates, of a cluster that was destroyed.

    recovery.py SERVER FOLDER
"""

import os
import shutil
import sys
import time
from pathlib import Path

from cluster import USER, Cluster
from page import Page
from service import Service

ARCHIVED_SECONDS = 60


def refused(erp, number):
    try:
        erp.offer(number)
    except AssertionError as refusal:
        return "503" in str(refusal)
    return False


def create(erp, number):
    """PostgreSQL has just restarted, perhaps."""
    end = time.monotonic() + ARCHIVED_SECONDS
    while True:
        try:
            return erp.offer(number)
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def archived(cluster):
    """Until the log up to now is in the archive."""
    segment = cluster.ask("SELECT pg_walfile_name(pg_switch_wal())")
    end = time.monotonic() + ARCHIVED_SECONDS
    while cluster.ask(f"SELECT last_archived_wal >= '{segment}' FROM pg_stat_archiver") != "t":
        assert time.monotonic() < end, cluster.ask("SELECT pg_stat_archiver FROM pg_stat_archiver")
        time.sleep(0.2)


def point_in_time(page, program, folder, cluster):
    folder.mkdir()
    folders = {name: folder / name.lower() for name in ("ARCHIVE", "BASES")}
    for each in folders.values():
        each.mkdir()
        if os.geteuid() == 0:
            shutil.chown(each, USER)
    settings = f'database = "{cluster.url("moment")}"\ndeployment_id = "original"\n[files]\nshared = true'
    service = Service(program, folder / "service", settings)

    def follow(block, **more):
        return page.run(block, cluster.folder, cluster.variables() | folders | more, user=USER)

    cluster.run("createdb", "moment")
    service.run("migrate")
    service.start()
    erp = service.company()
    follow("archive")
    kept = {create(erp, "NF-before"): "NF-before"}
    follow("base backup")
    kept[create(erp, "NF-since")] = "NF-since"
    moment = cluster.ask("SELECT clock_timestamp()")
    lost = create(erp, "NF-after")
    archived(cluster)
    service.stop()
    cluster.destroy()

    follow("recover", MOMENT=moment)
    follow("end of the recovery")
    known = {"CONFIG": service.config, "DEPLOYMENT": "recovered", "PATH": f"{program.parent}:{os.environ['PATH']}"}
    found = page.run("look at it", folder, known)
    assert "every rule holds: 2 operations" in found, found
    service.start(ready=503)
    assert erp.offers() == kept, "exactly what there was at that moment"
    assert refused(erp, "NF-silent")
    service.stop()
    page.run("adopt", folder, known)
    service.start()
    again = erp.offer("NF-after")
    assert again > lost, f"the id {lost} of a lost operation is not given again, this is {again}"
    service.stop()
    service.run("audit", "--at-rest")
    print(f"- point in time: of 3 operations exactly the 2 until that moment; the lost id was {lost}, the next one is {again}")


def main(program, folder):
    program, folder = Path(program), Path(folder)
    page = Page("point-in-time")
    folder.mkdir()
    cluster = Cluster(folder / "cluster", 5433)
    try:
        point_in_time(page, program, folder / "moment", cluster)
    finally:
        cluster.stop()
    page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
