// Walks through the console as its readers do.
import { ask, check, launch, platform, problems, ready, signedIn } from "./browser.mjs";

const token = ready.platformToken;
const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function offer(number) {
  const body = {
    supplier: { cnpj: ready.supplierCnpj, name: "Aço", contactName: "Ana", email: "financeiro@aco.example.com" },
    invoice: { number, amount: 12500.5, dueDate: day(60) },
  };
  const url = `${ready.baseUrl}/api/integration/v1/pre-authorizations`;
  return (await ask("POST", url, ready.apiKey, body)).id;
}

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

// Leads an operation through its life; `press` does what a form's button does.
async function life(page, number, press) {
  const id = await offer(number);
  const steps = [
    ["request"], ["reprove-by-company", "reason", "Nota cancelada"], ["reopen"], ["approve"], ["release", "netAmount", "11987.65"],
    ["pay"], ["return-payout"], ["pay"], ["bill"], ["extend"], ["conclude"],
  ];
  for (const [step, field, text] of steps) {
    await page.goto(`${ready.platformUrl}/console/operations/${id}`);
    const link = page.locator(`.actions a[href="/console/operations/${id}/${step}"]`);
    await press(page, link);
    await page.waitForURL(new RegExp(`/${step}$`));
    await check(page, `operation ${step}`);
    if (field) await page.locator(`#input-${field}`).fill(text);
    if (step === "extend") {
      await page.locator("#input-newDueDate").fill(day(120));
      await page.locator("#input-totalAmount").fill("12900.00");
    }
    await press(page, page.locator("form.form button.primary"));
    await page.waitForURL(new RegExp(`/console/operations/${id}\\?done=1$`));
    if (step === "extend") {
      const conclude = page.locator('td a[href$="/conclude"]');
      await press(page, conclude);
      await page.waitForURL(/conclude$/);
      await press(page, page.locator("form.form button.primary"));
      await page.waitForURL(/done=1$/);
    }
  }
  await check(page, "operation concluded");
  const { status } = await ask("GET", `${platform}/operations/${id}`, token);
  expect(status === "CONCLUDED", `operation ${id} is ${status}`);
  // The other ways out, each for an operation of its own.
  for (const step of ["decline", "withdraw", "reprove"]) {
    const other = await offer(`${number}-${step}`);
    if (step === "reprove") await ask("POST", `${platform}/operations/${other}/request`, token);
    await page.goto(`${ready.platformUrl}/console/operations/${other}`);
    await press(page, page.locator(`.actions a[href$="/${step}"]`));
    await page.waitForURL(new RegExp(`/${step}$`));
    await press(page, page.locator("form.form button.primary"));
    await page.waitForURL(/done=1$/);
  }
}

const byMouse = (page, target) => target.click();
async function byKeyboard(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((it) => it === document.activeElement)) {
      await page.keyboard.press("Enter");
      return;
    }
  }
  throw new Error(`no Tab leads to ${await target.innerHTML()}`);
}

// Every page that a link of the console leads to, each once.
async function everyPage(page, look) {
  const seen = new Set();
  // A head office has more on its page than a supplier, which may come first.
  const { data } = await ask("GET", `${platform}/companies?cnpj=${ready.companyCnpj}`, token);
  const waiting = [`/console/companies/${data[0].id}`, "/console"];
  while (waiting.length) {
    const path = waiting.shift();
    // One record of each kind and one form of each kind is enough.
    const kind = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{3,}|\b\d+\b/g, "#").replace(/\?.*/, "");
    if (seen.has(kind) || path.endsWith("/invoice-file") || path.endsWith("/export") || path.split("?")[0].endsWith(".csv")) continue;
    seen.add(kind);
    const answer = await page.goto(ready.platformUrl + path);
    if (answer.status() !== 200) problems.push(`${path}: ${answer.status()}`);
    await check(page, `${look}${kind}`);
    const links = await page.locator("a[href^='/console']").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
    waiting.push(...links);
  }
  return seen.size;
}

const browser = await launch();
const english = { locale: "en-US", viewport: { width: 1280, height: 860 } };
const first = await signedIn(browser, english);
await life(first, "NF-900", byMouse);
console.log("- every step of an operation by mouse");
await life(first, "NF-901", byKeyboard);
console.log("- every step of an operation by keyboard");

for (const [look, options] of [
  ["en", english],
  ["pt dark phone", { locale: "pt-BR", colorScheme: "dark", viewport: { width: 390, height: 844 } }],
  ["pt", { locale: "pt-BR", viewport: { width: 1280, height: 860 } }],
  ["en dark phone", { locale: "en-US", colorScheme: "dark", viewport: { width: 390, height: 844 } }],
]) {
  const page = await signedIn(browser, options);
  const count = await everyPage(page, look);
  expect(count >= 30, `only ${count} pages`);
  console.log(`- ${count} pages, ${look}`);
  await page.context().close();
}

// Two operators at once: the second sees what happened.
const id = await offer("NF-902");
const second = await signedIn(browser, english);
await second.goto(`${ready.platformUrl}/console/operations/${id}/decline`);
await ask("POST", `${platform}/operations/${id}/request`, token);
await second.locator("form.form button.primary").click();
await second.getByText("Somebody else was faster").waitFor();
console.log("- two operators at once");

