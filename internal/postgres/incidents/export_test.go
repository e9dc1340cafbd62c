package incidents

// IncidentList is the statement of a list of incidents.
var IncidentList = incidentList
