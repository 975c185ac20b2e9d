// Offers every invoice of a list: batch.mjs INVOICES.csv
//
// A row is OFFER_ID;CNPJ;NUMBER;AMOUNT;DUE_DATE. OFFER_ID is your own record's id, stored before anything
// is sent: the program may be killed and started again with the same list, and creates each offer once.
// PREAUTH_BASE_URL is the server's address, with or without /api/integration/v1, PREAUTH_API_KEY the key.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const { PREAUTH_BASE_URL, PREAUTH_API_KEY } = process.env;
const BASE_URL = PREAUTH_BASE_URL?.replace(/(\/api\/integration\/v1)?\/*$/, "");
const ATTEMPTS = 5;
const ITEMS = 100; // the most that a batch takes
const WORTH_REPEATING = [408, 429, 500, 502, 503, 504];

function item([offerId, cnpj, number, amount, dueDate]) {
  return {
    idempotencyKey: `pre-auth-${offerId}`,
    preAuthorization: {
      supplier: { cnpj, email: "financeiro@fornecedor.example.com" },
      // An amount may be sent as text, so no binary float touches it.
      invoice: { amount, dueDate, number },
      externalReference: offerId,
    },
  };
}

async function send(items) {
  const response = await fetch(`${BASE_URL}/api/integration/v1/pre-authorizations/batch`, {
    method: "POST",
    headers: { Authorization: `Bearer ${PREAUTH_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ items }),
    // A redirect would take the key elsewhere.
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, headers: response.headers, answer: await response.json() };
}

/** Whether an item may have another outcome when it is sent again: 401 and 403 are about the API key alone. */
function isOpen({ status, errors }) {
  return [401, 403, ...WORTH_REPEATING].includes(status) || errors?.[0].code === "IDEMPOTENCY_IN_PROGRESS";
}

/**
 * The result of each row, the last one of those that stay open. The keys make repeating safe: what was done is
 * answered, not done again.
 */
async function offer(rows) {
  const results = [];
  let open = [...rows.keys()];
  let problem;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    let pause = 2 ** attempt;
    try {
      const { status, headers, answer } = await send(open.map((place) => item(rows[place])));
      pause = Number(headers.get("Retry-After") ?? pause);
      if (status === 200) {
        for (const result of answer.results) results[open[result.index]] = result;
        open = open.filter((place) => isOpen(results[place]));
        if (open.length === 0) break;
      } else {
        // The batch as a whole: nothing was done.
        problem = `${status} ${JSON.stringify(answer.errors)} (request ${headers.get("X-Request-Id")})`;
        if (!WORTH_REPEATING.includes(status)) break;
      }
    } catch (error) {
      problem = error;
    }
    if (attempt < ATTEMPTS) await sleep(pause * 1000);
  }
  // Filled without gaps: an answered batch has a result for each of its items.
  if (results.length < rows.length) throw new Error(`not offered: ${problem}`);
  return results;
}

if (process.argv.length !== 3 || !BASE_URL || !PREAUTH_API_KEY) {
  console.error("usage: batch.mjs INVOICES.csv, with PREAUTH_BASE_URL and PREAUTH_API_KEY set");
  process.exit(2);
}
const invoices = [];
for (const [place, line] of readFileSync(process.argv[2], "utf8").split(/\r?\n/).entries()) {
  if (!line) continue;
  const row = line.split(";");
  if (row.length !== 5) {
    console.error(`${process.argv[2]}, line ${place + 1}: ${row.length} columns in place of 5; nothing was sent`);
    process.exit(1);
  }
  invoices.push(row);
}
for (let begin = 0; begin < invoices.length; begin += ITEMS) {
  const batch = invoices.slice(begin, begin + ITEMS);
  for (const [place, result] of (await offer(batch)).entries()) {
    const outcome = result.status === 201
      ? `${result.preAuthorization.id} ${result.replayed ? "replayed" : "created"}`
      : `${result.status} ${result.errors[0].code}`;
    console.log(batch[place][0], outcome);
    if (isOpen(result)) process.exitCode = 1;
  }
}
if (process.exitCode) console.error("some offers have no outcome yet: run it again with the same list");
