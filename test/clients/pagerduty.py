"""Sends events with pdpyras, as scripts in the wild do."""
import sys

from pdpyras import EventsAPISession, PDClientError

url, key = sys.argv[1:3]
session = EventsAPISession(key)
session.url = url
made = session.trigger("Disk 95 % on db7", "db7", severity="critical", custom_details={"used_pct": 95},
                       links=[{"href": "https://wiki.example.net/disk", "text": "Runbook"}])
assert made, "a trigger without a key is answered with one"
assert session.trigger("Disk 96 % on db7", "db7", dedup_key=made) == made
assert session.acknowledge(made) == made
assert session.resolve(made) == made
stranger = EventsAPISession("0" * 32)
stranger.url = url
try:
    stranger.resolve(made)
except PDClientError as e:
    assert e.response.status_code == 400 and "unknown" in str(e.response.json()["errors"]), e.response.text
else:
    raise SystemExit("an unknown key was accepted")
print("pdpyras got the answers that it expects")
