// Reads events on request, for a system that nobody can reach from outside: events.mjs FOLDER [once]
//
// FOLDER keeps the place in the events and what was done: the program may be killed and started again at
// any moment, and acts on each event once. With `once` it ends when there are no more events, for a
// scheduler; without, it waits for the next one. PREAUTH_BASE_URL is the server's address, with or without
// /api/integration/v1, PREAUTH_API_KEY the key.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const { PREAUTH_BASE_URL, PREAUTH_API_KEY } = process.env;
const BASE_URL = PREAUTH_BASE_URL?.replace(/(\/api\/integration\/v1)?\/*$/, "");
const ATTEMPTS = 5;

/**
 * What was done, a line for each event. In your system: a table with the event's id as its key, written
 * in the transaction that has the event's effect.
 */
class Journal {
  constructor(file) {
    this.file = fs.openSync(file, "a+");
    const text = fs.readFileSync(file, "utf8");
    // A line without its end was being written when the program was killed: it was not done.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    fs.ftruncateSync(this.file, Buffer.byteLength(whole));
    this.done = new Set(whole.split("\n").map((line) => line.split(" ")[0]));
  }

  act(event) {
    if (this.done.has(event.id)) return;
    const words = [event.id, event.type];
    // Types that this program does not know are passed over.
    if (/^(pre_authorization|anticipation)\./.test(event.type)) {
      words.push(event.data.anticipationId, event.data.status);
    }
    fs.writeSync(this.file, `${words.join(" ")}\n`);
    fs.fsyncSync(this.file);
    this.done.add(event.id);
    console.log(words.join(" "));
  }
}

function load(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, "ascii").trim() : null;
}

/** In place of the one before, as a whole. */
function store(file, cursor) {
  const beside = fs.openSync(`${file}.new`, "w");
  fs.writeSync(beside, cursor);
  fs.fsyncSync(beside);
  fs.closeSync(beside);
  fs.renameSync(`${file}.new`, file);
}

async function ask(after, wait) {
  const query = new URLSearchParams({ limit: 100, wait, ...(after && { after }) });
  const response = await fetch(`${BASE_URL}/api/integration/v1/events?${query}`, {
    headers: { Authorization: `Bearer ${PREAUTH_API_KEY}` },
    // A redirect would take the key elsewhere.
    redirect: "error",
    // Longer than the service may wait.
    signal: AbortSignal.timeout(45_000),
  });
  return { status: response.status, headers: response.headers, answer: await response.json() };
}

/** The next events, asking again where that may help. */
async function page(after, wait) {
  let problem;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    let pause = 2 ** attempt;
    try {
      const { status, headers, answer } = await ask(after, wait);
      if (status === 200) return answer;
      problem = `${status} ${JSON.stringify(answer.errors)} (request ${headers.get("X-Request-Id")})`;
      // 410 EVENT_CURSOR_EXPIRED: events were missed. A person compares, then deletes the cursor.
      if (![408, 429, 500, 502, 503, 504].includes(status)) break;
      pause = Number(headers.get("Retry-After") ?? pause);
    } catch (error) {
      problem = error;
    }
    if (attempt < ATTEMPTS) await sleep(pause * 1000);
  }
  throw new Error(`no events: ${problem}`);
}

const [folder, once] = process.argv.slice(2);
if (!folder || !BASE_URL || !PREAUTH_API_KEY) {
  console.error("usage: events.mjs FOLDER [once], with PREAUTH_BASE_URL and PREAUTH_API_KEY set");
  process.exit(2);
}
fs.mkdirSync(folder, { recursive: true });
const journal = new Journal(path.join(folder, "journal"));
const cursor = path.join(folder, "cursor");
let more = true;
while (more || !once) {
  const { data, pagination } = await page(load(cursor), once ? 0 : 30);
  for (const event of data) journal.act(event);
  // Only now: what was not done comes again.
  store(cursor, pagination.next);
  more = pagination.hasMore;
}
