// Ten tasks of a new operator, each from the overview by what the pages show: visible links, buttons and fields alone, no
// address typed. Counts clicks and fields filled in, and measures the pages' seconds (nobody reads or thinks here).
//
//   PREAUTH_MAIL_DAILY_SHARE_PER_COMPANY=1 scripts/with-sandbox node tasks.mjs
//
// TASKS is a file for the table, SHOTS a folder for pictures.
import { createServer } from "node:http";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { ask, check, day, expect, launch, offer, platform, problems, ready, signedIn, until } from "./browser.mjs";

const token = ready.platformToken;
const company = (await ask("GET", `${platform}/companies?cnpj=${ready.companyCnpj}`, token)).data[0];

// A receiver that refuses until it is mended.
let isMended = false;
const receiver = createServer((request, answer) => {
  request.resume();
  request.on("end", () => answer.writeHead(isMended ? 204 : 500).end("the ERP is being updated"));
});
await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
await ask("PUT", `${platform}/companies/${company.id}/webhook-endpoint`, token, {
  url: `http://127.0.0.1:${receiver.address().port}/webhooks`,
});

// What has happened: a release by a named operator, and more mails to one address than it gets in a day.
const ana = await ask("POST", `${platform}/operators`, token, { name: "Ana Souza", role: "OPERATOR" });
const released = await offer("NF-12", "financeiro@aco.example.com");
await ask("POST", `${platform}/operations/${released}/request`, token);
await ask("POST", `${platform}/operations/${released}/approve`, token);
await ask("POST", `${platform}/operations/${released}/release`, ana.token, { netAmount: 11987.65 });
const some = (path) => until(path, async () => (await ask("GET", `${platform}/${path}`, token)).pagination.total > 0);
const full = await offer("NF-20", "cheia@aco.example.com");
await some(`notices?status=SENT&operationId=${full}`);
for (let number = 1; number < 8; number += 1) await offer(`NF-2${number}`, "cheia@aco.example.com");
await some("notices?status=HELD");
await some("deliveries?wait=AFTER_FAILURE");

const browser = await launch();
const results = [];

// One task: `steps` gets a page on which only what is visible can be used.
async function task(name, page, steps) {
  const counted = { clicks: 0, fields: 0 };
  const one = async (locator) => {
    const visible = locator.filter({ visible: true }).first();
    await visible.waitFor({ timeout: 15_000 });
    return visible;
  };
  const does = {
    page,
    click: async (locator) => {
      counted.clicks += 1;
      await (await one(locator)).click();
      await page.waitForLoadState();
    },
    fill: async (label, text) => {
      counted.fields += 1;
      const field = await one(page.getByLabel(label, { exact: false }));
      if ((await field.evaluate((it) => it.tagName)) === "SELECT") await field.selectOption({ label: text });
      else await field.fill(text);
    },
    link: (text) => page.getByRole("link", { name: text, exact: true }),
    button: (text) => page.getByRole("button", { name: text }),
    section: (text) => page.locator("nav.sections").getByRole("link", { name: text, exact: true }),
    sees: async (text) => {
      await (await one(page.getByText(text))).waitFor();
    },
    shot: async (file) => {
      if (!process.env.SHOTS) return;
      mkdirSync(process.env.SHOTS, { recursive: true });
      await page.screenshot({ path: `${process.env.SHOTS}/${file}.png` });
    },
  };
  await page.goto(`${ready.platformUrl}/console`);
  const began = performance.now();
  try {
    await steps(does);
  } catch (error) {
    problems.push(`${name}: at ${page.url()}: ${error.message.split("\n")[0]}`);
    await does.shot(`failed-${results.length + 1}`);
  }
  await check(page, name);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  results.push({ name, ...counted, seconds });
  console.log(`- ${name}: ${counted.clicks} clicks, ${counted.fields} fields, ${seconds} s`);
}

const page = await signedIn(browser, { locale: "en-US", viewport: { width: 1280, height: 860 }, acceptDownloads: true });
const phone = { locale: "pt-BR", colorScheme: "dark", viewport: { width: 390, height: 844 } };

