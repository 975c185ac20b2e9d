"""What a schema cannot say about the APIs, and the words of the descriptions do."""

import datetime
import re
from urllib.parse import unquote

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

HOST = re.compile(r"^\s*(https?:)?//[^/?#]*", re.IGNORECASE)
REPEATED = re.compile(r"^(\w)\1{13}$", re.IGNORECASE)
NUMERIC = re.compile(r"^[0-9]+(\.[0-9]+)?$")
# Amounts that may be numeric strings.
AMOUNTS = {"amount", "netAmount", "totalAmount", "maxInvoiceAmount"}


def always(_):
    return True


def is_repeated(text):
    # In a path it is escaped.
    return REPEATED.match(re.sub("[ ./-]", "", unquote(str(text)))) is not None


def is_blank(text):
    return not str(text).strip()


def has_edges(text):
    return str(text) != str(text).strip()


def is_beyond_ffff(text):
    return any(ord(character) > 0xFFFF for character in str(text))


def is_late_day(text):
    return re.search(r"-(29|30|31)$", str(text)) is not None


def has_great_exponent(number):
    return isinstance(number, float) and not 1e-16 <= abs(number) <= 1e32


# The messages with which a value is refused that its schema allows, and for which values that is right.
STATED_IN_WORDS = [
    # The check digits, and that it is not one character throughout.
    (r"tem dígitos verificadores incorretos\.$", always),
    (r"deve ser um CNPJ de 14 caracteres, com ou sem máscara\.$", is_repeated),
    # Texts are not blank, and are measured without the white space around them.
    (r"não pode estar em branco\.$", is_blank),
    (r"deve ter no mínimo \d+ caracteres\.$", has_edges),
    # Dialects of regular expressions have different escapes for these characters, so that patterns leave them out.
    (r"contém um caractere invisível ou que inverte a direção do texto\.$", is_beyond_ffff),
    # Not each month has them.
    (r"^(since|until) não existe no calendário\.$", is_late_day),
    # An exponent is at most 32.
    (r"não é um número decimal válido, como", has_great_exponent),
    # Only the service writes such a text, and only for the same other fields.
    (r"^after deve ser o next de uma resposta anterior", always),
    # These depend on other fields,
    (r"não pode exceder invoice\.amount menos 500\.$", always),
    (r"^cnpj de uma construtora deve ter apenas dígitos\.$", always),
    (r"^since não pode ser posterior a until\.$", always),
    (r"^O intervalo de since a until pode ter no máximo", always),
    (r"^(since|until) deve (ser um mês no formato AAAA-MM|ter o formato AAAA-MM-DD)\.$", always),
    # on whether there is an endpoint,
    (r"^events é obrigatório\.$", always),
    # and on the time.
    (r"^validUntil deve ser um instante no futuro\.$", always),
]


# Refusals that come before that of a field, or have its place.
BEFORE_FIELDS = {
    "IDEMPOTENCY_KEY_REUSED",
    "INVALID_FILE_TYPE",
    "INVOICE_FILE_TYPE",
    "ENDPOINT_URL_REFUSED",
}

# The cursors that answers gave.
cursors = set()


@schemathesis.hook
def after_call(context, case, response):
    if case.operation.path.endswith("/events") and response.status_code == 200:
        cursors.add(response.json()["pagination"]["next"])


@schemathesis.hook
def before_call(context, case, kwargs):
    query = case.query or {}
    if case.operation.path.endswith("/events") and is_positive(case) and query.get("after") not in cursors:
        # Only the service writes a cursor.
        query.pop("after", None)
    wait = str(query.get("wait", ""))
    if wait.isdigit() and 1 < int(wait) <= 30:
        # No event comes while it waits.
        query["wait"] = 0
    if isinstance(case.body, dict):
        case.body = mended(case.body)
        url = case.body.get("url")
        if isinstance(url, str):
            # No name is looked up, and no delivery leaves this machine.
            case.body["url"] = HOST.sub("http://127.0.0.1:9", url)


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def mended(value, name=None):
    if isinstance(value, dict):
        return {name: mended(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [mended(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        # A schema takes 7.0 for a whole number; the APIs ask for 7.
        return int(value)
    if name == "dueDate" and has_passed(value):
        # The descriptions' example will have passed one day, and most days drawn at random have.
        return (datetime.date.today() + datetime.timedelta(days=30)).isoformat()
    return value


def has_passed(value):
    try:
        return datetime.date.fromisoformat(value) < datetime.date.today() + datetime.timedelta(days=6)
    except (TypeError, ValueError):
        return False


@schemathesis.hook
def filter_failure(context, failure, case, response):
    if response is not None and response.status_code == 503 and "retry-after" in response.headers:
        # The machine is busy with other checks.
        return False
    if isinstance(failure, RejectedPositiveData):
        return not is_stated_in_words(case, response)
    if isinstance(failure, AcceptedNegativeData):
        return not (is_refused(response) or has_numeric_text(case.body))
    return True


def is_stated_in_words(case, response):
    if response.status_code != 400:
        return False
    answer = response.json()
    if answer["errors"][0]["code"] == "BAD_REQUEST":
        return has_control_in_part(case)
    return are_stated(answer, case.body, case.query, case.path_parameters)


def are_stated(answer, *places):
    """Whether each of the problems is."""
    errors, details = answer["errors"], answer.get("details", [])
    return len(errors) == len(details) and all(
        any(
            re.search(message, error["message"]) and is_right(value_at(detail["field"], places))
            for message, is_right in STATED_IN_WORDS
        )
        for error, detail in zip(errors, details)
    )


def value_at(field, places):
    for value in places:
        for name in field.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def has_control_in_part(case):
    """No header can have such a name of a part."""
    is_form = case.media_type == "multipart/form-data" and isinstance(case.body, dict)
    return is_form and any(re.search(r"[\x00-\x1f\x7f]", name) for name in case.body)


def is_refused(response):
    if response.status_code == 200:
        # A batch is answered 200, and each item as by itself.
        return any(each["status"] == 400 for each in response.json().get("results", []))
    return response.status_code in (409, 422) and response.json()["errors"][0]["code"] in BEFORE_FIELDS


def has_numeric_text(value):
    if isinstance(value, list):
        return any(has_numeric_text(each) for each in value)
    return isinstance(value, dict) and any(
        (name in AMOUNTS and isinstance(each, str) and NUMERIC.match(each)) or has_numeric_text(each)
        for name, each in value.items()
    )


@schemathesis.check
def items_of_a_batch(ctx, response, case):
    """What is described is accepted in a batch, too."""
    if case.operation.path.endswith("/batch") and is_positive(case):
        if response.status_code == 200:
            items, results = case.body["items"], response.json()["results"]
            assert len(items) == len(results), "one result for each item"
            for item, result in zip(items, results):
                is_refused = result["status"] not in (201, 409, 422)
                assert not is_refused or are_stated(result, item["preAuthorization"]), f"refused: {result}"
