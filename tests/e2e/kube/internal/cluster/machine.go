package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"evenkeel.io/tests/e2e/kube/internal/component"
	"evenkeel.io/tests/e2e/kube/internal/machine"
	"evenkeel.io/tests/e2e/kube/internal/process"
)

// Machine is a control plane with nodes that run pods, all in a network namespace: kube-controller-manager with
// all its controllers, kube-proxy, and a small kubelet for each node (package kubelet). Admission plugins are
// Kubernetes' own defaults and NodeRestriction, and authorization is Node and RBAC.
//
// Everybody reaches Services through kube-proxy: the API server, too, which calls webhooks at the address of their
// Service unless it was told otherwise. kube-proxy has its own defaults, so what has become of a Service's
// endpoints is known to nobody for up to a second. No name of a Service can be resolved.
type Machine struct {
	*Cluster
	parts     []*process.Process
	kubelets  map[string]*process.Process
	scheduler *process.Process
}

// StartMachine starts one with so many nodes, each in a zone of its own: node-1 in zone-1.
// `crane` is that program, whose registry it has by the name machine.RegistryName.
func StartMachine(ctx context.Context, dir string, nodes int, crane string) (*Machine, error) {
	if err := machine.Available(); err != nil {
		return nil, fmt.Errorf("no machine for pods can be had here: %w", err)
	}
	m := &Machine{Cluster: &Cluster{Dir: dir}, kubelets: map[string]*process.Process{}}
	if err := m.begin(ctx, nodes, crane); err != nil {
		_ = m.Stop() // the first error says more
		return nil, err
	}
	return m, nil
}

func (m *Machine) begin(ctx context.Context, nodes int, crane string) error {
	c := m.Cluster
	if err := c.choosePorts(); err != nil {
		return err
	}
	var err error
	c.machine, err = machine.New(ctx, c.Dir, component.Variable(component.Relay), nodes,
		fmt.Sprintf("127.0.0.1:%d", c.port), fmt.Sprintf("127.0.0.1:%d", c.etcdPort))
	if err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.StartEtcd(); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := m.startRegistry(crane); err != nil {
		return err
	}
	if err := m.startControllers(); err != nil {
		return err
	}
	for i := range nodes {
		if err := m.StartKubelet(i + 1); err != nil {
			return err
		}
	}
	return m.startProxy()
}

// Wrap goes in front of a command that shall run in the machine: as on a host, with the registry's name.
func (m *Machine) Wrap() []string { return m.machine.Wrap() }

// Dial connects to an IP address as a program in the machine would.
func (m *Machine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return m.machine.Dial(ctx, network, address)
}

// part starts a component in the machine.
func (m *Machine) part(role, name string, flags ...string) (*process.Process, error) {
	p, err := component.StartIn(m.machine.Wrap(), role, m.LogFile(name), flags...)
	if err == nil {
		m.parts = append(m.parts, p)
	}
	return p, err
}

func (m *Machine) startRegistry(crane string) error {
	const behind = "127.0.0.1:5000"
	command := append(m.machine.Wrap(), crane, "registry", "serve", "--address", behind)
	p, err := process.Start(process.Spec{Name: "crane", Path: command[0], Args: command[1:], Log: m.LogFile("crane")})
	if err != nil {
		return err
	}
	m.parts = append(m.parts, p)
	pair, err := m.CA.Server(machine.RegistryName)
	if err != nil {
		return err
	}
	if err := pair.Write(m.pkiDir(), "registry"); err != nil {
		return err
	}
	file := filepath.Join(m.pkiDir(), "registry")
	_, err = m.part(component.Registry, component.Registry, "--listen="+machine.RegistryAt+":443", "--behind=http://"+behind,
		"--cert="+file+".crt", "--key="+file+".key")
	return err
}

func (m *Machine) startControllers() error {
	kubeconfig, err := m.Kubeconfig(Identity{Name: "system:kube-controller-manager"})
	if err != nil {
		return err
	}
	_, err = m.part(component.Controllers, component.Controllers, "--kubeconfig="+kubeconfig, "--leader-elect=false",
		"--bind-address=127.0.0.1", "--use-service-account-credentials=true", "--allocate-node-cidrs=false",
		"--service-account-private-key-file="+filepath.Join(m.pkiDir(), "accounts.key"), "--root-ca-file="+m.CAFile(),
		"--kube-api-qps=200", "--kube-api-burst=400")
	return err
}

