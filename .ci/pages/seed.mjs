// Records in every status that they can have, so that every page and form of the console has something to show.
import { createServer } from "node:http";
import { ask, cnpj, day, linkOf, platform, ready, until } from "./browser.mjs";

const token = ready.platformToken;
const call = (method, path, body) => ask(method, `${platform}/${path}`, token, body);
const total = async (path) => (await call("GET", path)).pagination.total;
const exists = (path) => until(path, async () => (await total(path)) > 0);

// The delays between attempts of a delivery, in seconds; each grows by up to a tenth.
const DELAYS = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 86_400, 86_400];

async function offer(number, email = "financeiro@aco.example.com", supplier = ready.supplierCnpj) {
  const body = {
    supplier: { cnpj: supplier, name: "Aço Sul Ltda.", contactName: "Ana", email },
    invoice: { number, amount: 12500.5, dueDate: day(90) },
  };
  return (await ask("POST", `${ready.baseUrl}/api/integration/v1/pre-authorizations`, ready.apiKey, body)).id;
}

async function company(taxId) {
  return (await call("GET", `companies?cnpj=${taxId}`)).data[0];
}

// A construction company with an endpoint of its own.
async function construction(root, name, url) {
  const made = await call("POST", "companies", { cnpj: cnpj(root), name, kind: "CONSTRUCTION" });
  await call("PUT", `companies/${made.id}/webhook-endpoint`, { url, events: ["invoice.received"] });
  return made;
}

const invoice = (payer, number) => call("POST", "invoices", {
  payerCompanyId: payer.id, supplierCnpj: ready.supplierCnpj, invoice: { number, amount: 900, dueDate: day(90) },
});

