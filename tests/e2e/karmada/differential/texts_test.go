package differential

import (
	"regexp"
	"strconv"
	"strings"
)

// fitError is what the text of a FitError says. Which filter refused a cluster depends on the order of a
// Go map where several would.
type fitError struct {
	all     string // how many clusters there are
	refused int    // how many have a reason
}

var (
	fitErrorText = regexp.MustCompile(`^0/([0-9]+) clusters are available: (.*)\.$`)
	knownReason  = regexp.MustCompile(`^([0-9]+) (?:cluster\(s\) (?:had untolerated taint \{.*\}` +
		`|did not match the placement cluster affinity constraint|did not have the API resource` +
		`|did not have (?:provider|region|zones) property|is in the process of eviction))$`)
)

// fitErrorOf returns other texts as they are.
func fitErrorOf(text string) any {
	found := fitErrorText.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	said := fitError{all: found[1]}
	for _, reason := range strings.Split(found[2], ", ") {
		known := knownReason.FindStringSubmatch(reason)
		if known == nil {
			return text
		}
		count, _ := strconv.Atoi(known[1]) // of digits
		said.refused += count
	}
	return said
}
