"""Asks everything that oncallclient can ask, of the demo data, as scripts in the wild do."""
import json
import sys
import time

import requests
from oncallclient import OncallClient

url, app, key, other, other_key = sys.argv[1:6]
client = OncallClient(app, key, url)
now = int(time.time())

user = client.get_user("demo")
assert user["name"] == "demo" and user["contacts"]["email"] and user["active"] == 1 and isinstance(user["id"], int), user
assert client.get_user_teams("demo") == ["demo", "storage"], client.get_user_teams("demo")

team = client.get_team("demo")
assert team["name"] == "demo" and team["scheduling_timezone"] == "UTC", team
assert {"demo", "ana", "ben", "chloe"} <= set(team["users"]) and {"name": "demo"} in team["admins"], team
assert "checkout" in team["services"] and "on call" in team["rosters"], team
assert {"demo", "storage"} <= set(client.all_teams("ignored"))

roles = {r["name"]: r for r in client.all_roles()}
assert {"primary", "secondary", "shadow", "manager", "vacation", "unavailable"} <= set(roles) and roles["primary"]["id"] == 1, roles

everybody = client.get_oncall_now("demo")
assert {e["role"] for e in everybody} == {"primary", "secondary"}, everybody
(primary,) = client.get_oncall_now("demo", role="primary")
assert primary["start"] <= now < primary["end"] and primary["team"] == "demo" and "@" in primary["contacts"]["email"], primary
assert client.get_oncall_now("no such team") == []

events = client.get_events(team="demo", role="primary", end__ge=now, note=None)
assert events and all(e["team"] == "demo" and e["role"] == "primary" and e["end"] >= now for e in events), events
assert primary["user"] in {e["user"] for e in events if e["start"] <= now < e["end"]}, events
assert [e["start"] for e in events] == sorted(e["start"] for e in events)

week = 7 * 86400
free = client.get_suggestion("demo", "on call", "primary", now + 20 * week, now + 21 * week)
assert free["user"] in ("demo", "ana", "ben", "chloe"), free

# It signs the text of a body, so what is sent must be a text.
shift = {"team": "demo", "role": "shadow", "user": "ana", "start": now + week, "end": now + week + 3600}
created = client.post(client.url + "events", data=json.dumps(shift))
assert created.status_code == 201, created.text
(shadow,) = client.get_events(id=created.json())
assert shadow["user"] == "ana" and shadow["role"] == "shadow", shadow
changed = client.put(client.url + "events/%d" % shadow["id"], data=json.dumps({"note": "déjà ☃"}))
assert changed.status_code == 200, changed.text
assert client.get_events(id=shadow["id"])[0]["note"] == "déjà ☃"
entries = client.get_audit(team="demo", owner=app)
assert {"event_created", "event_edited"} <= {e["action"] for e in entries}, entries


def refused(status, ask):
    try:
        ask()
    except requests.HTTPError as e:
        assert e.response.status_code == status, e.response.text
        assert e.response.json()["title"], e.response.text
        return
    raise SystemExit("status %d was expected" % status)


refused(404, lambda: client.get_team("no such team"))
refused(401, lambda: OncallClient(app, "wrong", url).get_team("demo"))
refused(403, lambda: OncallClient(other, other_key, url).get_team("demo"))
print("oncallclient got all its answers")
