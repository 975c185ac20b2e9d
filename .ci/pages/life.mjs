// Every step that an operator can take with an operation, each by its form, in one way: by mouse or by keyboard.
import { readFileSync } from "node:fs";
import { ask, check, day, offer, platform, ready } from "./browser.mjs";

const token = ready.platformToken;

// What the platform API does with operations and extensions: the rows of the table of transitions, but for the ERP's
// own (its offer and its cancel) and expiry.
const description = JSON.parse(readFileSync("docs/openapi/platform.json", "utf8"));
const everyStep = Object.entries(description.paths)
  .filter(([path, methods]) => /\/platform\/v1\/(operations|extensions)(\/|$)/.test(path) && methods.post)
  .map(([, methods]) => methods.post.operationId);

const extension = { newDueDate: day(120), totalAmount: "12900.00" };
const further = { newDueDate: day(150), totalAmount: "13300.00" };

// Each life of an operation: how it begins, its steps with what is typed, and the status in which it ends. A step
// that begins with an extension's is taken in the row of that extension.
const lives = [
  ["offer", [
    ["request"], ["reprove-by-company", { reason: "Nota cancelada" }], ["reopen"], ["approve"],
    ["release", { netAmount: "11987.65" }], ["pay"], ["return-payout"], ["pay"], ["bill"],
    ["extend", extension], ["extension conclude"], ["extend", further], ["extension cancel"], ["conclude"],
  ], "CONCLUDED"],
  ["advance", [["verify"], ["reprove", { reason: "Nota recusada" }]], "REPROVED"],
  ["offer", [["decline", { reason: "Recusada por telefone" }]], "REPROVED"],
  ["offer", [["withdraw", { reason: "Obra suspensa" }]], "REPROVED"],
];

export async function life(page, number, way, operator) {
  const taken = new Set();

  // Sends the form that the page shows, and notes what it did by the audit log. That the form is accessible `crawl.mjs` checks,
  // in each look.
  async function send(fields) {
    for (const [name, text] of Object.entries(fields)) await way.fill(page, page.locator(`[id="input-${name}"]`), text);
    await way.press(page, page.locator("form.form button.primary"));
    await page.waitForURL(/\/console\/operations\/\d+\?done=1$/);
    const { data } = await ask("GET", `${platform}/audit-log?limit=1&operator=${operator}`, token);
    taken.add(data[0].action);
    return Number(/operations\/(\d+)/.exec(page.url())[1]);
  }

  async function advance(invoice) {
    await page.goto(`${ready.platformUrl}/console/operations`);
    await way.press(page, page.locator('a[href="/console/new-operation"]'));
    await page.waitForURL(/new-operation$/);
    return send({
      payerCompanyId: ready.companyCnpj, supplierCnpj: ready.supplierCnpj, "invoice.amount": "12500.50",
      "invoice.dueDate": day(60), "invoice.number": invoice,
    });
  }

  for (const [place, [begin, steps, end]] of lives.entries()) {
    const invoice = `${number}-${place}`;
    const id = begin === "offer" ? await offer(invoice) : await advance(invoice);
    for (const [step, fields] of steps) {
      await page.goto(`${ready.platformUrl}/console/operations/${id}`);
      const [, ofExtension] = /^extension (.*)$/.exec(step) ?? [];
      const link = ofExtension
        ? page.locator(`td a[href^="/console/extensions/"][href$="/${ofExtension}"]`)
        : page.locator(`.actions a[href="/console/operations/${id}/${step}"]`);
      await way.press(page, link);
      await page.waitForURL(new RegExp(`/${ofExtension ?? step}$`));
      const done = await send(fields ?? {});
      if (done !== id) throw new Error(`${step} of ${id} leads to ${done}`);
    }
    await check(page, `operation ${end}`);
    const { status } = await ask("GET", `${platform}/operations/${id}`, token);
    if (status !== end) throw new Error(`operation ${id} is ${status}`);
  }
  const missing = everyStep.filter((step) => !taken.has(step));
  if (missing.length) throw new Error(`not taken: ${missing}`);
  return taken.size;
}
