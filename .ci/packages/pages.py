"""What comes with the program, in the package and in the image: its bill of materials and its changelog."""

import json
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


def check_pages(folder):
    """The number of libraries in the bill of materials."""
    bill = json.loads((folder / "preauth-server.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5", bill
    libraries = [it for it in bill["components"] if it["type"] == "library"]
    # Those of the features that packages have, too.
    expected = {"tokio", "sqlx", "rustls", "opentelemetry_sdk", "crc-fast"}
    assert len(libraries) > 200 and expected <= {it["name"] for it in libraries}, expected - {it["name"] for it in libraries}
    assert all(it["version"] and it["purl"].startswith("pkg:cargo/") for it in libraries)
    assert (folder / "CHANGELOG.md").read_text() == CHANGELOG.read_text(), "the changelog is another one"
    return len(libraries)
