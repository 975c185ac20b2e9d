// Receives webhooks: receive.mjs PORT, with the signing secret in WEBHOOK_SECRET.

import { createServer } from "node:http";
import { rawBody, refusal } from "./verify.mjs";

// During a rotation with overlap: the new secret and the old one, separated by a comma.
const SECRETS = process.env.WEBHOOK_SECRET.split(",");

// In your system: tables. Effect and event id go into one transaction, so that an event has its
// effect exactly once, however often it comes, and a 2xx confirms that both are stored.
const seen = new Set();
const operations = new Map();

function apply(event) {
  if (seen.has(event.id)) return;
  // Types that this program does not know are acknowledged, too.
  if (/^(pre_authorization|anticipation)\./.test(event.type)) {
    // Events may arrive out of order. Where that matters, GET the operation and store its answer.
    operations.set(event.data.anticipationId, event.data.status);
  }
  seen.add(event.id);
}

async function receive(request) {
  const body = await rawBody(request);
  if (body === null) return 413;
  const reason = refusal(SECRETS, request.headers["x-service-signature"], body);
  if (reason) {
    console.log(`refused: ${reason}`);
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
