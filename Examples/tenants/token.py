# SPDX-License-Identifier: MIT
"""Makes a token for clusterd (JWT, HS256), valid for ten years unless the claims say otherwise.

Usage: token.py KEYFILE CLAIMS
"""
import base64, hashlib, hmac, json, sys, time


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


with open(sys.argv[1], "rb") as file:
    key = file.read()
claims = {"exp": int(time.time()) + 10 * 365 * 86400, **json.loads(sys.argv[2])}
message = encoded(b'{"alg":"HS256","typ":"JWT"}') + "." + encoded(json.dumps(claims).encode())
print(message + "." + encoded(hmac.new(key, message.encode(), hashlib.sha256).digest()))
