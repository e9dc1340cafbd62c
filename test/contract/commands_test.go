package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// remote runs the iris command on another machine: it has the address of the server and a token, and no database.
type remote struct {
	*server
	token caller
}

// run returns what the command wrote and its exit code.
func (r remote) run(stdin string, args ...string) (code int, stdout, stderr string) {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), filepath.Join(bin, "iris"), args...)
	cmd.Env = []string{"HOME=" + r.TempDir(), "IRIS_SERVER=" + r.url, "IRIS_TOKEN=" + r.token.token}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(r, err, &failed)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// does runs a command that succeeds, and returns its output.
func (r remote) does(line string, more ...string) string {
	r.Helper()
	code, out, errs := r.run("", append(strings.Fields(line), more...)...)
	require.Zero(r, code, "%s: iris %s: %s", r.token.name, line, errs)
	return out
}

// refused runs a command that fails.
func (r remote) refused(code int, want, line string, more ...string) {
	r.Helper()
	got, out, errs := r.run("", append(strings.Fields(line), more...)...)
	require.Equal(r, code, got, "%s: iris %s: %s%s", r.token.name, line, out, errs)
	require.Contains(r, errs, want, "%s: iris %s", r.token.name, line)
}

// remotes returns the command with a personal token of an administrator for everything, with one of bob that may only
// read, and with a service token of the administrators.
func (s *server) remotes() (person, reader, program remote) {
	s.Helper()
	all := []string{"incidents", "oncall", "config", "admin"}
	personal, _ := s.token(admin, all...)
	reading, _ := s.token(bob, "read")
	service, _ := s.serviceToken(admin, "", all...)
	return remote{s, personal}, remote{s, reading}, remote{s, service}
}

func TestIncidentsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	open := []string{"incident", "open", "--plan", "pager", "--application", "demo", "--title", "disk full",
		"--severity", "error"}
	for _, r := range []remote{person, program} {
		code, out, errs := r.run("", append(open, "--dedup-key", "disk")...)
		require.Zero(t, code, errs)
		id := strings.TrimSpace(out)
		require.NotEmpty(t, id)
		_, again, errs := r.run("", append(open, "--dedup-key", "disk")...)
		require.Equal(t, out, again)
		require.Contains(t, errs, "none was opened")
		require.Contains(t, r.does("incident list --plan pager"), id+"  ")
		require.Contains(t, r.does("incident show "+id), "disk full")
		require.Regexp(t, "^incident "+id+` is snoozed until 20\S+Z\n$`, r.does("incident snooze --for 3d "+id))
		r.does("incident unsnooze " + id)
		require.Regexp(t, `(?s)disk full.*\n20\S+Z  .*snoozed.* \((root|service token .*)\)\n`,
			r.does("incident show "+id))
		r.does("incident page --user bob " + id)
		require.Equal(t, "incident "+id+" is acknowledged by ann\n", r.does("incident acknowledge --owner ann "+id))
		r.does("incident reassign " + id + " bob")
		parent := strings.TrimSpace(r.does(strings.Join(open[:6], " "), "--title", "the rack"))
		r.does("incident merge " + id + " --into " + parent + " --comment same")
		r.does("incident unmerge " + id)
		require.Equal(t, "incident "+id+" is resolved\nincident "+parent+" is resolved\n",
			r.does("incident resolve "+id+" "+parent))
		require.Contains(t, r.does("incident list --state resolved --application demo --severity error"), id+"  ")
	}
	id := strings.TrimSpace(person.does("incident open --plan pager --application demo --title x"))
	require.Equal(t, "incident "+id+" is acknowledged by root\n", person.does("incident acknowledge "+id))
	program.refused(2, "owner is required: the caller is no person", "incident acknowledge "+id)

	require.Contains(t, reader.does("incident show "+id), "acknowledged")
	for _, line := range []string{"acknowledge 1", "resolve 1", "snooze 1 --for 1h", "unsnooze 1", "page 1 --user bob", "reassign 1 bob", "merge 1 --into 2", "unmerge 1",
		"open --plan pager --application demo --title x"} {
		reader.refused(1, "This token lacks the scope incidents: use a token with that scope, for example from iris login --scopes",
			"incident "+line)
	}
	person.refused(1, "such incident", "incident show 999999")
	person.refused(2, "severity", "incident open --plan pager --application demo --title x --severity loud")
	person.refused(2, "state", "incident list --state lost")
	remote{s, caller{token: "iris_p_wrong"}}.refused(1, "run iris login", "incident list")
}

