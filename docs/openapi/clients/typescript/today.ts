// The generated TypeScript client against a sandbox: create, replay, list, get, cancel, errors, many
// at once, and events on request.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./preauth-api.js";

const sandbox = JSON.parse(readFileSync(process.env.PREAUTH_READY_FILE!, "utf8"));
const client = createClient<paths>({
  baseUrl: sandbox.baseUrl,
  headers: { Authorization: `Bearer ${sandbox.apiKey}` },
});
const OPERATIONS = "/api/integration/v1/pre-authorizations";
const OPERATION = "/api/integration/v1/pre-authorizations/{id}";

const number = `TS-${randomUUID().slice(0, 8)}`;
const inThirtyDays = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
const offer: components["schemas"]["CreatePreAuthorization"] = {
  supplier: { cnpj: sandbox.supplierCnpj, email: "financeiro@fornecedor.example.com" },
  invoice: { amount: 1234567.89, dueDate: inThirtyDays, number },
  externalReference: number,
};
const create = () =>
  client.POST(OPERATIONS, {
    params: { header: { "Idempotency-Key": `key-${number}` } },
    body: offer,
  });

const created = await create();
assert.equal(created.response.status, 201);
assert.ok(created.data);
assert.equal(created.data.status, "IN_PRE_AUTH");
assert.equal(created.data.invoice.amount, 1234567.89);
const id = created.data.id;

const replayed = await create();
assert.equal(replayed.response.headers.get("Idempotency-Replayed"), "true");
assert.deepEqual(replayed.data, created.data);

const page = await client.GET(OPERATIONS, {
  params: { query: { externalReference: number, status: ["IN_PRE_AUTH", "REPROVED"] } },
});
assert.deepEqual(page.data?.data.map((each) => each.id), [id]);
assert.equal(page.data?.pagination.total, 1);

const found = await client.GET(OPERATION, { params: { path: { id } } });
assert.deepEqual(found.data, created.data);

const cancelled = await client.POST(`${OPERATION}/cancel`, { params: { path: { id } } });
assert.equal(cancelled.data?.status, "REPROVED");

const nobody = await client.GET(OPERATION, { params: { path: { id: 999_999 } } });
assert.equal(nobody.response.status, 404);
assert.equal(nobody.error?.errors[0]?.code, "ANTICIPATION_NOT_FOUND");

const refused = await client.POST(OPERATIONS, {
  body: { ...offer, invoice: { ...offer.invoice, amount: 499 } },
});
assert.equal(refused.response.status, 400);
assert.equal(refused.error?.errors[0]?.code, "VALIDATION_ERROR");
assert.equal(refused.error?.details?.[0]?.field, "invoice.amount");

// Many at once, of which one is refused; and one that is only tried.
const item = (place: number, amount: number) => ({
  idempotencyKey: `key-${number}-${place}`,
  preAuthorization: { ...offer, invoice: { ...offer.invoice, amount, number: `${number}-${place}` } },
});
const items = [item(0, 1000.5), item(1, 499), item(2, 2000)];
for (const isReplayed of [false, true]) {
  const { data } = await client.POST(`${OPERATIONS}/batch`, { body: { items } });
  assert.ok(data);
  assert.deepEqual(data.results.map(({ index, status }) => [index, status]), [[0, 201], [1, 400], [2, 201]]);
  assert.equal(data.results[1]?.errors?.[0]?.code, "VALIDATION_ERROR");
  assert.equal(data.results[0]?.replayed ?? false, isReplayed);
  assert.equal(data.results[2]?.preAuthorization?.invoice.amount, 2000);
}
const tried = await client.POST(`${OPERATIONS}/validate`, { body: item(3, 1000).preAuthorization });
assert.equal(tried.data?.valid, true);
assert.equal(tried.data?.supplier.registered, true);
const taken = await client.POST(`${OPERATIONS}/validate`, { body: item(0, 1000).preAuthorization });
assert.equal(taken.error?.errors[0]?.code, "PRE_AUTH_DUPLICATE_INVOICE");

// Events on request, two at a time.
const EVENTS = "/api/integration/v1/events";
const seen: string[] = [];
let after: string | undefined;
for (let more = true; more; ) {
  const query = { limit: 2, wait: 1, ...(after !== undefined && { after }) };
  const { data } = await client.GET(EVENTS, { params: { query } });
  assert.ok(data);
  seen.push(...data.data.map(({ type }) => type));
  after = data.pagination.next;
  more = data.pagination.hasMore;
}
const [createdEvent, revoked] = ["pre_authorization.created", "pre_authorization.revoked"] as const;
assert.deepEqual(seen, [createdEvent, revoked, createdEvent, createdEvent]);
const only = await client.GET(EVENTS, { params: { query: { type: [revoked] } } });
assert.deepEqual(only.data?.data.map(({ type }) => type), [revoked]);
const wrong = await client.GET(EVENTS, { params: { query: { after: "not-a-cursor" } } });
assert.equal(wrong.response.status, 400);
assert.equal(wrong.error?.details?.[0]?.field, "after");

console.log("typescript: created, replayed, listed, got, cancelled, refused, in a batch, tried, events");
