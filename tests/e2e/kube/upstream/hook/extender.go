package hook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	v1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// start runs the mode's extender and returns kube-scheduler's entry for it.
func (e *ending) start(ctx context.Context, server *rest.Config, mode Mode) (*config.Extender, error) {
	if server == nil {
		return nil, errors.New("this kube-scheduler was given no client configuration")
	}
	kubeconfig := filepath.Join(e.dir, "kubeconfig-"+e.name)
	if err := writeKubeconfig(server, kubeconfig); err != nil {
		return nil, err
	}
	settings := map[string]any{}
	if os.Getenv(MeasureVariable) != "" {
		settings["log"] = map[string]any{"level": "info"}
	}
	made, err := evenkeel.New(evenkeel.Options{
		Name: e.name, Dir: e.dir, Binary: os.Getenv(BinaryVariable), Kubeconfig: kubeconfig,
		Settings: settings,
	})
	if err != nil {
		return nil, err
	}
	entry := made.Extender()
	if mode.Silent {
		err = e.startSilent(ctx, made, &entry)
	} else {
		err = e.startEvenkeel(ctx, made)
	}
	if err != nil {
		return nil, err
	}
	if mode.Bind {
		entry.BindVerb = "bind"
	}
	out := &config.Extender{}
	return out, scheme.Scheme.Convert(&entry, out, nil)
}

func (e *ending) startEvenkeel(ctx context.Context, made *evenkeel.Evenkeel) error {
	if err := made.Launch(); err != nil {
		return err
	}
	e.evenkeel, e.process = made, made.Process
	err := made.WaitReady(ctx)
	if err != nil {
		made.Kill()
	}
	return err
}

// startSilent starts an extender that does nothing, with the certificates of an Evenkeel that does not
// run.
func (e *ending) startSilent(ctx context.Context, made *evenkeel.Evenkeel, entry *v1.Extender) error {
	port, err := process.FreePort()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	e.process, err = process.Start(process.Spec{
		Name: "extender that does nothing", Path: os.Getenv(BaselineVariable),
		Args: []string{"silent", address, made.CertFile("tls.crt"), made.CertFile("tls.key"), made.CertFile("ca.crt")},
		Log:  filepath.Join(e.dir, "silent-"+e.name+".log"),
	})
	if err != nil {
		return err
	}
	entry.URLPrefix = "https://" + address + "/extender/v1"
	entry.PreemptVerb = ""
	err = e.process.WaitReady(ctx, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	if err != nil {
		e.process.Kill()
	}
	return err
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
