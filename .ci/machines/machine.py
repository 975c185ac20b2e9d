"""A system in a folder, in which packages are installed and programs run, and the service manager's part for one unit."""

import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from datetime import date, timedelta
from pathlib import Path

UNIT_PROGRAM = Path(__file__).with_name("unit.py")
READY_SECONDS = 120
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}


class Machine:
    """A system under `root`."""

    def __init__(self, root):
        self.root = root
        subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
        subprocess.run(["mount", "--bind", "/dev", root / "dev"], check=True)

    def run(self, *command, user=None, expect=0, variables=(), **options):
        """What the command, run inside as root or as this user, prints."""
        change = [f"--userspec={user}"] if user else []
        ran = subprocess.run(
            ["chroot", *change, self.root, *command], env={**ENVIRONMENT, **dict(variables)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, **options,
        )
        assert ran.returncode == expect, f"{command}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    def install(self, package):
        """Installs a package file, as `apt install ./FILE` does when all that it needs is there."""
        shutil.copy(package, self.root / "tmp")
        printed = self.run("dpkg", "--install", f"/tmp/{package.name}")
        (self.root / "tmp" / package.name).unlink()
        return printed

    def path(self, path):
        return self.root / path.lstrip("/")

    def mount(self, folder, path):
        """Shows a folder of the host inside."""
        self.path(path).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", folder, self.path(path)], check=True)

    def destroy(self):
        """As if the machine burnt; what is mounted into it stays."""
        mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for path in reversed([it for it in mounted if it.startswith(f"{self.root}/")]):
            subprocess.run(["umount", path], check=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)


class Manager:
    """Starts the service of a unit, hears what it says of itself, and stops it."""

    def __init__(self, machine, unit):
        self.machine, self.unit = machine, unit
        self.process, self.heard = None, []

    def start(self, **environment):
        address = self.machine.path("/run/notify")
        address.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(address))
        address.chmod(0o777)
        self.heard, self.log = [], self.machine.path("/var/log/service.log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["/usr/bin/python3", UNIT_PROGRAM, self.machine.root, self.machine.path(self.unit)],
                env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "60000000", **environment},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        self.wait_for("READY=1")
        return self

    def reload(self):
        """The unit's ExecReload, behind everything that the unit puts before its processes."""
        ran = subprocess.run(
            ["/usr/bin/python3", UNIT_PROGRAM, self.machine.root, self.machine.path(self.unit), "ExecReload"],
            env={"PATH": os.environ["PATH"], "MAINPID": str(self.process.pid)}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )
        assert ran.returncode == 0, f"it was not reloaded: {ran.returncode}\n{ran.stdout}{ran.stderr}"

    def wait_for_log(self, text):
        """Until the service has logged it."""
        end = time.monotonic() + READY_SECONDS
        while text not in (log := self.log.read_text()):
            assert time.monotonic() < end and self.is_running(), f"not logged in {READY_SECONDS} s: {text}\n{log}"
            time.sleep(0.1)

    def wait_for(self, state):
        """Until the service has said so."""
        end = time.monotonic() + READY_SECONDS
        while state not in self.heard:
            assert time.monotonic() < end, f"not told in {READY_SECONDS} s: {state}\n{self.log.read_text()}"
            if select.select([self.socket], [], [], 0.1)[0]:
                self.heard += self.socket.recv(65536).decode().splitlines()
            else:
                code = self.process.poll()
                assert code is None, f"it ended with {code} before {state}\n{self.log.read_text()}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.wait_for("STOPPING=1")
        code = self.process.wait(60)
        assert code == 0, f"it ended with {code}\n{self.log.read_text()}"
        self.socket.close()

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def uid(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1])


def held_pipe(path):
    os.mkfifo(path)
    return path.open("r+b", buffering=0)


class Systemctl:
    """What `systemctl` does to the one unit, for operators and for the package's own scripts inside the machine."""

    def __init__(self, machine, manager):
        self.manager, self.name = manager, Path(manager.unit).name
        self.wanted = machine.path(f"/etc/systemd/system/multi-user.target.wants/{self.name}")
        machine.path("/run/systemd/system").mkdir(parents=True)
        # Both ends are held open, so that neither side waits for the other to open.
        self.asked, self.answer = (held_pipe(machine.path(f"/run/systemd/{name}")) for name in ("asked", "answer"))
        program = machine.path("/usr/bin/systemctl")
        program.write_text(
            "#!/bin/sh\necho \"$*\" >/run/systemd/asked\nread -r code text </run/systemd/answer\n"
            "[ -z \"$text\" ] || echo \"$text\"\nexit \"$code\"\n"
        )
        program.chmod(0o755)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for line in self.asked:
            words = [word for word in line.decode().split() if not word.startswith("-")]
            self.answer.write(f"{self.obey(*words)}\n".encode())

    def obey(self, verb, unit=""):
        if verb == "daemon-reload":
            return "0"
        assert unit.removesuffix(".service") == self.name.removesuffix(".service"), unit
        is_running = self.manager.is_running()
        if verb == "preset" and not self.wanted.is_symlink():
            # Debian enables what it installs.
            self.wanted.parent.mkdir(parents=True, exist_ok=True)
            self.wanted.symlink_to(self.manager.unit)
        if verb == "is-enabled":
            return "0 enabled" if self.wanted.is_symlink() else "1 disabled"
        if verb == "is-active":
            return "0 active" if is_running else "3 inactive"
        try:
            if verb in ("stop", "restart") and is_running:
                self.manager.stop()
            if verb == "restart" or verb == "start" and not is_running:
                self.manager.start()
            if verb == "reload":
                self.manager.reload()
        except AssertionError as failed:
            return f"1 Job for {self.name} failed: {' '.join(str(failed).split())}"
        return "0"


def ask(method, path, body=None, port=8080, headers=(), host="127.0.0.1"):
    """Status and JSON (or text) of an answer."""
    connection = http.client.HTTPConnection(host, port, timeout=60)
    headers = dict(headers)
    if body is not None and not isinstance(body, bytes):
        body, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    return answer.status, json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text


OFFERS = "/api/integration/v1/pre-authorizations"


class Erp:
    """A company's ERP, with its key."""

    def __init__(self, key):
        self.key, self.headers = key, {"Authorization": f"Bearer {key}"}

    def offer(self, number):
        """Creates an offer; its id."""
        status, made = ask("POST", OFFERS, body(number), headers=self.headers)
        assert status == 201, (status, made)
        return made["id"]

    def offers(self):
        status, found = ask("GET", OFFERS, headers=self.headers)
        assert status == 200, (status, found)
        return {it["id"]: it["invoice"]["number"] for it in found["data"]}


def body(number):
    due = (date.today() + timedelta(days=30)).isoformat()
    named = {"name": "Fornecedor Ltda.", "contactName": "Rui"}
    supplier = {"cnpj": "11444777000161", "email": "financeiro@fornecedor.example.com", **named}
    return {"supplier": supplier, "invoice": {"amount": 1000, "dueDate": due, "number": number}}
