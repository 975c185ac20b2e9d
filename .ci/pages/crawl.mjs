// Every page and form of the console: all that links lead to from records in every status, in both languages, at a desktop's and
// a telephone's width, for an administrator and for a viewer; and the pages of refusals and secrets, and
// what some forms answer.
//
//   node with-mail-server.mjs scripts/with-sandbox node crawl.mjs FOLDER
//
// FOLDER has the sources of the console, each of whose pages and forms must have been opened.
import { readFileSync, readdirSync } from "node:fs";
import { LOOKS, TAKE_TURNS, ask, byKeyboard, byMouse, check, day, expect, launch, platform, problems, ready, signedIn, until } from "./browser.mjs";
import { seed } from "./seed.mjs";

const FILES = /\/(invoice-file|export)$|\.csv$/;
const kindOf = (path) => path.replace(/\?.*/, "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b\d{14}\b|\b\d+\b/g, "#");

// A record of each list in each status that the list can be searched for.
async function records(page) {
  const found = [];
  for (const list of ["operations", "payment-orders", "deliveries", "mails"]) {
    await page.goto(`${ready.platformUrl}/console/${list}`);
    const options = page.locator("#filter-status option:not([value=''])");
    const statuses = await options.evaluateAll((all) => all.map((it) => it.value));
    expect(statuses.length > 2, `${list}: no statuses to search for`);
    for (const status of statuses) {
      await page.goto(`${ready.platformUrl}/console/${list}?status=${status}`);
      const link = page.locator(`tbody a[href^='/console/${list}/']`).first();
      if ((await link.count()) === 0) problems.push(`no record of ${list} is ${status}`);
      else found.push([await link.getAttribute("href"), status]);
    }
  }
  return found;
}

// Times are shown as those of São Paulo, with UTC in the title.
function checkTimes(path, { times, isPortuguese }) {
  for (const [title, machine, text] of times) {
    const local = new Date(title).toLocaleString("sv-SE", { timeZone: "America/Sao_Paulo" });
    const [, year, month, date, time] = /^(\d+)-(\d+)-(\d+) (.+)$/.exec(local);
    const shown = isPortuguese ? `${date}/${month}/${year} ${time}` : local;
    if (!title.endsWith("Z") || title !== machine || text !== shown) problems.push(`${path}: ${text} is titled ${title}`);
  }
}

// What a crawl reads of a page; runs in the page.
const read = () => ({
  isPortuguese: document.documentElement.lang === "pt-BR",
  times: [...document.querySelectorAll("time")].map((it) => [it.title, it.dateTime, it.textContent]),
  links: [...document.querySelectorAll("a[href^='/console']")].map((it) => it.getAttribute("href")),
  hidden: [...document.querySelectorAll(".sections [aria-current]")].some((it) => {
    const { left, right } = it.getBoundingClientRect();
    return left < 0 || right > innerWidth;
  }),
});

// The pages of a crawl: those that it starts with each by its name, any other that a link leads to once of its kind.
class Crawl {
  pages = [];
  #names = new Set();
  #times = 0;
  // How often each page is opened, and how often pages are still to be opened.
  #looks;
  #left = 0;

  constructor(starts, looks = 1) {
    this.#looks = looks;
    for (const [path, name] of starts) this.#add(path, `${kindOf(path)} ${name}`);
    this.#add("/console");
  }

  #add(path, name = kindOf(path)) {
    if (this.#names.has(name) || FILES.test(path.split("?")[0])) return;
    this.#names.add(name).add(kindOf(path));
    this.pages.push([path, name]);
    this.#left += this.#looks;
  }

  // Opens every page whose turn it is in this look. Several looks may share a crawl: then the links that one finds are the others',
  // too, and none ends before all pages have been opened.
  async walk(page, look, isItsTurn = () => true) {
    for (let index = 0; await this.#has(index); index += 1) {
      if (!isItsTurn(index)) continue;
      await this.#read(page, look, ...this.pages[index]);
      this.#left -= 1;
    }
    expect(this.#times > 0, "no page shows a time");
  }

  async #has(index) {
    while (index >= this.pages.length && this.#left > 0) await new Promise((done) => setTimeout(done, 20));
    return index < this.pages.length;
  }

  async #read(page, look, path, name) {
    const answer = await page.goto(ready.platformUrl + path);
    if (answer.status() !== 200) problems.push(`${path}: ${answer.status()}`);
    await check(page, `${look} ${name}`);
    const found = await page.evaluate(read);
    checkTimes(path, found);
    this.#times += found.times.length;
    if (found.hidden) problems.push(`${path}: the present section is out of sight`);
    for (const link of found.links) this.#add(link);
  }

  // Pages of each of these kinds were opened.
  expectKinds(wanted, look) {
    const kinds = new Set(this.pages.map(([path]) => kindOf(path)));
    for (const kind of wanted) if (!kinds.has(kind)) problems.push(`${look}: nothing leads to ${kind}`);
  }
}

// A page that cannot be shown, with its way back.
async function refusal(page, look, path, code) {
  const answer = await page.goto(ready.platformUrl + path);
  expect(answer.status() === code, `${path}: ${answer.status()}`);
  await check(page, `${look} ${code} ${kindOf(path)}`);
  expect((await page.locator("main a[href='/console']").count()) === 1, `${path} leads nowhere`);
}

// All looks share the clipboard, so that one after the other copies.
let clipboard = Promise.resolve();
function alone(use) {
  clipboard = clipboard.then(use);
  return clipboard;
}

// The page that shows a secret once: its button copies all of it, by mouse and by keyboard. Sent again, it shows none.
async function revealed(page, look) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: ready.platformUrl });
  await page.goto(`${ready.platformUrl}/console/new-operator`);
  await page.locator("#input-name").fill(`Bruno ${look}`);
  await page.locator("#input-role").selectOption("VIEWER");
  await page.locator("form.form button.primary").click();
  const secret = await page.locator("#secret").textContent();
  expect(secret.startsWith("preauth_op_"), `${look}: no token`);
  await check(page, `${look} revealed`);
  const button = page.locator("[data-copy]");
  const unused = await button.textContent();
  for (const { press } of [byMouse, byKeyboard]) {
    await alone(async () => {
      await page.evaluate(() => navigator.clipboard.writeText("something else"));
      await press(page, button);
      await until("a copy of the secret", async () => (await page.evaluate(() => navigator.clipboard.readText())) === secret);
    });
  }
  expect((await button.textContent()) !== unused, "the button does not say that it copied");
  await check(page, `${look} copied`);
  await page.reload();
  expect((await page.locator("#secret").count()) === 0, "a secret is shown twice");
  await check(page, `${look} revealed before`);
  return secret;
}

