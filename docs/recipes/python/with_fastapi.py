"""The receiver in FastAPI: uvicorn with_fastapi:app"""

import json
import os

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from verify import refusal

SECRETS = os.environ["WEBHOOK_SECRET"].split(",")
MAX_BODY = 1024 * 1024

app = FastAPI()


@app.post("/webhooks")
async def receive(request: Request):
    # Request, and no model or `Body()` as argument: those get what was parsed.
    body = b""
    # request.body() takes as many bytes as a stranger sends.
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return Response(status_code=413)
    reason = refusal(SECRETS, request.headers.get("x-service-signature"), body)
    if reason:
        print("refused:", reason)
        return Response(status_code=400)
    # What waits for a database does not belong into the event loop.
    await run_in_threadpool(handle, json.loads(body))
    return Response(status_code=204)


def handle(event):
    print(event["type"], event["id"])  # here: effect and id in one transaction, as in receive.py
