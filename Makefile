.PHONY: help generate
help: ## list targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort
generate: ## regenerate the database code from SQL
	tools/generate.sh
