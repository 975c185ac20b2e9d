"""The parts of the example for Compose, as far as they run without a container engine: the file, and each service's settings.

    compose.py SERVER FOLDER
"""

import os
import subprocess
import sys
from pathlib import Path

import yaml

EXAMPLE = Path(__file__).resolve().parents[2] / "packaging/examples/compose"


def main(server, folder):
    folder = Path(folder)
    folder.mkdir(mode=0o700)
    described = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())
    services, volumes = described["services"], described["volumes"]
    settings = (EXAMPLE / "preauth.toml").read_text().replace("/run/secrets", str(folder)).replace("/var/lib/preauth", f"{folder}/files")
    for name, content in (("preauth.toml", settings), ("master.key", "ab" * 32), ("platform.token", "t" * 48), ("db.password", "x")):
        (folder / name).write_text(content)
        (folder / name).chmod(0o600)
    assert {f"./{name}" for name in described["secrets"]} == {it["file"] for it in described["secrets"].values()}
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
        run = {"check": True, "capture_output": True, "text": True, "env": {"PATH": os.environ["PATH"], **environment}}
        subprocess.run([server, command, *rest, "--help"], **run)
        printed = subprocess.run([server, "config", "check", *rest], **run).stdout
        assert trusted in printed, printed
        checked += 1
    assert checked == 3, checked
    subprocess.run(["caddy", "validate", "--adapter", "caddyfile", "--config", EXAMPLE / "Caddyfile"], check=True, capture_output=True)
    print(f"- compose: {checked} services' settings are taken, the proxy's too")


if __name__ == "__main__":
    main(*sys.argv[1:])
