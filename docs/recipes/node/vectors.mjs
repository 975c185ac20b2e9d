// Holds verify.mjs to the shared vectors: vectors.mjs VECTORS.json

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { refusal } from "./verify.mjs";

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { name, secrets, header, body_hex, now_unix_seconds, tolerance_seconds, outcome } of cases) {
  const body = Buffer.from(body_hex, "hex");
  const reason = refusal(secrets, header, body, now_unix_seconds, tolerance_seconds);
  assert.equal(reason ?? "accepted", outcome, name);
}
console.log(`${cases.length} vectors`);
