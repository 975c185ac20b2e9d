"""A proxy in front of the API that loses the first answer and refuses the second request."""

import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer


class LossyProxy:
    """`seen` lists the outcome of each request."""

    def __init__(self, target, changed=None):
        """`changed` makes another body of each one in place of losing any, and the caller repeats at once."""
        self.seen = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.pass_on(None)

            def do_POST(self):
                self.pass_on(self.rfile.read(int(self.headers["content-length"])))

            def pass_on(self, body):
                if len(proxy.seen) == 1 and not changed:
                    proxy.seen.append("503")
                    return self.answer(503, b'{"errors":[{"code":"SERVICE_UNAVAILABLE","message":""}]}', {"Retry-After": "1"})
                names = ("Authorization", "Content-Type", "Idempotency-Key")
                headers = {name: self.headers[name] for name in names if self.headers[name]}
                request = urllib.request.Request(target + self.path, data=body, headers=headers)
                with urllib.request.urlopen(request) as answer:
                    if changed:
                        proxy.seen.append("changed")
                        return self.answer(answer.status, changed(answer.read()), {**answer.headers, "Retry-After": "0"})
                    if not proxy.seen:
                        # Done, but the caller gets no answer.
                        proxy.seen.append("answer lost")
                        self.close_connection = True
                        return None
                    proxy.seen.append("passed")
                    self.answer(answer.status, answer.read(), answer.headers)

            def answer(self, status, body, headers):
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in ("content-length", "connection", "date"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
