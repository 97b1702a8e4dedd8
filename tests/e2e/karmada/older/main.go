// Program older answers, of one version of Karmada's code, how many replicas fit by a cluster's summary and
// its resource models. It is built once for each version, with a go.mod of its own (see ../../karmada.sh).
//
// Standard input has a question a line, {"cluster": a Cluster, "requirements": ReplicaRequirements or null};
// standard output has an answer a line, {"replicas": n}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
)

type question struct {
	Cluster      *clusterv1alpha1.Cluster          `json:"cluster"`
	Requirements *workv1alpha2.ReplicaRequirements `json:"requirements"`
}

func answer(in *json.Decoder, out io.Writer) error {
	var q question
	if err := in.Decode(&q); err != nil {
		return err
	}
	estimated, err := client.NewGeneralEstimator().MaxAvailableReplicas(context.Background(),
		[]*clusterv1alpha1.Cluster{q.Cluster}, q.Requirements)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "{\"replicas\": %d}\n", estimated[0].Replicas)
	return err
}

func main() {
	klog.SetLogger(logr.Discard())
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	var err error
	for err == nil {
		err = answer(in, os.Stdout)
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
