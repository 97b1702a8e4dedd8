package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// show prints where the pods are, and what to try next.
func (p *playground) show(ctx context.Context) error {
	nodes, err := p.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := p.Client.CoreV1().Pods(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	zoneOf := map[string]string{}
	for _, node := range nodes.Items {
		zoneOf[node.Name] = node.Labels[v1.LabelTopologyZone]
	}
	counts := map[string]int{} // "app/zone"
	for _, pod := range pods.Items {
		counts[pod.Labels["app"]+"/"+zoneOf[pod.Spec.NodeName]]++
	}
	fmt.Printf("\nPods per zone (2 nodes each):\n\n")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "region\tzone\tweb\tapi\tbatch\t")
	for _, region := range regions {
		for _, zone := range region.zones {
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t\n", region.name, zone,
				counts["web/"+zone], counts["api/"+zone], counts["batch/"+zone])
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Print(p.advice())
	return nil
}

func (p *playground) advice() string {
	text := fmt.Sprintf(`
web has a constraint of its own: even over zones. api has none; a rule in Evenkeel's configuration
spreads it over regions first, then over the zones of each. Both are hard. batch is free.

In another terminal:

  export KUBECONFIG=%[1]s

  # what there is
  kubectl get nodes -L topology.kubernetes.io/region,topology.kubernetes.io/zone
  kubectl get pods -o wide

  # one more api pod: its region, then its zone, is one of the emptiest
  kubectl run api-12 --image=example.com/api --labels=app=api
  kubectl get pod api-12 -o wide

  # close a region, and see why the next pods stay pending
  kubectl cordon north-1-node-0 north-1-node-1
  for i in 20 21 22 23; do kubectl run api-$i --image=example.com/api --labels=app=api; done
  kubectl get events --field-selector reason=FailedScheduling
  kubectl uncordon north-1-node-0 north-1-node-1

  # why is a pod where it is, or Pending? Each answer of Evenkeel about it
  %[2]s explain default/api-12 --server %[3]s

  # what is spread over what, and how even that is
  %[2]s topology nodes --kubeconfig %[1]s
  %[2]s topology --server %[3]s

  # where would six more of them go?
  kubectl get pod api-12 -o json >api-12.json
  %[2]s simulate --kubeconfig %[1]s --config %[4]s --pod api-12.json --replicas 6

  # what Evenkeel knows and how it is called
  curl -s %[3]s/metrics | grep -E '^evenkeel_(cache|http_requests|watch)'
  cat %[4]s

Where the chart has installed Evenkeel, these commands need no binary: kubectl evenkeel explain, topology and
simulate (docs/guides/kubectl.md). Here no kubelet runs pods, so there is none to ask.

`, p.kubeconfig, p.binary, p.evenkeel.OpsURL(), p.evenkeel.ConfigFile)
	if _, err := exec.LookPath("kubectl"); err != nil {
		text += "There is no kubectl in PATH; any of the last three minor versions before 1.36 or after will do.\n\n"
	}
	text += fmt.Sprintf("Logs and configurations: %s. Ctrl-C stops everything.\n", p.Dir)
	return strings.TrimLeft(text, " ")
}
