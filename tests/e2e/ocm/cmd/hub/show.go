package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
)

// show prints where both Placements are, and what to try next.
func (p *playground) show(ctx context.Context) error {
	counts := map[string]int{} // "web/east-1"
	for _, name := range []string{"web", "plain"} {
		d, err := p.hub.Read(ctx, namespace, name)
		if err != nil {
			return err
		}
		for _, cluster := range d.Clusters() {
			counts[name+"/"+cluster[:strings.LastIndex(cluster, "-")]]++
		}
	}
	fmt.Printf("\nClusters per zone that a Placement has (of 2):\n\n")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "region\tzone\tweb\tplain\t")
	for _, z := range zones() {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t\n", z.region, z.name, counts["web/"+z.name], counts["plain/"+z.name])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Print(p.advice())
	return nil
}

func (p *playground) advice() string {
	kubectl := "kubectl"
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl = p.kubectl
	}
	const clusters = `-o jsonpath='{range .items[*].status.decisions[*]}{.clusterName}{"\t"}{.reason}{"\n"}{end}'`
	const lost = `'{"spec": {"taints": [{"key": "lost", "effect": "NoSelect", "timeAdded": null}]}}'`
	return fmt.Sprintf(`
web has a spreadPolicy: regions as even as can be, and the zones of each, of which none may have two clusters more than
another. Evenkeel decides it. plain has none: Open Cluster Management decides it, without a look at zones.

In another terminal:

  export KUBECONFIG=%[1]s

  # what there is, and where it is decided
  %[2]s get managedclusters -L region,zone
  %[2]s get placements -n shop
  %[2]s get placementdecisions -n shop -l cluster.open-cluster-management.io/placement=web %[3]s

  # why these, what else was possible, and what moved when
  %[4]s explain placement shop/web --server %[5]s

  # lose a zone: what is lost moves at once. Then it is back: what only makes it better waits for 10 s
  for c in east-1-a east-1-b; do %[2]s patch managedcluster $c --type merge -p %[6]s; done
  %[4]s explain placement shop/web --server %[5]s
  for c in east-1-a east-1-b; do %[2]s patch managedcluster $c --type merge -p '{"spec": {"taints": null}}'; done

  # what would eight clusters be? Nothing is written
  %[2]s get managedclusters,managedclustersets,managedclustersetbindings,placements,placementdecisions,addonplacementscores,namespaces -A -o yaml >hub.yaml
  %[2]s get placement web -n shop -o yaml | sed 's/numberOfClusters: 6/numberOfClusters: 8/' >web.yaml
  %[4]s simulate --state hub.yaml --placement web.yaml

  # give it back to Open Cluster Management: no cluster moves. And take it again
  %[2]s annotate placement web -n shop placements.evenkeel.io/mode=Off --overwrite
  %[2]s annotate placement web -n shop placements.evenkeel.io/mode-

  # what Evenkeel counts, and its configuration
  curl -s %[5]s/metrics | grep -E '^evenkeel_placement(s|_plans|_moves|_skewed)'
  cat %[7]s

Logs: %[8]s. Ctrl-C stops everything.
`, p.kubeconfig, kubectl, clusters, p.binary, p.evenkeel.Ops, lost, p.evenkeel.Config, p.dir)
}
