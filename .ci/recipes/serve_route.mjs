// Serves a route handler as its framework would: serve_route.mjs MODULE PORT

import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const { POST } = await import(pathToFileURL(process.argv[2]));

const server = createServer(async (request, response) => {
  const { headers } = request;
  const incoming = new Request(`http://${headers.host}${request.url}`, {
    method: "POST",
    headers: Object.entries(headers),
    body: request,
    duplex: "half",
  });
  const answered = POST(incoming).catch((error) => (console.error(error), { status: 500 }));
  response.writeHead((await answered).status).end();
});
server.listen(Number(process.argv[3]), "127.0.0.1");