// A browser that gives the page no clipboard: the button selects the secret, and says so. The secret is of an endpoint that is
// paused: rotated twice, another one's receiver would take nothing any more of what the other looks send again.
async function withoutClipboard(page) {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.goto(`${ready.platformUrl}${paused}/webhook-endpoint/rotate-secret`);
  await page.locator("form.form button.primary").click();
  const button = page.locator("[data-copy]");
  const unused = await button.textContent();
  await button.click();
  const secret = await page.locator("#secret").textContent();
  expect((await page.evaluate(() => getSelection().toString())) === secret, "the secret is not selected");
  expect((await button.textContent()) !== unused, "the button does not say that it selected");
}

// A leaked key that is found, one that nobody has, and a text that is none.
async function leakedKey(page, look) {
  await page.goto(`${ready.platformUrl}/console/leaked-key`);
  for (const [what, text, shown] of [
    ["found", ready.apiKey.slice(0, 16), "tbody tr"],
    ["of nobody", "service_sk_0000000000", ".empty"],
    ["invalid", "service_sk_", "#error-text"],
  ]) {
    await page.locator("#input-text").fill(text);
    await page.locator("form.form button.primary").click();
    await page.locator(shown).waitFor();
    expect((await page.locator("#input-text").inputValue()) === "", "the leaked text is shown again");
    expect(!(await page.content()).includes(ready.apiKey), "the leaked key is shown");
    await check(page, `${look} leaked key ${what}`);
  }
}

// Deliveries of a range of time, first counted, then sent again. What one look sent waits for a moment, and is none of the next one's.
let sending = Promise.resolve();
function sentAgain(page, look) {
  sending = sending.then(async () => {
    const path = `companies/${company.id}/deliveries`;
    await until("arrived deliveries", async () => {
      const { pagination } = await ask("GET", `${platform}/${path}?status=DELIVERED`, ready.platformToken);
      return pagination.total > 0;
    });
    await page.goto(`${ready.platformUrl}/console/${path}/resend-range`);
    await page.locator("#input-since").fill(`${day(-1)}T00:00`);
    await page.locator("form.form button.primary").click();
    await page.locator("[name=counted]").waitFor({ state: "attached" });
    await check(page, `${look} range counted`);
    await page.locator("form.form button.primary").click();
    await page.locator("main .notice.good").waitFor();
    await check(page, `${look} range sent again`);
  });
  return sending;
}

