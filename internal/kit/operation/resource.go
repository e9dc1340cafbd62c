package operation

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Resource is a kind of configuration objects. All kinds can be listed, read, replaced and deleted in one shape, so
// that what works on any kind is written once: get, list and delete of the command line, files, tools for machines.
// Package client carries it out.
type Resource struct {
	Kind   string // such as "silence", the singular of the last word of the path of its list; see Called
	Plural string
	Paged  bool // the list has pages
	// List answers a Page of rows. Get and Put answer an object with the tag of its state; Put and Delete accept the
	// tag as If-Match. The zero value of Put means that objects cannot be replaced.
	List, Get, Put, Delete Doc
	// Create makes an object that Put would not find. Its zero value means that Put makes it.
	Create  Doc
	Columns []Column
}

// Column is a column of the table that shows a list.
type Column struct {
	Title  string
	Member string // of a row, as in JSON, with dots between levels
}

// Name returns the parameter of a path by which an object is named.
func (r Resource) Name() string {
	open, end := strings.LastIndexByte(r.Get.Path, '{'), strings.LastIndexByte(r.Get.Path, '}')
	return r.Get.Path[open+1 : end]
}

// Kind returns a resource of these operations. The path of a single object must be that of the list and a parameter, or
// /v1, the last word of that of the list, and a parameter. The columns must be members of a row. Otherwise it panics,
// because definitions are constants of the program. Columns are written as "TITLE=member".
func Kind[Filter, Row, One, Object, Edit, Stored, Gone any](list Def[Filter, Page[Row]], get Def[One, Object], put Def[Edit, Stored], remove Def[Gone, None],
	columns ...string,
) Resource {
	r := Resource{List: list.Doc, Get: get.Doc, Put: put.Doc, Delete: remove.Doc,
		Plural: list.Path[strings.LastIndexByte(list.Path, '/')+1:]}
	r.Kind = strings.TrimSuffix(r.Plural, "s")
	_, r.Paged = reflect.TypeFor[Filter]().FieldByName("Paging")
	rest, below := strings.CutPrefix(get.Path, list.Path+"/{")
	if !below {
		rest, below = strings.CutPrefix(get.Path, "/v1/"+r.Plural+"/{")
	}
	if !below || strings.Contains(rest, "/") || put.Path != "" && put.Path != get.Path || remove.Path != get.Path {
		panic(fmt.Sprintf("the operations of %s have different paths", r.Kind))
	}
	members := membersOf(reflect.TypeFor[Row]())
	for _, c := range columns {
		title, member, _ := strings.Cut(c, "=")
		if first, _, _ := strings.Cut(member, "."); !slices.Contains(members, first) {
			panic(fmt.Sprintf("rows of %s have no member %q", r.Plural, member))
		}
		r.Columns = append(r.Columns, Column{title, member})
	}
	return r
}

// MadeBy returns the resource with the operation that makes an object.
func (r Resource) MadeBy(create Doc) Resource {
	r.Create = create
	return r
}

// Called returns the resource under the word that people know, where it is not that of the path.
func (r Resource) Called(kind string) Resource {
	r.Kind, r.Plural = kind, kind+"s"
	return r
}

// membersOf returns the names of the members of a type in JSON.
func membersOf(t reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}