// StartScheduler starts the cluster's kube-scheduler, on the host's network, in place of the one before: a static
// pod's is started anew, too, when its manifest changes. `config` is a file; "": what kubeadm has.
func (m *Machine) StartScheduler(kubeconfig, config string) error {
	if m.scheduler != nil {
		m.scheduler.Kill()
	}
	flags := []string{"--kubeconfig=" + kubeconfig}
	if config != "" {
		flags = []string{"--config=" + config}
	}
	var err error
	m.scheduler, err = m.part(component.Scheduler, component.Scheduler, append(flags, "--leader-elect=false", "--bind-address=127.0.0.1",
		"--secure-port=10259", "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig, "--v=2")...)
	return err
}

func (m *Machine) startProxy() error {
	kubeconfig, err := m.Kubeconfig(Identity{Name: "system:kube-proxy"})
	if err != nil {
		return err
	}
	_, err = m.part(component.Proxy, component.Proxy, "--kubeconfig="+kubeconfig, "--proxy-mode=nftables",
		"--hostname-override="+NodeName(1), "--cluster-cidr="+machine.Pods, "--conntrack-max-per-core=0",
		"--conntrack-tcp-timeout-established=0", "--conntrack-tcp-timeout-close-wait=0", "--nodeport-addresses=primary")
	return err
}

// NodeName of the i-th node, from 1.
func NodeName(i int) string { return "node-" + strconv.Itoa(i) }

// StartKubelet starts that of the i-th node, from 1, for the first time or after it was killed.
func (m *Machine) StartKubelet(i int) error {
	name := NodeName(i)
	kubeconfig, err := m.Kubeconfig(Identity{Name: "system:node:" + name, Groups: []string{"system:nodes"}})
	if err != nil {
		return err
	}
	pair, err := m.CA.Server(machine.NodeAddress(i), name)
	if err != nil {
		return err
	}
	if err := pair.Write(m.pkiDir(), name); err != nil {
		return err
	}
	dir := m.NodeDir(i)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p, err := m.part(component.Kubelet, name, "--kubeconfig="+kubeconfig, "--node="+name,
		"--address="+machine.NodeAddress(i), "--pod-range="+machine.NodePods(i), "--dir="+dir,
		fmt.Sprintf("--labels=topology.kubernetes.io/region=region-1,topology.kubernetes.io/zone=zone-%d", i),
		"--registry-ca="+m.CAFile(), "--client-ca="+m.CAFile(),
		"--cert="+filepath.Join(m.pkiDir(), name+".crt"), "--key="+filepath.Join(m.pkiDir(), name+".key"))
	m.kubelets[name] = p
	return err
}

// KillKubelet ends that of the i-th node, and with it its containers: as if the node had lost its power.
func (m *Machine) KillKubelet(i int) { m.kubelets[NodeName(i)].Kill() }

// NodeDir has the i-th kubelet's files; in `logs` is what containers of pods have printed that are gone. For those
// that run, pods/UID/CONTAINER.pid has the number of the process.
func (m *Machine) NodeDir(i int) string { return filepath.Join(m.Dir, NodeName(i)) }

// Stop ends all of it.
func (m *Machine) Stop() error {
	for i := len(m.parts) - 1; i >= 0; i-- {
		_ = m.parts[i].Stop(10 * time.Second) // the namespaces of its containers go with it
	}
	err := m.Cluster.Stop()
	if m.machine != nil {
		m.machine.Close()
	}
	return err
}

// machineFlags are those of kube-apiserver that differ in a machine.
func (c *Cluster) machineFlags() []string {
	file := func(name string) string { return filepath.Join(c.pkiDir(), name) }
	return []string{
		"--bind-address=0.0.0.0",
		"--advertise-address=" + machine.Address,
		"--service-cluster-ip-range=" + machine.Services,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + file("kubelet-client.crt"),
		"--kubelet-client-key=" + file("kubelet-client.key"),
		"--kubelet-certificate-authority=" + file("ca.crt"),
		"--kubelet-preferred-address-types=InternalIP",
	}
}

// plainFlags are those without one.
func plainFlags() []string {
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // no endpoint may be a loopback address
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		// Nobody makes service accounts here, and nobody takes the not-ready taint from new nodes.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
	}
}

// hosts of the API server's certificate.
func (c *Cluster) hosts() []string {
	hosts := []string{"127.0.0.1", "localhost", ServerName}
	if c.machine != nil {
		hosts = append(hosts, machine.Address, machine.FirstService)
		for name := "kubernetes.default.svc.cluster.local"; name != ""; {
			hosts = append(hosts, name)
			if name = name[:max(strings.LastIndexByte(name, '.'), 0)]; name == "kubernetes" {
				break
			}
		}
	}
	return hosts
}
