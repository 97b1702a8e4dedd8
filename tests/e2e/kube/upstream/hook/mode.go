package hook

import (
	"fmt"
	"strings"
)

// Mode says what kube-scheduler is given.
type Mode struct {
	PluginOut bool // PodTopologySpread is taken out of every profile
	Evenkeel  bool // Evenkeel is its extender
	Bind      bool // Evenkeel binds, too
	Silent    bool // an extender without an opinion is there instead
}

// ModeNames are all modes: kube-scheduler as it is; the plugin taken out; and Evenkeel in place of
// the plugin or beside it. With "nothing", an extender that does nothing is beside it.
var ModeNames = []string{"stock", "out", "in-place", "beside", "in-place+bind", "beside+bind", "nothing"}

// ParseMode reads one of ModeNames.
func ParseMode(name string) (Mode, error) {
	what, bind := strings.CutSuffix(name, "+bind")
	switch what {
	case "in-place":
		return Mode{PluginOut: true, Evenkeel: true, Bind: bind}, nil
	case "beside":
		return Mode{Evenkeel: true, Bind: bind}, nil
	}
	switch name {
	case "stock":
		return Mode{}, nil
	case "out":
		return Mode{PluginOut: true}, nil
	case "nothing":
		return Mode{Silent: true}, nil
	}
	return Mode{}, fmt.Errorf("%q is no mode: one of %s", name, strings.Join(ModeNames, ", "))
}
