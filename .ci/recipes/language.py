#!/usr/bin/env python3
"""One language's recipes, as their page shows them, against the sandbox that sends to PORT:

    language.py LANGUAGE PORT FOLDER

where FOLDER takes their files. They verify every shared vector, offer an invoice once although
answers are lost, and receive the sandbox's events.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from datetime import date, timedelta
from pathlib import Path

import receiving
from lossy_proxy import LossyProxy

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs/recipes"
VECTORS = ROOT / "webhook-verify/vectors.json"

language, port, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
sandbox = json.loads(Path(os.environ["PREAUTH_READY_FILE"]).read_text())


def script(interpreter, name):
    """The programs of a language whose files are run as they are."""
    def program(recipe, *arguments):
        return [*interpreter, str(RECIPES / language / f"{recipe}{name}"), *arguments]

    return program


PROGRAMS = {
    "python": script([sys.executable, "-W", "error"], ".py"),
    "node": script(["node"], ".mjs"),
    # Where the classes are stands in CLASSPATH.
    "java": lambda recipe, *arguments: ["java", recipe.capitalize(), *arguments],
    "php": script(["php"], ".php"),
}


def run(recipe, *arguments, **environment):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = PROGRAMS[language](recipe, *arguments)
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def verifies_every_vector():
    count = len(json.loads(VECTORS.read_text())["cases"])
    printed = run("vectors", str(VECTORS))
    assert printed == f"{count} vectors", printed


def create(offer_id, base_url):
    due = (date.today() + timedelta(days=30)).isoformat()
    offer = [offer_id, sandbox["supplierCnpj"], f"NF-{offer_id}", "12500.50", due]
    return run("create", *offer, PREAUTH_BASE_URL=base_url, PREAUTH_API_KEY=sandbox["apiKey"])


def offers_once():
    """Twice by its own id; and once through a way on which answers are lost."""
    offer_id = uuid.uuid4().hex
    first = create(offer_id, sandbox["baseUrl"])
    assert first.endswith(" IN_PRE_AUTH created"), first
    assert create(offer_id, sandbox["baseUrl"]) == first.replace("created", "replayed")
    with LossyProxy(sandbox["baseUrl"]) as proxy:
        printed = create(uuid.uuid4().hex, proxy.url)
        assert printed.endswith(" IN_PRE_AUTH replayed") and printed.split()[0] != first.split()[0], printed
        assert proxy.seen == ["answer lost", "503", "passed"], proxy.seen
    return 2


def receives(offered):
    """`offered` offers are reported, verified, confirmed and printed."""
    def reported():
        story = Path(os.environ["PREAUTH_STORY"]).read_text()
        return story.count("delivery  pre_authorization.created") >= offered

    receiving.wait_for(reported, "the sandbox delivers")
    story = Path(os.environ["PREAUTH_STORY"]).read_text()
    assert story.count("204, delivered") == offered, story
    lengths = receiving.PHP_LENGTHS if language == "php" else receiving.LENGTHS
    receiving.keeps_the_contract(f"http://127.0.0.1:{port}/webhooks", sandbox["webhookSecret"], lengths)


def receiver():
    """The command that receives; PHP has a server of its own for it."""
    if language == "php":
        return ["php", "-S", f"127.0.0.1:{port}", str(RECIPES / "php/receive.php")]
    return PROGRAMS[language]("receive", port)


if __name__ == "__main__":
    began = time.monotonic()
    verifies_every_vector()
    secrets = f"{sandbox['webhookSecret']},whsec_of-the-time-before-the-rotation"
    database = str(folder / "webhooks.db")
    with receiving.program(receiver(), port, WEBHOOK_SECRET=secrets, DATABASE=database):
        receives(offers_once())
    with receiving.program(receiver(), port, WEBHOOK_SECRET=f"{sandbox['webhookSecret']},", DATABASE=database):
        receiving.accepts_nothing(f"http://127.0.0.1:{port}/webhooks", sandbox["webhookSecret"])
    print(f"{language}: vectors, create, retry, receive ({time.monotonic() - began:.0f} s)")
