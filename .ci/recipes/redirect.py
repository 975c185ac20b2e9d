"""An address that leads every request to another one."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Redirect:
    """`asked` has the paths of its requests, `elsewhere` those that came to the other address."""

    def __init__(self):
        self.asked, self.elsewhere = [], []
        self.other = HTTPServer(("127.0.0.1", 0), self.handler(self.elsewhere, None))
        target = f"http://localhost:{self.other.server_port}"
        self.server = HTTPServer(("127.0.0.1", 0), self.handler(self.asked, target))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @staticmethod
    def handler(seen, target):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                self.send_response(307 if target else 500)
                if target:
                    self.send_header("Location", target + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.do_GET()

            def log_message(self, *_):
                pass

        return Handler

    def __enter__(self):
        for server in (self.server, self.other):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in (self.server, self.other):
            server.shutdown()