// Several deliveries, ticked by keyboard and sent together; then all of the page by its button.
await second.goto(`${ready.platformUrl}/console/deliveries`);
const boxes = second.locator("td.tick input");
for (const number of [0, 1]) {
  await boxes.nth(number).focus();
  await second.keyboard.press("Space");
}
await second.keyboard.press("Tab");
await byKeyboard(second, second.getByRole("button", { name: "Send the ticked ones now" }));
await second.getByText("Queued, and sent now: 2.").waitFor();
await check(second, "deliveries sent again");
await second.getByRole("link", { name: "Back to the list" }).click();
await second.getByRole("button", { name: "Tick all of this page" }).click();
expect((await boxes.evaluateAll((all) => all.every((it) => it.checked))) === true, "not every row is ticked");
await second.getByRole("button", { name: "Tick all of this page" }).click();
await second.getByRole("button", { name: "Send the ticked ones now" }).click();
await second.getByText("No delivery was ticked").waitFor();
await check(second, "no delivery ticked");
console.log("- several deliveries at once");

// The days of a report, and a range that is none.
await second.goto(`${ready.platformUrl}/console/reports`);
await second.getByLabel("from", { exact: true }).fill(day(-7));
await second.getByLabel("to", { exact: true }).fill(day(0));
await second.getByRole("button", { name: "Show" }).click();
expect(new URL(second.url()).searchParams.get("since") === day(-7), second.url());
await second.getByRole("heading", { name: `${day(-7)} –` }).waitFor();
await second.getByLabel("by", { exact: true }).selectOption("month");
await second.getByLabel("to", { exact: true }).fill(day(-70));
await second.getByRole("button", { name: "Show" }).click();
await second.getByText("The first day is after the last one.").waitFor();
await check(second, "report of no range");
console.log("- the days of a report");

// Personal data: refused while an operation is in progress, erased by its CNPJ afterwards.
const person = { cnpj: "33444555000181", name: "Fornecedora Lima", contactName: "Bruno", email: "bruno@lima.example.com" };
const body = { supplier: person, invoice: { number: "NF-904", amount: 5000, dueDate: day(60) } };
const url = `${ready.baseUrl}/api/integration/v1/pre-authorizations`;
const personal = (await ask("POST", url, ready.apiKey, body)).id;
const data = `${ready.platformUrl}/console/personal-data/${person.cnpj}`;
await second.goto(data);
await second.getByText("Nothing can be erased while").waitFor();
await check(second, "personal data in progress");
await ask("POST", `${platform}/operations/${personal}/decline`, token, {});
await second.reload();
const copied = second.waitForEvent("download");
await second.getByRole("link", { name: "Download a copy" }).click();
expect((await copied).suggestedFilename() === `personal-data-${person.cnpj}.json`, "no copy");
await byKeyboard(second, second.getByRole("link", { name: "Erase personal data" }));
await second.locator("#input-confirmation").fill("11222333000181");
await second.locator("form.form button.primary").click();
await second.getByText("What you typed to confirm is another text.").waitFor();
await check(second, "erasure not confirmed");
await second.locator("#input-confirmation").fill("33.444.555/0001-81");
await second.locator("form.form button.primary").click();
await second.waitForURL(/done=1$/);
await check(second, "personal data erased");
console.log("- personal data");

// A delivery's page changes without being loaded again.
const live = await offer("NF-903");
await second.goto(`${ready.platformUrl}/console/operations/${live}`);
await ask("POST", `${platform}/operations/${live}/request`, token);
await second.locator(".head .badge[title=TO_APPROVE]").waitFor({ timeout: 15_000 });
console.log("- what changes is shown without loading");

// The server is away for a moment: the page says that it may be old, and that it is not any more.
const ofLive = `**/console/operations/${live}`;
const old = second.getByText("What you see may be old");
await second.route(ofLive, (route) => route.fulfill({ status: 503, body: "" }));
await old.waitFor({ timeout: 15_000 });
await check(second, "may be old");
await second.unroute(ofLive);
await old.waitFor({ state: "hidden", timeout: 15_000 });
console.log("- what may be old says so");

// What is wrong with a form stands beside its field, which has the focus.
await second.goto(`${ready.platformUrl}/console/new-company`);
await second.getByLabel("CNPJ").fill("1");
await second.getByLabel("Legal name").fill("Azul");
await second.getByLabel("Kind").selectOption({ index: 1 });
await second.locator("form.form button.primary").click();
await second.getByText("must be a CNPJ").waitFor();
await check(second, "refused form");
expect(await second.locator("#input-cnpj[aria-invalid]").evaluate((it) => it === document.activeElement), "no focus");
console.log("- a refused form leads to the field");

// Signing out ends the session, and the language stays chosen.
await second.goto(`${ready.platformUrl}/console`);
await second.getByRole("button", { name: "Português" }).click();
await second.getByRole("heading", { name: "Visão geral" }).waitFor();
await second.getByRole("button", { name: "Sair" }).click();
await second.getByRole("heading", { name: "Entrar" }).waitFor();
await second.goto(`${ready.platformUrl}/console/operations`);
expect(second.url().includes("/console/sign-in"), second.url());
console.log("- language, signing out");

await browser.close();
for (const problem of new Set(problems)) console.error(problem);
if (problems.length) process.exit(1);
