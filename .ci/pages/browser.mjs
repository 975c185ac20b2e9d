// A browser with a session, and what is checked on every page that it opens.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
// The sandbox of Chromium needs rights that a container's root lacks; the other flags keep it off the network.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

// Longer than anything takes on a machine that builds meanwhile.
const MAX_WAIT_MS = 120_000;

export const ready = JSON.parse(readFileSync(process.env.PREAUTH_READY_FILE, "utf8"));
export const platform = `${ready.platformUrl}/api/platform/v1`;
export const problems = [];

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

// A page of a browser of its own; everything that it logs, that its policy forbids or that it loads from elsewhere than `own`
// is a problem.
export async function watched(browser, options, own, hasFewLooks = false) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_WAIT_MS);
  // The checker takes most of the time of a page. So each page is given to it in two looks that have both languages, widths and
  // schemes between them, and not again behind the second database.
  const isAudited = !TAKE_TURNS && (hasFewLooks || LOOKS.length === 1 || (options.locale === "pt-BR") === (options.colorScheme === "dark"));
  if (isAudited) await context.addInitScript({ content: `globalThis.loadAxe = () => {\n${axe}\n};` });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (it) => console.error(`forbidden: ${it.violatedDirective} ${it.blockedURI}`));
  });
  const page = await context.newPage();
  const { host } = new URL(own);
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      problems.push(`${page.url()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  page.on("request", (request) => {
    if (new URL(request.url()).host !== host) problems.push(`${page.url()} asks ${request.url()}`);
  });
  return page;
}

// A page of an operator who has signed in.
export async function signedIn(browser, options, token = ready.platformToken) {
  // Others than the administrator open a page in two looks only.
  const hasFewLooks = token !== ready.platformToken;
  const page = await watched(browser, options, ready.platformUrl, hasFewLooks);
  await page.goto(`${ready.platformUrl}/console`);
  await check(page, "sign-in");
  await page.locator("#token").fill(token);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ready.platformUrl}/console`);
  return page;
}

// Both languages, each at both widths; the narrow ones are dark. Those whose turns are both even, or both odd, differ in all. LOOK is
// one of them, for a shorter run.
export const LOOKS = ["en-US", "pt-BR"].flatMap((locale, index) => [
  { name: locale.slice(0, 2), turn: 3 * index, options: { locale, viewport: { width: 1280, height: 860 } } },
  {
    name: `${locale.slice(0, 2)} dark phone`, turn: 1 + index,
    options: { locale, colorScheme: "dark", viewport: { width: 390, height: 844 } },
  },
]).filter(({ name }) => [undefined, name].includes(process.env.LOOK));

// Whether a page of the console is opened in one look, and the supplier's in two: for the second of two databases, behind which
// the pages are the same.
export const TAKE_TURNS = process.env.TAKE_TURNS === "yes";

// What is done with links, buttons and fields by hand, in each way.
export const byMouse = {
  press: (page, target) => target.click(),
  async fill(page, field, text) {
    await field.click();
    await field.fill(text);
  },
};

export const byKeyboard = {
  async press(page, target) {
    await reach(page, target);
    await page.keyboard.press("Enter");
  },
  async fill(page, field, text) {
    await reach(page, field);
    // The parts of a date are typed in an order that depends on the machine.
    if ((await field.getAttribute("type")) === "date") await field.fill(text);
    else {
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type(text);
    }
  },
};

async function reach(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 200; presses += 1) {
    if (await target.evaluate((it) => it === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`no Tab leads to ${await target.innerHTML()}`);
}

// What may be wider than its place: the sections on a telephone; what is typed; titles that only screen readers have.
const MAY_SCROLL = ".sections, input, textarea, select, .hidden, thead";

// Accessibility, and whether the page is wider than its window, or a part of it wider than its place. All in one call: with four
// looks at once each answer of the browser waits for the pages of the others.
export async function check(page, name) {
  const { violations, overflow, wide } = await page.evaluate(inspect, MAY_SCROLL);
  for (const { id, nodes } of violations) {
    problems.push(`${page.url()} (${name}): ${id}: ${nodes.map((node) => node.html).join(" ").slice(0, 300)}`);
  }
  if (overflow > 0) problems.push(`${page.url()} (${name}): ${overflow} px too wide`);
  for (const part of wide) problems.push(`${page.url()} (${name}): ${part}`);
  if (process.env.SHOTS) {
    mkdirSync(process.env.SHOTS, { recursive: true });
    const file = `${name.replaceAll(/[^a-z0-9-]+/gi, "_")}.png`;
    await page.screenshot({ path: `${process.env.SHOTS}/${file}`, fullPage: true });
  }
}

// Runs in the page.
async function inspect(mayScroll) {
  if (!globalThis.axe) globalThis.loadAxe?.();
  const { violations } = (await globalThis.axe?.run({ resultTypes: ["violations"] })) ?? { violations: [] };
  const root = document.documentElement;
  const isWide = (it) => it.scrollWidth > it.clientWidth + 1
    && ["auto", "scroll", "hidden"].includes(getComputedStyle(it).overflowX) && !it.closest(mayScroll);
  return {
    violations: violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })),
    overflow: root.scrollWidth - root.clientWidth,
    wide: [...document.body.querySelectorAll("*")].filter(isWide)
      .map((it) => `${it.getAttribute("aria-label") ?? it.localName}: ${it.scrollWidth} in ${it.clientWidth} px`),
  };
}

// A request of the platform API or the integration API, to prepare what pages show.
export async function ask(method, url, token, body) {
  const headers = { authorization: `Bearer ${token}` };
  if (body) headers["content-type"] = "application/json";
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
}

// The day so many days from now, as the APIs write it.
export const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

// An ERP's offer to the supplier; returns the operation's id.
export async function offer(number, email = "financeiro@aco.example.com") {
  const body = {
    supplier: { cnpj: ready.supplierCnpj, name: "Aço", contactName: "Ana", email },
    invoice: { number, amount: 12500.5, dueDate: day(60) },
  };
  return (await ask("POST", `${ready.baseUrl}/api/integration/v1/pre-authorizations`, ready.apiKey, body)).id;
}

// A CNPJ with its check digits.
export function cnpj(root) {
  const digits = [...String(root).padStart(8, "0"), ..."0001"].map(Number);
  for (const first of [5, 6]) {
    let weight = first;
    const sum = digits.reduce((total, digit) => {
      const added = total + digit * weight;
      weight = weight === 2 ? 9 : weight - 1;
      return added;
    }, 0);
    digits.push(sum % 11 < 2 ? 0 : 11 - (sum % 11));
  }
  return digits.join("");
}

// Waits until the value that `find` gets is there.
export async function until(what, find) {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await find();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`in vain: ${what}`);
}

// The link to an offer's page, which the sandbox prints and the offer's mail has.
export async function linkOf(operation) {
  const printed = new RegExp(`^page +(http\\S+/oferta/\\S+\\.${operation}\\.\\d+)$`, "m");
  const story = () => readFileSync(process.env.PREAUTH_STORY, "utf8");
  return (await until(`link of ${operation}`, () => printed.exec(story())))[1];
}

export function expect(condition, what) {
  if (!condition) throw new Error(what);
}

// However a program ends, it says every problem once.
process.on("exit", () => {
  for (const problem of new Set(problems)) console.error(problem);
  if (problems.length) process.exitCode = 1;
});
