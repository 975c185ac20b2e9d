"""The last step of the evening: from the first release to this version, on a machine of its own."""

import re
import shutil
import subprocess

MASTER_KEY = "ab" * 32
# What the backups of the first release hold: preauth-server/tests/audit/upgrades.rs.
OPERATIONS = 17


def from_backup(host, backups):
    """Data of the first release, as it backed it up, under a server of this version that has not started on it yet."""
    name = f"{host.database.name.lower()}.tar.gz"
    subprocess.run(["tar", "-xzf", backups / name, "-C", host.elsewhere], check=True)
    for backup in host.elsewhere.glob("20*"):
        shutil.rmtree(backup)
    (host.elsewhere / "backup").rename(host.elsewhere / "2026-01-01-000000")
    for key in ("master.key", "platform.token", "platform-token"):
        (host.keys / key).write_text(MASTER_KEY)
    host.database.make(host.page)
    host.new_machine()
    host.run("install")
    if host.database.block:
        host.own("settings")
        host.database.empty()
    host.machine.run("cp", "/etc/preauth/preauth.toml", "/mnt/keys")
    # Without its last two lines: on this schema there is nothing to audit or to start for this version.
    program = host.program(f"restore{host.database.block}")
    program, rest = re.subn(r"^preauth audit --at-rest\nsystemctl start preauth-server\n", "", program, flags=re.MULTILINE)
    assert rest == 1, program
    host.machine.run("bash", "-euo", "pipefail", "-c", program, variables=host.database.variables())
    follow(host, f"every rule holds: {OPERATIONS} operations")


def from_package(host, package):
    """The first release itself, installed and used, and this version over it."""
    for file in host.elsewhere.glob("*.deb"):
        file.unlink()
    for file in host.elsewhere.glob("NF-*"):
        file.unlink()
    shutil.copy(package, host.elsewhere)
    host.database.make(host.page)
    host.new_machine()
    host.run("install")
    # It has no `doctor` yet: the page asks for it and goes on.
    host.configure()
    host.run("first company")
    host.run("first offer")
    before = host.offers()
    assert set(before) == {"NF-1"}, before
    printed = follow(host, "every rule holds: 1 operations")
    assert host.offers() == before, (printed, host.offers())


def follow(host, audited):
    """The page's commands, whatever was there before."""
    host.own("upgrade")
    printed = host.run("after the upgrade")
    assert audited in printed, printed
    return printed
