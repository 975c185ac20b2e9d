"""Runs the attacks against a service on each database: attacks BINARY [WORD...]"""

import os
import sys
import tempfile
import traceback
from pathlib import Path

import access
import copies
import identity
import limits
from attack import ATTACKS, Succeeded
from service import Service

binary, words = sys.argv[1], sys.argv[2:]
chosen = [a for a in ATTACKS if not words or any(word == a.point or (not word.isdigit() and word in a.name) for word in words)]
databases = {"SQLite": None, "PostgreSQL": f"{os.environ['POSTGRES_TEST_URL']}/postgres"}
succeeded = 0
for database, url in databases.items():
    with tempfile.TemporaryDirectory(prefix="attack-") as folder, Service(binary, Path(folder), url) as service:
        for attack in chosen:
            try:
                end = attack.run(service)
            except Succeeded as how:
                end = f"SUCCEEDED: {how}"
            except Exception:
                traceback.print_exc()
                end = "SUCCEEDED, or was not carried out"
            succeeded += end.startswith("SUCCEEDED")
            print(f"{database:11}{attack.point:>3}  {attack.name:66}{end}", flush=True)
print(f"{len(chosen) * len(databases)} attacks, {succeeded} succeeded")
sys.exit(1 if succeeded else 0)
