package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/component"
)

func (c *Cluster) etcdDir() string { return filepath.Join(c.Dir, "etcd") }

// StartEtcd starts it with the data that it had, and waits until it answers.
func (c *Cluster) StartEtcd() error {
	client := fmt.Sprintf("http://127.0.0.1:%d", c.etcdPort)
	p, err := component.StartIn(c.wrap(), component.Etcd, c.LogFile(component.Etcd),
		"--data-dir="+c.etcdDir(), "--listen-client-urls="+client,
		fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", c.peerPort))
	if err != nil {
		return err
	}
	c.etcd = p
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return p.WaitReady(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return getOK(ctx, http.DefaultClient, client+"/health")
	})
}

// StopEtcd ends it gently.
func (c *Cluster) StopEtcd() error {
	if c.etcd == nil || !c.etcd.Running() {
		return nil
	}
	return c.etcd.Stop(stopLimit)
}

// SaveEtcd copies the data as it is now. API server and etcd are stopped meanwhile: a copy of files
// in use would be none of any moment.
func (c *Cluster) SaveEtcd(ctx context.Context) (copyDir string, err error) {
	if copyDir, err = os.MkdirTemp(c.Dir, "etcd-copy-"); err != nil {
		return "", err
	}
	err = c.whileStopped(ctx, func() error { return os.CopyFS(copyDir, os.DirFS(c.etcdDir())) })
	return copyDir, err
}

// RestoreEtcd goes back to a copy: whatever was written since has never been, and resource versions
// are given out a second time.
func (c *Cluster) RestoreEtcd(ctx context.Context, copyDir string) error {
	return c.whileStopped(ctx, func() error {
		if err := os.RemoveAll(c.etcdDir()); err != nil {
			return err
		}
		return os.CopyFS(c.etcdDir(), os.DirFS(copyDir))
	})
}

func (c *Cluster) whileStopped(ctx context.Context, do func() error) error {
	if err := c.StopAPIServer(); err != nil {
		return err
	}
	if err := c.StopEtcd(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if err := c.StartEtcd(); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// getOK is nil if the URL answers 200.
func getOK(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s says %s", url, response.Status)
	}
	return nil
}
