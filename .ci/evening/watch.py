"""Prometheus with the rules of the package.

No check waits for an hour. With `hurry` the scrapes follow each second, and a copy of the rules, with every `for:` shortened to a
second and nothing else changed, stands beside those of the package: these become pending, the copy fires.
"""

import json
import re
import urllib.request

from receiver import Terminal, wait_for

RULES = "http://127.0.0.1:9090/api/v1/rules?type=alert"


class Watch:
    def __init__(self, folder, command, hurry):
        self.hurry, self.log = hurry, folder.parent / "prometheus.log"
        if hurry:
            rules = (folder / "alerts.yml").read_text()
            (folder / "hurried.yml").write_text(re.sub(r"^(\s+for:) \w+$", r"\1 1s", rules, flags=re.MULTILINE))
            settings = folder / "prometheus.yml"
            changed = settings.read_text().replace("15s", "1s").replace("[alerts.yml]", "[alerts.yml, hurried.yml]")
            assert changed.count("1s") == 2 and "hurried" in changed, changed
            settings.write_text(changed)
        self.terminal = Terminal(["bash", "-euo", "pipefail", "-c", command], self.log, cwd=folder.parent)

    def state(self, alert, file):
        """What Prometheus itself says of it: inactive, pending or firing."""
        try:
            with urllib.request.urlopen(RULES, timeout=10) as answer:
                groups = json.load(answer)["data"]["groups"]
        except OSError:
            return None
        found = [rule["state"] for group in groups if group["file"].endswith(file) for rule in group["rules"] if rule["name"] == alert]
        return found[0] if found else None

    def until(self, alert, state):
        """Until the alert of the package's rules is so, and in a hurry its copy fires."""
        wait_for(lambda: self.state(alert, "/alerts.yml") in (state, "firing"), f"{alert} is {state}", 300)
        if self.hurry:
            wait_for(lambda: self.state(alert, "/hurried.yml") == "firing", f"the hurried {alert} fires")
