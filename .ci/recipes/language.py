#!/usr/bin/env python3
"""One language's recipes, as their page shows them, against the sandbox that sends to PORT:

    language.py LANGUAGE PORT FOLDER

where FOLDER takes their files. They verify every shared vector, offer an invoice, and a list of them, once
although answers are lost, receive the sandbox's events, and read them on request, each once.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from datetime import date, timedelta
from pathlib import Path

import receiving
from lossy_proxy import LossyProxy
from redirect import Redirect

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
    "csharp": lambda recipe, *arguments: ["mono", str(folder / f"{recipe.capitalize()}.exe"), *arguments],
}
# In C# nothing is received and no list is offered: what is there is for an ERP that asks.
RECEIVES = language != "csharp"
OFFERED_TOGETHER = 150


def prepared(recipe, *arguments, **environment):
    """The command, and how it reaches the sandbox."""
    reached = {"PREAUTH_BASE_URL": sandbox["baseUrl"], "PREAUTH_API_KEY": sandbox["apiKey"]}
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **reached, **environment}
    return {"args": PROGRAMS[language](recipe, *map(str, arguments)), "env": environment, "text": True}


def run(recipe, *arguments, **environment):
    done = subprocess.run(**prepared(recipe, *arguments, **environment), capture_output=True)
    assert done.returncode == 0, f"{done.args}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def verifies_every_vector():
    count = len(json.loads(VECTORS.read_text())["cases"])
    printed = run("vectors", str(VECTORS))
    assert printed == f"{count} vectors", printed


def create(offer_id, base_url):
    due = (date.today() + timedelta(days=30)).isoformat()
    offer = [offer_id, sandbox["supplierCnpj"], f"NF-{offer_id}", "12500.50", due]
    return run("create", *offer, PREAUTH_BASE_URL=base_url)


def offers_once():
    """Twice by its own id; and once through a way on which answers are lost."""
    offer_id = uuid.uuid4().hex
    first = create(offer_id, sandbox["baseUrl"])
    assert first.endswith(" IN_PRE_AUTH created"), first
    # As the sandbox prints it to paste.
    with_path = f"{sandbox['baseUrl']}/api/integration/v1"
    assert create(offer_id, with_path) == first.replace("created", "replayed")
    with LossyProxy(sandbox["baseUrl"]) as proxy:
        printed = create(uuid.uuid4().hex, proxy.url)
        assert printed.endswith(" IN_PRE_AUTH replayed") and printed.split()[0] != first.split()[0], printed
        assert proxy.seen == ["answer lost", "503", "passed"], proxy.seen
    return 2


def misused(recipe, *arguments, **environment):
    """What it prints where it cannot do anything."""
    done = subprocess.run(**prepared(recipe, *arguments, **environment), capture_output=True)
    assert done.returncode in (1, 2) and not done.stdout, done
    return done.stderr


def prints_how_it_is_used():
    """Without arguments, or without the settings."""
    for recipe in ("create", "batch", "events") if RECEIVES else ("create", "events"):
        for printed in (misused(recipe), misused(recipe, "words", *"1234"[: 4 if recipe == "create" else 0],
                                                 PREAUTH_BASE_URL="", PREAUTH_API_KEY="")):
            assert recipe in printed.lower() and "PREAUTH_BASE_URL" in printed, printed
            assert "Traceback" not in printed and "Exception" not in printed, printed
    if RECEIVES:
        path = folder / f"{language}-bad.csv"
        path.write_text("a-1;11444777000161;NF-1;980.00;2026-12-21\n\na-2;11444777000161;NF-2;980.00\n")
        assert f"{path}, line 3: 4 columns in place of 5; nothing was sent" in misused("batch", path)


def offers_a_list():
    """Twice, with one offer that is refused; and once through a way on which answers are lost."""
    def listed(count, **suppliers):
        due = (date.today() + timedelta(days=30)).isoformat()
        ids = [uuid.uuid4().hex for _ in range(count)]
        rows = [[id, suppliers.get(f"at{at}", sandbox["supplierCnpj"]), f"NF-{id}", "980.00", due]
                for at, id in enumerate(ids)]
        path = folder / f"{language}.csv"
        path.write_text("".join(";".join(row) + "\n" for row in rows))
        return ids, path

    def outcomes(path, **environment):
        return [line.split() for line in run("batch", path, **environment).splitlines()]

    ids, path = listed(OFFERED_TOGETHER, at120=sandbox["blockedSupplierCnpj"])
    first, second = outcomes(path), outcomes(path)
    assert [words[0] for words in first] == [words[0] for words in second] == ids
    refused = [ids[120], "422", "PRE_AUTH_SUPPLIER_BLOCKED"]
    assert first.pop(120) == second.pop(120) == refused
    assert {words[2] for words in first} == {"created"} and {words[2] for words in second} == {"replayed"}
    assert [words[1] for words in first] == [words[1] for words in second]
    assert len({words[1] for words in first}) == OFFERED_TOGETHER - 1
    ids, path = listed(OFFERED_TOGETHER)
    with LossyProxy(sandbox["baseUrl"]) as proxy:
        through = outcomes(path, PREAUTH_BASE_URL=proxy.url)
        assert [words[0] for words in through] == ids
        assert [words[2] for words in through] == ["replayed"] * 100 + ["created"] * (OFFERED_TOGETHER - 100)
        assert proxy.seen == ["answer lost", "503", "passed", "passed"], proxy.seen
    goes_on_past_an_offer_without_an_outcome(listed)


def goes_on_past_an_offer_without_an_outcome(listed):
    """One that fails at each try, of the first batch, and one whose key is refused: the others have their outcomes, in the
    next batch, too."""
    ids, path = listed(OFFERED_TOGETHER)
    without = {ids[1]: (500, "INTERNAL_ERROR"), ids[2]: (401, "API_KEY_REVOKED")}

    def failing(body):
        answer = json.loads(body)
        for result in answer["results"]:
            reference = result.get("preAuthorization", {}).get("externalReference")
            if reference in without:
                status, code = without[reference]
                del result["preAuthorization"]
                result.update({"status": status, "errors": [{"code": code, "message": ""}]})
        return json.dumps(answer).encode()

    with LossyProxy(sandbox["baseUrl"], failing) as proxy:
        done = subprocess.run(**prepared("batch", path, PREAUTH_BASE_URL=proxy.url), capture_output=True)
        assert done.returncode == 1 and "run it again" in done.stderr, done
        printed = [line.split() for line in done.stdout.splitlines()]
        assert [words[0] for words in printed] == ids
        assert printed.pop(1)[1:] == ["500", "INTERNAL_ERROR"]
        assert printed.pop(1)[1:] == ["401", "API_KEY_REVOKED"]
        assert {words[2] for words in printed} == {"created"}
        assert len(proxy.seen) == 6, proxy.seen


def sends_its_key_nowhere_else():
    """A redirect of what stands at the address leads to no other one."""
    rows = folder / f"{language}-one.csv"
    rows.write_text("a-1;11444777000161;NF-1;980.00;2026-12-21\n")
    callers = {
        "create": ["a-1", "11444777000161", "NF-1", "980.00", "2026-12-21"],
        "batch": [rows],
        "events": [folder / f"{language}-nowhere", "once"],
    }
    if not RECEIVES:
        del callers["batch"]
    with Redirect() as redirect:
        for recipe, arguments in callers.items():
            before = len(redirect.asked)
            begun = subprocess.Popen(
                **prepared(recipe, *arguments, PREAUTH_BASE_URL=redirect.url), stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            receiving.wait_for(lambda: len(redirect.asked) > before or begun.poll() is not None, "a request")
            time.sleep(1)
            begun.kill()
            begun.communicate()
            assert len(redirect.asked) > before, recipe
        assert redirect.elsewhere == [], redirect.elsewhere


def feed():
    """The ids of all events, in their order."""
    ids, query, more = [], "", True
    while more:
        address = f"{sandbox['baseUrl']}/api/integration/v1/events?limit=100{query}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {sandbox['apiKey']}"})
        page = json.load(urllib.request.urlopen(request))
        ids += [event["id"] for event in page["data"]]
        query, more = f"&after={page['pagination']['next']}", page["pagination"]["hasMore"]
    return ids


def reads_each_event_once():
    """Whatever is lost: an answer, the cursor, the end of the journal, the program."""
    def handled(state, **environment):
        return [line.split()[0] for line in run("events", state, "once", **environment).splitlines()]

    state, expected = folder / f"events-{language}", feed()
    journal, cursor = state / "journal", state / "cursor"
    assert handled(state) == expected and handled(state) == []
    cursor.unlink()
    assert handled(state) == []
    journal.write_bytes(journal.read_bytes()[:-5])
    assert handled(state) == []
    cursor.unlink()
    assert handled(state) == expected[-1:]
    with LossyProxy(sandbox["baseUrl"]) as proxy:
        assert handled(folder / f"lossy-{language}", PREAUTH_BASE_URL=proxy.url) == expected
        assert proxy.seen[:3] == ["answer lost", "503", "passed"], proxy.seen

    # For ever, and killed while it waits or works.
    for _ in range(3):
        reader = subprocess.Popen(**prepared("events", state), stdout=subprocess.DEVNULL)
        try:
            create(uuid.uuid4().hex, sandbox["baseUrl"])
            expected = feed()
            receiving.wait_for(lambda: len(journal.read_text().splitlines()) >= len(expected), "the events are handled")
        finally:
            reader.kill()
            reader.wait()
    assert handled(state) == []
    assert [line.split()[0] for line in journal.read_text().splitlines()] == expected

    cursor.write_text("sandbox:EVENT_CURSOR_EXPIRED")
    refused = subprocess.run(**prepared("events", state, "once"), capture_output=True)
    assert refused.returncode != 0 and "EVENT_CURSOR_EXPIRED" in refused.stdout + refused.stderr, refused


def receives(offered, database):
    """`offered` offers are reported, verified, confirmed and printed."""
    def reported():
        story = Path(os.environ["PREAUTH_STORY"]).read_text()
        return story.count("delivery  pre_authorization.created") >= offered

    receiving.wait_for(reported, "the sandbox delivers")
    story = Path(os.environ["PREAUTH_STORY"]).read_text()
    assert story.count("204, delivered") == offered, story
    lengths = receiving.PHP_LENGTHS if language == "php" else receiving.LENGTHS
    url, secret = f"http://127.0.0.1:{port}/webhooks", sandbox["webhookSecret"]
    receiving.keeps_the_contract(url, secret, lengths)
    # The others keep what they have seen in memory.
    receiving.passes_the_probe(url, secret, (database, "seen") if language in ("python", "php") else None)


def receiver():
    """The command that receives; PHP has a server of its own for it."""
    if language == "php":
        return ["php", "-S", f"127.0.0.1:{port}", str(RECIPES / "php/receive.php")]
    return PROGRAMS[language]("receive", port)


if __name__ == "__main__":
    began = time.monotonic()
    verifies_every_vector()
    prints_how_it_is_used()
    sends_its_key_nowhere_else()
    secrets = f"{sandbox['webhookSecret']},whsec_of-the-time-before-the-rotation"
    database = str(folder / "webhooks.db")
    if RECEIVES:
        with receiving.program(receiver(), port, WEBHOOK_SECRET=secrets, DATABASE=database):
            receives(offers_once(), database)
        with receiving.program(receiver(), port, WEBHOOK_SECRET=f"{sandbox['webhookSecret']},", DATABASE=database):
            receiving.accepts_nothing(f"http://127.0.0.1:{port}/webhooks", sandbox["webhookSecret"])
        offers_a_list()
    else:
        offers_once()
    reads_each_event_once()
    done = "vectors, create, retry, receive, probe, batch, events" if RECEIVES else "vectors, create, retry, events"
    print(f"{language}: {done} ({time.monotonic() - began:.0f} s)")
