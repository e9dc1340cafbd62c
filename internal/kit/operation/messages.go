package operation

import "github.com/danielgtaylor/huma/v2/validation"

// missingMark begins the message for a missing member. The name of the member follows.
const missingMark = "missing: "

// ofParameters replaces messages of huma about parameters, which are constants.
var ofParameters = map[string]string{
	"invalid boolean": "must be true or false", "invalid integer": "must be a whole number", "invalid float": "must be a number",
	"invalid date/time for format 2006-01-02T15:04:05.999999999Z07:00": "must be a time like 2026-11-22T09:30:00Z",
}

// The messages follow the name of the field. They are variables of huma, which all operations share.
var _ = func() struct{} {
	validation.MsgExpectedRequiredProperty = missingMark + "%s"
	validation.MsgUnexpectedProperty = "is not known here"
	validation.MsgExpectedRFC3339DateTime = "must be an instant such as 2026-01-31T08:00:00Z"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be a list"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of \"%s\""
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMinItems = "must have at least %d entries"
	validation.MsgExpectedMaxItems = "must have at most %d entries"
	validation.MsgExpectedArrayItemsUnique = "must not have an entry twice"
	return struct{}{}
}()
