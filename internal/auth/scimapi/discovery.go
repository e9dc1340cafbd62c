package scimapi

import (
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type m = map[string]any

// config describes what the server supports (RFC 7643, section 5).
func (a *API) config(call) (answer, error) {
	no := m{"supported": false}
	return answer{status: http.StatusOK, content: m{
		"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"},
		"patch":   m{"supported": true}, "bulk": m{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter": m{"supported": true, "maxResults": maxCount}, "changePassword": no, "sort": no, "etag": no,
		"authenticationSchemes": []m{{"type": "oauthbearertoken", "name": "Bearer token",
			"description": "The token of the SCIM connection", "primary": true}},
		"meta": m{"resourceType": "ServiceProviderConfig", "location": a.PublicURL +
			"/scim/v2/ServiceProviderConfig"},
	}}, nil
}

func (a *API) resourceTypes(c call) (answer, error) {
	meta := func(name string) m {
		return m{"resourceType": "ResourceType", "location": a.PublicURL + "/scim/v2/ResourceTypes/" + name}
	}
	schemas := []string{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"}
	return discovered(c, []m{
		{"schemas": schemas, "id": "User", "name": "User", "endpoint": "/Users", "schema": scim.UserSchema,
			"meta":             meta("User"),
			"schemaExtensions": []m{{"schema": scim.EnterpriseSchema, "required": false}}},
		{"schemas": schemas, "id": "Group", "name": "Group", "endpoint": "/Groups", "schema": scim.GroupSchema,
			"meta": meta("Group")},
	})
}

// schemas describes the attributes that Iris keeps (RFC 7643, section 7).
func (a *API) schemas(c call) (answer, error) {
	schema := func(id, name string, attributes ...m) m {
		return m{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:Schema"}, "id": id, "name": name,
			"description": name, "attributes": attributes,
			"meta": m{"resourceType": "Schema", "location": a.PublicURL + "/scim/v2/Schemas/" + id}}
	}
	value := func(of string) []m {
		return []m{described("value", of), described("type", "string"), described("primary", "boolean")}
	}
	return discovered(c, []m{
		schema(scim.UserSchema, "User", with(described("userName", "string"),
			m{"required": true, "uniqueness": "server"}), described("displayName", "string"),
			described("title", "string"), described("timezone", "string"), described("active", "boolean"),
			with(described("name", "complex"),
				m{"subAttributes": []m{described("formatted", "string"), described("givenName", "string"),
					described("familyName", "string")}}),
			with(described("emails", "complex"), m{"multiValued": true, "subAttributes": value("string")}),
			with(described("phoneNumbers", "complex"), m{"multiValued": true, "subAttributes": value("string")})),
		schema(scim.EnterpriseSchema, "EnterpriseUser", described("employeeNumber", "string"),
			described("department", "string"),
			with(described("manager", "complex"), m{"subAttributes": []m{described("value", "string")}})),
		schema(scim.GroupSchema, "Group", with(described("displayName", "string"),
			m{"required": true, "uniqueness": "server"}),
			with(described("members", "complex"), m{"multiValued": true,
				"subAttributes": []m{described("value", "string")}})),
	})
}

// described returns the usual description of an attribute.
func described(name, of string) m {
	return m{"name": name, "type": of, "description": name, "multiValued": false, "required": false,
		"caseExact": false, "mutability": "readWrite", "returned": "default", "uniqueness": "none"}
}

func with(attribute, more m) m {
	for name, v := range more {
		attribute[name] = v
	}
	return attribute
}

// discovered answers one of the resources, or all as a list.
func discovered(c call, all []m) (answer, error) {
	id := wire.Param(c.Request, "id")
	items := []any{}
	for _, one := range all {
		if id == "" {
			items = append(items, one)
		} else if strings.EqualFold(id, one["id"].(string)) {
			return answer{status: http.StatusOK, content: one}, nil
		}
	}
	if id != "" {
		return answer{}, fault.New(fault.NotFound, "there is no such resource")
	}
	return answer{status: http.StatusOK, content: listOf(items, len(items), 1)}, nil
}
