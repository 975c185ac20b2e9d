"""The receiver in Django, in one file: with_django.py runserver"""

import json
import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from verify import refusal

SECRETS = os.environ["WEBHOOK_SECRET"].split(",")

settings.configure(
    ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], DATA_UPLOAD_MAX_MEMORY_SIZE=1024 * 1024
)


# The signature is what proves where the request comes from; the service has no CSRF token.
@csrf_exempt
@require_POST
def receive(request):
    # The bytes. Where the request was read as a stream before, this raises an exception.
    body = request.body
    reason = refusal(SECRETS, request.headers.get("x-service-signature"), body)
    if reason:
        print("refused:", reason)
        return HttpResponse(status=400)
    event = json.loads(body)
    print(event["type"], event["id"])  # here: effect and id in one transaction, as in receive.py
    return HttpResponse(status=204)


# Register the address as it stands here: a redirect to one with a slash is a failed delivery.
urlpatterns = [path("webhooks", receive)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
