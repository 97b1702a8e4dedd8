// Command karmada is karmada-scheduler or karmada-descheduler, as its first argument says, just as Karmada makes
// them.
//
//	karmada scheduler [FLAG...]
//	karmada descheduler [FLAG...]
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // as both have it
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	descheduler "github.com/karmada-io/karmada/cmd/descheduler/app"
	scheduler "github.com/karmada-io/karmada/cmd/scheduler/app"
)

func main() {
	var command *cobra.Command
	name := ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	switch ctx := signals.SetupSignalHandler(); name {
	case "scheduler":
		command = scheduler.NewSchedulerCommand(ctx)
	case "descheduler":
		command = descheduler.NewDeschedulerCommand(ctx)
	default:
		fmt.Fprintln(os.Stderr, "karmada scheduler|descheduler [FLAG...]")
		os.Exit(2)
	}
	os.Args = append([]string{"karmada-" + name}, os.Args[2:]...)
	os.Exit(cli.Run(command))
}
