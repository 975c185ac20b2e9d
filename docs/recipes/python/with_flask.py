"""The receiver in Flask: flask --app with_flask run"""

import json
import os

from flask import Flask, request

from verify import refusal

SECRETS = os.environ["WEBHOOK_SECRET"].split(",")

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024


@app.post("/webhooks")
def receive():
    # The bytes. request.json would parse them before the signature is verified.
    body = request.get_data()
    reason = refusal(SECRETS, request.headers.get("x-service-signature"), body)
    if reason:
        print("refused:", reason)
        return "", 400
    event = json.loads(body)
    print(event["type"], event["id"])  # here: effect and id in one transaction, as in receive.py
    return "", 204
