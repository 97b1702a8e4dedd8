// Command controller makes a cluster that is there already a hub, for tests whose module has other versions of
// Kubernetes' libraries than this one: it defines OCM's kinds, creates the clusters of a file with the sets that
// they are in, and runs OCM's own placement controller.
//
//	controller -kubeconfig FILE -objects FILE
//
// It prints a line once Placements are decided, and ends when its standard input does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"evenkeel.io/tests/e2e/ocm/internal/hub"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "an administrator's")
	objects := flag.String("objects", "", "YAML with the clusters; what is decided in it is left out")
	flag.Parse()
	if *kubeconfig == "" || *objects == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*kubeconfig, *objects); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, file string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	h, err := hub.Join(ctx, kubeconfig)
	if err != nil {
		return err
	}
	objects, err := hub.Documents(file)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return !slices.Contains([]string{"ManagedCluster", "ManagedClusterSet", "ManagedClusterSetBinding"}, o.GetKind())
	})
	if err := h.Create(ctx, objects...); err != nil {
		return err
	}
	ended := h.RunPlacementController(ctx)
	fmt.Println("Placements are decided")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end, too
		stop()
	}()
	return <-ended
}
