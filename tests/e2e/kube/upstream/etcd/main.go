// Command etcd is what Kubernetes' integration framework looks for in PATH. It ends when whoever has
// started it does, however that happens.
package main

import (
	"os"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/etcd"
)

func main() {
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}()
	os.Exit(etcd.Run(os.Args[1:]))
}
