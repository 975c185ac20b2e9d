"""A server of the service with a configuration file of its own, and the commands over it."""

import os
import subprocess
import time

from machine import Erp, ask

TOKEN = "runbook-token-0123456789"
MASTER_KEY = "ab" * 32
READY_SECONDS = 60
CNPJ = "45.723.001/0001-00"


def first_company(run):
    """As docs/operating.md has it, by commands that `run` runs; the key of its ERP."""
    run("company", "add", "--cnpj", CNPJ, "--name", "Construtora Azul S.A.", "--kind", "construction")
    run("credit", "set", CNPJ, "--max-term-days", "120", "--max-invoice-amount", "250000")
    rights = "request_advances,pre_authorize_advances"
    run("user", "add", CNPJ, "--name", "Ana", "--email", "ana@azul.example.com", "--permission", rights)
    scopes = ("--scope", "preauth:read,preauth:write")
    return run("key", "create", CNPJ, "--name", "ERP", "--user", "ana@azul.example.com", *scopes).split()[-1]


class Service:
    """`settings` are lines of the file, after those that every server here has."""

    def __init__(self, program, folder, settings, host="127.0.0.1"):
        self.program, self.folder, self.host = program, folder, host
        self.config, self.log, self.process = folder / "preauth.toml", folder / "log", None
        folder.mkdir()
        for name, text in (("token", TOKEN), ("master.key", MASTER_KEY)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        self.config.write_text(
            f'listen = "{host}:8080"\nplatform_listen = "{host}:8081"\ndata = "{folder}/data"\n'
            f'platform_token_file = "{folder}/token"\nmaster_key_file = "{folder}/master.key"\n{settings}\n'
        )

    def run(self, *arguments, expect=0):
        ran = subprocess.run(
            [self.program, *arguments, "--config", self.config], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )
        assert ran.returncode == expect, f"{arguments}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr if expect else ran.stdout

    def launch(self):
        with self.log.open("ab") as log:
            command = [self.program, "serve", "--config", self.config]
            environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self, ready=200):
        self.launch()
        end = time.monotonic() + READY_SECONDS
        while self.readiness()[0] != ready:
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        return self

    def readiness(self):
        try:
            return ask("GET", "/readyz", port=8081, host=self.host)
        except OSError:
            return None, None

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, self.log.read_text()

    def company(self):
        """The first one; its ERP."""
        return Erp(first_company(self.run))
