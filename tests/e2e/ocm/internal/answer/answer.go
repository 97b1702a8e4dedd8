// Package answer is what Evenkeel says of a Placement, what OCM's decision is in the same form, and
// how the two differ.
package answer

import (
	"time"
)

// Answer is the object that `evenkeel simulate --placement` prints and POST /clusters/v1/select
// returns, as far as OCM has something to say to it.
type Answer struct {
	Placement           string             `json:"placement"`
	EligibleSets        []string           `json:"eligibleSets"`
	Available           []string           `json:"available"`
	Filter              map[string]Verdict `json:"filter"`
	CelUnknown          bool               `json:"celUnknown"`
	Prioritizers        []Prioritizer      `json:"prioritizers"`
	Sum                 map[string]int64   `json:"sum"`
	Policy              *string            `json:"policy"`
	Terms               []any              `json:"terms"`
	Current             []string           `json:"current"`
	Selected            []string           `json:"selected"`
	Moves               Moves              `json:"moves"`
	Unscheduled         int                `json:"unscheduled"`
	Groups              []Group            `json:"groups"`
	Conditions          []Condition        `json:"conditions"`
	Publish             []any              `json:"publish"`
	SpreadSatisfied     any                `json:"spreadSatisfied"`
	RequeueAfterSeconds *float64           `json:"requeueAfterSeconds"`
	Warnings            []string           `json:"warnings"`
	Error               string             `json:"error"` // why nothing could be scheduled
}

// Verdict of the filters over a cluster. Reason is Evenkeel's own; OCM gives none.
type Verdict struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
}

// Prioritizer is one that was run. OCM leaves clusters out of Scores that a resource prioritizer has
// no figure of.
type Prioritizer struct {
	Name   string           `json:"name"`
	Weight int32            `json:"weight"`
	Scores map[string]int64 `json:"scores"`
}

// Moves between what was decided and what is selected.
type Moves struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
}

// Group of decisions, with the PlacementDecisions that have it.
type Group struct {
	Index     int      `json:"index"`
	Name      string   `json:"name"`
	Decisions []string `json:"decisions"`
	Clusters  []string `json:"clusters"`
}

// Condition of the Placement's status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// seconds until then; a Duration ends after 292 years, which tolerations reach.
func seconds(now time.Time, at *time.Time) *float64 {
	if at == nil {
		return nil
	}
	value := float64(at.Unix()-now.Unix()) + float64(at.Nanosecond()-now.Nanosecond())/1e9
	return &value
}
