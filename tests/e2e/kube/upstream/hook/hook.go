// Package hook puts Evenkeel into every kube-scheduler that Kubernetes' own integration tests make.
//
// Those packages are laid out at run time (see ../layout) with one line more in their kube-scheduler:
// a call of Attach, once its options are known. Environment:
//
//	EVENKEEL_UPSTREAM_MODE  one of ModeNames
//	EVENKEEL_UPSTREAM_DIR   folder for Evenkeel's files and for what happened (see Report)
//	EVENKEEL                the binary
package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// Variables of the environment.
const (
	ModeVariable = "EVENKEEL_UPSTREAM_MODE"
	DirVariable  = "EVENKEEL_UPSTREAM_DIR"
)

var attached atomic.Int32 // kube-schedulers so far, for names of files

// Attach changes the options of a kube-scheduler that is about to be made as the mode says. An
// Evenkeel that it starts watches that API server, is ready when Attach returns, and ends with ctx.
func Attach(ctx context.Context, server *rest.Config, profiles *[]config.KubeSchedulerProfile, extenders *[]config.Extender) error {
	mode, err := ParseMode(os.Getenv(ModeVariable))
	if err != nil {
		return fmt.Errorf("$%s: %w", ModeVariable, err)
	}
	if mode.PluginOut {
		*profiles = withoutSpread(*profiles)
	}
	if !mode.Evenkeel {
		return nil
	}
	entry, err := start(ctx, server, mode)
	if err != nil {
		return fmt.Errorf("cannot attach Evenkeel: %w", err)
	}
	// Tests may share the slice.
	*extenders = append(slices.Clone(*extenders), *entry)
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

// start runs an Evenkeel and returns kube-scheduler's entry for it.
func start(ctx context.Context, server *rest.Config, mode Mode) (*config.Extender, error) {
	if server == nil {
		return nil, errors.New("this kube-scheduler was given no client configuration")
	}
	name := fmt.Sprint(attached.Add(1))
	dir := os.Getenv(DirVariable)
	kubeconfig := filepath.Join(dir, "kubeconfig-"+name)
	if err := writeKubeconfig(server, kubeconfig); err != nil {
		return nil, err
	}
	e, err := evenkeel.Start(ctx, evenkeel.Options{
		Name: name, Dir: dir, Binary: os.Getenv("EVENKEEL"), Kubeconfig: kubeconfig,
	})
	if err != nil {
		return nil, err
	}
	go func() {
		<-ctx.Done()
		finish(dir, e)
	}()
	entry := e.Extender()
	if mode.Bind {
		entry.BindVerb = "bind"
	}
	out := &config.Extender{}
	return out, scheme.Scheme.Convert(&entry, out, nil)
}

// writeKubeconfig is for the administrator that the test is. Files that the test names are its own and
// go when it ends, so their contents are taken.
func writeKubeconfig(server *rest.Config, file string) error {
	tls := rest.CopyConfig(server)
	if err := rest.LoadTLSFiles(tls); err != nil {
		return err
	}
	if server.BearerToken == "" && tls.CertData == nil {
		return errors.New("the client configuration has neither a token nor a certificate")
	}
	const name = "test"
	return clientcmd.WriteToFile(api.Config{
		Clusters: map[string]*api.Cluster{name: {
			Server: server.Host, TLSServerName: tls.ServerName, CertificateAuthorityData: tls.CAData,
		}},
		AuthInfos: map[string]*api.AuthInfo{name: {
			Token: server.BearerToken, ClientCertificateData: tls.CertData, ClientKeyData: tls.KeyData,
		}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, file)
}
