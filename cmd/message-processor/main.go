// Command message-processor owns buckets of incidents, escalates them and sends their messages. It needs PostgreSQL and
// its peers; run any number.
package main

import "github.com/iris-oncall/iris/internal/app"

func main() {
	app.Main("message-processor", "Escalates the incidents of Iris and sends their messages. Run two or more; they share the work.", app.ServeProcessor)
}
