"""The Python client of the document with forms: an offer with its invoice file, in the sandbox."""

import datetime
import io
import json
import os
import urllib.request
import uuid

from preauth_files_api import AuthenticatedClient
from preauth_files_api.api.pre_authorizations import create_pre_authorization
from preauth_files_api.models import CreatePreAuthorizationForm, ErrorBody, PreAuthorization
from preauth_files_api.types import File

PDF = b"%PDF-1.7\n" + bytes(range(256)) + b"\n%%EOF\n"

with open(os.environ["PREAUTH_READY_FILE"]) as file:
    sandbox = json.load(file)
client = AuthenticatedClient(base_url=sandbox["baseUrl"], token=sandbox["apiKey"])


def create(content):
    number = f"FILE-{uuid.uuid4().hex[:8]}"
    due_date = datetime.date.today() + datetime.timedelta(days=30)
    offer = CreatePreAuthorizationForm(
        supplier=json.dumps({"cnpj": sandbox["supplierCnpj"], "email": "financeiro@fornecedor.example.com"}),
        invoice=json.dumps({"amount": 1234567.89, "dueDate": due_date.isoformat(), "number": number}),
        external_reference=number,
        invoice_file=File(payload=io.BytesIO(content), file_name="nota.pdf", mime_type="application/pdf"),
    )
    return create_pre_authorization.sync(client=client, body=offer)


created = create(PDF)
assert isinstance(created, PreAuthorization) and created.invoice.amount == 1234567.89, created
stored = urllib.request.Request(
    f"{sandbox['platformUrl']}/api/platform/v1/operations/{created.id}/invoice-file",
    headers={"Authorization": f"Bearer {sandbox['platformToken']}"},
)
with urllib.request.urlopen(stored) as answer:
    assert answer.read() == PDF, "byte for byte"

refused = create(b"no PDF at all")
assert isinstance(refused, ErrorBody) and refused.errors[0].code == "INVALID_FILE_TYPE", refused

print("python: offered with a file, and refused with another")
