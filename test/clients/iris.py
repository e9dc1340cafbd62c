"""Uses Iris with irisclient as scripts in the wild do, and as the mobile app does through its relay, checks what arrives in the
mailbox, and prints the ids of the incidents that still page."""
import sys
import time
from urllib.parse import urlencode

import requests
from irisclient import IrisClient

url, app, key = sys.argv[1:4]
client = IrisClient(app=app, key=key, api_host=url)
v0 = client.url


def refused(words, **notification):
    try:
        client.notification(**notification)
    except ValueError as e:
        assert "400" in str(e) and words in str(e), e
    else:
        raise SystemExit(f"accepted, but should not be: {notification}")


def arrives(what, right):
    """Waits for letters in the mailbox of which right is true, and returns them."""
    until = time.monotonic() + 30
    while True:
        letters = [m for m in requests.get(url + "/dev/mailbox.json", timeout=10).json() if right(m)]
        if letters:
            return letters
        assert time.monotonic() < until, f"{what} does not arrive"
        time.sleep(0.2)


def incidents():
    ids = [client.incident("demo-plan", {"title": "disk ☃ full", "host": "db1"}) for _ in range(2)]
    assert all(isinstance(i, int) for i in ids), ids
    found = client.get(v0 + "incidents?id__in=" + ",".join(map(str, ids))).json()
    assert [i["id"] for i in found] == ids and found[0]["context"]["title"] == "disk ☃ full", found
    return ids


def dynamic_incident():
    plan = {"name": "clients-dynamic", "creator": "demo", "description": "whom the incident brings", "threshold_window": 900, "threshold_count": 10,
            "aggregation_window": 300, "aggregation_reset": 300,
            "steps": [[{"dynamic_index": 0, "priority": "low", "template": "demo-template", "wait": 600, "repeat": 0}]]}
    made = client.post(v0 + "plans", json=plan)
    assert made.status_code == 201 and isinstance(made.json(), int), made.text
    incident = client.incident("clients-dynamic", {"title": "dynamic"}, dynamic_targets=[{"role": "user", "target": "demo"}])
    assert isinstance(incident, int), incident
    arrives("the page of a dynamic plan", lambda m: m["incident_id"] == incident)
    try:
        client.incident("clients-dynamic", {"title": "dynamic"})
        raise SystemExit("a dynamic plan took an incident without targets")
    except requests.HTTPError as e:
        assert e.response.status_code == 400 and e.response.json()["title"] == "Invalid number of dynamic targets", e.response.text
    return incident


def notifications():
    note = client.notification
    assert note(role="user", target="demo", subject="by priority", priority="low", body="a *note*") is True
    [m] = arrives("a note by priority", lambda m: m["subject"].endswith("by priority"))
    assert m["mode"] == "email" and m["subject"] == f"[{app}] by priority" and "a *note*" in m["body"] and "<em>note</em>" in m["html"], m
    assert note(role="user", target="demo", subject="by mode", mode="sms", body="a text") is True
    [m] = arrives("a note by mode", lambda m: "by mode" in m["body"])
    assert m["mode"] == "sms" and m["body"].startswith(f"[{app}] by mode"), m
    assert note(role="user", target="demo", subject="in HTML", mode="email", email_html="<b>only</b> HTML") is True
    [m] = arrives("a note in HTML", lambda m: m["subject"].endswith("in HTML"))
    assert "<b>only</b> HTML" in m["html"], m
    assert note(role="user", target="demo", subject="by template", mode="email", template="demo-template", context={"title": "from a template ☃"}) is True
    arrives("a note by template", lambda m: "from a template ☃" in m["subject"] + m["body"])
    assert note(role="team", target="demo", subject="to the team", mode="email", template=None, body="to the team") is True
    arrives("a note to the team", lambda m: m["subject"].endswith("to the team"))
    assert note(role="oncall-primary", target="demo", subject="to who is on call", priority="medium", body="x") is True
    assert note(role="literal_target", target="list@example.com", subject="to an address", mode="email", body="x") is True
    [m] = arrives("a note to an address", lambda m: m["subject"].endswith("to an address"))
    assert "list@example.com" in m["to"], m


def several():
    to = [{"role": "user", "target": "demo"}, {"role": "literal_target", "target": "open@example.com"},
          {"role": "literal_target", "target": "secret@example.com", "bcc": True}, {"role": "user", "target": "nobody-of-that-name"}]
    body = {"target_list": to, "subject": "to several", "mode": "email", "body": "for all of you"}
    r = client.post(v0 + "notifications", json=body)
    assert r.status_code == 200 and r.json() == [], r.text
    arrives("a mail to several", lambda m: m["subject"].endswith("to several"))
    until = time.monotonic() + 30
    while len(got := arrives("mails to several", lambda m: m["subject"].endswith("to several"))) < 3:
        assert time.monotonic() < until, got
        time.sleep(0.2)
    assert len(got) == 3, got
    for bad, title in (({**body, "mode": "sms"}, "Invalid mode"), ({**body, "mode": None}, "Contact mode required for target list"),
                       ({**body, "target_list": [{"role": "user"}]}, "Malformed target list"), ({**body, "target_list": to[3:]}, "Request rejected by sender")):
        r = client.post(v0 + "notifications", json=bad)
        assert r.status_code == 400 and r.json()["title"] == title, r.text


