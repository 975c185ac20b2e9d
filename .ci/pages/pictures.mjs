// The pictures of the documentation: a month of a sandbox whose receiver has just begun to fail.
//
//   PREAUTH_MAIL_DAILY_SHARE_PER_COMPANY=1 scripts/with-sandbox node pictures.mjs FOLDER
import { createServer } from "node:http";
import { LOOKS, ask, launch, linkOf, platform, ready, signedIn, until, watched } from "./browser.mjs";

const folder = process.argv[2];
const token = ready.platformToken;
const call = (method, path, body) => ask(method, `${platform}/${path}`, token, body);
const pass = (seconds) => call("POST", "sandbox/clock", { advanceSeconds: seconds });

const DAY = 86_400;
// Offers of each day; none at weekends.
const OFFERS = [4, 6, 5, 7, 3, 0, 0, 5, 8, 6, 7, 4, 0, 0, 6, 9, 7, 8, 5, 0, 0, 7, 10, 8, 9, 6, 0, 0, 8, 7];
const TO_THE_END = [["request"], ["approve"], ["release"], ["pay"], ["bill"], ["conclude"]];
const SUPPLIERS = ["Aço Forte Ltda.", "Cimentos do Vale S.A.", "Elétrica Paulista Ltda."];

let made = 0;
async function offer(email = `contato${made}@fornecedor.example.com`) {
  made += 1;
  const amount = 4000 + ((made * 7919) % 38_000);
  const body = {
    supplier: { cnpj: ready.supplierCnpj, name: SUPPLIERS[made % 3], contactName: "Ana", email },
    invoice: { number: `NF-${1000 + made}`, amount, dueDate: new Date(Date.now() + 100 * DAY * 1000).toISOString().slice(0, 10) },
    externalReference: `PEDIDO-${300 + made}`,
  };
  const { id } = await ask("POST", `${ready.baseUrl}/api/integration/v1/pre-authorizations`, ready.apiKey, body);
  return { id, amount };
}

for (const [day, count] of OFFERS.entries()) {
  for (let number = 0; number < count; number += 1) {
    const { id, amount } = await offer();
    // Two of three are requested, and most of these go on.
    const steps = made % 3 === 0 ? 0 : 1 + ((made * 5) % TO_THE_END.length);
    for (const [step] of TO_THE_END.slice(0, steps)) {
      await call("POST", `operations/${id}/${step}`, step === "release" ? { netAmount: Math.round(amount * 96.5) / 100 } : undefined);
    }
  }
  if (day < OFFERS.length - 1) await pass(DAY);
}

// The receiver is being updated.
const receiver = createServer((request, answer) => {
  request.resume();
  request.on("end", () => answer.writeHead(503).end("the ERP is being updated"));
});
await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
const company = (await call("GET", `companies?cnpj=${ready.companyCnpj}`)).data[0];
const path = `companies/${company.id}/webhook-endpoint`;
const { events } = await call("GET", path);
await call("PUT", path, { url: `http://127.0.0.1:${receiver.address().port}/webhooks`, events });
const last = await offer();
const attempts = (count) => until(`attempt ${count}`, async () => {
  const { data } = await call("GET", `deliveries?operationId=${last.id}`);
  return data[0]?.attempts.length >= count && data[0];
});
await attempts(1);
await pass(7);
await attempts(2);
await pass(70);
const delivery = await attempts(3);
const full = await offer("compras@aco.example.com");
await until("mail", async () => (await call("GET", `notices?status=SENT&operationId=${full.id}`)).pagination.total > 0);
for (let number = 0; number < 3; number += 1) await offer("compras@aco.example.com");
await until("held", async () => (await call("GET", "notices?status=HELD")).pagination.total >= 3);
// Days are counted a while after their events.
const busy = OFFERS.filter((count) => count > 0).length;
await until("the reports of all days", async () => {
  const { rows } = await call("GET", "reports");
  return rows.filter((row) => row.activity.offers > 0).length >= busy - 1 && rows.at(-1).activity.offers > 0;
});

const browser = await launch();
const console_ = await signedIn(browser, LOOKS[0].options);
for (const [name, at] of [["delivery", `/deliveries/${delivery.id}`], ["overview", ""]]) {
  await console_.goto(`${ready.platformUrl}/console${at}`);
  if (name === "overview") {
    // As high as shows all plots whole.
    const bottom = await console_.locator(".plots").evaluate((it) => it.getBoundingClientRect().bottom);
    await console_.setViewportSize({ width: LOOKS[0].options.viewport.width, height: Math.ceil(bottom) + 20 });
  }
  await console_.screenshot({ path: `${folder}/console-${name}.png` });
}
const link = await linkOf(last.id);
for (const [locale, file] of [["en-US", "supplier-page.png"], ["pt-BR", "supplier-page.pt.png"]]) {
  const page = await watched(browser, { locale, viewport: { width: 760, height: 700 } }, ready.portalUrl);
  await page.goto(link);
  await page.screenshot({ path: `${folder}/${file}` });
}
await browser.close();
receiver.close();
