package silences

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/matchers"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// One names a silence.
type One struct {
	ID ID `path:"silence" json:"id"`
}

// Edit replaces the content of a silence.
type Edit struct {
	One
	Body Draft `json:"body"`
}

// Filter selects silences.
type Filter struct {
	operation.Paging
	Over bool `query:"over" json:"over,omitempty" doc:"true: also those that are over."`
}

// Hiding selects incidents that a silence hides.
type Hiding struct {
	One
	operation.Paging
}

// HiddenIncident is an incident that a silence hides.
type HiddenIncident struct {
	ID incidents.ID `json:"id"`
}

// Foreseen says what a silence would hide if it was in force now.
type Foreseen struct {
	Escalating []incidents.ID `json:"escalating" doc:"Incidents that escalate now and would be hidden, newest first."`
	Recent     int            `json:"recent" doc:"How many incidents of the last seven days match."`
	Partial    bool           `json:"partial" doc:"Only the newest 500 of either kind were compared."`
}

// The operations on silences.
var (
	List = operation.Define[Filter, operation.Page[Silence]](operation.Doc{Name: "silence.list",
		Method: http.MethodGet, Path: "/v1/silences",
		Needs: operation.Reader, Summary: "Silences and maintenance windows, newest first"})
	Create = operation.Define[Draft, Silence](operation.Doc{Name: "silence.create", Method: http.MethodPost,
		Path:  "/v1/silences",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.SilenceCreated}, Summary: "Silence incidents: those that match page nobody", Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Note: "For owners of the application, members of the team, and people of the plan that the silence names; administrators may silence anything. " +
			"When the answer comes, matching incidents page nobody any more."})
	Preview = operation.Define[Scope, Foreseen](operation.Doc{Name: "silence.preview", Method: http.MethodPost,
		Path:  "/v1/silences/preview",
		Needs: operation.Member, Rule: operation.Confined, Status: http.StatusOK, Summary: "What a silence would hide now; nothing is stored",
		Errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
		Note:   "The key of an application gets the incidents of its own; 404 for another."})
	Get = operation.Define[One, Silence](operation.Doc{Name: "silence.get", Method: http.MethodGet,
		Path:  "/v1/silences/{silence}",
		Needs: operation.Reader, Summary: "A silence"})
	Replace = operation.Define[Edit, Silence](operation.Doc{Name: "silence.replace", Method: http.MethodPut,
		Path:  "/v1/silences/{silence}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.SilenceChanged}, Summary: "Replace the content of a silence", Errors: []int{http.StatusConflict},
		Note: "409 when it is over. Incidents that it no longer matches escalate."})
	End = operation.Define[One, operation.None](operation.Doc{Name: "silence.end", Method: http.MethodDelete,
		Path:  "/v1/silences/{silence}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.SilenceEnded}, Summary: "End a silence now", Errors: []int{http.StatusConflict},
		Note: "Its incidents escalate within two minutes, unless another silence matches or their source reports no firing alert."})
	Hidden = operation.Define[Hiding, operation.Page[HiddenIncident]](operation.Doc{Name: "silence.incidents",
		Method: http.MethodGet,
		Path:   "/v1/silences/{silence}/incidents", Needs: operation.Reader, Summary: "Numbers of the incidents that a silence hides, newest first"})
)

// Kind has what all kinds of objects have. A silence is deleted by its end.
var Kind = operation.Kind(List, Get, Replace, End,
	"ID=id", "STATE=state", "FROM=from", "TO=to", "REPEAT=recurrence", "HIDES=hidden_incidents", "AUTHOR=author",
	"MATCH=match", "APPLICATION=application", "PLAN=plan", "TEAM=team", "COMMENT=comment").MadeBy(Create.Doc)

// Candidate is an incident that a silence may hide.
type Candidate struct {
	Subject
	Escalating, Recent bool
}

// Rights is what a caller has to do with the application, plan or team that a silence names.
type Rights struct {
	OwnsApplication bool
	InTeam          bool // a member of the team
	OwnsPlan        bool // its creator, or a member of a team that it pages
}

// ErrNotYours refuses a caller who has nothing to do with the names of a silence.
var ErrNotYours = fault.New(fault.Forbidden,
	"Only administrators may silence any incident: name an application that you own, a team of yours, or a plan that pages it")

// Silences are the operations on silences. They are safe for concurrent use.
type Silences struct {
	List    operation.Op[Filter, operation.Page[Silence]]
	Create  operation.Op[Draft, Silence]
	Preview operation.Op[Scope, Foreseen]
	Get     operation.Op[One, Silence]
	Replace operation.Op[Edit, Silence]
	End     operation.Op[One, operation.None]
	Hidden  operation.Op[Hiding, operation.Page[HiddenIncident]]

	store  Store
	keeper *Keeper
}

// New returns the operations on a store. keeper hides what a changed silence matches.
func New(store Store, keeper *Keeper) *Silences {
	s := &Silences{store: store, keeper: keeper}
	s.List, s.Create, s.Preview, s.Get = List.By(s.list), Create.By(s.create), Preview.By(s.preview), Get.By(s.get)
	s.Replace, s.End, s.Hidden = Replace.By(s.replace), End.By(s.end), Hidden.By(s.hidden)
	return s
}

// Now returns the time by which silences begin and end.
func (s *Silences) Now() time.Time { return s.keeper.current.clock.Now() }

