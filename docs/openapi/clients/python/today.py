"""The generated Python client against a sandbox: create, replay, list, get, cancel, errors."""

import datetime
import json
import os
import uuid

from preauth_api import AuthenticatedClient
from preauth_api.api.pre_authorizations import (
    cancel_pre_authorization,
    create_pre_authorization,
    get_pre_authorization,
    list_pre_authorizations,
)
from preauth_api.models import (
    CreateInvoice,
    CreatePreAuthorization,
    CreateSupplier,
    ErrorBody,
    ListPreAuthorizationsStatusItem,
    PreAuthorization,
    PreAuthorizationList,
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

print("python: created, replayed, listed, got, cancelled, refused")