def refusals():
    refused("INVALID", role="user", target="nobody-of-that-name", subject="x", priority="low", body="x")
    refused("Invalid priority", role="user", target="demo", subject="x", priority="loud", body="x")
    refused("Invalid mode", role="user", target="demo", subject="x", mode="fax", body="x")
    refused("body, template, and email_html are missing", role="user", target="demo", subject="x", mode="email")
    refused("INVALID", role="no-such-role", target="demo", subject="x", mode="email", body="x")
    for who in ({"app": app, "key": "wrong"}, {"app": "no-such-application", "key": key}):
        try:
            IrisClient(api_host=url, **who).incident("demo-plan", {})
            raise SystemExit(f"{who} was let in")
        except requests.HTTPError as e:
            assert e.response.status_code == 401 and "description" in e.response.json(), e.response.text


def mobile(ids):
    """What the mobile app asks through its relay, which only passes on."""
    for i in ids:
        arrives(f"a page of incident {i}", lambda m: m["incident_id"] == i)
    fields = "".join("&fields=" + f for f in ("id", "owner", "application", "plan", "created", "updated", "active", "title_variable_name", "context"))
    listed = client.get(f"{v0}incidents?target=demo&limit=50{fields}").json()
    mine = {i["id"]: i for i in listed}
    assert set(ids) <= set(mine), listed
    assert mine[ids[0]]["active"] == 1 and mine[ids[0]]["owner"] is None and mine[ids[0]]["title"] == "disk ☃ full", mine[ids[0]]
    one = client.get(f"{v0}incidents/{ids[0]}").json()
    assert one["steps"] and {"id", "name", "mode", "priority", "created", "sent", "step", "mode_changed", "target_changed"} == set(one["steps"][0]), one
    assert client.get(v0 + "applications/" + app).json()["name"] == app
    claimed = client.post(v0 + "incidents/claim", json={"owner": "demo", "incident_ids": ids}).json()
    assert claimed == {"owner": "demo", "claimed": ids, "unclaimed": []}, claimed
    again = client.post(f"{v0}incidents/{ids[0]}", json={"owner": None}).json()
    assert again == {"incident_id": ids[0], "owner": None, "active": True}, again
    again = client.post(f"{v0}incidents/{ids[0]}", json={"owner": "demo"}).json()
    assert again == {"incident_id": ids[0], "owner": "demo", "active": False}, again
    resolved = client.post(f"{v0}incidents/{ids[1]}/resolve", json={"resolved": True}).json()
    assert resolved == {"incident_id": str(ids[1]), "resolved": True}, resolved
    comment = client.post(f"{v0}incidents/{ids[0]}/comments", json={"author": "demo", "content": "on my way"})
    assert comment.status_code == 201, comment.text
    assert [c["content"] for c in client.get(f"{v0}incidents/{ids[0]}/comments").json()] == ["on my way"]
    head = client.head(f"{v0}incidents/{ids[0]}")
    assert head.status_code == 200 and not head.content, head


def form(path, **fields):
    return client.post(v0 + path, data=urlencode(fields).encode(), headers={"Content-Type": "application/x-www-form-urlencoded"})


def relay(ids):
    """What iris-relay posts for people who answer by chat and mail."""
    page = arrives("a mail of an incident", lambda m: m["incident_id"] == ids[0] and m["message_id"])[0]
    r = client.post(v0 + "response/slack", json={"msg_id": page["message_id"], "source": "nobody-here", "content": "claim"})
    assert r.status_code == 200 and r.json() == {"app_response": "Failed to identify owner for the incident."}, r.text
    r = client.post(v0 + "response/gmail-oneclick", json={"msg_id": page["message_id"], "email_address": "nobody@example.com", "cmd": "claim"})
    assert r.status_code == 204, r.text
    r = form("response/twilio/messages", From="+15005550001", Body="f")
    assert r.status_code == 200 and r.json() == {"app_response": "Sincerest apologies"}, r.text
    r = form("twilio/deliveryupdate", MessageSid="SM0", MessageStatus="delivered")
    assert r.status_code == 204, r.text


ids = incidents()
refusals()
dynamic = dynamic_incident()
notifications()
several()
relay(ids)
mobile(incidents())
print(*ids, dynamic)
