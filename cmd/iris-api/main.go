// Command iris-api serves HTTP: the JSON API, webhooks, people's answers and the web pages. It is stateless; run any
// number behind a load balancer.
package main

import "github.com/iris-oncall/iris/internal/program"

func main() {
	program.Main("iris-api", "Serves the API, webhooks, people's answers and the web pages of Iris. Run any number behind a load balancer.", program.ServeAPI)
}
