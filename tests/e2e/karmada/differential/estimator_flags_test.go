package differential

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	_ "k8s.io/component-base/logs/json/register" // as Karmada's program: --logging-format=json

	"github.com/karmada-io/karmada/cmd/scheduler-estimator/app"
	"github.com/karmada-io/karmada/pkg/features"
)

// estimatorHelp runs `evenkeel estimator` up to --help, which ends it if the flags in front are right.
func estimatorHelp(t *testing.T, flags ...string) string {
	t.Helper()
	said, err := exec.Command(binary(t), append(append([]string{"estimator"}, flags...), "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("evenkeel estimator %s: %v\n%s", strings.Join(flags, " "), err, said)
	}
	return string(said)
}

// TestEstimatorFlags holds the command line of `evenkeel estimator` against that of karmada-scheduler-estimator: each
// flag with its default, each feature gate, and nothing more.
func TestEstimatorFlags(t *testing.T) {
	flags := app.NewSchedulerEstimatorCommand(context.Background()).Flags()
	count := 0
	flags.VisitAll(func(flag *pflag.Flag) {
		count++
		estimatorHelp(t, "--"+flag.Name+"="+flag.DefValue)
		estimatorHelp(t, "--"+strings.ReplaceAll(flag.Name, "_", "-")+"="+flag.DefValue)
		if flag.NoOptDefVal != "" {
			estimatorHelp(t, "--"+flag.Name)
		}
	})
	if count < 30 {
		t.Errorf("Karmada has %d flags only", count)
	}
	for gate := range features.FeatureGate.GetAll() {
		estimatorHelp(t, "--feature-gates="+string(gate)+"=true")
	}

	known := map[string]*pflag.Flag{}
	flags.VisitAll(func(flag *pflag.Flag) { known[strings.ReplaceAll(flag.Name, "_", "-")] = flag })
	help := estimatorHelp(t)
	rows := regexp.MustCompile(`(?m)^ {2}(?:-\w,| {3}) --([a-z-]+)`).FindAllStringSubmatchIndex(help, -1)
	if len(rows) < 30 {
		t.Errorf("the help has %d flags only:\n%s", len(rows), help)
	}
	stated := 0
	for i, row := range rows {
		name, end := help[row[2]:row[3]], len(help)
		if i+1 < len(rows) {
			end = rows[i+1][0]
		}
		flag := known[name]
		if flag == nil && name != "help" {
			t.Errorf("Karmada has no --%s", name)
		}
		text := strings.Join(strings.Fields(help[row[0]:end]), " ")
		if _, value, found := strings.Cut(text, "(default "); found && flag != nil {
			stated++
			if value = strings.TrimSuffix(value, ")"); value != flag.DefValue {
				t.Errorf("--%s: the default is %s, of Karmada's %s", name, value, flag.DefValue)
			}
		}
	}
	if stated < 4 {
		t.Errorf("the help states %d defaults only", stated)
	}
}
