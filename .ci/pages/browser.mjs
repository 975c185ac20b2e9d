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

export const ready = JSON.parse(readFileSync(process.env.PREAUTH_READY_FILE, "utf8"));
export const platform = `${ready.platformUrl}/api/platform/v1`;
export const problems = [];

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

// A page of an operator who has signed in; everything that it logs or loads from elsewhere is a problem.
export async function signedIn(browser, options, token = ready.platformToken) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const own = new URL(ready.platformUrl).host;
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      problems.push(`${page.url()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  page.on("request", (request) => {
    if (new URL(request.url()).host !== own) problems.push(`${page.url()} asks ${request.url()}`);
  });
  await page.goto(`${ready.platformUrl}/console`);
  await check(page, "sign-in");
  await page.locator("#token").fill(token);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ready.platformUrl}/console`);
  return page;
}

// Accessibility, and whether the page is wider than its window.
export async function check(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, nodes } of violations) {
    problems.push(`${page.url()} (${name}): ${id}: ${nodes.map((node) => node.html).join(" ").slice(0, 300)}`);
  }
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (overflow > 0) problems.push(`${page.url()} (${name}): ${overflow} px too wide`);
  if (process.env.SHOTS) {
    mkdirSync(process.env.SHOTS, { recursive: true });
    const file = `${name.replaceAll(/[^a-z0-9-]+/gi, "_")}.png`;
    await page.screenshot({ path: `${process.env.SHOTS}/${file}`, fullPage: true });
  }
}

// A request of the platform API or the integration API, to prepare what pages show.
export async function ask(method, url, token, body) {
  const headers = { authorization: `Bearer ${token}` };
  if (body) headers["content-type"] = "application/json";
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
}
