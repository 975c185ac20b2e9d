"""A mail server that keeps what it gets, and refuses recipients of one domain with words of its own."""

import email
import email.policy
import socketserver
import threading

REFUSED_DOMAIN = "recusado.example"
SECRET_ADDRESS = "diretoria@segredo.example"


class Session(socketserver.StreamRequestHandler):
    def send(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self):
        recipients = []
        self.send("220 mail.example")
        for line in self.rfile:
            verb = line[:4].upper().strip()
            if verb in (b"EHLO", b"HELO"):
                self.send("250 mail.example")
            elif verb == b"RCPT" and REFUSED_DOMAIN.encode() in line:
                self.send(f"550 5.1.1 no such user, ask {SECRET_ADDRESS}")
            elif verb == b"RCPT":
                recipients.append(line.decode().split("<")[1].split(">")[0])
                self.send("250 ok")
            elif verb == b"DATA":
                self.send("354 go on")
                content = b"".join(iter(self.rfile.readline, b".\r\n"))
                mail = email.message_from_bytes(content, policy=email.policy.default)
                self.server.owner.mails += [(recipient, mail) for recipient in recipients]
                recipients = []
                self.send("250 kept")
            elif verb == b"QUIT":
                return self.send("221 bye")
            else:
                self.send("250 ok")


class Server:
    """`mails` holds pairs of recipient and mail."""

    def __init__(self):
        self.mails = []
        socketserver.ThreadingTCPServer.daemon_threads = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self.server.owner = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
