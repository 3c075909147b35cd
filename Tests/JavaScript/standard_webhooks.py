"""Signs and verifies deliveries by the package standardwebhooks of PyPI, an implementation that is not ours.

Reads a list of JSON from the standard input, and writes what it made of each: for {secret, id, timestamp, body} the signature, for
{secrets, headers, body} whether a secret verifies it.
"""

import datetime
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def sign(secret, id, timestamp, body):
    return Webhook(secret).sign(id, datetime.datetime.fromtimestamp(timestamp, datetime.UTC), body)


def is_verified(secrets, headers, body):
    for secret in secrets:
        try:
            Webhook(secret).verify(body, headers)
            return True
        except (WebhookVerificationError, ValueError):
            # A signature without a comma, or one that is no base64, is a ValueError.
            continue
    return False


json.dump([sign(**one) if "secret" in one else is_verified(**one) for one in json.load(sys.stdin)], sys.stdout)
