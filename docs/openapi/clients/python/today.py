"""The generated Python client against a sandbox: create, replay, list, get, cancel, errors, many at once,
and events on request."""

import datetime
import json
import os
import uuid

from preauth_api import AuthenticatedClient
from preauth_api.api.events import list_events
from preauth_api.api.pre_authorizations import (
    cancel_pre_authorization,
    create_pre_authorization,
    create_pre_authorizations,
    get_pre_authorization,
    list_pre_authorizations,
    validate_pre_authorization,
)
from preauth_api.models import (
    BatchResults,
    CreateBatch,
    CreateBatchItem,
    CreateInvoice,
    CreatePreAuthorization,
    CreateSupplier,
    ErrorBody,
    EventList,
    ListEventsTypeItem,
    ListPreAuthorizationsStatusItem,
    PreAuthorization,
    PreAuthorizationList,
    Validation,
)

with open(os.environ["PREAUTH_READY_FILE"]) as file:
    sandbox = json.load(file)
client = AuthenticatedClient(base_url=sandbox["baseUrl"], token=sandbox["apiKey"])

number = f"PY-{uuid.uuid4().hex[:8]}"
offer = CreatePreAuthorization(
    supplier=CreateSupplier(cnpj=sandbox["supplierCnpj"], email="financeiro@fornecedor.example.com"),
    invoice=CreateInvoice(
        amount=1234567.89,
        due_date=datetime.date.today() + datetime.timedelta(days=30),
        number=number,
    ),
    external_reference=number,
)

created = create_pre_authorization.sync_detailed(client=client, body=offer, idempotency_key=f"key-{number}")
assert created.status_code == 201, created
assert isinstance(created.parsed, PreAuthorization)
assert created.parsed.status == "IN_PRE_AUTH"
assert created.parsed.invoice.amount == 1234567.89
assert "idempotency-replayed" not in created.headers

replayed = create_pre_authorization.sync_detailed(client=client, body=offer, idempotency_key=f"key-{number}")
assert replayed.headers["idempotency-replayed"] == "true"
assert replayed.content == created.content

page = list_pre_authorizations.sync(
    client=client, external_reference=number, status=[ListPreAuthorizationsStatusItem.IN_PRE_AUTH]
)
assert isinstance(page, PreAuthorizationList)
assert [each.id for each in page.data] == [created.parsed.id], page
assert page.pagination.total == 1

found = get_pre_authorization.sync(client=client, id=created.parsed.id)
assert found == created.parsed, found

cancelled = cancel_pre_authorization.sync(client=client, id=created.parsed.id)
assert isinstance(cancelled, PreAuthorization) and cancelled.status == "REPROVED", cancelled

nobody = get_pre_authorization.sync_detailed(client=client, id=999_999)
assert nobody.status_code == 404 and isinstance(nobody.parsed, ErrorBody)
assert nobody.parsed.errors[0].code == "ANTICIPATION_NOT_FOUND"

offer.invoice.amount = 499
refused = create_pre_authorization.sync_detailed(client=client, body=offer)
assert refused.status_code == 400 and isinstance(refused.parsed, ErrorBody)
assert refused.parsed.errors[0].code == "VALIDATION_ERROR"
assert refused.parsed.details[0].field == "invoice.amount"
assert refused.headers["x-request-id"]

# Many at once, of which one is refused; and one that is only tried.
offer.invoice.amount = 500


def item(place, amount):
    body = CreatePreAuthorization.from_dict(offer.to_dict())
    body.invoice.amount, body.invoice.number = amount, f"{number}-{place}"
    return CreateBatchItem(idempotency_key=f"key-{number}-{place}", pre_authorization=body)


batch = CreateBatch(items=[item(0, 1000.5), item(1, 499), item(2, 2000)])
for is_replayed in (False, True):
    together = create_pre_authorizations.sync(client=client, body=batch)
    assert isinstance(together, BatchResults), together
    assert [(each.index, each.status) for each in together.results] == [(0, 201), (1, 400), (2, 201)]
    assert together.results[1].errors[0].code == "VALIDATION_ERROR"
    assert (together.results[0].replayed is True) == is_replayed
    assert together.results[2].pre_authorization.invoice.amount == 2000
tried = validate_pre_authorization.sync(client=client, body=item(3, 1000).pre_authorization)
assert isinstance(tried, Validation) and tried.valid and tried.supplier.registered, tried
tried = validate_pre_authorization.sync_detailed(client=client, body=item(0, 1000).pre_authorization)
assert tried.status_code == 409 and tried.parsed.errors[0].code == "PRE_AUTH_DUPLICATE_INVOICE"

# Events on request, two at a time.
seen, after = [], {}
while True:
    events = list_events.sync(client=client, limit=2, wait=1, **after)
    assert isinstance(events, EventList), events
    seen += [event.type_ for event in events.data]
    after = {"after": events.pagination.next_}
    if not events.pagination.has_more:
        break
created_event, revoked = "pre_authorization.created", "pre_authorization.revoked"
assert seen == [created_event, revoked, created_event, created_event], seen
only = list_events.sync(client=client, type_=[ListEventsTypeItem(revoked)])
assert [event.type_ for event in only.data] == [revoked]
wrong = list_events.sync_detailed(client=client, after="not-a-cursor")
assert wrong.status_code == 400 and wrong.parsed.details[0].field == "after"

print("python: created, replayed, listed, got, cancelled, refused, in a batch, tried, events")
