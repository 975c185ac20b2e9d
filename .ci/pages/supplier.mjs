// The supplier's page as its readers use it: the link of a mail, the answer, and what became of it. Both answers by mouse and by
// keyboard, in both languages, at a desktop's and a telephone's width.
//
//   scripts/with-sandbox --portal-listen 127.0.0.1:0 -- node supplier.mjs
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import {
  LOOKS, TAKE_TURNS, ask, byKeyboard, byMouse, check, cnpj, day, expect, launch, linkOf, platform, ready, until, watched,
} from "./browser.mjs";

const token = ready.platformToken;
const KNOWN = ready.supplierCnpj;
const company = (await ask("GET", `${platform}/companies?cnpj=${ready.companyCnpj}`, token)).data[0];

const status = async (id) => (await ask("GET", `${platform}/operations/${id}`, token)).status;
const move = (id, step, body) => ask("POST", `${platform}/operations/${id}/${step}`, token, body);

// An offer with its link.
async function offer(number, { supplier = KNOWN, name = "Fornecedor Exemplo Ltda.", email = "financeiro@aco.example.com" } = {}) {
  const body = {
    supplier: { cnpj: supplier, name, contactName: "Ana", email },
    invoice: { number, amount: 12500.5, dueDate: day(60) },
  };
  const { id } = await ask("POST", `${ready.baseUrl}/api/integration/v1/pre-authorizations`, ready.apiKey, body);
  return { id, link: await linkOf(id) };
}

// The link in a mail by which its reader ends mails; it is opened without a session, too.
async function unsubscribeLink({ id }) {
  const story = () => readFileSync(process.env.PREAUTH_STORY, "utf8");
  const { data } = await until(`mail of ${id}`, async () => {
    const found = await ask("GET", `${platform}/notices?status=SENT&operationId=${id}`, token);
    return found.data.length > 0 && found;
  });
  const file = await until(`file of ${data[0].id}`, () => new RegExp(`\\S+${data[0].id}\\.eml`).exec(story()));
  return /^List-Unsubscribe: <(.+)>/m.exec(readFileSync(file[0], "utf8"))[1];
}

const browser = await launch();

// What the pages say, in the language of the reader.
const TEXTS = {
  en: {
    request: "Request the advance", confirm: "Confirm the request", requested: "You requested the advance",
    decline: "Decline", confirmDecline: "Confirm", declined: "You declined this offer", blank: "Please fill this in.",
    invisible: "a character that does not show", noMails: "I do not want these e-mails", end: "Send me no more e-mails",
    ended: "No more e-mails", canceled: "This offer was canceled", expired: "This offer has expired", invalid: "This link is not valid",
    over: "This link has ended", forgotten: "Your address is no longer stored", changed: "the offer had already changed",
    paid: "Advance paid", home: "Open the link in your e-mail", other: "Português", foreign: "The form was not sent by this page",
  },
  pt: {
    request: "Solicitar antecipação", confirm: "Confirmar solicitação", requested: "Antecipação solicitada",
    decline: "Recusar", confirmDecline: "Confirmar recusa", declined: "Você recusou esta oferta", blank: "Preencha este campo.",
    invisible: "um caractere invisível", noMails: "Não quero receber estes e-mails", end: "Não quero receber",
    ended: "E-mails encerrados", canceled: "Esta oferta foi cancelada", expired: "Esta oferta expirou", invalid: "Este link não é válido",
    over: "Este link foi encerrado", forgotten: "Seu endereço não está mais guardado", changed: "a oferta já tinha mudado",
    paid: "Antecipação paga", home: "Abra o link que você recebeu por e-mail", other: "English", foreign: "O formulário não veio desta página",
  },
};

// The headers of each form that a page sends, as they leave the browser.
async function formsOf(page) {
  const sent = [];
  const session = await page.context().newCDPSession(page);
  session.on("Network.requestWillBeSentExtraInfo", ({ headers }) => {
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (named["content-type"]) sent.push(named);
  });
  await session.send("Network.enable");
  return sent;
}

// A reader: a page, what it says, and the forms that it sent.
async function reader({ name, options }) {
  const page = await watched(browser, options, ready.portalUrl);
  const checked = new Set();
  const it = {
    page, t: TEXTS[name.slice(0, 2)], sent: await formsOf(page),
    named: (text) => page.getByRole("link", { name: text, exact: true }),
    button: (text) => page.getByRole("button", { name: text, exact: true }),
    reads: (text) => page.getByRole("heading", { name: text }).waitFor(),
    // Each kind of page once; what it logs or may not do counts always.
    check: async (what) => {
      if (checked.size < checked.add(what).size) await check(page, `supplier ${name} ${what}`);
    },
  };
  return it;
}

