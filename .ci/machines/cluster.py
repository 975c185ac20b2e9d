"""A PostgreSQL cluster of a check, in a folder that the check may destroy. It syncs to disk, as one in service does."""

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"))
# The server refuses to run as root.
USER = "nobody"


class Cluster:
    def __init__(self, folder, port):
        self.folder, self.data, self.port = folder, folder / "data", port
        folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        self.run("initdb", "--pgdata", self.data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write(f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{folder}'\n")
        self.control("start")

    def variables(self):
        """What the commands of PostgreSQL go by."""
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        log = {"PGCTLTIMEOUT": "120"}
        return {"PATH": path, "PGDATA": self.data, "PGHOST": self.folder, "PGPORT": self.port, "PGUSER": "postgres", **log}

    def url(self, database):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, program, *arguments):
        command = [PROGRAMS / program, *arguments]
        if os.geteuid() == 0:
            group = subprocess.run(["id", "-g", USER], check=True, capture_output=True, text=True).stdout.strip()
            command = ["setpriv", "--reuid", USER, "--regid", group, "--clear-groups", *command]
        variables = {name: str(value) for name, value in self.variables().items()} if self.folder.exists() else {}
        # Not through a pipe, which the server would keep open.
        with (self.folder / "output").open("w+") as output:
            ran = subprocess.run(command, cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            output.seek(0)
            text = output.read()
        assert ran.returncode == 0, f"{command}: {text}"
        return text

    def control(self, *arguments):
        self.run("pg_ctl", "--wait", "--log", self.folder / "log", *arguments)

    def ask(self, query, database="postgres"):
        return self.run("psql", "--no-psqlrc", "--tuples-only", "--no-align", "--dbname", database, "--command", query).strip()

    def destroy(self):
        """As if the machine burnt."""
        self.control("--mode", "immediate", "stop")
        shutil.rmtree(self.data)

    def stop(self):
        if (self.data / "postmaster.pid").exists():
            self.control("--mode", "immediate", "stop")
