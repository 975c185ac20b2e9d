"""docs/personal-data.md: what was erased after a backup is erased again after its restore, and nothing else.

    erasures.py SERVER FOLDER
"""

import os
import shutil
import sys
from pathlib import Path

from machine import OFFERS, ask, body
from page import Page
from service import CNPJ, Service

# Erased before the backup, and invited anew; erased after it; never erased.
BEFORE, AFTER, NEVER = "11444777000161", "45997418000153", "11222333000181"


class Suppliers:
    def __init__(self, service):
        self.service, self.erp, self.made = service, service.company(), 0

    def offer(self, supplier):
        """An offer that ends at once: data of operations in progress are not erased."""
        self.made += 1
        offer = body(f"NF-{self.made}")
        offer["supplier"]["cnpj"] = supplier
        status, made = ask("POST", OFFERS, offer, headers=self.erp.headers)
        assert status == 201, (status, made)
        self.service.run("operation", "decline", str(made["id"]), "--yes")

    def contacts(self, supplier):
        shown = self.service.run("personal-data", "show", supplier)
        return next(int(line.split()[1]) for line in shown.splitlines() if line.startswith("contacts"))


def erasures(page, program, folder):
    folder.mkdir()
    service = Service(program, folder / "service", "")
    service.start()
    suppliers = Suppliers(service)
    known = {"CONFIG": service.config, "ERASURES": folder / "erasures.csv", "PATH": f"{program.parent}:{os.environ['PATH']}"}
    for supplier in (BEFORE, AFTER, NEVER):
        suppliers.offer(supplier)
    service.run("personal-data", "erase", BEFORE, "--yes")
    suppliers.offer(BEFORE)
    page.run("keep", folder, known)
    service.run("backup", folder / "backup")
    service.run("personal-data", "erase", AFTER, "--yes")
    assert suppliers.contacts(AFTER) == 0
    page.run("keep", folder, known)
    service.stop()

    for lost in ("data/preauth.db", "data/preauth.db-wal", "data/preauth.db-shm", "data/preauth.db.lock"):
        (service.folder / lost).unlink(missing_ok=True)
    shutil.rmtree(service.folder / "data" / "invoice-files", ignore_errors=True)
    restored = service.run("restore", folder / "backup")
    assert "was erased after" in restored, restored
    service.run("adopt", "--yes")
    service.start()
    assert suppliers.contacts(AFTER) == 1, "what was erased after the backup is back"
    page.run("again", folder, known)
    found = {supplier: suppliers.contacts(supplier) for supplier in (BEFORE, AFTER, NEVER)}
    assert found == {BEFORE: 1, AFTER: 0, NEVER: 1}, found
    # Once more: there is nothing left to do.
    page.run("again", folder, known)
    page.run("keep", folder, known)
    service.stop()
    service.run("audit", "--at-rest")
    print("- erasures: of two, the one after the backup is repeated after the restore, and no other")


def main(program, folder):
    page = Page("personal-data")
    erasures(page, Path(program), Path(folder))
    page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
