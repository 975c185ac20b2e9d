// The receiver in Express: with_express.mjs PORT

import express from "express";
import { refusal } from "./verify.mjs";

const SECRETS = process.env.WEBHOOK_SECRET.split(",");

const app = express();

// Before app.use(express.json()), which would take the bytes. `type` lets any content type in: by
// default express.raw() takes application/octet-stream alone.
app.post("/webhooks", express.raw({ type: () => true, limit: "1mb" }), (request, response) => {
  // Without any body there is no Buffer.
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const reason = refusal(SECRETS, request.get("x-service-signature"), body);
  if (reason) {
    console.log(`refused: ${reason}`);
    return response.sendStatus(400);
  }
  const event = JSON.parse(body.toString("utf8"));
  console.log(event.type, event.id); // here: effect and id in one transaction, as in receive.mjs
  response.sendStatus(204);
});

app.use(express.json()); // for all other routes

app.listen(Number(process.argv[2]), "127.0.0.1");
