package kubelet

import (
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// addresses gives out those of the node's range of pods, one after the other; one that was given back is
// not given again before all others were.
type addresses struct {
	mu     sync.Mutex
	within netip.Prefix
	next   netip.Addr
	used   map[netip.Addr]bool
}

func newAddresses(within string) (*addresses, error) {
	prefix, err := netip.ParsePrefix(within)
	if err != nil {
		return nil, err
	}
	return &addresses{within: prefix, next: prefix.Addr(), used: map[netip.Addr]bool{}}, nil
}

func (a *addresses) take() (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 1 << (32 - a.within.Bits()) {
		a.next = a.next.Next()
		if !a.within.Contains(a.next) {
			a.next = a.within.Addr().Next()
		}
		if !a.used[a.next] {
			a.used[a.next] = true
			return a.next, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no address of %v is free", a.within)
}

func (a *addresses) giveBack(address netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, address)
}

// sandbox is the network namespace of a pod, with an address. A process that does nothing holds it, as in
// other container runtimes.
type sandbox struct {
	holder  *exec.Cmd
	ended   chan struct{} // closed when the holder has
	address netip.Addr
	device  string // the machine's end
}

// The machine answers for this address at each pod's device: package machine.
const gateway = "169.254.1.1"

func (k *kubelet) newSandbox() (*sandbox, error) {
	address, err := k.slots.take()
	if err != nil {
		return nil, err
	}
	b := &sandbox{address: address, ended: make(chan struct{}), holder: exec.Command("sleep", "infinity")}
	b.holder.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL,
	}
	octets := address.As4()
	b.device = fmt.Sprintf("pod%d-%d", octets[2], octets[3])
	started := make(chan error)
	go holdThread(b.holder, started, func(error) { close(b.ended) })
	if err := <-started; err != nil {
		k.slots.giveBack(address)
		return nil, fmt.Errorf("a pod's namespace: %w", err)
	}
	if err := b.connect(k.address); err != nil {
		k.remove(b)
		return nil, err
	}
	return b, nil
}

// connect by a pair of devices and routes only: no bridge, so all that pods send is seen by the machine's
// packet filter, which is kube-proxy's.
func (b *sandbox) connect(node string) error {
	pid := strconv.Itoa(b.holder.Process.Pid)
	inside := []string{"nsenter", "--net", "--target", pid}
	for _, command := range []string{
		"ip link add " + b.device + " type veth peer name eth0 netns " + pid,
		"ip link set " + b.device + " up",
		"in ip link set lo up",
		"in ip address add " + b.address.String() + "/32 dev eth0",
		"in ip link set eth0 up",
		"in ip route add " + gateway + " dev eth0 scope link",
		"in ip route add default via " + gateway,
		"ip route replace " + b.address.String() + " dev " + b.device + " src " + node,
	} {
		words := strings.Fields(command)
		if words[0] == "in" {
			words = append(inside[:len(inside):len(inside)], words[1:]...)
		}
		if output, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, output)
		}
	}
	return nil
}

// remove ends the namespace, and with it the devices.
func (k *kubelet) remove(b *sandbox) {
	_ = b.holder.Process.Kill() // fails only if it is gone
	<-b.ended
	_ = exec.Command("ip", "link", "delete", b.device).Run() // it mostly went with the namespace
	k.slots.giveBack(b.address)
}
