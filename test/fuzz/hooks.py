"""The credentials of every request that schemathesis makes: a token in IRIS_FUZZ_BEARER, else a cookie in IRIS_FUZZ_COOKIE, else the signature
of an application. With a token in IRIS_FUZZ_BEARER, which may only read, no change may succeed."""
import base64
import hashlib
import hmac
import os
import time

import requests
import schemathesis


READER = os.environ.get("IRIS_FUZZ_BEARER")


class Signed(requests.auth.AuthBase):
    def __call__(self, request):
        if READER:
            request.headers["Authorization"] = "Bearer " + READER
            return request
        cookie = os.environ.get("IRIS_FUZZ_COOKIE")
        if cookie:
            request.headers["Cookie"] = "iris-auth=" + cookie
            request.headers["X-CSRF-TOKEN"] = os.environ["IRIS_FUZZ_TOKEN"]
            return request
        app, key = os.environ["IRIS_FUZZ_APP"], os.environ["IRIS_FUZZ_KEY"]
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        text = b"%d %s %s %s" % (time.time() // 5, request.method.encode(), request.path_url.encode(), body)
        digest = base64.urlsafe_b64encode(hmac.new(key.encode(), text, hashlib.sha512).digest()).decode()
        request.headers["Authorization"] = f"hmac {app}:{digest}"
        return request


schemathesis.auth.set_from_requests(Signed())


if READER:

    @schemathesis.check
    def no_change_succeeds(ctx, response, case):
        if response.request.method not in ("GET", "HEAD", "OPTIONS") and 200 <= response.status_code < 300:
            raise AssertionError(f"{response.request.method} {case.path} with a token that may only read was answered with {response.status_code}")
