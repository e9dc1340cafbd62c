package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// IncidentAddress is a mail address of an application. A mail to it opens an incident.
type IncidentAddress struct {
	Address string `json:"address" doc:"An e-mail address that is nobody's contact and no other application's."`
	Plan    string `json:"plan" doc:"An active plan with a text for the application."`
}

// IncidentAddresses are all incident addresses of an application.
type IncidentAddresses struct {
	Addresses []IncidentAddress `json:"addresses" maxItems:"1000"`
}

// AddressEdit replaces the incident addresses of an application.
type AddressEdit struct {
	OneApplication
	Body IncidentAddresses `json:"body"`
}

// Check implements operation.Checker. /v0 answers with the texts.
func (e AddressEdit) Check() error {
	var wrong fault.Wrong
	seen := map[string]bool{}
	for i, one := range e.Body.Addresses {
		field := fmt.Sprintf("addresses[%d].address", i)
		key := strings.ToLower(strings.TrimSpace(one.Address))
		wrong.If(!IsEmail(one.Address), field, "%s is not an e-mail address", one.Address)
		wrong.If(seen[key], field, "The address %s is given twice", one.Address)
		seen[key] = true
	}
	return wrong.Err()
}

// The operations on incident addresses.
var (
	AddressesOfApplication = operation.Define[OneApplication, IncidentAddresses](operation.Doc{Name: "application.incident-addresses",
		Method: http.MethodGet, Path: "/v1/applications/{app}/incident-addresses", Needs: operation.Reader,
		Summary: "The addresses whose mails open incidents of an application"})
	ReplaceAddresses = operation.Define[AddressEdit, IncidentAddresses](operation.Doc{Name: "application.set-incident-addresses",
		Method: http.MethodPut, Path: "/v1/applications/{app}/incident-addresses",
		Needs: operation.Member, Rule: operation.OfApplicationByPeople,
		Audit:   []audit.Action{audit.ApplicationIncidentEMailAddressesSet},
		Summary: "Replace the addresses whose mails open incidents of an application"})
)

func (a *Applications) addresses(ctx context.Context, _ operation.Actor, one OneApplication) (out IncidentAddresses, err error) {
	found, err := a.find(ctx, one.Application)
	if err != nil {
		return out, err
	}
	plans, err := a.deps.Store.IncidentEmails(ctx, found.ID)
	out.Addresses = []IncidentAddress{}
	for _, address := range slices.Sorted(maps.Keys(plans)) {
		out.Addresses = append(out.Addresses, IncidentAddress{address, plans[address]})
	}
	return out, err
}

func (a *Applications) replaceAddresses(ctx context.Context, by operation.Actor, e AddressEdit) (out IncidentAddresses, err error) {
	found, err := a.ownedByPerson(ctx, by, e.Application)
	if err != nil {
		return out, err
	}
	plans := map[string]string{}
	for _, one := range e.Body.Addresses {
		plans[strings.TrimSpace(one.Address)] = one.Plan
	}
	if err := a.deps.Store.SetIncidentEmails(ctx, found.ID, plans, by.Name); err != nil {
		return out, e.placed(err)
	}
	return a.addresses(ctx, by, OneApplication{found.Name})
}

// placed returns the error of the store with the place in the input, if it is about the plan of an address.
func (e AddressEdit) placed(err error) error {
	var wrong *fault.Error
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return err
	}
	out := *wrong
	for i, one := range e.Body.Addresses {
		if strings.TrimSpace(one.Address) == wrong.Field {
			out.Field = fmt.Sprintf("addresses[%d].plan", i)
		}
	}
	return &out
}
