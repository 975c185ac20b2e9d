// The generated TypeScript client against the server of tomorrow: nothing that is new breaks it.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./preauth-api.js";

const baseUrl = process.env.PREAUTH_BASE_URL!;
const client = createClient<paths>({ baseUrl, headers: { Authorization: "Bearer any" } });
const OPERATION = "/api/integration/v1/pre-authorizations/{id}";

const found = await client.GET(OPERATION, { params: { path: { id: 1 } } });
assert.equal(found.data?.status, "RENEGOTIATING");
assert.equal(found.data?.expiresAt, null);
assert.equal(found.data?.invoice.amount, 1234567.89);
assert.deepEqual(found.data?.["programme"], { tier: "GOLD", since: 2027 }, "what is new can be read");

const page = await client.GET("/api/integration/v1/pre-authorizations");
assert.deepEqual(page.data?.data, [found.data]);

const refusal = await client.POST(`${OPERATION}/cancel`, { params: { path: { id: 1 } } });
assert.equal(refusal.error?.errors[0]?.code, "PROGRAMME_CLOSED");

const answer = await fetch(`${baseUrl}/event`);
const event = (await answer.json()) as components["schemas"]["EventEnvelope"];
assert.equal(event.type, "anticipation.renegotiated");
assert.equal(event.data["origin"], "MARKETPLACE");

const batch = await client.POST("/api/integration/v1/pre-authorizations/batch", { body: { items: [] } });
const [made, refused] = batch.data?.results ?? [];
assert.deepEqual(made?.preAuthorization, found.data);
assert.deepEqual(made?.["programme"], { tier: "GOLD", since: 2027 });
assert.equal(refused?.status, 451);
assert.equal(refused?.errors?.[0]?.code, "PROGRAMME_CLOSED");

const events = await client.GET("/api/integration/v1/events");
assert.deepEqual(events.data?.data, [event]);
assert.equal(events.data?.pagination.next.length, 256);
assert.equal(events.data?.pagination.hasMore, false);

console.log(
  "typescript: a new field, status, code and type of event are accepted, in batches and lists of events, too",
);