// A form whose session has ended leads to signing in, which says that nothing was done, and back to the form.
async function withoutSession(page, look) {
  const form = `${ready.platformUrl}/console/new-operator`;
  await page.goto(form);
  await page.locator("#input-name").fill(`Nobody ${look}`);
  await page.locator("#input-role").selectOption("VIEWER");
  await page.context().clearCookies();
  await page.locator("form.form button.primary").click();
  await page.locator(".sign-in .notice.wait").waitFor();
  await check(page, `${look} sign-in of a form that was not sent`);
  await page.locator("#token").fill(ready.platformToken);
  await page.keyboard.press("Enter");
  await page.waitForURL(form);
  expect((await page.locator("#input-name").inputValue()) === "", "the form opens filled in");
  const operators = await ask("GET", `${platform}/operators`, ready.platformToken);
  expect(!JSON.stringify(operators).includes(`Nobody ${look}`), "a form without a session was done");
}

// Without its script a page has no button that needs it.
async function withoutScript(page) {
  const script = /\.js$/;
  await page.route(script, (route) => route.abort());
  await page.goto(`${ready.platformUrl}/console/deliveries`);
  await page.locator("td.tick").first().waitFor();
  expect(!(await page.locator("[data-tick-all]").isVisible()), "a button that does nothing is shown");
  await page.unroute(script);
}

// What the sources of a folder name so, as paths of pages.
function named(folder, pattern) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".rs"));
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, "utf8"));
  const paths = texts.flatMap((text) => [...text.matchAll(pattern)]).map(([, path]) => path.replace(/\{\w+\}/g, "#"));
  expect(paths.length > 20, `only ${paths.length} in ${folder}: ${pattern}`);
  return paths;
}

const starts = await seed();
const browser = await launch();
const first = await signedIn(browser, LOOKS[0].options);
starts.unshift(...(await records(first)));
await first.context().close();
const [paused] = starts.find(([, name]) => name === "with a paused endpoint");
const [company] = (await ask("GET", `${platform}/companies?cnpj=${ready.companyCnpj}`, ready.platformToken)).data;

const [sources] = process.argv.slice(2);
const formsOfSources = named(`${sources}/action_forms`, /(?:ActionForm::new|of_company|step)\(\s*"([^"]+)"/g).map((path) => `/console/${path}`);
const pagesOfSources = named(sources, /(?:\bpage\(|const PATH: &'static str = )"([^"]*)"/g).map((path) => `/console${path}`)
  .filter((path) => !FILES.test(path));

// Where looks take turns, each page is opened in two of the four, which differ in language and in width; behind the second
// database in one.
const turns = LOOKS.length === 1 ? 1 : TAKE_TURNS ? 4 : 2;
const inTurn = ({ turn }) => (index) => index % turns === turn % turns;
const sharedCrawl = () => new Crawl(starts, LOOKS.length / turns);
const [ofAdministrator, ofViewer] = [sharedCrawl(), sharedCrawl()];

async function administrator(look) {
  const { name, options } = look;
  const page = await signedIn(browser, options);
  const crawl = TAKE_TURNS ? ofAdministrator : new Crawl(starts);
  await crawl.walk(page, name, TAKE_TURNS ? inTurn(look) : undefined);
  crawl.expectKinds([...pagesOfSources, ...formsOfSources], name);
  for (const path of ["/console/operations/999999", "/console/companies/none"]) await refusal(page, name, path, 404);
  await leakedKey(page, name);
  await sentAgain(page, name);
  await withoutSession(page, name);
  const token = await revealed(page, name);
  await withoutClipboard(page);
  await withoutScript(page);
  await page.context().close();
  console.log(`- ${crawl.pages.length} pages, ${name}`);
  if (process.env.PAGES_SEEN) console.log(crawl.pages.map(([, kind]) => kind).sort().join("\n"));
  return token;
}

// A viewer is led to no form. The pages are an administrator's with less on them, so that looks always take turns.
async function viewer(look, token) {
  const { name, options } = look;
  const page = await signedIn(browser, options, token);
  await ofViewer.walk(page, `${name} viewer`, inTurn(look));
  ofViewer.expectKinds(pagesOfSources, `${name} viewer`);
  const kinds = new Set(ofViewer.pages.map(([path]) => kindOf(path)));
  const writes = formsOfSources.filter((form) => kinds.has(form));
  expect(writes.length === 0, `a viewer is led to ${writes}`);
  for (const path of [`/console/companies/${company.id}/edit`, "/console/new-operator"]) await refusal(page, name, path, 403);
  await page.context().close();
  console.log(`- ${ofViewer.pages.length} pages for a viewer, ${name}`);
}

// All looks at once: each waits for the server and the browser part of the time.
const tokens = await Promise.all(LOOKS.map(administrator));
await Promise.all(LOOKS.map((look, index) => viewer(look, tokens[index])));
await browser.close();
