// Receives webhooks: receive.mjs PORT, with the signing secret in WEBHOOK_SECRET.

import { createServer } from "node:http";
import { verify } from "./verify.mjs";

// During a rotation with overlap: the new secret and the old one, separated by a comma.
const SECRETS = process.env.WEBHOOK_SECRET.split(",");
const MAX_BODY = 1024 * 1024;

// In your system: tables. Effect and event id go into one transaction, so that an event has its
// effect exactly once, however often it comes, and a 2xx says that both are stored.
const seen = new Set();
const operations = new Map();

function apply(event) {
  if (seen.has(event.id)) return;
  // Types that this program does not know are acknowledged, too.
  if (/^(pre_authorization|anticipation)\./.test(event.type)) {
    // Events may arrive out of order. Where that matters, GET the operation and store what it says.
    operations.set(event.data.anticipationId, event.data.status);
  }
  seen.add(event.id);
}

async function receive(request) {
  // Buffers, joined once at the end: a string made of a part can break a character in two.
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_BODY) return 413;
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  const outcome = verify(SECRETS, request.headers["x-service-signature"], body);
  if (outcome !== "accepted") {
    console.log(`refused: ${outcome}`);
    return 400;
  }
  const event = JSON.parse(body.toString("utf8"));
  apply(event);
  console.log(`accepted: ${event.type} ${event.id}`);
  return 204;
}

const server = createServer((request, response) => {
  // Whatever fails is answered with 500, and the event comes again.
  receive(request)
    .catch((error) => (console.error(error), 500))
    .then((status) => response.writeHead(status).end());
});
server.listen(Number(process.argv[2]), "127.0.0.1");
