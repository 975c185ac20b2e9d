"""The example for Compose, without a container engine: its file, and its services as processes, each with the command, user,
variables and network that the file gives it. An ERP goes on through the proxy while each instance is stopped and started.

    compose.py SERVER CADDY

needs root, and a network namespace of its own.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from cluster import Cluster
from machine import OFFERS, body
from proxies import API, Through, caddy, certificate, running, wait_for
from service import first_company

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "packaging/examples/compose"
USER = int(re.search(r"^user=(\d+)$", (ROOT / "scripts/image").read_text(), re.MULTILINE)[1])
WITHOUT_RIGHTS = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
OFFERS_EACH = 20
# The last part of an address; the proxy's is in the file.
FIRST_ADDRESS = 10


class Example:
    """Its file, and what stands beside it."""

    def __init__(self, server, proxy, folder):
        self.server, self.proxy, self.folder = server, proxy, folder
        self.text = (EXAMPLE / "compose.yaml").read_text()
        described = yaml.safe_load(self.text)
        self.services, self.secrets = described["services"], described["secrets"]
        self.own = [name for name, it in self.services.items() if it["image"].startswith("preauth-server:")]
        self.subnet = described["networks"]["inside"]["ipam"]["config"][0]["subnet"]
        self.trusted = self.services["caddy"]["networks"]["inside"]["ipv4_address"]
        self.volumes = described["volumes"]

    def check(self):
        """What names what."""
        for name, service in self.services.items():
            assert set(service.get("depends_on", ())) <= set(self.services), name
            assert set(service.get("secrets", ())) <= set(self.secrets), name
            mounted = {volume.split(":")[0] for volume in service["volumes"]} if "volumes" in service else set()
            assert {it for it in mounted if not it.startswith(".")} <= set(self.volumes), name
            # Only the proxy is reached from outside.
            assert ("ports" in service) == (name == "caddy"), name
        assert len(self.own) == 3, self.own
        assert {f"./{name}" for name in self.secrets} == {it["file"] for it in self.secrets.values()}

    def at(self, text):
        """A path of the containers, as a path here."""
        return text.replace("/run/secrets", str(self.folder)).replace("/var/lib/preauth", f"{self.folder}/files")

    def make_secrets(self):
        """By the commands that begin the file."""
        settings = self.folder / "preauth.toml"
        settings.write_text(self.at((EXAMPLE / "preauth.toml").read_text()))
        commands = "\n".join(re.findall(r"^#   (.+)$", self.text, re.MULTILINE))
        subprocess.run(["bash", "-euc", commands], check=True, cwd=self.folder)
        password = (self.folder / "db.password").read_text().strip()
        settings.write_text(settings.read_text().replace("PASSWORD", password))
        assert all((self.folder / name).stat().st_mode & 0o777 == 0o600 for name in self.secrets)
        assert f'trusted_proxies = ["{self.trusted}/32"]' in settings.read_text()
        # The volume begins as the image's folder.
        files = self.folder / "files"
        files.mkdir(mode=0o700)
        os.chown(files, USER, USER)
        return password

    def command(self, name):
        return [self.server, *(self.at(word) for word in self.services[name]["command"])]

    def environment(self, name):
        own = self.folder / f"tmp-{name}"
        if not own.exists():
            own.mkdir()
            own.chmod(0o1777)
        given = self.services[name]["environment"]
        return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **{key: value.replace("/tmp", str(own)) for key, value in given.items()}}


class Container:
    """A network of its own at the network of all, and processes without rights in it."""

    def __init__(self, example, name, address):
        self.example, self.name = example, name
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        ours, theirs = (Path(f"/proc/{pid}/ns/net") for pid in ("self", self.holder.pid))
        wait_for(lambda: theirs.readlink() != ours.readlink(), "a network of its own")
        plug, pid = f"to{self.holder.pid}", str(self.holder.pid)
        ip("link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", pid)
        ip("link", "set", plug, "master", "inside", "up")
        enter = ("nsenter", "--target", pid, "--net")
        ip("link", "set", "lo", "up", enter=enter)
        ip("address", "add", f"{address}/24", "dev", "eth0", enter=enter)
        ip("link", "set", "eth0", "up", enter=enter)
        self.enter = [*enter, *WITHOUT_RIGHTS]

    def run(self, *words):
        """As `docker compose exec` runs a command of operators."""
        return self.started([self.example.server, *words, "--config", str(self.example.folder / "preauth.toml")])

    def finish(self):
        """The service's own command, to its end."""
        return self.started(self.example.command(self.name))

    def started(self, command):
        ran = subprocess.run(
            [*self.enter, *command], env=self.example.environment(self.name), stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert ran.returncode == 0, f"{command}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    @contextlib.contextmanager
    def serving(self):
        """The service's own command, until the block ends."""
        log = self.example.folder / f"{self.name}.log"
        with running([*self.enter, *self.example.command(self.name)], log, **self.example.environment(self.name)) as process:
            wait_for(lambda: '"message":"ready"' in log.read_text(), f"{self.name} is ready")
            yield
        assert process.returncode == 0, log.read_text()

    def end(self):
        self.holder.kill()
        self.holder.wait()


class Erp:
    def __init__(self, folder, container):
        self.headers = {"Authorization": f"Bearer {first_company(container.run)}", "Content-Type": "application/json"}
        self.folder, self.made = folder, 0

    def ask(self, *request):
        with contextlib.closing(Through(self.folder, API)) as connection:
            return connection.ask(*request, headers=self.headers)

    def offer(self):
        """Some offers, each answered at its first try, whichever instance is away."""
        for _ in range(OFFERS_EACH):
            status, made = self.ask("POST", OFFERS, json.dumps(body(f"NF-{self.made}")).encode())
            assert status == 201, (status, made)
            self.made += 1


def ip(*words, enter=()):
    subprocess.run([*enter, "ip", *words], check=True)


def network(example):
    """The network of the containers, and the addresses of those that have their own. The proxy and the database run in this one."""
    prefix = example.subnet.rsplit(".", 1)[0]
    ip("link", "add", "inside", "type", "bridge")
    ip("address", "add", f"{example.trusted}/24", "dev", "inside")
    ip("link", "set", "inside", "up")
    addresses = {name: f"{prefix}.{FIRST_ADDRESS + at}" for at, name in enumerate(example.own)}
    hosts = example.folder / "hosts"
    hosts.write_text("".join(f"{address} {name}\n" for name, address in [*addresses.items(), ("db", example.trusted)]))
    subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)
    return addresses


