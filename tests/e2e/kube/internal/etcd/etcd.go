// Package etcd makes this program be an etcd of one member, which never syncs its disk: what it holds
// is gone with the test anyway.
package etcd

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// Run serves until SIGTERM and returns the exit status. Its flags are etcd's own, those that the tests
// and Kubernetes' integration framework pass; an URL may be unix:///path.
func Run(args []string) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	config, err := parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-stop:
		server.Close()
		return 0
	case <-time.After(time.Minute):
		fmt.Fprintln(os.Stderr, "not ready after a minute")
		return 1
	}
	select {
	case <-stop:
		server.Close()
		return 0
	case err := <-server.Err():
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
}

func parse(args []string) (*embed.Config, error) {
	config := embed.NewConfig()
	config.UnsafeNoFsync = true
	// The program of that name sets this itself; 0 would be a warning about every request.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	flags.StringVar(&config.Dir, "data-dir", "", "where its data is")
	clients := flags.String("listen-client-urls", "", "where kube-apiserver connects")
	advertised := flags.String("advertise-client-urls", "", "what it says about that; default: the same")
	peers := flags.String("listen-peer-urls", "", "where other members would connect")
	flags.StringVar(&config.LogLevel, "log-level", "warn", "debug, info, warn or error")
	flags.Int64Var(&config.QuotaBackendBytes, "quota-backend-bytes", 0, "0: etcd's own default")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *advertised == "" {
		*advertised = *clients
	}
	for text, into := range map[*string]*[]url.URL{
		clients: &config.ListenClientUrls, advertised: &config.AdvertiseClientUrls,
		peers: &config.ListenPeerUrls,
	} {
		parsed, err := url.Parse(*text)
		if err != nil {
			return nil, err
		}
		*into = []url.URL{*parsed}
	}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	return config, nil
}
