"""docs/operating.md, followed on a clean Debian: installed, set up, watched, backed up, audited, secured.

    operating.py ROOT PACKAGE

needs root, and a network namespace of its own, since the server listens where the package's configuration says.
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from machine import Machine, Manager, Systemctl
from page import DOCS, Page

UNIT = "/lib/systemd/system/preauth-server.service"
BACKUPS = "/var/backups/preauth"
# The commands of the page run there.
HOME = Path("~root").expanduser()
SECONDS = 30
TIMED = re.compile(r"^ *ExecStart=/bin/sh -c '(.*)'$", re.MULTILINE)
UNITS = re.compile(r"^ *cat >/etc/systemd/system/(\S+) <<'END'\n(.*?)^ *END\n", re.MULTILINE | re.DOTALL)


class Follower:
    """Types the page's commands as root, each block in a terminal of its own."""

    def __init__(self, page, machine):
        self.page, self.machine = page, machine
        self.first_lines = page.command("every terminal")

    def run(self, block):
        program = f"cd /root\n{self.first_lines}{self.page.command(block)}"
        return self.machine.run("bash", "-euo", "pipefail", "-c", program)


def backups(machine):
    return sorted(path.name for path in machine.path(BACKUPS).iterdir())


def check_units(folder):
    """The units of the timer, as systemd itself reads them; the same in both languages."""
    written = [UNITS.findall((DOCS / name).read_text()) for name in ("operating.md", "operating.pt.md")]
    assert len(written[0]) == 2 and written[0] == written[1], written
    for name, text in written[0]:
        (folder / name).write_text(re.sub(r"^ +", "", text, flags=re.MULTILINE))
    files = [folder / name for name, _ in written[0]]
    ran = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr


def timed(machine):
    """The line that a timer starts every night, read as systemd reads it."""
    line = TIMED.search((DOCS / "operating.md").read_text())[1].replace("%%", "%").replace("$$", "$")
    before = backups(machine)
    # A name has the second in it.
    time.sleep(1)
    machine.run("sh", "-c", line, user="preauth")
    assert len(backups(machine)) == len(before) + 1, backups(machine)


def reloaded(manager):
    """Until the server has read its settings again."""
    end = time.monotonic() + SECONDS
    while "rate_limit.requests" not in manager.log.read_text():
        assert time.monotonic() < end, manager.log.read_text()
        time.sleep(0.1)


def main(root, package):
    machine, page = Machine(Path(root)), Page("operating")
    manager = Manager(machine, UNIT)
    Systemctl(machine, manager)
    shutil.copy(package, machine.path(str(HOME)))
    # The page's receiver; nobody answers there, and nothing is sent.
    with machine.path("/etc/hosts").open("a") as hosts:
        hosts.write("127.0.0.1 localhost\n200.160.2.3 erp.azul.com.br\n")
    follower = Follower(page, machine)
    follow = follower.run

    assert "active" in follow("install").splitlines()
    assert "rate_limit.requests" in follow("settings")
    reloaded(manager)
    examined = follow("doctor")
    assert re.search("^ok +schema ", examined, re.MULTILINE), examined
    company = follow("first company")
    assert '"total":0' in company.replace(" ", "") and "whsec_" in company, company
    more = follow("more companies")
    assert "Construtora Verde Ltda." in more and "Construtora Branca S.A." in more and "stopped" not in more, more
    secrets = [machine.path(f"{HOME}/{name}") for name in ("11222333000181.key", "45997418000153.secret")]
    assert all(file.stat().st_mode & 0o777 == 0o600 and file.read_text().strip() for file in secrets), more
    assert "preauth_database_up 1" in follow("watch")
    print("- operating: installed, set up, examined, watched")

    assert "every rule holds" in follow("audit")
    follow("back up")
    check_units(machine.path(str(HOME)))
    timed(machine)
    assert "every rule holds" in follow("verify")
    print(f"- operating: backed up as {', '.join(backups(machine))}, the latest verified")

    operator = follow("an operator")
    assert "REVOKED" in operator and machine.path(f"{HOME}/ana.token").stat().st_mode & 0o777 == 0o600, operator
    keys = follow("a new master key")
    assert len(machine.path("/var/lib/preauth/master.key").read_text().split()) == 2, keys
    page.close()
    manager.stop()
    print("- operating: an operator added and revoked, the master key replaced")


if __name__ == "__main__":
    main(*sys.argv[1:])
