// Program older answers with one version of Karmada's code. It is built once for each version, with a go.mod of its
// own (see ../../karmada.sh).
//
// Standard input has a question a line, and standard output an answer a line:
//
//   - {"cluster": a Cluster, "requirements": ReplicaRequirements or null}: how many replicas fit by its summary and
//     its resource models: {"replicas": n};
//   - {"address": "host:port", "name": of a member, "replicas": [ReplicaRequirements...], "sets": [[component...]...]}
//     and "nodes" and "pods", or "peer": the version's client asks the estimator at the address, and either the
//     version's own of these nodes and pods or that of a peer: {"given": [n...], "peer": [n...]}, replicas first.
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

	Address string `json:"address"`
	accurate
}

func answer(q *question) (any, error) {
	if q.Address != "" {
		return q.ask(q.Address)
	}
	estimated, err := client.NewGeneralEstimator().MaxAvailableReplicas(context.Background(),
		[]*clusterv1alpha1.Cluster{q.Cluster}, q.Requirements)
	if err != nil {
		return nil, err
	}
	return map[string]int32{"replicas": estimated[0].Replicas}, nil
}

func answerNext(in *json.Decoder, out *json.Encoder) error {
	var q question
	if err := in.Decode(&q); err != nil {
		return err
	}
	a, err := answer(&q)
	if err != nil {
		return err
	}
	return out.Encode(a)
}

func main() {
	klog.SetLogger(logr.Discard())
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var err error
	for err == nil {
		err = answerNext(in, out)
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
