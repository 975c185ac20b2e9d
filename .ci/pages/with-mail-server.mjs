// Runs a command beside a mail server of its own, which the sandbox in it is to use:
//
//   node with-mail-server.mjs scripts/with-sandbox node crawl.mjs
//
// It refuses the mails of `refused@…` for ever and those of `later@…` for now, and forgets all others.
import { spawn } from "node:child_process";
import { createServer } from "node:net";

function greet(socket) {
  const say = (line) => socket.write(`${line}\r\n`);
  let isMail = false;
  let rest = "";
  say("220 mail server of a test");
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    const lines = (rest + bytes).split("\r\n");
    rest = lines.pop();
    for (const line of lines) {
      if (isMail) {
        isMail = line !== ".";
        if (!isMail) say("250 taken");
      } else if (/^DATA/i.test(line)) {
        isMail = true;
        say("354 go on");
      } else if (/^RCPT.*<refused@/i.test(line)) say("550 no such mailbox");
      else if (/^RCPT.*<later@/i.test(line)) say("451 try again later");
      else if (/^QUIT/i.test(line)) {
        say("221 bye");
        socket.end();
      } else say("250 fine");
    }
  });
}

const server = createServer(greet);
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const env = {
  ...process.env, PREAUTH_MAIL_SMTP_HOST: "127.0.0.1", PREAUTH_MAIL_SMTP_PORT: String(server.address().port),
  PREAUTH_MAIL_SMTP_TLS: "none", PREAUTH_MAIL_FROM: "Plataforma <avisos@plataforma.example.com>",
};
const [command, ...words] = process.argv.slice(2);
const child = spawn(command, words, { env, stdio: "inherit" });
process.exitCode = await new Promise((done) => child.on("exit", (code) => done(code ?? 1)));
server.close();
