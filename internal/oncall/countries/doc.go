// Package countries has the public holidays of countries, computed by the library cal. Package editing calls it for
// teams that subscribe to the holidays of a country. It does not know teams or storage.
package countries