// The same commands work on the database without a token, in the name of "iris command".
func TestCommandsOnTheDatabase(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	var failed *exec.ExitError
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "iris"), "incident", "list")
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	require.ErrorAs(t, err, &failed)
	require.Contains(t, string(out), "log in with iris login --server URL, set IRIS_SERVER and IRIS_TOKEN, or set IRIS_DATABASE_URL")
	env := environment(t, s.db.Config().ConnString())
	require.Contains(t, s.iris(env, "", "incident", "list"), "pager")
	s.iris(env, "", "incident", "resolve", strconv.FormatInt(id, 10))
	require.Contains(t, s.do(admin, get, "/v1/incidents/"+strconv.FormatInt(id, 10)+"/timeline", nil).is(200).body,
		"iris command")
}

func TestOnCallOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.exec(`insert into services (name) values ('mailer'); insert into team_services (team_id, service_id) select t.id, s.id from teams t, services s
		where t.name = 'ops' and s.name = 'mailer'`)
	person, reader, program := s.remotes()
	for _, r := range []remote{person, reader, program} {
		require.Regexp(t, `^Team ops at .*\nROLE +WHO +REACHED BY +WHY\nprimary +ann .*email ann@example.com`,
			r.does("oncall ops --role primary"))
		r.refused(1, "there is no active team osp", "oncall osp")
		r.refused(1, "there is no service none", "oncall --service none")
		r.refused(1, "there is no role primry", "oncall ops --role primry")
		r.refused(2, `"soon" is no instant`, "oncall ops --at soon")
		r.refused(2, "not both", "oncall ops --service mailer")
	}
	var teams []m
	require.NoError(t, json.Unmarshal([]byte(reader.does("oncall --service mailer -o json")), &teams))
	require.Equal(t, "ops", teams[0]["team"])

	of := func(query string) answer { return s.do(bob, get, "/v1/oncall?"+query, nil) }
	require.Contains(t, of("team=ops&at=2026-11-22T02:00:00Z&for=24h").is(200).body, `"until":"2026-11-23T02:00:00Z"`)
	of("team=ops&service=mailer").problem(400, "team")
	of("").problem(400, "team")
	of("team=ops&for=never").problem(400, "for")
	of("team=ops&for=20000h").problem(400, "for")
	of("team=ops&at=soon").problem(400, "at")
	of("team=ops&at=1795309200").problem(400, "at")
	of("team=a%00b").problem(400, "team")
	of("team=none").problem(404, "")
}

func TestSilencesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	for _, r := range []remote{person, program} {
		id := s.open()
		number := strings.TrimSpace(r.does("silence add --application demo --for 2h --comment disks"))
		require.Contains(t, r.does("silence show "+number), "state: active\nincidents: application demo\n")
		require.Contains(t, reader.does("silence show "+number), fmt.Sprintf("hides: incident %d\n", id))
		r.does("silence set "+number+" --for 3h --comment", "more disks")
		require.Regexp(t, `\n`+number+` +active .*  demo +more disks\n`, r.does("silence list"))
		reader.refused(1, "This token lacks the scope incidents", "silence end "+number)
		reader.refused(1, "This token lacks the scope incidents", "silence set "+number+" --for 3h")
		r.does("silence end " + number)
		r.refused(1, "over", "silence end "+number)
		require.NotRegexp(t, `\n`+number+` `, r.does("silence list"))
		require.Regexp(t, `\n`+number+` +over `, r.does("silence list --over"))
		r.does("silence add --plan pager --from 2035-12-01T22:00 --until 2035-12-02T04:00 --zone Europe/Berlin --repeat FREQ=WEEKLY --comment restore")
	}
	reader.refused(1, "This token lacks the scope incidents", "silence add --application demo --for 2h --comment x")
	person.refused(1, "there is no silence 99", "silence show 99")
	person.refused(2, "match", "silence add --for 2h --comment x")
	person.refused(2, "--until", "silence add --plan pager --until noon --comment x")
	token, _ := s.token(bob, "incidents")
	remote{s, token}.refused(1, "Only administrators may silence any incident",
		"silence add --match severity=error --for 2h --comment x")
}

func TestReviewsAndUpdatesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	for _, r := range []remote{person, program} {
		id := fmt.Sprint(s.open())
		require.Contains(t, reader.does("incident review --draft "+id), "## Timeline")
		reader.refused(1, "no review", "incident review "+id)
		s.do(bob, put, "/v1/reviews/"+id, m{"title": "Disk full", "text": "Why"}).is(201)
		require.Contains(t, reader.does("incident review "+id), "# Disk full\n\n- Incident: "+id)
		require.Regexp(t, `(?m)^`+id+` +draft +Disk full`, reader.does("list reviews"))
		require.Contains(t, reader.does("get review "+id), "title: Disk full\n")
		reader.refused(1, "This token lacks the scope incidents", "delete review "+id)
		r.does("delete review " + id)
		reader.refused(1, "This token lacks the scope incidents", "incident update "+id+" text --state resolved")
		require.Contains(t, r.does("incident update "+id+" --state resolved", "It is over."), "was sent to 0 subscribers")
		r.refused(2, "state", "incident update "+id+" text --state none")
	}
}

// The verbs that hold for every kind of objects.
func TestEveryKindOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.integrations()
	person, reader, program := s.remotes()
	for _, r := range []remote{person, program} {
		number := strings.TrimSpace(r.does("silence add --application demo --for 2h --comment kinds"))
		for kind, name := range map[string]string{"integration": "generic", "plan": "pager", "template": "words",
			"silence": number, "user": "viewer", "team": "ops"} {
			require.Regexp(t, `^[A-Z].*\n(.*\n)*`+name+` `, reader.does("list "+kind+"s"), kind)
			require.Regexp(t, `(?m)^(name|id): "?`+name+`"?$`, reader.does("get "+kind+" "+name), "YAML")
			require.Regexp(t, `(?m)^(name|id) +`+name+`$`, r.does("get -o table "+kind+" "+name))
			var one m
			require.NoError(t, json.Unmarshal([]byte(r.does("get -o json "+kind+" "+name)), &one))
			var all []m
			require.NoError(t, json.Unmarshal([]byte(r.does("list -o json "+kind)), &all))
			require.NotEmpty(t, all)
			r.refused(1, "there is no "+kind+" \"999999\"", "get "+kind+" 999999")
			r.refused(1, "there is no "+kind+" \"999999\"", "delete "+kind+" 999999")
			reader.refused(1, "This token lacks the scope", "delete "+kind+" "+name)
		}
		require.Regexp(t, `(?m)^demo `, reader.does("list applications --where search=DEM"))
		require.Regexp(t, `(?m)^name: demo$`, reader.does("get application demo"))
		require.Contains(t, reader.does("list plans --where search=PAG --limit 1"), "pager")
		require.Equal(t, "[]\n", reader.does("list plans --where name=none -o yaml"))
		reader.refused(2, "colour", "list plans --where colour=red")
		reader.refused(2, "plan, template, review", "list cats")
		reader.refused(2, "--limit", "list plans --limit 0")
		r.does("delete silence " + number)
		r.refused(1, "(--force)", "delete template words")

		s.do(admin, post, "/v1/teams/ops/rosters", m{"name": "night", "members": []m{{"user": "ann"}}}).is(201)
		require.Regexp(t, `(?m)^night +\[.*ann`, reader.does("list rosters --where team=ops"))
		require.Regexp(t, `(?m)^name: night$`, reader.does("get roster ops/night"))
		reader.refused(2, "--where team=NAME", "list rosters")
		reader.refused(2, "PARENT/NAME", "get roster night")
		reader.refused(1, "This token lacks the scope", "delete roster ops/night")

		s.do(admin, post, "/v1/teams/ops/rotations", m{"name": "nights", "role": "primary", "roster": "night", "layers": []m{
			{"start": "2026-11-23T09:00", "every": 1, "unit": "weeks", "members": []m{{"user": "ann"}}}}}).is(201)
		id := fmt.Sprint(s.number("select id from schedules where name = 'nights'"))
		require.Regexp(t, `(?m)^`+id+` +nights +primary +night`, reader.does("list rotations --where team=ops"))
		require.Regexp(t, `(?m)^name: nights$`, reader.does("get rotation "+id))
		reader.refused(2, "--where team=NAME", "list rotations")
		reader.refused(1, "This token lacks the scope", "delete rotation "+id)
		r.does("delete rotation " + id)
		r.refused(1, `there is no rotation "`+id+`"`, "delete rotation "+id)

		s.do(bob, put, "/v1/users/bob/reprioritisations/call", m{"count": 3, "window_seconds": 60, "to": "email"}).is(200)
		require.Regexp(t, `(?m)^call +3 +60 +email$`, reader.does("list limits --where user=bob"))
		require.Regexp(t, `(?m)^to: email$`, reader.does("get limit bob/call"))
		reader.refused(1, `there is no limit "bob/sms"`, "get limit bob/sms")
		reader.refused(2, "--where user=NAME", "list limits")
		r.does("delete limit bob/call")

		s.exec("insert into services (name) values ('night mail')")
		require.Regexp(t, `(?m)^night mail`, reader.does("list services"))
		s.exec("delete from services")
		r.does("delete roster ops/night")
		r.refused(1, "there is no roster \"ops/night\"", "get roster ops/night")
	}
}

func TestPlansOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	for i, r := range []remote{person, program} {
		require.Regexp(t, `\npager +\d+ +ann +20\S+Z`, r.does("plan list"))
		require.Empty(t, r.does(fmt.Sprintf("plan set pager --repage-after %dm --notify-owner slack --resolved-notice sms=true --fallback user:ann", 10+i)), "what it did is not on standard output")
		var settings m
		require.NoError(t, json.Unmarshal([]byte(s.do(admin, get, "/v1/plans/pager/settings", nil).is(200).body),
			&settings))
		require.EqualValues(t, 600+60*i, settings["repage_after_seconds"])
		require.Equal(t, "slack", settings["notify_owner"])
		require.Contains(t, reader.does("plan show pager"), "fallback: user:ann\n")
		r.does("plan set pager --delay 30s --fallback=")
		require.NotContains(t, r.does("plan show pager"), "fallback")
		require.EqualValues(t, 600+60*i,
			decode[m](s.do(admin, get, "/v1/plans/pager/settings",
				nil).is(200))["repage_after_seconds"], "what no flag names stays")
	}
	require.Regexp(t, `(?s)^plan: pager\nversion: \d+, saved 20\S+Z by ann\nactive: true\n.*STEP +WHO +PRIORITY +TEMPLATE +WAIT +REPEAT +OPTIONAL\n1 +user:`, reader.does("plan show pager"))
	require.Contains(t, s.text("select string_agg(distinct actor, ', ') from audit_log where action = 'plan settings changed'"), "service token")

	require.Contains(t, reader.does("simulate --plan pager --zone UTC --at +2h"), "Plan pager (version ")
	require.Contains(t, program.does("simulate --plan pager -o json"), `"pages": [`)
	reader.refused(1, "there is no active plan paegr; did you mean pager?", "simulate --plan paegr")
	reader.refused(2, "there is no application none", "simulate --plan pager --application none")
	reader.refused(2, `"soon" is no instant`, "simulate --plan pager --at soon")

	reader.refused(1, "This token lacks the scope config", "plan set pager --delay 30s")
	reader.refused(1, "This token lacks the scope config", "plan delete pager")
	person.refused(1, `there is no plan "none"`, "plan show none")
	person.refused(2, "repage_after_seconds must be", "plan set pager --repage-after 1s")
	person.refused(2, "--fallback", "plan set pager --fallback ann")
	person.refused(2, "nothing to change", "plan set pager")
	token, _ := s.token(bob, "config")
	remote{s, token}.refused(1, "may change the plan pager", "plan set pager --delay 30s")
	remote{s, token}.refused(1, "Only administrators may do this", "plan delete pager")

	s.open()
	person.refused(1, "plan pager is in use by: ", "plan delete pager")
	person.refused(1, "(--force)", "plan delete pager")
	program.does("plan delete pager --force")
	person.refused(1, "there is no active plan pager", "plan delete pager")
	person.does("template delete words --force")
	program.does("team delete ops --force")
	person.does("user delete bob --force")
	person.refused(1, "there is no active user bob", "user delete bob")
}

func TestIntegrationsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	rules := filepath.Join(t.TempDir(), "rules.json")
	require.NoError(t, os.WriteFile(rules, []byte(`[{"match": "team=\"db\"", "plan": "pager"}]`), 0o600))
	for i, r := range []remote{person, program} {
		name := fmt.Sprintf("any%d", i)
		require.Regexp(t, `^address: /v1/hooks/generic\ntoken: \S+\naddress with the token, .*: /v1/hooks/generic/`,
			r.does("integration add "+name+" --type generic --application demo --rate 60"))
		r.refused(1, "an integration named "+name+" exists already", "integration add "+name+
			" --type generic --application demo")
		require.Contains(t, reader.does("integration show "+name), "rate per minute: 60\n",
			"the refused command changed nothing")
		r.does("integration set " + name + " --plan pager --resolve-after 1h --close-after 48h --rules " + rules)
		require.Empty(t, r.does("integration set "+name+" --severity info --no-enabled"),
			"what it did is not on standard output")
		shown := r.does("integration show " + name)
		for _, line := range []string{"default plan: pager\ndefault severity: info\nrate per minute: 60\nenabled: false\n", "resolve after: 1h0m0s\nclose after: 48h0m0s\n",
			"rule 1: team=\"db\" -> plan pager\n", "token 1: created 20"} {
			require.Contains(t, shown, line)
		}
		require.Contains(t, r.does("route test "+name+" --label team=db"), "plan pager, that of the ")
		payload := filepath.Join(t.TempDir(), "payload.json")
		require.NoError(t, os.WriteFile(payload, []byte(`{"title": "disk full", "labels": {"team": "db"}}`), 0o600))
		require.Contains(t, r.does("integration preview "+name+" --payload "+payload), "title: disk full\n")
		require.Regexp(t, `^address: /v1/hooks/generic\ntoken: `, r.does("integration token "+name))
		r.does("integration token " + name + " --drop-old")
		require.Regexp(t, name+` +generic +demo +pager +false +0 +0 +never`, reader.does("integration list"))
		r.refused(2, "default_plan", "integration set "+name+" --plan nowhere")
		r.refused(2, "resolve_after_seconds must be", "integration set "+name+" --resolve-after 1s")
		for _, line := range []string{"set " + name + " --rate 5", "add other --type generic --application demo", "token " + name, "secret " + name + " --clear", "remove " + name} {
			reader.refused(1, "This token lacks the scope config", "integration "+line)
		}
		r.does("integration add beats" + name + " --type heartbeat --application demo --plan pager")
		require.Equal(t, "address: /v1/hooks/heartbeat/db%201\n",
			r.does("heartbeat add beats"+name, "db 1", "--every", "5m"), "a name in an address is escaped")
		require.Equal(t, "address: /v1/hooks/heartbeat/backup\n",
			r.does("heartbeat add beats"+name+" backup --every 5m --grace 30s"))
		r.refused(1, "a heartbeat named backup exists already", "heartbeat add beats"+name+" backup --every 1h")
		require.Regexp(t, `\nbeats`+name+` +backup +waiting +5m0s +30s +never`, reader.does("heartbeat list"))
		require.Contains(t, r.does("heartbeat list beats"+name), "backup")
		r.refused(1, "has no heartbeats", "heartbeat add "+name+" x --every 5m")
		r.refused(2, "every", "heartbeat add beats"+name+" x --every 0s")
		reader.refused(1, "This token lacks the scope config", "heartbeat remove beats"+name+" backup")
		r.does("heartbeat remove beats" + name + " backup")
		r.refused(1, "has no heartbeat", "heartbeat remove beats"+name+" backup")
		r.does("integration add signs" + name + " --type grafana --application demo --plan pager")
		code, _, errs := r.run("a-secret-of-the-sender\n", "integration", "secret", "signs"+name)
		require.Zero(t, code, errs)
		require.Contains(t, r.does("integration show signs"+name), "secret 1: set 20")
		r.does("integration secret signs" + name + " --clear")
		r.does("integration remove " + name)
		r.refused(1, "there is no integration", "integration remove "+name)
	}
	person.refused(2, "nothing to change", "integration set any0")
	token, _ := s.token(bob, "config")
	remote{s, token}.refused(1, "Only administrators and owners of this application may do this",
		"integration add x --type generic --application demo")
}

func TestRulesOfPeopleOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	own, _ := s.token(bob, "admin")
	for i, r := range []remote{person, program, {s, own}} {
		r.does(fmt.Sprintf("user rule set bob low email sms:%dm call:5m", i+2))
		require.Contains(t, r.does("user rule list bob"),
			fmt.Sprintf("low by email, sms after %d min, call after 5 min\n", i+2))
		require.Equal(t, fmt.Sprintf("calls and texts below urgent on one day: %d\nworking days only: [low]\n", i+5),
			r.does(fmt.Sprintf("user quiet bob --per-day %d --working-days low", i+5)))
		require.Equal(t, "calls and texts below urgent on one day: default\nworking days only: [low]\n",
			r.does("user quiet bob --per-day default"))
		require.Equal(t, "calls and texts below urgent on one day: default\nworking days only: []\n",
			r.does("user quiet bob --working-days none"))
	}
	require.Contains(t, reader.does("user rule list bob"), "low by email")
	reader.refused(1, "This token lacks the scope admin", "user rule set bob low email")
	reader.refused(1, "This token lacks the scope admin", "user quiet bob --per-day 3")
	reader.refused(1, "not allowed to access this resource", "user rule list ann")
	person.refused(1, "there is no such user", "user rule list nobody")
	person.refused(2, "there is no priority", "user rule set bob loud email")
	person.refused(2, "must be MODE:DELAY", "user rule set bob low email sms")
	person.refused(2, "--per-day", "user quiet bob --per-day many")
	team, _ := s.serviceToken(admin, "ops", "admin")
	remote{s, team}.refused(1, "A service token may not do this: it belongs to a person", "user rule set bob low email")
}

func TestDirectoriesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	person, reader, program := s.remotes()
	for i, r := range []remote{person, program} {
		name := fmt.Sprint("dir", i)
		require.Regexp(t, `^iris_d_\w+\n$`, r.does("scim add "+name+" --provider corp --links"))
		require.Regexp(t, `^iris_d_\w+\n$`, r.does("scim token "+name))
		require.Regexp(t, `\n`+name+` +corp +2 +never\n`, r.does("scim list"))
		r.does("scim end-old-token " + name)
		require.Regexp(t, `\n`+name+` +corp +1 +never\n`, r.does("scim list"))
		r.refused(2, "there is no user", "scim transfer "+name+" nobody")
		r.does("scim delete " + name)
		r.refused(1, "there is no such SCIM connection", "scim delete "+name)
		for command, active := range map[string]bool{"confirm": false, "reject": true} {
			heldDeactivation(s)
			s.exec("update users set active = true where name = 'pushed'")
			require.Regexp(t, `\n900 +pushed +corp +20`, r.does("scim held"))
			r.does("scim " + command + " 900")
			require.Equal(t, active, s.number("select active::int from users where name = 'pushed'") == 1, command)
			r.refused(1, "deactivation 900: ", "scim "+command+" 900")
		}
	}
	reader.refused(1, "Only administrators", "scim held")
	reader.refused(1, "This token lacks the scope admin", "scim add other")
	person.refused(2, "there is no provider \"none\"", "scim add other --provider none")
}

func TestAuditOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	person, reader, program := s.remotes()
	program.does("plan set pager --delay 30s")
	env := environment(t, s.db.Config().ConnString())
	s.iris(env, "", "plan", "set", "pager", "--delay", "20s")
	for _, r := range []remote{person, program} {
		list := r.does("audit list --object", "plan pager")
		require.Regexp(t, `^AT +ACTOR +ACTION +OBJECT +DETAIL\n20\S+Z +iris command +plan settings changed +plan pager.*\n20\S+Z +service token .* plan settings changed`, list)
		require.Len(t, strings.Split(r.does("audit list --most 1"), "\n"), 3)
		require.NotContains(t, r.does("audit list --actor-kind operator"), "service token")
		var entry m
		require.NoError(t, json.Unmarshal([]byte(strings.Split(r.does("audit export --action",
			"plan settings changed"), "\n")[0]), &entry))
		require.Equal(t, "operator", entry["actor_kind"])
		r.refused(2, "created_after", "audit list --after yesterday")
	}
	require.Contains(t, s.iris(env, "", "audit", "export"), `"actor":"iris command"`)
	reader.refused(1, "Only administrators may do this", "audit list")
	reader.refused(1, "Only administrators may do this", "audit export")
	reading, _ := s.token(admin, "read")
	remote{s, reading}.refused(1, "Only administrators may do this", "audit list")
}

func TestAccountsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	person, reader, program := s.remotes()
	file := filepath.Join(t.TempDir(), "links.csv")
	for i, r := range []remote{person, program} {
		r.does(fmt.Sprintf("user link bob --provider corp --subject one%d", i))
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "# who\nann, corp, two%d\nnobody,corp,three%d\n", i,
			i), 0o600))
		r.refused(2, "nothing was linked: there is no user nobody", "user link --file "+file)
		require.NotContains(t, r.does("user links"), fmt.Sprintf("two%d", i), "all or none")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "# who\nann, corp, two%d\nbob,corp,three%d\n", i,
			i), 0o600))
		_, _, errs := r.run("", "user", "link", "--file", file)
		require.Contains(t, errs, "2 accounts linked")
		require.Regexp(t, fmt.Sprintf(`\n\d+ +ann +corp +two%d +never`, i), r.does("user links"))
		mine := r.does("user links bob")
		require.NotContains(t, mine, "two")
		number := strings.Fields(strings.Split(mine, "\n")[1])[0]
		r.does("user unlink " + number)
		r.refused(1, "there is no link "+number, "user unlink "+number)
		r.refused(1, "is linked already", fmt.Sprintf("user link ann --provider corp --subject two%d", i))
		withFactor(s)
		r.does("user remove-factor bob")
		require.Zero(t, s.number("select count(*) from second_factors"))
	}
	s.exec(`insert into refused_identities (provider, issuer, subject, name, email, reason) values ('corp', 'http://127.0.0.1:1', 't', 'Ann', 'ann@example.com', 'nobody is linked')`)
	require.Regexp(t, `\ncorp +t +"Ann" +"ann@example.com" +\d+ +20.* nobody is linked\n`, person.does("user refused"))
	person.refused(2, "there is no provider", "user link bob --provider none --subject x")
	person.refused(2, "give a name with", "user link bob")
	for _, line := range []string{"user links", "user refused"} {
		reader.refused(1, "Only administrators may do this", line)
	}
	for _, line := range []string{"user link bob --provider corp --subject y", "user unlink 1", "user remove-factor bob"} {
		reader.refused(1, "This token lacks the scope admin", line)
	}
	one := m{"user": "bob", "provider": "corp", "subject": "s"}
	s.do(admin, post, "/v1/identities", m{"user": "bob", "identities": []m{one}}).problem(400, "identities")
	s.do(admin, post, "/v1/identities", m{"identities": []m{{"user": "bob", "provider": "corp"}}}).problem(400,
		"identities[0].subject")
	s.do(admin, post, "/v1/identities", m{"user": "bob", "provider": "corp"}).problem(400, "subject")
}
