"""The OCI image, unpacked and started as a container runtime starts it: its user, command, variables and folder.

    image.py LAYOUT_ARCHIVE FOLDER

needs root, and a network namespace of its own.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from machine import ask
from pages import check_pages

READY_SECONDS = 120
PAGES = "usr/share/doc/preauth-server"


def unpacked(archive, folder):
    """The root of the image's files and its configuration."""
    layout = folder / "layout"
    layout.mkdir(parents=True)
    subprocess.run(["tar", "-xf", archive, "-C", layout], check=True)
    tag = json.loads((layout / "index.json").read_text())["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
    subprocess.run(["umoci", "unpack", "--image", f"{layout}:{tag}", folder / "bundle"], check=True, capture_output=True)
    return folder / "bundle/rootfs", json.loads((folder / "bundle/config.json").read_text())["process"]


def start(root, process, log):
    user = process["user"]

    def enter():
        os.chroot(root)
        os.chdir(process["cwd"])
        os.setgroups([])
        os.setgid(user["gid"])
        os.setuid(user["uid"])

    environment = dict(variable.split("=", 1) for variable in process["env"])
    return subprocess.Popen(process["args"], env=environment, preexec_fn=enter, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def is_ready():
    try:
        return ask("GET", "/readyz", port=8081)[0] == 200
    except OSError:
        return False


def main(archive, folder):
    root, process = unpacked(Path(archive), Path(folder))
    assert process["user"]["uid"] > 0 and process["user"]["gid"] > 0, process["user"]
    assert not [name for name in ("sh", "bash", "dash") if (root / "bin" / name).exists()], "no shell"
    writable = subprocess.run(["find", root, "-type", "f", "-perm", "/6022"], check=True, capture_output=True, text=True)
    assert not writable.stdout, f"setuid, or writable by others: {writable.stdout}"

    libraries = check_pages(root / PAGES)

    path = Path(folder, "log")
    with path.open("wb") as log:
        server = start(root, process, log)
        end = time.monotonic() + READY_SECONDS
        while not is_ready():
            assert server.poll() is None and time.monotonic() < end, path.read_text()
            time.sleep(0.1)
        assert ask("GET", "/livez", port=8081)[0] == 200
        assert ask("GET", "/api/integration/v1/pre-authorizations")[0] == 401
        kept = sorted(it.name for it in (root / "var/lib/preauth").iterdir())
        assert {"preauth.db", "master.key"} <= set(kept), kept
        server.terminate()
        assert server.wait(60) == 0, path.read_text()
    size = Path(archive).stat().st_size >> 20
    print(f"- image: {size} MB, runs as {process['user']['uid']}, no shell, {libraries} libraries in its bill of materials, changelog")


if __name__ == "__main__":
    main(*sys.argv[1:])
