"""Reads and acknowledges with pdpyras, as scripts of PagerDuty's REST API do."""
import sys

from pdpyras import APISession, PDClientError

url, key, number = sys.argv[1:4]
session = APISession(key, default_from="scripts@example.com")
session.url = url + "/pagerduty"
listed = list(session.iter_all("incidents", params={"statuses[]": ["triggered", "acknowledged"], "include[]": ["acknowledgers"]}))
assert number in [i["id"] for i in listed], listed
got = session.rget("/incidents/" + number)
assert got["status"] == "triggered" and got["service"]["id"] == "demo" and got["html_url"].endswith("/incidents/" + number), got
got = session.rput("/incidents/" + number, json={"type": "incident_reference", "status": "acknowledged"})
assert got["status"] == "acknowledged" and got["acknowledgements"][0]["acknowledger"]["id"] == "scripts", got
assert session.rput("/incidents/" + number, json={"type": "incident_reference", "status": "resolved"})["status"] == "resolved"
assert session.find("users", "scripts", attribute="name")["id"] == "scripts"
oncalls = session.list_all("oncalls")
assert any(o["schedule"]["id"] == "demo/primary" for o in oncalls), oncalls
for name in ["schedules", "services", "escalation_policies"]:
    assert session.list_all(name), name
page = session.get("users", params={"limit": 1, "total": "true"}).json()
assert page["limit"] == 1 and page["total"] >= len(page["users"]) == 1 and page["more"] == (page["total"] > 1), page
for path, status, code in [("/incidents/999999", 404, 2100), ("/incidents?team_ids[]=x", 400, 2001)]:
    answer = session.get(path)
    assert answer.status_code == status and answer.json()["error"]["code"] == code, answer.text
stranger = APISession("iris_wrong")
stranger.url = session.url
try:
    stranger.rget("users")
except PDClientError as e:
    assert e.response.status_code == 401 and e.response.json()["error"]["code"] == 2006, e.response.text
else:
    raise SystemExit("an unknown token was accepted")
print("pdpyras got the answers that it expects of the REST API")
