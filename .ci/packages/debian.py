"""The Debian package in a clean system: installed, started as its unit says, upgraded, removed, purged.

    debian.py ROOT PACKAGE NEXT_PACKAGE

needs root, and a network namespace of its own, since the server listens where the package's configuration says.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from machine import Erp, Machine, Manager, ask
from pages import check_pages

UNIT = "/lib/systemd/system/preauth-server.service"
SETTINGS = "/etc/preauth/preauth.toml"
DATA = "/var/lib/preauth"
# What docs/operating.md states; lower is tighter.
MAX_EXPOSURE = 1.2
PROGRAM = "preauth-server"
# Whom operators run the commands as: root is refused, because the data folder belongs to somebody else.
OPERATOR = "preauth"


def first_company(machine):
    """As docs/operating.md has it."""
    cnpj = "45.723.001/0001-00"

    def run(*arguments):
        return machine.run(PROGRAM, *arguments, user=OPERATOR)

    run("company", "add", "--cnpj", cnpj, "--name", "Construtora Azul S.A.", "--kind", "construction")
    run("credit", "set", cnpj, "--max-term-days", "120", "--max-invoice-amount", "250000")
    rights = "request_advances,pre_authorize_advances"
    run("user", "add", cnpj, "--name", "Ana", "--email", "ana@azul.example.com", "--permission", rights)
    scopes = ("--scope", "preauth:read,preauth:write")
    made = run("key", "create", cnpj, "--name", "ERP", "--user", "ana@azul.example.com", *scopes)
    return Erp(made.split()[-1])


def permissions(machine, path):
    found = machine.path(path).stat()
    return found.st_uid, found.st_mode & 0o777


def exposure(machine):
    """The figure of `systemd-analyze security`."""
    unit = machine.path(UNIT)
    shown = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", unit], check=True, capture_output=True, text=True
    )
    return float(re.search(r"Overall exposure level for preauth-server.service: ([\d.]+)", shown.stdout)[1])


def check_secrecy(machine, manager):
    """A token in the settings, which everybody may read: the unit refuses it like the commands, though it shows /etc read-only."""
    settings = machine.path(SETTINGS)
    given = settings.read_text()
    settings.write_text(f'platform_token = "{"t" * 32}"\n{given}')
    try:
        manager.start()
    except AssertionError as refused:
        assert "holds a secret" in str(refused), refused
    else:
        raise AssertionError("it started with a token that everybody may read")
    machine.run(PROGRAM, "config", "check", user=OPERATOR, expect=1)
    settings.write_text(given)


def check_contents(machine):
    """Pages of the manual, completions, bill of materials and changelog."""
    pages = sorted(machine.path("/usr/share/man/man1").glob("preauth-server*.1.gz"))
    assert len(pages) > 20, pages
    command = ["man", "--warnings", "--encoding=UTF-8", "--local-file", *map(str, pages)]
    environment = {**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80", "MANPAGER": "cat"}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment)
    # A word that is longer than a narrow column is no fault of the page.
    warnings = [line for line in shown.stderr.splitlines() if not re.search("cannot (adjust|break) line", line)]
    assert shown.returncode == 0 and not warnings, warnings[:20]
    check_pages(machine.path(f"/usr/share/doc/{PROGRAM}"))
    for example in ("nginx.conf", "alerts.yml", "preauth.json"):
        assert machine.path(f"/usr/share/doc/{PROGRAM}/examples/{example}").stat().st_size > 0, example
    completions = machine.path("/usr/share")
    subprocess.run(["bash", "-n", completions / "bash-completion/completions/preauth-server"], check=True)
    subprocess.run(["zsh", "-n", completions / "zsh/vendor-completions/_preauth-server"], check=True)
    # What completes `preauth-server op` in a shell.
    script = f"""source '{completions}/bash-completion/completions/preauth-server'
        COMP_WORDS=(preauth-server op) COMP_CWORD=1
        _preauth__server preauth-server op preauth-server; echo "${{COMPREPLY[@]}}" """
    completed = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert {"operation", "operator"} <= set(completed), completed
    return len(pages)


def main(root, package, following):
    machine = Machine(Path(root))
    package, following = Path(package), Path(following)
    manager = Manager(machine, UNIT)

    machine.install(package)
    assert "preauth" in machine.path("/etc/passwd").read_text()
    uid, group = machine.run("id", "-u", "preauth").strip(), machine.run("id", "-gn", "preauth").strip()
    assert int(uid) > 0 and group == "preauth", (uid, group)
    assert permissions(machine, DATA) == (int(uid), 0o700)
    listed = machine.run("dpkg-query", "--show", "--showformat=${Conffiles}", PROGRAM)
    assert SETTINGS in listed, listed
    pages = check_contents(machine)
    figure = exposure(machine)
    assert figure <= MAX_EXPOSURE, figure
    print(f"- installed: {pages} pages of the manual, completions, exposure {figure}")

    manager.start()
    assert manager.uid() == int(uid)
    assert ask("GET", "/readyz", port=8081)[0] == 200
    manager.wait_for("WATCHDOG=1")
    assert "run this as its owner" in machine.run(PROGRAM, "company", "list", expect=2)
    erp = first_company(machine)
    made = erp.offer("NF-1")
    manager.stop()
    print(f"- started by its unit: {', '.join(state for state in manager.heard if state != 'WATCHDOG=1')}")

    check_secrecy(machine, manager)
    settings = machine.path(SETTINGS)
    edited = settings.read_text() + "\n[rate_limit]\nrequests = 7\n"
    settings.write_text(edited)
    before = machine.run(PROGRAM, "--version")
    machine.install(following)
    assert machine.run(PROGRAM, "--version") == before  # the same program, in a package of another version
    version = machine.run("dpkg-query", "--show", "--showformat=${Version}", PROGRAM)
    assert version in following.name and version not in package.name, version
    assert settings.read_text() == edited, "the operator's settings are kept"
    manager.start()
    assert ask("GET", "/readyz", port=8081)[0] == 200
    assert erp.offers() == {made: "NF-1"}
    erp.offer("NF-2")
    assert "7" in machine.run(PROGRAM, "config", "check", user=OPERATOR).split("rate_limit.requests", 1)[1].split("\n", 1)[0]
    edited = edited.replace("requests = 7", "requests = 8")
    settings.write_text(edited)
    manager.reload()
    manager.wait_for_log('"setting":"rate_limit.requests","old":"7","new":"8"')
    manager.wait_for_log('"message":"read again"')
    manager.stop()
    print("- reloaded by its unit: the new limit is used, and the log says so")
    print(f"- upgraded to {version}: data and edited settings are kept")

    machine.run("dpkg", "--remove", PROGRAM)
    assert not machine.path("/usr/bin/preauth-server").exists()
    assert settings.read_text() == edited
    kept = sorted(path.name for path in machine.path(DATA).iterdir())
    assert {"master.key", "preauth.db"} <= set(kept), kept
    machine.install(following)
    manager.start()
    assert len(erp.offers()) == 2
    manager.stop()
    print("- removed and installed again: data and settings are kept")

    printed = machine.run("dpkg", "--purge", PROGRAM)
    assert "kept /var/lib/preauth" in printed, printed
    assert not settings.exists() and not settings.parent.exists()
    assert kept == sorted(path.name for path in machine.path(DATA).iterdir())
    left = machine.run("find", "/etc", "/usr", "/lib/systemd", "-iname", "*preauth*").split()
    # Kerberos, which curl needs, has a word of its own for it.
    left = [path for path in left if "/krb5/" not in path]
    assert left == [], left
    print("- purged: settings are gone, the data is kept, as it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
