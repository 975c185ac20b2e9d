"""docs/evening.md, walked: from the package to an upgrade, on machines that are made and lost.

    evening.py DATABASE FOLDER PACKAGES DEBIAN BEFORE [hurry]

DATABASE is `sqlite` or `postgresql`; PACKAGES a folder with two versions of the package; DEBIAN the archive of a clean system;
BEFORE what the upgrade begins with: the package of the first release, or a folder with backups that it made.
Needs root, and a network namespace of its own.
"""

import contextlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

from database import DATABASES
from machine import OFFERS, Machine, Manager, Systemctl, ask
from page import Page
from receiver import Terminal, arrivals, wait_for
from upgrade import from_backup, from_package
from watch import Watch

UNIT = "/lib/systemd/system/preauth-server.service"
ELSEWHERE, KEYS = "/mnt/elsewhere", "/mnt/keys"
TAIL_LINES = 40


class Step(Exception):
    """The step that failed."""


class Host:
    """One machine after another, and the folder that outlives them."""

    def __init__(self, page, folder, debian, database):
        self.page, self.folder, self.debian, self.database = page, folder, debian, database
        self.elsewhere, self.keys = folder / "elsewhere", folder / "keys"
        self.machine, self.manager, self.receiver = None, None, None
        self.elsewhere.mkdir()
        self.keys.mkdir()
        self.first_lines = page.command("every terminal")

    def new_machine(self):
        root = self.folder / "root"
        root.mkdir()
        subprocess.run(["tar", "-xf", self.debian, "-C", root], check=True)
        self.machine = Machine(root)
        self.manager = Manager(self.machine, UNIT)
        Systemctl(self.machine, self.manager)
        self.machine.mount(self.elsewhere, ELSEWHERE)
        self.machine.mount(self.keys, KEYS)

    def lose_machine(self):
        if self.manager.is_running():
            self.manager.process.kill()
            self.manager.process.wait()
        self.end_receiver()
        self.machine.destroy()
        self.database.destroy()

    def program(self, block):
        return f"cd {ELSEWHERE}\n{self.first_lines}{self.page.command(block)}"

    def run(self, block):
        """What the block of the page prints in a terminal of the machine."""
        return self.machine.run("bash", "-euo", "pipefail", "-c", self.program(block), variables=self.database.variables())

    def own(self, block):
        """A block that differs between the databases."""
        return self.run(f"{block}{self.database.block}")

    def configure(self):
        """Step 2 of the page; on SQLite its first half is nothing."""
        if self.database.block:
            self.own("settings")
        self.run("settings")

    def start_receiver(self):
        command = ["chroot", self.machine.root, "bash", "-euo", "pipefail", "-c", self.program("receiver")]
        self.receiver = Terminal(command, self.folder / "receiver.log")

    def end_receiver(self):
        if self.receiver:
            self.receiver.end()

    def received(self):
        return arrivals(self.folder / "receiver.log")

    def until_received(self, *numbers):
        log = self.folder / "receiver.log"
        # What failed while nobody received is tried again after minutes, on a machine that was slow meanwhile.
        wait_for(lambda: set(numbers) <= set(self.received()), lambda: f"webhooks of {numbers}\n{log.read_text()}", 900)

    def offers(self):
        key = (self.elsewhere / "erp.key").read_text().strip()
        status, found = ask("GET", OFFERS, headers={"Authorization": f"Bearer {key}"})
        assert status == 200, (status, found)
        return {it["invoice"]["number"]: it["id"] for it in found["data"]}

    def tails(self):
        """The ends of all logs, for whoever looks for the cause."""
        logs = [*self.folder.glob("*.log"), *self.folder.glob("root/var/log/service.log"), *self.folder.glob("cluster*/log")]
        for log in logs:
            lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
            print(f"\n-- the end of {log.relative_to(self.folder)}", *lines, sep="\n", file=sys.stderr)


def created(printed, replayed=False):
    """An offer was answered 201."""
    lines = printed.lower().splitlines()
    assert lines[0].startswith("http/1.1 201"), printed
    assert ("idempotency-replayed: true" in lines) == replayed, printed