await task("Find a stuck webhook and resend it", page, async (it) => {
  await it.shot("overview");
  await it.click(it.page.locator("dl.fields a").first());
  await it.click(it.page.locator("tbody a").first());
  await it.sees("500");
  await it.shot("delivery");
  isMended = true;
  await it.click(it.link("Send now"));
  await it.click(it.page.locator("form.form button.primary"));
  await it.page.locator(".badge[title=DELIVERED]").first().waitFor({ timeout: 20_000 });
});

await task(`See who released operation ${released}`, page, async (it) => {
  await it.click(it.section("Operations"));
  await it.click(it.link(String(released)));
  await it.sees("Ana Souza");
  await it.shot("operation");
});

await task("Revoke a leaked key", page, async (it) => {
  const state = async () => {
    const headers = { authorization: `Bearer ${ready.apiKey}` };
    return (await fetch(`${ready.baseUrl}/api/integration/v1/pre-authorizations`, { headers })).status;
  };
  expect((await state()) === 200, "the key does not work");
  await it.click(it.section("Companies"));
  await it.click(it.link("Find a leaked key"));
  await it.fill("The leaked text", ready.apiKey.slice(0, 16));
  await it.click(it.button("Search"));
  await it.click(it.link("Revoke"));
  await it.click(it.page.locator("form.form button.primary"));
  await it.page.locator(".badge[title=REVOKED]").first().waitFor();
  expect((await state()) === 401, "the key still works");
});

await task("Pause a company's webhooks", page, async (it) => {
  await it.click(it.section("Companies"));
  await it.click(it.link(company.name));
  await it.click(it.link("Pause"));
  await it.click(it.page.locator("form.form button.primary"));
  await it.page.locator(".badge[title=PAUSED]").first().waitFor();
});

await task("Raise a company's credit", page, async (it) => {
  await it.click(it.section("Companies"));
  await it.click(it.link(company.name));
  await it.click(it.link("Set limits"));
  await it.fill("Greatest invoice", "900000");
  await it.click(it.page.locator("form.form button.primary"));
  await it.sees("900,000.00");
});

await task("Find an offer by the supplier's CNPJ", page, async (it) => {
  await it.click(it.section("Operations"));
  await it.fill("CNPJ of payer or supplier", ready.supplierCnpj);
  await it.click(it.button("Search"));
  await it.click(it.page.locator("tbody a").first());
  await it.sees("NF-27");
});

await task("See why a mail was held", page, async (it) => {
  await it.click(it.page.locator("dl.fields a[href*='status=HELD']"));
  await it.click(it.page.locator("tbody a").first());
  await it.sees("the settings allow no more today");
  await it.shot("mail");
});

await task("Export a month's operations as CSV", page, async (it) => {
  await it.click(it.section("Operations"));
  await it.fill("begun from", day(-30));
  await it.click(it.button("Search"));
  const arrives = it.page.waitForEvent("download");
  await it.click(it.link("CSV"));
  const text = readFileSync(await (await arrives).path(), "utf8");
  if (!text.includes("NF-27")) throw new Error(`no NF-27 in ${text.slice(0, 200)}`);
});

await task("Register a company", page, async (it) => {
  await it.click(it.section("Companies"));
  await it.click(it.link("Register a company"));
  await it.fill("CNPJ", "45.723.001/0001-00");
  await it.fill("Legal name", "Construtora Azul S.A.");
  await it.fill("Kind", "Construction company");
  await it.click(it.page.locator("form.form button.primary"));
  await it.sees("45.723.001/0001-00");
});

await task("Add an operator who only reads", page, async (it) => {
  await it.click(it.section("Operators"));
  await it.click(it.link("Add an operator"));
  await it.fill("Name", "Bruno Lima");
  await it.fill("Role", "Viewer");
  await it.click(it.page.locator("form.form button.primary"));
  await it.sees("preauth_op_");
});

if (process.env.SHOTS) {
  const small = await signedIn(browser, phone);
  await small.screenshot({ path: `${process.env.SHOTS}/overview-phone.png` });
  await small.goto(`${ready.platformUrl}/console/operations/${released}`);
  await small.screenshot({ path: `${process.env.SHOTS}/operation-phone.png` });
}
await browser.close();
receiver.close();
if (process.env.TASKS) {
  const rows = results.map((it) => `| ${it.name} | ${it.clicks} | ${it.fields} | ${it.seconds} |\n`);
  writeFileSync(process.env.TASKS, `| task | clicks | fields | seconds |\n| --- | ---: | ---: | ---: |\n${rows.join("")}`);
}
