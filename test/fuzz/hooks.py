"""Signs every request that schemathesis makes as an application does; with a cookie in IRIS_FUZZ_COOKIE, none."""
import base64
import hashlib
import hmac
import os
import time

import requests
import schemathesis


class Signed(requests.auth.AuthBase):
    def __call__(self, request):
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
