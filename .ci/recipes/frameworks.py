#!/usr/bin/env python3
"""The receivers in frameworks keep the receiver's contract: frameworks.py FOLDER EXAMPLE

FOLDER has `venv` and `node`, where the frameworks are installed; those of Java stand in CLASSPATH. EXAMPLE is the
binary of examples/src/bin/webhook_receiver.rs.
"""

import socket
import sys
from pathlib import Path

import receiving

HERE = Path(__file__).resolve().parent
RECIPES = HERE.parents[1] / "docs/recipes"
SECRET = "whsec_dGVzdC1vbmx5LXNlY3JldC1vZi10aGUtZG9jcyE"

folder = Path(sys.argv[1])
python = folder / "venv/bin"
RECEIVERS = {
    "Flask": lambda port: [python / "flask", "--app", RECIPES / "python/with_flask.py", "run", "--port", port],
    "FastAPI": lambda port: [
        python / "uvicorn", "--app-dir", RECIPES / "python", "with_fastapi:app", "--port", port,
    ],
    "Django": lambda port: [
        python / "python", RECIPES / "python/with_django.py", "runserver", "--noreload", port,
    ],
    "Express": lambda port: ["node", folder / "node/with_express.mjs", port],
    "Next": lambda port: ["node", HERE / "serve_route.mjs", RECIPES / "node/with_next.mjs", port],
    "Spring": lambda port: ["java", "ServeController", "WithSpring", port],
    "Laravel": lambda port: ["php", "-S", f"127.0.0.1:{port}", HERE / "serve_laravel.php"],
}
DATABASE = folder / "laravel.db"
SETTINGS = {
    "DATABASE": str(DATABASE),
    "ROUTES": str(RECIPES / "php/with_laravel.php"),
}


def keeps_the_contract(url, secret):
    receiving.keeps_the_contract(url, secret, receiving.PHP_LENGTHS if name == "Laravel" else receiving.LENGTHS)
    receiving.passes_the_probe(url, secret, (DATABASE, "webhook_events") if name == "Laravel" else None)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


for name, command in RECEIVERS.items():
    for secrets, check in [(SECRET, keeps_the_contract), (f"{SECRET},", receiving.accepts_nothing)]:
        port = free_port()
        words = [str(word) for word in command(port)]
        with receiving.program(words, port, WEBHOOK_SECRET=secrets, **SETTINGS):
            check(f"http://127.0.0.1:{port}/webhooks", SECRET)
    print(f"{name}: receives, probe")

port = free_port()
example = {
    "PREAUTH_WEBHOOK_SECRET": SECRET,
    "PREAUTH_RECEIVER_LISTEN": f"127.0.0.1:{port}",
    # Asked about no operation: the events are tests.
    "PREAUTH_BASE_URL": "http://127.0.0.1:1",
    "PREAUTH_API_KEY": "service_sk_test",
}
with receiving.program([sys.argv[2]], port, **example):
    receiving.passes_the_probe(f"http://127.0.0.1:{port}/webhooks", SECRET, event=None)
print("the example in Rust: probe")
