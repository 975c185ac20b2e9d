// Creates a pre-authorization: create.mjs OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE
//
// OFFER_ID is your own record's id, stored before anything is sent: with the same id this may be run
// again and again, and creates once. PREAUTH_BASE_URL is the server's address,
// with or without /api/integration/v1, PREAUTH_API_KEY the key.

import { setTimeout as sleep } from "node:timers/promises";

const { PREAUTH_BASE_URL, PREAUTH_API_KEY } = process.env;
const BASE_URL = PREAUTH_BASE_URL?.replace(/(\/api\/integration\/v1)?\/*$/, "");
const ATTEMPTS = 5;

async function send(body, idempotencyKey) {
  const response = await fetch(`${BASE_URL}/api/integration/v1/pre-authorizations`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${PREAUTH_API_KEY}`,
      "Content-Type": "application/json",
      "Idempotency-Key": idempotencyKey,
    },
    body: JSON.stringify(body),
    // A redirect would take the key elsewhere.
    redirect: "error",
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, headers: response.headers, answer: await response.json() };
}

/** Creates, repeating what may be repeated, always under the same key. */
async function create(body, idempotencyKey) {
  let problem;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    let wait = 2 ** attempt;
    try {
      const { status, headers, answer } = await send(body, idempotencyKey);
      if (status === 201) {
        return { operation: answer, isReplayed: headers.get("Idempotency-Replayed") === "true" };
      }
      problem = `${status} ${JSON.stringify(answer.errors)} (request ${headers.get("X-Request-Id")})`;
      const isInProgress = answer.errors[0].code === "IDEMPOTENCY_IN_PROGRESS";
      if (![408, 429, 500, 502, 503, 504].includes(status) && !isInProgress) break;
      wait = Number(headers.get("Retry-After") ?? wait);
    } catch (error) {
      // No answer, or none of the API's: it may have been done. The key makes repeating safe.
      problem = error;
    }
    if (attempt < ATTEMPTS) await sleep(wait * 1000);
  }
  throw new Error(`not created: ${problem}`);
}

if (process.argv.length !== 7 || !BASE_URL || !PREAUTH_API_KEY) {
  console.error("usage: create.mjs OFFER_ID CNPJ NUMBER AMOUNT DUE_DATE, with PREAUTH_BASE_URL and PREAUTH_API_KEY set");
  process.exit(2);
}
const [offerId, cnpj, number, amount, dueDate] = process.argv.slice(2);
const offer = {
  supplier: { cnpj, email: "financeiro@fornecedor.example.com" },
  // An amount may be sent as text, so no binary float touches it.
  invoice: { amount, dueDate, number },
  externalReference: offerId,
};
const { operation, isReplayed } = await create(offer, `pre-auth-${offerId}`);
console.log(operation.id, operation.status, isReplayed ? "replayed" : "created");
