// Package differential asks Evenkeel and OCM's own placement controller about the same random fleets.
// What OCM lacks, spread policies, is switched off or absent in these cases: then Evenkeel's answer is
// to be OCM's.
package differential
