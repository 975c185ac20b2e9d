// Walks through the console as its readers do.
import { ask, byKeyboard, byMouse, check, day, expect, launch, offer, platform, ready, signedIn } from "./browser.mjs";
import { life } from "./life.mjs";

const token = ready.platformToken;

const browser = await launch();
const english = { locale: "en-US", viewport: { width: 1280, height: 860 } };
// Both ways at once, each by an operator of its own, whose rows of the audit log are told apart.
await Promise.all([["mouse", "NF-900", byMouse], ["keyboard", "NF-901", byKeyboard]].map(async ([name, number, way]) => {
  const operator = await ask("POST", `${platform}/operators`, token, { name, role: "OPERATOR" });
  const page = await signedIn(browser, english, operator.token);
  console.log(`- ${await life(page, number, way, name)} steps of operations by ${name}`);
  await page.context().close();
}));

// Two operators at once: the second sees what happened.
const id = await offer("NF-902");
const second = await signedIn(browser, english);
await second.goto(`${ready.platformUrl}/console/operations/${id}/decline`);
await ask("POST", `${platform}/operations/${id}/request`, token);
await second.locator("form.form button.primary").click();
await second.getByText("This has changed since you opened the form").waitFor();
console.log("- two operators at once");

// Several deliveries, ticked by keyboard and sent together; then all of the page by its button.
await second.goto(`${ready.platformUrl}/console/deliveries`);
const boxes = second.locator("td.tick input");
for (const number of [0, 1]) {
  await boxes.nth(number).focus();
  await second.keyboard.press("Space");
}
await second.keyboard.press("Tab");
await byKeyboard.press(second, second.getByRole("button", { name: "Send the ticked ones now" }));
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
await byKeyboard.press(second, second.getByRole("link", { name: "Erase personal data" }));
await second.locator("#input-confirmation").fill("11222333000181");
await second.locator("form.form button.primary").click();
await second.getByText("What you typed to confirm is another text.").waitFor();
await check(second, "erasure not confirmed");
await second.locator("#input-confirmation").fill("33.444.555/0001-81");
await second.locator("form.form button.primary").click();
await second.waitForURL(/done=1$/);
await check(second, "personal data erased");
console.log("- personal data");

// An operation's page changes without being loaded again, also while its reader is in it: the focus stays where it was, or is on
// the page's content when what had it has gone.
const live = await offer("NF-903");
await second.goto(`${ready.platformUrl}/console/operations/${live}`);
const history = second.getByRole("region", { name: "History" });
const focused = () => second.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.id);
await history.click({ position: { x: 4, y: 4 } });
expect((await focused()) === "History", "a click on the history does not focus it");
await ask("POST", `${platform}/operations/${live}/request`, token);
await second.locator(".head .badge[title=TO_APPROVE]").waitFor();
expect((await focused()) === "History", `the focus went to ${await focused()}`);
const cancel = second.locator(".head a[href$='/approve']");
await cancel.focus();
await ask("POST", `${platform}/operations/${live}/approve`, token);
await second.locator(".head .badge[title=IN_ANALYSIS]").waitFor();
expect((await cancel.count()) === 0 && (await focused()) === "main", `the focus went to ${await focused()}`);
console.log("- what changes is shown without loading");

// The server is away for a moment: the page says that it may be old, and that it is not any more.
const ofLive = `**/console/operations/${live}`;
const old = second.getByText("What you see may be old");
await second.route(ofLive, (route) => route.fulfill({ status: 503, body: "" }));
await old.waitFor();
await check(second, "may be old");
await second.unroute(ofLive);
await old.waitFor({ state: "hidden" });
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
