package component

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

// One member that never syncs its disk: what it holds is gone with the test anyway.
func runEtcd(args []string) int {
	flags := flag.NewFlagSet(Etcd, flag.ExitOnError)
	dir := flags.String("data-dir", "", "where its data is")
	client := flags.String("client-url", "", "where kube-apiserver connects")
	peer := flags.String("peer-url", "", "where other members would connect")
	_ = flags.Parse(args) // ends the process on errors

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	config, err := etcdConfig(*dir, *client, *peer)
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

func etcdConfig(dir, client, peer string) (*embed.Config, error) {
	clientURL, err := url.Parse(client)
	if err != nil {
		return nil, err
	}
	peerURL, err := url.Parse(peer)
	if err != nil {
		return nil, err
	}
	config := embed.NewConfig()
	config.Dir = dir
	config.ListenClientUrls = []url.URL{*clientURL}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{*peerURL}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	return config, nil
}
