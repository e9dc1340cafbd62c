package program

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/program/apiserver"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	programprocessor "github.com/iris-oncall/iris/internal/program/processor"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// runAPI runs an iris-api until the test ends or stop is called; stop returns the error of Run.
func runAPI(t *testing.T, c config.Common, log *zap.Logger) (base string, stop func() error) {
	t.Helper()
	a, err := apiserver.New(config.API{Common: c, HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}},
		server.Deps{Log: log})
	require.NoError(t, err)
	return "http://" + a.Addr(), servertest.Background(t, a.Run)
}

func runProcessor(t *testing.T, c config.Common, log *zap.Logger) (base string, stop func() error) {
	t.Helper()
	p, err := programprocessor.New(config.Processor{Common: c, Gossip: config.Gossip{Addr: "127.0.0.1:0"}},
		server.Deps{Log: log})
	require.NoError(t, err)
	return "http://" + p.AdminAddr(), servertest.Background(t, p.Run)
}

func TestServersBecomeReadyAfterMigrate(t *testing.T) {
	t.Parallel()
	c := servertest.Common(pgtest.EmptyURL(t))
	ofAPI := c
	var err error
	ofAPI.Admin.Addr, err = freeport.Addr()
	require.NoError(t, err)
	api, stopAPI := runAPI(t, ofAPI, servertest.Log(t))
	processor, stopProcessor := runProcessor(t, c, servertest.Log(t))
	for _, base := range []string{api, processor} {
		servertest.Eventually(t, base+"/readyz", http.StatusServiceUnavailable, "run: iris migrate")
		servertest.Eventually(t, base+"/livez", http.StatusOK, "ok")
	}
	status, body := servertest.Get(t, api+"/v0/incidents")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "waiting for its database")
	status, _ = servertest.Get(t, "http://"+ofAPI.Admin.Addr+"/metrics")
	require.Equal(t, http.StatusOK, status)
	status, _ = servertest.Get(t, api+"/metrics")
	require.Equal(t, http.StatusServiceUnavailable, status, "metrics are for operators, at the admin listener")

	require.NoError(t, database.Migrate(t.Context(), c, zap.NewNop()))
	servertest.Eventually(t, processor+"/readyz", http.StatusOK, `"ready": true`)
	servertest.Eventually(t, api+"/readyz/paging", http.StatusOK, `"ready": true`)
	status, _ = servertest.Get(t, api+"/v0/incidents")
	require.Equal(t, http.StatusUnauthorized, status)
	servertest.Eventually(t, api+"/login", http.StatusOK, "Log in")
	servertest.Eventually(t, api+"/healthcheck", http.StatusOK, "GOOD")
	status, _ = servertest.Get(t, api+"/metrics")
	require.Equal(t, http.StatusNotFound, status)
	status, body = servertest.Get(t, api+"/nowhere")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, "not found")

	require.NoError(t, stopProcessor())
	servertest.Eventually(t, api+"/readyz/paging", http.StatusServiceUnavailable, "no message-processor is alive")
	servertest.Eventually(t, api+"/readyz", http.StatusOK, `"ready": true`)
	servertest.Eventually(t, api+"/livez", http.StatusOK, "ok")
	require.NoError(t, stopAPI())
}

func TestMigrateAuto(t *testing.T) {
	t.Parallel()
	c := servertest.Common(pgtest.EmptyURL(t))
	c.Migrate = "auto"
	c.SecretKey = "a key of the operator with 32 characters"
	api, _ := runAPI(t, c, servertest.Log(t))
	servertest.Eventually(t, api+"/readyz/paging", http.StatusServiceUnavailable, "no message-processor is alive")

	// A later server needs the key that the secret was wrapped with. Waiting does not help, so it exits.
	c.SecretKey = ""
	p, err := programprocessor.New(config.Processor{Common: c, Gossip: config.Gossip{Addr: "off"}},
		server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	require.ErrorContains(t, p.Run(t.Context()), "IRIS_SECRET_KEY")
}

func TestAnUnreachableDatabaseIsLoggedOnce(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	c := servertest.Common("postgres://iris@127.0.0.1:1/iris?sslmode=disable")
	api, stop := runAPI(t, c, zap.New(core))
	servertest.Eventually(t, api+"/readyz", http.StatusServiceUnavailable, "the database cannot be reached")
	servertest.Eventually(t, api+"/readyz/paging", http.StatusServiceUnavailable, "the database cannot be reached")
	asked := time.Now()
	require.Eventually(t, func() bool { return time.Since(asked) > 2500*time.Millisecond }, servertest.Patience,
		50*time.Millisecond)
	said := logs.FilterMessage("not ready").FilterFieldKey("reason").All()
	require.LessOrEqual(t, len(said), 2, "starting, and the database")
	require.NoError(t, stop())
}

func TestTheMailboxIsProxied(t *testing.T) {
	t.Parallel()
	box := http.NewServeMux()
	box.HandleFunc("GET /dev/mailbox.json",
		func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode([]string{"letter"}) })
	boxServer := httptest.NewServer(box)
	defer boxServer.Close()
	a, err := apiserver.New(config.API{
		Common: servertest.Common("postgres://iris@127.0.0.1:1/iris?sslmode=disable"), HTTP: config.HTTP{Addr: "127.0.0.1:0", MailboxURL: boxServer.URL},
	}, server.Deps{Log: zap.NewNop()})
	require.NoError(t, err)
	servertest.Background(t, a.Run)
	status, body := servertest.Get(t, "http://"+a.Addr()+"/dev/mailbox.json")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `["letter"]`, body)
}

func TestRelaxCollectorKeepsGOGCOfTheOperator(t *testing.T) {
	t.Parallel()
	percent := 0
	set := func(n int) int { percent = n; return 100 }
	RelaxCollector([]string{"GOGC=50"}, set)
	require.Zero(t, percent)
	RelaxCollector([]string{"GOGCX=50", "GOMEMLIMIT=1GiB"}, set)
	require.Equal(t, collectorPercent, percent)
}