// list leaves out those that are over unless the filter has them.
func (s *Silences) list(ctx context.Context, _ operation.Actor, f Filter) (operation.Page[Silence], error) {
	before, err := f.Before()
	if err != nil {
		return operation.Page[Silence]{}, err
	}
	found, err := s.store.Page(ctx, ID(before), f.Over, f.Size()+1)
	now := s.Now()
	for k := range found {
		found[k] = found[k].at(now)
	}
	return operation.PageOf(f.Paging, found, func(one Silence) ID { return one.ID }), err
}

func (s *Silences) get(ctx context.Context, _ operation.Actor, one One) (Silence, error) {
	found, err := s.store.ByID(ctx, one.ID)
	return found.at(s.Now()), err
}

// create stores a silence, and hides the escalating incidents that it matches before it returns.
func (s *Silences) create(ctx context.Context, by operation.Actor, d Draft) (Silence, error) {
	c := d.Resolve(s.Now())
	if err := s.check(ctx, by, c); err != nil {
		return Silence{}, err
	}
	if err := c.near(s.Now()); err != nil {
		return Silence{}, err
	}
	id, err := s.store.Create(ctx, c, by.Name)
	if err != nil {
		return Silence{}, err
	}
	return s.begin(ctx, by, id)
}

// replace stores the content of a silence that is not over, and hides the escalating incidents that it matches now.
// Those that it no longer matches escalate again.
func (s *Silences) replace(ctx context.Context, by operation.Actor, e Edit) (Silence, error) {
	before, err := s.store.ByID(ctx, e.ID)
	if err != nil {
		return Silence{}, err
	}
	c := e.Body.Resolve(s.Now())
	if err := s.may(ctx, by, before.Scope); err != nil {
		return Silence{}, err
	}
	if err := s.check(ctx, by, c); err != nil {
		return Silence{}, err
	}
	if !c.From.Equal(before.From) {
		if err := c.near(s.Now()); err != nil {
			return Silence{}, err
		}
	}
	if err := s.store.Replace(ctx, e.ID, c, by.Name); err != nil {
		return Silence{}, err
	}
	return s.begin(ctx, by, e.ID)
}

// end ends a silence now. It stays in the list of those that are over.
func (s *Silences) end(ctx context.Context, by operation.Actor, one One) (operation.None, error) {
	before, err := s.store.ByID(ctx, one.ID)
	if err == nil {
		err = s.may(ctx, by, before.Scope)
	}
	if err == nil {
		err = s.store.End(ctx, before, by.Name)
	}
	return operation.None{}, err
}

// hidden returns the incidents that a silence hides; for the key of an application those of the application.
func (s *Silences) hidden(ctx context.Context, by operation.Actor, h Hiding) (out operation.Page[HiddenIncident], err error) {
	if _, err := s.store.ByID(ctx, h.ID); err != nil {
		return out, err
	}
	before, err := h.Before()
	if err != nil {
		return out, err
	}
	found, err := s.store.Incidents(ctx, h.ID, by.Application, incidents.ID(before), h.Size()+1)
	return operation.PageOf(h.Paging, found, func(one HiddenIncident) incidents.ID { return one.ID }), err
}

// mostCompared is how many incidents of each kind a preview compares.
const mostCompared = 500

// preview returns what a silence would hide.
func (s *Silences) preview(ctx context.Context, by operation.Actor, scope Scope) (out Foreseen, err error) {
	if by.Application != 0 {
		if scope.Application != "" && string(scope.Application) != by.ApplicationName {
			return out, operation.ErrNotReached
		}
		scope.Application = operation.Text(by.ApplicationName)
	}
	now := s.Now()
	if err := (Content{Scope: scope, From: now, To: now.Add(time.Hour), Comment: "preview"}).Check(); err != nil {
		return out, err
	}
	m, err := matchers.Parse(string(scope.Match))
	if err != nil {
		return out, err
	}
	out.Escalating = []incidents.ID{}
	found, err := s.store.Candidates(ctx, scope, now.Add(-7*24*time.Hour), mostCompared)
	escalating, recent := 0, 0
	for k := range found {
		one := &found[k]
		escalating, recent = escalating+count(one.Escalating), recent+count(one.Recent)
		if one.decide(m, matchers.NewBudget()) != matchers.Yes {
			continue
		}
		out.Recent += count(one.Recent)
		if one.Escalating {
			out.Escalating = append(out.Escalating, one.ID)
		}
	}
	out.Partial = max(escalating, recent) >= mostCompared
	return out, err
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (s *Silences) check(ctx context.Context, by operation.Actor, c Content) error {
	if err := s.may(ctx, by, c.Scope); err != nil {
		return err
	}
	return c.Check()
}

// may allows changing a silence: to administrators, and to people and service tokens with a right in one of the objects
// that the silence names.
func (s *Silences) may(ctx context.Context, by operation.Actor, scope Scope) error {
	r, err := s.store.Rights(ctx, by.Person, by.Teams, scope)
	if err != nil {
		return err
	}
	if by.Role == operation.Admin || !by.Program && (r.OwnsApplication || r.InTeam || r.OwnsPlan) {
		return nil
	}
	return ErrNotYours
}

func (s *Silences) begin(ctx context.Context, by operation.Actor, id ID) (Silence, error) {
	if err := s.keeper.Begin(ctx, id); err != nil {
		return Silence{}, err
	}
	return s.get(ctx, by, One{ID: id})
}
