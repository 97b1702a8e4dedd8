// Command controlplane lends an empty control plane, etcd and kube-apiserver, to tests whose modules
// have other versions of Kubernetes' libraries than this one.
//
//	controlplane -dir FOLDER
//
// It prints the path of an administrator's kubeconfig once the API server is ready, and ends, with
// everything that it has started, when its standard input does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/component"
)

func main() {
	component.RunIfAsked()
	dir := flag.String("dir", "", "where its files go; must be empty")
	flag.Parse()
	if *dir == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c, err := cluster.Start(ctx, dir)
	if err != nil {
		return err
	}
	kubeconfig, err := c.Kubeconfig(cluster.Admin())
	if err != nil {
		_ = c.Stop() // the first error says more
		return err
	}
	fmt.Println(kubeconfig)
	select {
	case <-inputEnd():
	case <-ctx.Done():
	case <-c.APIServer().Exited():
		_ = c.Stop() // the API server's end says more
		return fmt.Errorf("kube-apiserver has ended: see %s", c.LogFile(component.APIServer))
	}
	return c.Stop()
}

func inputEnd() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end, too
		close(ended)
	}()
	return ended
}