// Opens an offer's link and answers; `fill` sees the form before it is sent.
async function answer(it, press, { id, link }, which, fill = async () => {}) {
  const { t, page } = it;
  await page.goto(link);
  await it.check("offer");
  await press(page, it.named(which === "request" ? t.request : t.decline));
  const button = it.button(which === "request" ? t.confirm : t.confirmDecline);
  await button.waitFor();
  await it.check(which);
  await fill(button);
  await press(page, button);
  await it.reads(which === "request" ? t.requested : t.declined);
  // The page gives its address to nobody, so that the browser names no origin either; it says itself that the form is the page's own.
  await until("headers", () => it.sent.length > 0);
  for (const headers of it.sent.splice(0)) {
    expect(headers.origin === "null" && headers["sec-fetch-site"] === "same-origin" && !headers.referer, JSON.stringify(headers));
  }
  expect(!page.url().includes("?") && page.url() === link, page.url());
  await it.check(which === "request" ? "requested" : "declined");
  const is = await status(id);
  expect(is === (which === "request" ? "TO_APPROVE" : "REPROVED"), `operation ${id} is ${is}`);
}

async function answers(it, label) {
  for (const [hand, press] of [["mouse", byMouse.press], ["keyboard", byKeyboard.press]]) {
    await answer(it, press, await offer(`${label}-REQUEST-${hand}`), "request");
    await answer(it, press, await offer(`${label}-DECLINE-${hand}`), "decline", async (button) => {
      const reason = it.page.locator("#motivo");
      await reason.fill("Prazo\u2060 curto");
      await press(it.page, button);
      await it.page.getByText(it.t.invisible).waitFor();
      await it.check("refused reason");
      await reason.fill("Prazo curto,\nprefiro receber no vencimento");
    });
  }
}

// An invited supplier confirms its name with its first request, and is not asked again.
async function invited(it, label, root) {
  const supplier = cnpj(root);
  const given = { supplier, name: "Ferragens Souza", email: `contato@souza${root}.example.com` };
  await answer(it, byKeyboard.press, await offer(`${label}-INVITED-1`, given), "request", async (button) => {
    const name = it.page.locator("#nome");
    expect((await name.inputValue()) === given.name, "the name that the company gave is not in the field");
    await name.fill("");
    await byKeyboard.press(it.page, button);
    await it.page.getByText(it.t.blank).waitFor();
    await it.check("refused name");
    await name.fill("Ferragens Souza & Filhos Ltda.");
  });
  const { data } = await ask("GET", `${platform}/companies?cnpj=${supplier}`, token);
  const named = await ask("GET", `${platform}/companies/${data[0].id}/invitations`, token);
  expect(named.data[0].name === "Ferragens Souza & Filhos Ltda.", JSON.stringify(named.data));
  const next = await offer(`${label}-INVITED-2`, given);
  await answer(it, byMouse.press, next, "request", async () => {
    expect((await it.page.locator("#nome").count()) === 0, "the name is asked for again");
  });
}

// Ends the mails to an address: by the offer's page, and by the link that its mail ends with.
async function unsubscribes(it, label) {
  for (const [way, press] of [["page", byMouse.press], ["mail", byKeyboard.press]]) {
    const email = `${way}.${label.replaceAll(" ", "-").toLowerCase()}@aco.example.com`;
    const made = await offer(`${label}-UNSUBSCRIBE-${way}`, { email });
    const mail = await unsubscribeLink(made);
    if (way === "mail") {
      await it.page.goto(mail);
    } else {
      await it.page.goto(made.link);
      await press(it.page, it.named(it.t.noMails));
    }
    await it.button(it.t.end).waitFor();
    expect(!(await it.page.content()).includes(email), "the whole address is shown");
    await it.check("unsubscribe");
    await press(it.page, it.button(it.t.end));
    await it.reads(it.t.ended);
    await it.check("unsubscribed");
    const { data } = await ask("GET", `${platform}/suppressed-addresses?address=${encodeURIComponent(email)}`, token);
    expect(data.some((entry) => entry.address === email), `${email} is not suppressed`);
    // The offer itself is as it was.
    expect((await status(made.id)) === "IN_PRE_AUTH", "the offer changed");
  }
}

// The start page, links that lead nowhere, and an offer that its company took back or that was paid.
async function others(it, label) {
  const { page, t } = it;
  await page.goto(ready.portalUrl);
  await it.reads(t.home);
  await it.check("start");
  const made = await offer(`${label}-OTHERS`);
  for (const wrong of [`${made.link}0`, `${made.link}/nao-receber/x.1`, `${ready.portalUrl}/nada`]) {
    expect((await page.goto(wrong)).status() === 404, wrong);
    await it.reads(t.invalid);
    await it.check("invalid link");
  }
  // The other language is one click away, and stays on the pages behind it.
  await page.goto(made.link);
  await byKeyboard.press(page, it.named(t.other));
  const [other] = Object.values(TEXTS).filter((texts) => texts !== t);
  await byMouse.press(page, it.named(other.request));
  await it.button(other.confirm).waitFor();
  await page.goBack();
  await page.goBack();
  await it.named(t.request).waitFor();
  await move(made.id, "withdraw", { reason: "Nota cancelada" });
  await page.reload();
  await it.reads(t.canceled);
  await it.check("canceled");
  // What can be answered no more leads back to the offer.
  await page.goto(`${made.link}/solicitar`);
  await it.reads(t.canceled);
  const paid = await offer(`${label}-PAID`);
  await move(paid.id, "request");
  for (const [step, body] of [["approve"], ["release", { netAmount: 11987.65 }], ["pay"]]) {
    await move(paid.id, step, body);
    await page.goto(paid.link);
    await it.check(`after ${step}`);
  }
  await it.reads(t.paid);
}

