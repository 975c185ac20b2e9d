"""The parts of the example for Compose, as far as they run without a container engine: the file, each service's settings, and its
secrets, made by the file's own commands and read by the image's user.

    compose.py SERVER

needs root.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "packaging/examples/compose"
USER = int(re.search(r"^user=(\d+)$", (ROOT / "scripts/image").read_text(), re.MULTILINE)[1])


def make_secrets(folder, text):
    """By the commands that begin the file."""
    commands = "\n".join(re.findall(r"^#   (.+)$", text, re.MULTILINE))
    subprocess.run(["bash", "-euc", commands], check=True, cwd=folder)


def check(server, folder):
    text = (EXAMPLE / "compose.yaml").read_text()
    described = yaml.safe_load(text)
    services, volumes = described["services"], described["volumes"]
    settings = (EXAMPLE / "preauth.toml").read_text().replace("/run/secrets", str(folder)).replace("/var/lib/preauth", f"{folder}/files")
    (folder / "preauth.toml").write_text(settings)
    make_secrets(folder, text)
    assert {f"./{name}" for name in described["secrets"]} == {it["file"] for it in described["secrets"].values()}
    assert all((folder / name).stat().st_mode & 0o777 == 0o600 for name in described["secrets"])
    trusted = services["caddy"]["networks"]["inside"]["ipv4_address"]
    assert f'trusted_proxies = ["{trusted}/32"]' in settings

    checked = 0
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        assert set(service.get("secrets", ())) <= set(described["secrets"]), name
        mounted = {volume.split(":")[0] for volume in service["volumes"]} if "volumes" in service else set()
        assert {it for it in mounted if not it.startswith(".")} <= set(volumes), name
        # Only the proxy is reached from outside.
        assert ("ports" in service) == (name == "caddy"), name
        if not service["image"].startswith("preauth-server:"):
            continue
        environment = {variable: value.replace("/tmp", str(folder)) for variable, value in service["environment"].items()}
        command, *rest = [word.replace("/run/secrets", str(folder)) for word in service["command"]]
        # Without rights, as Compose starts it.
        run = {"check": True, "text": True, "user": USER, "group": USER, "extra_groups": [], "stdout": subprocess.PIPE, "env": environment}
        subprocess.run([server, command, *rest, "--help"], **run)
        printed = subprocess.run([server, "config", "check", *rest], **run).stdout
        assert trusted in printed, printed
        # Its database is not there.
        printed = subprocess.run([server, "doctor", *rest], **run | {"check": False}).stdout
        for secret in ("master.key", "platform.token"):
            assert f"only this user reads {folder / secret}" in printed, printed
        checked += 1
    assert checked == 3, checked
    subprocess.run(["caddy", "validate", "--adapter", "caddyfile", "--config", EXAMPLE / "Caddyfile"], check=True, capture_output=True)
    print(f"- compose: {checked} services read their settings and secrets as the image's user; the proxy's settings are taken")


def main(server):
    # Where that user reaches it.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        check(shutil.copy(server, folder), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
