"""Holds verify.py to the shared vectors: vectors.py VECTORS.json"""

import json
import sys

from verify import refusal

with open(sys.argv[1], encoding="utf-8") as file:
    cases = json.load(file)["cases"]
for case in cases:
    outcome = refusal(
        case["secrets"],
        case["header"],
        bytes.fromhex(case["body_hex"]),
        case["now_unix_seconds"],
        case["tolerance_seconds"],
    ) or "accepted"
    assert outcome == case["outcome"], f"{case['name']}: {outcome}"
print(f"{len(cases)} vectors")
