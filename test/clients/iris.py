"""Posts incidents and notifications with irisclient, as scripts in the wild do, and prints the incidents' ids."""
import sys

from irisclient import IrisClient

url, app, key = sys.argv[1:4]
client = IrisClient(app=app, key=key, api_host=url)
ids = [client.incident("demo-plan", {"title": "disk ☃ full", "host": "db1"}) for _ in range(2)]
assert all(isinstance(i, int) for i in ids), ids
assert client.notification(role="user", target="demo", subject="hello", priority="low", body="a note") is True
assert client.notification(role="user", target="demo", subject="hello", mode="email", email_html="<b>a note</b>") is True
assert client.notification(role="team", target="demo", subject="hello", mode="email", template=None, body="to the team") is True
try:
    client.notification(role="user", target="nobody-of-that-name", subject="x", priority="low", body="x")
    raise SystemExit("a notification to nobody was accepted")
except ValueError as e:
    assert "400" in str(e) and "INVALID" in str(e), e
found = client.get(client.url + "incidents?id__in=" + ",".join(map(str, ids))).json()
assert [i["id"] for i in found] == ids and found[0]["context"]["title"] == "disk ☃ full", found
assert client.get(client.url + "applications/" + app).json()["name"] == app
try:
    IrisClient(app="demo", key="wrong", api_host=url).incident("demo-plan", {})
    raise SystemExit("a wrong key was accepted")
except Exception as e:
    assert "401" in str(e), e
print(*ids)