class Evening:
    def __init__(self, host, packages, before, hurry):
        self.host, self.before, self.hurry, self.rows = host, before, hurry, []
        shutil.copy(next(packages.glob("*_0.1.0_*.deb")), host.elsewhere)
        (host.elsewhere / "next").mkdir()
        shutil.copy(next(packages.glob("*_0.1.1_*.deb")), host.elsewhere / "next")

    @contextlib.contextmanager
    def step(self, name):
        began = time.monotonic()
        try:
            yield
        except Exception as failed:
            print(f"FAIL  {name}, on {self.host.database.name}\n{failed}", file=sys.stderr)
            raise Step from failed
        self.rows.append((name, time.monotonic() - began))

    def walk(self):
        host = self.host
        with self.step("a clean machine"):
            host.database.make(host.page)
            host.new_machine()
        with self.step("package installed, started as its user"):
            assert "active" in host.run("install").splitlines()
            assert host.manager.uid() == int(host.machine.run("id", "-u", "preauth"))
        with self.step("configured, examined"):
            host.configure()
        with self.step("company, key, endpoint; a webhook, verified"):
            host.run("first company")
            host.start_receiver()
            created(host.run("first offer"))
            host.until_received("NF-1")
        with self.step("an alarm that fires"):
            self.alarm()
        with self.step("backup beside the server, verified"):
            self.back_up()
        with self.step("the machine and its database lost"):
            host.lose_machine()
        with self.step("restored on a new machine, audited, silent"):
            self.restore()
        with self.step("adopted; webhooks arrive, the ERP sends again"):
            self.take_over()
        with self.step(f"upgrade from the first release's {'package' if self.before.is_file() else 'data'}"):
            host.lose_machine()
            (from_package if self.before.is_file() else from_backup)(host, self.before)
        host.lose_machine()

    def alarm(self):
        host = self.host
        host.run("rules")
        watch = Watch(host.elsewhere / "prometheus", host.page.command("Prometheus"), self.hurry)
        try:
            wait_for(lambda: watch.state("PreauthEndpointFailing", "/alerts.yml") == "inactive", watch.log.read_text)
            host.end_receiver()
            created(host.run("nobody receives"))
            watch.until("PreauthEndpointFailing", "pending")
            host.run("an outage")
            watch.until("PreauthDown", "pending" if self.hurry else "firing")
            host.run("the outage ends")
        finally:
            watch.terminal.end()

    def back_up(self):
        host = self.host
        created(host.run("back up"))
        # The next night, under another name.
        time.sleep(1)
        created(host.run("back up"), replayed=True)
        assert len([*host.elsewhere.glob("20*")]) == 2, [*host.elsewhere.iterdir()]
        host.database.scratch()
        host.own("verify")
        host.own("keep the key")
        self.token = self.operator_token()
        secrets = {path.name for path in host.elsewhere.rglob("*") if path.name in ("master.key", "platform-token", "platform.token")}
        assert not secrets, f"beside the backup: {secrets}"
        self.kept = host.offers()
        assert set(self.kept) == {"NF-1", "NF-2", "NF-3"}, self.kept
        created(host.run("after the backup"))

    def restore(self):
        host = self.host
        host.database.make(host.page)
        host.new_machine()
        host.run("install")
        restored = host.own("restore")
        assert "every rule holds: 3 operations" in restored, restored
        assert "only superuser" not in restored, restored
        assert self.operator_token() == self.token, "programs that have the operator token go on"
        assert host.offers() == self.kept, (host.offers(), self.kept)
        host.start_receiver()
        shown = host.run("look at it")
        assert "HTTP/1.1 503" in shown, shown
        # Due since long, and not sent.
        status, deliveries = ask("GET", "/readyz", port=8081)
        assert status == 503, (status, deliveries)
        assert set(host.received()) == {"NF-1"}, host.received()

    def operator_token(self):
        """The one of the machine's server."""
        path = "/etc/preauth/platform.token" if self.host.database.block else "/var/lib/preauth/platform-token"
        return self.host.machine.path(path).read_text()

    def take_over(self):
        host = self.host
        host.run("adopt")
        host.until_received("NF-2", "NF-3")
        again = host.run("send again")
        answers = again.split("HTTP/1.1 ")[1:]
        assert [answer[:3] for answer in answers] == ["201"] * 4, again
        replayed = ["idempotency-replayed: true" in answer.lower() for answer in answers]
        assert replayed == [True, True, True, False], again
        found = host.offers()
        assert self.kept.items() <= found.items() and set(found) - set(self.kept) == {"NF-4"}, found
        assert "every rule holds: 4 operations" in again, again
        host.until_received("NF-4")


def table(rows):
    width = max(len(name) for name, _ in rows)
    for name, seconds in [*rows, ("together", sum(seconds for _, seconds in rows))]:
        print(f"PASS  {name:<{width}}  {seconds:6.1f} s")


def main(name, folder, packages, debian, before, hurry=None):
    folder, page = Path(folder), Page("evening")
    # In memory: it ends with this program, however it ends.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "evening", folder], check=True)
    host = Host(page, folder, debian, DATABASES[name](folder))
    evening = Evening(host, Path(packages), Path(before), hurry == "hurry")
    try:
        evening.walk()
    except Step:
        host.tails()
        return 1
    page.left -= host.database.others(page.blocks)
    page.close()
    print(f"\n{host.database.name}")
    table(evening.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
