// Command message-processor owns buckets, escalates their incidents and sends their messages. It needs PostgreSQL and
// its peers. Run two or more.
package main

import "github.com/iris-oncall/iris/internal/program"

func main() {
	program.Main("message-processor", "Escalates the incidents of Iris and sends their messages. Run two or more; they share the work.", program.ServeProcessor)
}
