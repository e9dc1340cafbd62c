// Package load decides whether an application may send more now, by the messages that wait and by the incidents that it
// opened recently. The edges ask it before they accept a request. It does not know HTTP.
package load
