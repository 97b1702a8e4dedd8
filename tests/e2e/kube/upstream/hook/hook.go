// Package hook puts Evenkeel into every kube-scheduler that Kubernetes' own integration tests make.
//
// Those packages are laid out at run time (see ../layout) with one line more in their kube-scheduler:
// a call of Attach, once its options are known. Environment:
//
//	EVENKEEL_UPSTREAM_MODE     one of ModeNames
//	EVENKEEL_UPSTREAM_DIR      folder for files of the extender, and for what happened (see Report)
//	EVENKEEL_UPSTREAM_MEASURE  if not empty: count where pods are put, and log less
//	EVENKEEL                   the binary
//	EVENKEEL_BASELINE          the program of ../../scale/baseline, for the mode "nothing"
package hook

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Variables of the environment.
const (
	ModeVariable     = "EVENKEEL_UPSTREAM_MODE"
	DirVariable      = "EVENKEEL_UPSTREAM_DIR"
	MeasureVariable  = "EVENKEEL_UPSTREAM_MEASURE"
	BinaryVariable   = "EVENKEEL"
	BaselineVariable = "EVENKEEL_BASELINE"
)

// Scheduler is a kube-scheduler that is about to be made.
type Scheduler struct {
	API       *rest.Config // of an administrator
	Informers informers.SharedInformerFactory
	Profiles  *[]config.KubeSchedulerProfile
	Extenders *[]config.Extender
}

var attached atomic.Int32 // kube-schedulers so far, for names of files

// Attach changes the options as the mode says. An Evenkeel that it starts watches that API server, is
// ready when Attach returns, and ends with ctx.
func Attach(ctx context.Context, s Scheduler) error {
	mode, err := ParseMode(os.Getenv(ModeVariable))
	if err != nil {
		return fmt.Errorf("$%s: %w", ModeVariable, err)
	}
	e := ending{dir: os.Getenv(DirVariable)}
	if os.Getenv(MeasureVariable) != "" {
		if e.zones, err = countZones(s.Informers); err != nil {
			return err
		}
	}
	if mode.PluginOut {
		*s.Profiles = withoutSpread(*s.Profiles)
	}
	if mode.Evenkeel || mode.Silent {
		e.name = fmt.Sprint(attached.Add(1))
		entry, err := e.start(ctx, s.API, mode)
		if err != nil {
			return fmt.Errorf("cannot attach an extender: %w", err)
		}
		// Tests may share the slice.
		*s.Extenders = append(slices.Clone(*s.Extenders), *entry)
	}
	go func() {
		<-ctx.Done()
		e.finish()
	}()
	return nil
}

// withoutSpread is a copy: tests may share profiles.
func withoutSpread(profiles []config.KubeSchedulerProfile) []config.KubeSchedulerProfile {
	isSpread := func(p config.Plugin) bool { return p.Name == names.PodTopologySpread }
	var out []config.KubeSchedulerProfile
	for i := range profiles {
		profile := profiles[i].DeepCopy()
		if p := profile.Plugins; p != nil {
			for _, set := range []*config.PluginSet{
				&p.MultiPoint, &p.PreEnqueue, &p.QueueSort, &p.PreFilter, &p.Filter, &p.PostFilter,
				&p.PreScore, &p.Score, &p.Reserve, &p.Permit, &p.PreBind, &p.Bind, &p.PostBind,
				&p.PlacementGenerate, &p.PlacementScore,
			} {
				set.Enabled = slices.DeleteFunc(set.Enabled, isSpread)
			}
		}
		out = append(out, *profile)
	}
	return out
}
