"""What differs between the databases: which commands of the page, and a machine for PostgreSQL."""

from cluster import USER, Cluster

PORT = 5433
SUFFIX = ", PostgreSQL"


class Sqlite:
    name, block = "SQLite", ""

    def __init__(self, _folder):
        pass

    def variables(self):
        return {}

    def others(self, blocks):
        """The blocks of the page that are for the other database."""
        return {block for block in blocks if block.endswith(SUFFIX)}

    def make(self, _page):
        """A machine for it, with an empty database."""

    def scratch(self):
        pass

    def empty(self):
        pass

    def destroy(self):
        pass


class Postgres:
    name, block = "PostgreSQL", SUFFIX

    def __init__(self, folder):
        self.folder, self.number, self.cluster = folder, 0, None

    def variables(self):
        address = f"postgres://preauth@127.0.0.1:{PORT}"
        return {"DATABASE": f"{address}/preauth", "SCRATCH": f"{address}/scratch"}

    def others(self, blocks):
        return {block for block in blocks if f"{block}{SUFFIX}" in blocks}

    def make(self, page):
        self.number += 1
        self.cluster = Cluster(self.folder / f"cluster-{self.number}", PORT)
        page.run("a database, PostgreSQL", self.cluster.folder, self.cluster.variables(), user=USER)

    def scratch(self):
        self.cluster.run("createdb", "--owner", "preauth", "scratch")

    def empty(self):
        self.cluster.run("dropdb", "preauth")
        self.cluster.run("createdb", "--owner", "preauth", "preauth")

    def destroy(self):
        self.cluster.destroy()


DATABASES = {"sqlite": Sqlite, "postgresql": Postgres}