def database(example, password):
    """As the image of PostgreSQL makes it of its variables."""
    given = example.services["db"]["environment"]
    cluster = Cluster(example.folder / "cluster", 5432)
    with (cluster.data / "postgresql.conf").open("a") as settings:
        settings.write("listen_addresses = '*'\n")
    with (cluster.data / "pg_hba.conf").open("a") as rules:
        rules.write("host all all all scram-sha-256\n")
    cluster.ask(f"CREATE ROLE {given['POSTGRES_USER']} LOGIN PASSWORD '{password}'")
    cluster.ask(f"CREATE DATABASE {given['POSTGRES_DB']} OWNER {given['POSTGRES_USER']}")
    cluster.control("restart")
    return cluster


def serve(example):
    password = example.make_secrets()
    addresses = network(example)
    cluster, containers = database(example, password), {}
    try:
        for name, address in addresses.items():
            containers[name] = Container(example, name, address)
        containers.pop("migrate").finish()
        return follow(example, *containers.values())
    finally:
        for container in containers.values():
            container.end()
        cluster.stop()


def follow(example, first, second):
    """The offers of an ERP, while each instance is replaced in turn."""
    certificate(example.folder)
    proxy = caddy(example.folder, EXAMPLE / "Caddyfile", example.proxy)
    with running(proxy, example.folder / "caddy.log", HOME=str(example.folder)):
        with second.serving():
            with first.serving():
                erp = Erp(example.folder, first)
                wait_for(lambda: erp.ask("GET", OFFERS)[0] == 200, "the proxy answers")
                erp.offer()
            erp.offer()
        with first.serving():
            with second.serving():
                erp.offer()
            erp.offer()
            status, found = erp.ask("GET", OFFERS)
            assert (status, found["pagination"]["total"]) == (200, erp.made), found
            printed = first.run("backup", example.at(re.search(r"backup (/var/lib/preauth/\S+)", example.text)[1]))
            assert f"{erp.made} operations" in printed, printed
    return erp.made


def main(server, proxy):
    # Where that user reaches it.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        example = Example(shutil.copy(server, folder), proxy, Path(folder))
        example.check()
        made = serve(example)
    print(f"- compose: as the image's user migrated, {made} offers by the proxy while each of two instances was stopped, a backup")


if __name__ == "__main__":
    main(*sys.argv[1:])
