"""The generated Python client against the server of tomorrow: nothing that is new breaks it."""

import os

import httpx

from preauth_api import AuthenticatedClient
from preauth_api.api.events import list_events
from preauth_api.api.pre_authorizations import (
    cancel_pre_authorization,
    create_pre_authorizations,
    get_pre_authorization,
    list_pre_authorizations,
)
from preauth_api.models import CreateBatch, ErrorBody, EventEnvelope

base_url = os.environ["PREAUTH_BASE_URL"]
client = AuthenticatedClient(base_url=base_url, token="any", raise_on_unexpected_status=True)

operation = get_pre_authorization.sync(client=client, id=1)
assert operation.status == "RENEGOTIATING"
assert operation.expires_at is None and operation.invoice.number is None
assert operation.invoice.amount == 1234567.89
assert operation["programme"] == {"tier": "GOLD", "since": 2027}, "what is new can be read"
assert operation.to_dict()["programme"]["tier"] == "GOLD", "and goes on"

page = list_pre_authorizations.sync(client=client)
assert page.data == [operation] and page.pagination["nextCursor"]

refusal = cancel_pre_authorization.sync(client=client, id=1)
assert isinstance(refusal, ErrorBody) and refusal.errors[0].code == "PROGRAMME_CLOSED"

event = EventEnvelope.from_dict(httpx.get(f"{base_url}/event").json())
assert event.type_ == "anticipation.renegotiated"
assert event.data["origin"] == "MARKETPLACE" and event["attempt"] == 1

together = create_pre_authorizations.sync(client=client, body=CreateBatch(items=[]))
made, refused = together.results
assert made.pre_authorization == operation and made["programme"]["tier"] == "GOLD"
assert (refused.status, refused.errors[0].code) == (451, "PROGRAMME_CLOSED")

events = list_events.sync(client=client)
assert events.data == [event] and events["summary"]["tier"] == "GOLD"
assert len(events.pagination.next_) == 256 and not events.pagination.has_more
assert events.pagination["newest"]

print("python: a new field, status, code and type of event are accepted, in batches and lists of events, too")
