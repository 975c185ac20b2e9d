// Verifies signed webhooks. Node's own modules only.

import { createHmac, timingSafeEqual } from "node:crypto";

const MAX_BODY = 1024 * 1024;
// As the platform shows it. An empty one is everybody's, and `"whsec_new,".split(",")` has one.
const SECRET = /^whsec_[^\x00-\x20\x7f]{18,}$/;
// name=value: printable ASCII, neither space nor comma in it.
const ITEM = /^([!-+\--<>-~]+)=([!-+\--~]*)$/;
const TIMESTAMP = /^(?:0|[1-9][0-9]{0,11})$/;
const SIGNATURE = /^[0-9A-Fa-f]{64}$/;

/**
 * Returns why a delivery must be refused; null if it is accepted.
 *
 * `secrets` are those in force, `header` is the value of x-service-signature (undefined if there is
 * none), `body` is the Buffer as it came. A signature may lie `tolerance` seconds from `now`.
 */
export function refusal(secrets, header, body, now = Date.now() / 1000, tolerance = 300) {
  if (!secrets.length || !secrets.every((secret) => SECRET.test(secret))) return "bad_secret";
  if (header == null) return "missing_header";
  if (header.length > 2048) return "malformed";
  const items = header.split(",").map((item) => ITEM.exec(item));
  if (items.includes(null)) return "malformed";
  const named = (name) => items.filter((item) => item[1] === name).map((item) => item[2]);
  const [timestamps, signatures] = [named("t"), named("v1")];
  if (timestamps.length !== 1 || !TIMESTAMP.test(timestamps[0])) return "malformed";
  if (signatures.length < 1 || signatures.length > 8) return "malformed";
  if (!signatures.every((signature) => SIGNATURE.test(signature))) return "malformed";

  const age = now - Number(timestamps[0]);
  if (Math.abs(age) > tolerance) return age > 0 ? "too_old" : "too_new";

  let matches = false;
  for (const secret of secrets) {
    // The text of t as it came, and the bytes of the body: no string is made of them.
    const expected = createHmac("sha256", secret).update(`${timestamps[0]}.`).update(body).digest();
    for (const signature of signatures) {
      // In constant time, and all of them, whatever was found before.
      const isEqual = timingSafeEqual(expected, Buffer.from(signature, "hex"));
      matches = isEqual || matches;
    }
  }
  return matches ? null : "no_match";
}

/** The bytes of a request, or null if there are more than a webhook has. */
export async function rawBody(stream) {
  // Buffers, joined once at the end: a string made of a part can break a character in two.
  const parts = [];
  let length = 0;
  for await (const part of stream ?? []) {
    length += part.length;
    if (length > MAX_BODY) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
