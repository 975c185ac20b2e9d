// The receiver as a route handler of Next: app/webhooks/route.js

import { rawBody, refusal } from "./verify.mjs";

const SECRETS = process.env.WEBHOOK_SECRET.split(",");

// node:crypto is not in the edge runtime.
export const runtime = "nodejs";

export async function POST(request) {
  // Neither request.json() nor request.text(): the bytes. request.arrayBuffer() has no bound.
  const body = await rawBody(request.body);
  if (body === null) return new Response(null, { status: 413 });
  const reason = refusal(SECRETS, request.headers.get("x-service-signature"), body);
  if (reason) {
    console.log(`refused: ${reason}`);
    return new Response(null, { status: 400 });
  }
  const event = JSON.parse(body.toString("utf8"));
  console.log(event.type, event.id); // here: effect and id in one transaction, as in receive.mjs
  return new Response(null, { status: 204 });
}
