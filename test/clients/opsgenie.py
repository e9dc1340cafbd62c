"""Uses alerts with opsgenie-sdk, as scripts in the wild do."""
import datetime
import sys

import opsgenie_sdk

url, key = sys.argv[1:3]
configuration = opsgenie_sdk.Configuration()
configuration.host = url
configuration.api_key["Authorization"] = key
api = opsgenie_sdk.AlertApi(api_client=opsgenie_sdk.ApiClient(configuration=configuration))
alias = "py/disk"
by_alias = {"identifier_type": "alias"}


def done(want, answer):
    status = answer.retrieve_result().data if hasattr(answer, "retrieve_result") else None
    if status is None:
        status = api.get_request_status(answer.request_id).data
    assert status.is_success and status.status == want, status


done("Created alert", api.create_alert(opsgenie_sdk.CreateAlertPayload(
    message="Disk is full", alias=alias, tags=["env:prod", "py"], priority="P2", responders=[
        {"type": "team", "name": "demo"}, {"type": "user", "username": "demo"}])))
got = api.get_alert(alias, **by_alias).data
assert [(r.type, r.id) for r in got.responders] == [("team", "demo"), ("user", "demo")], got
assert got.created_at.tzinfo is not None
for query in ["tag: py", "priority=P2 AND tag:env:prod", "alias: " + alias,
              "createdAt > %d AND status: open" % ((got.created_at.timestamp() - 1) * 1000)]:
    listed = api.list_alerts(query=query, limit=5).data
    assert listed and listed[0].id == got.id, (query, listed)
assert not api.list_alerts(query="tag: none").data
assert api.count_alerts(query="priority=P2").data.count >= 1
done("Added note", api.add_note(alias, opsgenie_sdk.AddNoteToAlertPayload(note="seen before"), **by_alias))
notes = api.list_notes(alias, **by_alias)
assert [n.note for n in notes.data] == ["seen before"] and notes.paging.first, notes
logs = api.list_logs(got.id, limit=1, order="asc")
assert len(logs.data) == 1 and logs.data[0].log and logs.paging.next, logs
recipients = api.list_recipients(got.id)
assert all(r.user.username and r.created_at for r in recipients.data), recipients
later = datetime.datetime.utcnow() + datetime.timedelta(hours=1)  # without a zone
done("Snoozed alert", api.snooze_alert(alias, opsgenie_sdk.SnoozeAlertPayload(end_time=later), **by_alias))
snoozed = api.get_alert(alias, **by_alias).data
assert snoozed.snoozed and abs((snoozed.snoozed_until.replace(tzinfo=None) - later).total_seconds()) < 1, snoozed
done("Closed alert", api.close_alert(alias, close_alert_payload=opsgenie_sdk.CloseAlertPayload(), **by_alias))
try:
    api.get_alert("none", **by_alias)
except opsgenie_sdk.ApiException as e:
    assert e.status == 404, e
else:
    raise SystemExit("an unknown alert was found")
print("opsgenie-sdk got the answers that it expects")