// A delivery that was given up and one that waits for its paused endpoint; a company that is suspended.
async function deliveries() {
  const receiver = createServer((request, answer) => {
    request.resume();
    request.on("end", () => answer.writeHead(500).end("the ERP is being updated"));
  });
  await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${receiver.address().port}/webhooks`;
  const azul = await construction(45_723_001, "Construtora Azul S.A.", url);
  await invoice(azul, "NF-1");
  const path = `companies/${azul.id}/deliveries`;
  for (const [made, delay] of DELAYS.entries()) {
    await until(`attempt ${made + 1}`, async () => (await call("GET", path)).data[0].attempts.length > made);
    await call("POST", "sandbox/clock", { advanceSeconds: Math.ceil(delay * 1.1) });
  }
  await exists(`${path}?status=FAILED`);
  await call("POST", `companies/${azul.id}/webhook-endpoint/pause`);
  await invoice(azul, "NF-2");
  const verde = await construction(51_234_567, "Construtora Verde S.A.", url);
  await invoice(verde, "NF-3");
  await call("POST", `companies/${verde.id}/suspend`, { reason: "Contrato encerrado" });
  await exists(`companies/${verde.id}/deliveries?status=PENDING`);
  receiver.close();
  return [azul, verde];
}

// A mail in every status; the mail server refuses by the name before the @.
async function mails() {
  const failed = await offer("NF-30", "refused@aco.example.com");
  await offer("NF-31", "later@aco.example.com");
  await exists(`notices?status=FAILED&operationId=${failed}`);
  // More than an address gets in a day: one is sent, others wait, and one of these ends before its turn comes.
  const address = "cheia@aco.example.com";
  const sent = await offer("NF-32", address);
  await exists(`notices?status=SENT&operationId=${sent}`);
  const ends = await offer("NF-33", address);
  const waits = await offer("NF-34", address);
  await exists(`notices?status=HELD&operationId=${ends}`);
  await call("POST", `operations/${ends}/withdraw`);
  await call("POST", "sandbox/clock", { advanceSeconds: 25 * 3600 });
  await exists("notices?status=CANCELED");
  await exists(`notices?status=SENT&operationId=${waits}`);
  const next = await offer("NF-35", address);
  await exists(`notices?status=HELD&operationId=${next}`);
}

async function operations() {
  const steps = [
    ["request"], ["approve"], ["release", { netAmount: 11987.65 }], ["pay"], ["bill"],
    ["extensions", { newDueDate: day(120), totalAmount: 12900 }],
  ];
  const advance = async (number, count) => {
    const id = await offer(number);
    for (const [step, body] of steps.slice(0, count)) await call("POST", `operations/${id}/${step}`, body);
    return id;
  };
  const extended = await advance("NF-50", steps.length);
  for (let count = 0; count < steps.length; count += 1) await advance(`NF-5${count + 1}`, count);
  const concluded = await advance("NF-60", steps.length - 1);
  await call("POST", `operations/${concluded}/conclude`);
  const reproved = await offer("NF-61");
  await call("POST", `operations/${reproved}/request`);
  await call("POST", `operations/${reproved}/reprove`, { by: "PLATFORM", reason: "Nota sem aceite" });
  const payer = await company(ready.companyCnpj);
  await call("POST", "operations", {
    payerCompanyId: payer.id, supplierCnpj: ready.supplierCnpj, invoice: { number: "NF-62", amount: 800, dueDate: day(90) },
  });
  return extended;
}

async function paymentOrders() {
  const payer = await company(ready.companyCnpj);
  const review = ["review"];
  const schedule = ["schedule", { scheduledFor: day(30) }];
  for (const steps of [[], [review], [review, schedule], [review, schedule, ["pay"]], [["cancel"]], [review, ["reprove"]]]) {
    const { id } = await call("POST", "payment-orders", {
      payerCompanyId: payer.id, supplierCnpj: ready.supplierCnpj, amount: 5000, scheduledFor: null, operationId: null,
    });
    for (const [step, body] of steps) await call("POST", `payment-orders/${id}/${step}`, body);
  }
}

// An address whose reader ended its mails, and a mail that is therefore not sent.
async function suppressed() {
  const id = await offer("NF-70", "basta@aco.example.com");
  const answer = await fetch(`${await linkOf(id)}/nao-receber`, { method: "POST" });
  if (!answer.ok) throw new Error(`no end of mails: ${answer.status}`);
  const late = await offer("NF-71", "basta@aco.example.com");
  await exists(`notices?status=SUPPRESSED&operationId=${late}`);
}

// All of it. Returns paths of pages that no list leads to by a status, each with a name.
export async function seed() {
  // Before everything else: it lets days pass.
  const [azul, verde] = await deliveries();
  await mails();
  await suppressed();
  const extended = await operations();
  const [extension] = (await call("GET", `operations/${extended}/extensions`)).data;
  await paymentOrders();
  const idle = { cnpj: "33444555000181", name: "Fornecedora Lima Ltda.", kind: "SUPPLIER" };
  await call("POST", "companies", idle);
  const invited = cnpj(60_000_001);
  await offer("NF-80", "convidada@aco.example.com", invited);
  await call("POST", "operators", { name: "Carla Dias", role: "OPERATOR" });
  const head = await company(ready.companyCnpj);
  return [
    [`/console/companies/${head.id}`, "a head office"],
    [`/console/companies/${azul.id}`, "with a paused endpoint"],
    [`/console/companies/${verde.id}`, "suspended"],
    [`/console/companies/${(await company(ready.branchCnpj)).id}`, "a branch"],
    [`/console/companies/${(await company(ready.supplierCnpj)).id}`, "a supplier"],
    [`/console/companies/${(await company(invited)).id}`, "an invited supplier"],
    [`/console/operations/${extended}`, "with an extension"],
    // It leads to its operation; otherwise the audit log alone leads there.
    [`/console/extensions/${extension.id}`, "of an operation"],
    [`/console/personal-data/${ready.supplierCnpj}`, "in progress"],
    [`/console/personal-data/${idle.cnpj}`, "to be erased"],
  ];
}
