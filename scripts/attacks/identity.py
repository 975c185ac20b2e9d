"""Who is who: texts that look alike, branches of one company, names that strangers give."""

from attack import HARMLESS, REFUSED, attack, expect
from service import cnpj, code, next_number

# One of each kind that does not show: format, filler, variation selector, tag, bidirectional, separators, controls;
# then symbols that are drawn blank, and spaces too narrow to be seen.
INVISIBLE = "\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u200e\u202e\u2028\u2029\u2060\u2065\u3164\ufe0f\ufeff\uffa0\x00\x1b\x7f\x85\U000e0041\U000e0100" \
    "\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159\u2006\u2009\u200a\u202f\u205f"


@attack(1, "one invoice under numbers that look alike")
def look_alike_numbers(service):
    tenant, supplier = service.tenant(), cnpj(next_number())
    expect(tenant.offer(supplier=supplier, number="T4-77")[0] == 201, "no offer can be made")
    for character in INVISIBLE:
        status, answer = tenant.offer(supplier=supplier, number=f"T4{character}-77")
        expect(status == 400, f"U+{ord(character):04X}: {status} {code(answer)}")
    return REFUSED


@attack(1, "one invoice under two spellings of one letter")
def two_spellings(service):
    tenant, supplier = service.tenant(), cnpj(next_number())
    expect(tenant.offer(supplier=supplier, number="S\u00e9rie 1")[0] == 201, "no offer can be made")
    status, answer = tenant.offer(supplier=supplier, number="Se\u0301rie 1")
    expect(status == 409, f"{status} {code(answer)}")
    return REFUSED


@attack(1, "one invoice under spaces that look alike")
def other_spaces(service):
    tenant, supplier = service.tenant(), cnpj(next_number())
    expect(tenant.offer(supplier=supplier, number="NF 77")[0] == 201, "no offer can be made")
    for space in ("\u00a0", "\u1680", "\u2000", "\u2003", "\u3000", "  ", " \u00a0"):
        status, answer = tenant.offer(supplier=supplier, number=f"NF{space}77")
        expect(code(answer) == "PRE_AUTH_DUPLICATE_INVOICE", f"{space!r}: {status} {code(answer)}")
    return REFUSED


@attack(1, "names and references with characters that do not show")
def invisible_names(service):
    tenant = service.tenant()
    for character in "\u200b\u202e\u3164":
        for text in ({"name": f"Banco{character} Oficial"}, {"contact": f"Rui{character}"}):
            status, answer = tenant.offer(**text)
            expect(status == 400, f"{text}: {status} {code(answer)}")
        body = {**tenant.body(), "externalReference": f"PED{character}1"}
        status, answer = tenant.call("POST", body=body)
        expect(status == 400, f"reference: {status} {code(answer)}")
    return REFUSED


@attack(2, "an advance to oneself through a branch that nobody registered")
def own_branch(service):
    tenant = service.tenant()
    for supplier in (tenant.cnpj, cnpj(tenant.root, 2), cnpj(tenant.root, 9999)):
        status, answer = tenant.offer(supplier=supplier)
        expect(code(answer) == "PRE_AUTH_SUPPLIER_SELF", f"{supplier}: {status} {code(answer)}")
    return REFUSED


@attack(2, "a blocked supplier comes back as a branch")
def blocked_branch(service):
    tenant, root = service.tenant(), next_number()
    service.platform("PUT", f"{tenant.path}/blocked-suppliers/{cnpj(root, 3)}")
    for branch in (1, 2, 3):
        status, answer = tenant.offer(supplier=cnpj(root, branch))
        expect(code(answer) == "PRE_AUTH_SUPPLIER_BLOCKED", f"branch {branch}: {status} {code(answer)}")
    return REFUSED


@attack(3, "a stranger names a supplier for everybody")
def first_named(service):
    stranger, tenant, supplier = service.tenant(), service.tenant(), cnpj(next_number())
    stranger.offer(supplier=supplier, name="Nome do estranho", email="estranho@mal.example")
    status, answer = tenant.offer(supplier=supplier, name="Nome verdadeiro")
    expect(status == 201, f"the next company's offer: {status} {code(answer)}")
    expect(answer["supplier"]["name"] == "Nome verdadeiro", f"the next company sees {answer['supplier']['name']}")
    _, listed = tenant.call("GET")
    expect("estranho" not in str(listed), "the list shows the stranger's name")
    return HARMLESS


@attack(3, "a stranger learns from an offer whom others have invited")
def invited_by_others(service):
    tenant, stranger, supplier = service.tenant(), service.tenant(), cnpj(next_number())
    tenant.offer(supplier=supplier, name="Nome em segredo")
    body = stranger.body(supplier=supplier)
    del body["supplier"]["name"], body["supplier"]["contactName"]
    status, answer = stranger.call("POST", body=body)
    expect(code(answer) == "PRE_AUTH_SUPPLIER_NAME_REQUIRED", f"{status} {code(answer)}")
    return REFUSED


@attack(3, "a stranger's offer prevents that a supplier is registered")
def registration_prevented(service):
    stranger, supplier = service.tenant(), cnpj(next_number())
    stranger.offer(supplier=supplier, name="Nome do estranho")
    body = {"cnpj": supplier, "name": "Nome certo", "kind": "SUPPLIER"}
    status, answer = service.platform("POST", "/companies", body)
    expect(status == 201, f"{status} {code(answer)}")
    return HARMLESS