// A forwarded link: both have the form open, both answer; the second sees what happened, whichever answer it was.
async function forwarded(it, look, label) {
  const colleague = await reader(look);
  for (const [first, second] of [["request", "decline"], ["decline", "request"], ["request", "request"], ["decline", "decline"]]) {
    const { id, link } = await offer(`${label}-${first}-${second}`);
    const button = (who, which) => who.button(which === "request" ? who.t.confirm : who.t.confirmDecline);
    const open = async (who, which) => {
      await who.page.goto(link);
      await who.named(which === "request" ? who.t.request : who.t.decline).click();
      await button(who, which).waitFor();
    };
    await open(it, first);
    await open(colleague, second);
    await button(it, first).click();
    await it.reads(first === "request" ? it.t.requested : it.t.declined);
    await button(colleague, second).click();
    await colleague.reads(first === "request" ? colleague.t.requested : colleague.t.declined);
    const isRefused = (await colleague.page.getByRole("alert").filter({ hasText: colleague.t.changed }).count()) === 1;
    expect(isRefused === (first !== second), `${first}, then ${second}: the notice is wrong`);
    await colleague.check(`second answer ${first} ${second}`);
    expect((await status(id)) === (first === "request" ? "TO_APPROVE" : "REPROVED"), `operation ${id} changed`);
  }
  await colleague.page.context().close();
}

// A page of somebody else, with a form that requests an advance: the browser itself says that it is not the supplier's page.
async function foreign(it, look, label) {
  const { id, link } = await offer(`${label}-FOREIGN`);
  const page = await it.page.context().newPage();
  const sent = await formsOf(page);
  const html = `<!doctype html><meta name="referrer" content="no-referrer"><form method="post" action="${link}/solicitar"><button>Go</button></form>`;
  const stranger = createServer((request, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise((done) => stranger.listen(0, "127.0.0.1", done));
  for (const host of ["127.0.0.1", "localhost"]) {
    await page.goto(`http://${host}:${stranger.address().port}/`);
    await page.getByRole("button").click();
    await until("headers", () => sent.length > 0);
    const headers = sent.pop();
    expect(headers.origin === "null" && /^(same|cross)-site$/.test(headers["sec-fetch-site"]), JSON.stringify(headers));
    await page.getByText(it.t.foreign).waitFor();
    await check(page, `supplier ${look.name} foreign form`);
    expect((await status(id)) === "IN_PRE_AUTH", "a form of another site was done");
  }
  stranger.close();
  await page.close();
}

// What time does to links: open offers expire, then their pages are shown no more, nor is the address of a mail known.
const late = await offer("LATE");
const old = await offer("OLD", { email: "antigo@aco.example.com" });
const oldMail = await unsubscribeLink(old);
// Where looks take turns, those whose turns are even: they differ in language and in width.
const looks = LOOKS.filter(({ turn }) => !TAKE_TURNS || LOOKS.length === 1 || turn % 2 === 0);
const readers = await Promise.all(looks.map(async (look, index) => {
  const it = await reader(look);
  const label = look.name.toUpperCase();
  await answers(it, label);
  await invited(it, label, 40_000_001 + index);
  await unsubscribes(it, label);
  await others(it, label);
  await forwarded(it, look, label);
  await foreign(it, look, label);
  console.log(`- supplier's page, ${look.name}`);
  return it;
}));
const pass = (days) => ask("POST", `${platform}/sandbox/clock`, token, { advanceSeconds: days * 86_400 });
await pass(31);
for (const it of readers) {
  await it.page.goto(late.link);
  await it.reads(it.t.expired);
  await it.check("expired");
  expect((await it.named(it.t.request).count()) === 0, "an expired offer can be requested");
  // The mail's record is removed 30 days after it was sent, and with it the address that the offer's page would end mails to.
  await until("the address is forgotten", async () => (await it.page.goto(`${late.link}/nao-receber`)).status() === 410);
  await it.reads(it.t.forgotten);
  await it.check("forgotten address");
}
await pass(31);
for (const it of readers) {
  expect((await it.page.goto(late.link)).status() === 410, "an old link is shown");
  await it.reads(it.t.over);
  await it.check("ended link");
  // The link of a mail works for as long as somebody has the mail.
  await it.page.goto(oldMail);
  await it.button(it.t.end).waitFor();
  await it.check("unsubscribe late");
}
console.log("- links that have ended");

await browser.close();
