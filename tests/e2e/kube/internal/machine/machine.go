// Package machine is a machine of a cluster: a network namespace with an API server's, nodes' and pods'
// addresses, which no packet leaves. What runs in it finds the registry of images by its name.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"evenkeel.io/tests/e2e/kube/internal/netns"
)

// Addresses in the machine.
const (
	Address      = "10.240.0.1" // of the control plane
	Gateway      = "169.254.1.1"
	Pods         = "10.244.0.0/16"
	Services     = "10.96.0.0/16"
	FirstService = "10.96.0.1" // of the API server
	RegistryName = "registry.example.com"
	RegistryAt   = "10.240.0.2"
)

// NodeAddress of the i-th node, from 1.
func NodeAddress(i int) string { return fmt.Sprintf("10.240.0.%d", 10+i) }

// NodePods are the addresses that its pods get.
func NodePods(i int) string { return fmt.Sprintf("10.244.%d.0/24", i) }

// Machine lives until Close.
type Machine struct {
	*netns.Namespace
	hosts   string // what stands in for /etc/hosts
	sockets string
}

// Available is an error that says what is missing to have one.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("it takes root")
	}
	if err := netns.Available(); err != nil {
		return err
	}
	for _, tool := range []string{"nft", "sysctl", "sleep", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	if output, err := exec.Command("unshare", "--mount", "--pid", "--fork", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("unshare --mount --pid: %w: %s", err, output)
	}
	return nil
}

// New makes one, with files in `dir`. `serve` are addresses of 127.0.0.1 inside that are reached from outside by
// the same addresses. `role` is as of netns.New.
func New(ctx context.Context, dir, role string, nodes int, serve ...string) (*Machine, error) {
	// The paths of sockets must be short.
	sockets, err := os.MkdirTemp("", "evenkeel-machine-")
	if err != nil {
		return nil, err
	}
	m := &Machine{hosts: filepath.Join(dir, "hosts"), sockets: sockets}
	hosts := "127.0.0.1\tlocalhost\n" + RegistryAt + "\t" + RegistryName + "\n"
	if err := os.WriteFile(m.hosts, []byte(hosts), 0o644); err != nil {
		return nil, err
	}
	if m.Namespace, err = netns.New(ctx, sockets, role, "", serve...); err != nil {
		return nil, err
	}
	if err := m.addresses(nodes); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Every node is this one machine, so all their addresses are its own, as is the gateway of all pods.
func (m *Machine) addresses(nodes int) error {
	own := []string{Address, RegistryAt, Gateway}
	for i := range nodes {
		own = append(own, NodeAddress(i+1))
	}
	for _, address := range own {
		if err := m.Run("ip", "address", "add", address+"/32", "dev", "lo"); err != nil {
			return err
		}
	}
	// Where packets to Services seem to go, before kube-proxy gives them another destination.
	if err := m.Run("ip", "route", "add", Services, "dev", "lo", "src", Address); err != nil {
		return err
	}
	return m.Run("sysctl", "--quiet", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
}

// asHosts has one command see the machine's names, and have mounts of its own.
const asHosts = `mount --bind "$0" /etc/hosts; exec "$@"`

// Wrap goes in front of a command that shall run in the machine.
func (m *Machine) Wrap() []string {
	return append(slices.Clone(m.Namespace.Wrap()), "unshare", "--mount", "--propagation", "private", "sh", "-ec", asHosts, m.hosts)
}

// Close ends it, and with it what is in it.
func (m *Machine) Close() {
	m.Namespace.Close()
	os.RemoveAll(m.sockets)
}
