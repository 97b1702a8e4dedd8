package netns

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// RunRelay is the part inside the namespace: it turns the loopback device on, and passes connections
// on as its flags say, until it is killed.
func RunRelay(args []string) int {
	flags := flag.NewFlagSet("relay", flag.ExitOnError)
	in := flags.String("in", "", "comma-separated SOCKET=ADDRESS: what comes by the socket goes to the address")
	out := flags.String("out", "", "ADDRESS=SOCKET: the other way round")
	_ = flags.Parse(args) // ends the process on errors
	if output, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "ip link set lo up: %v %s\n", err, output)
		return 1
	}
	var err error
	if address, socket, _ := strings.Cut(*out, "="); address != "" {
		_, err = pass("tcp", address, "unix", socket)
	}
	for _, pair := range strings.Split(*in, ",") {
		socket, address, _ := strings.Cut(pair, "=")
		if err == nil {
			_, err = pass("unix", socket, "tcp", address)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(ready)
	select {}
}

const ready = "relaying"

// pass connects whoever connects here with the other side, until the listener is closed.
func pass(network, address, otherNetwork, otherAddress string) (net.Listener, error) {
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			go join(here, otherNetwork, otherAddress)
		}
	}()
	return listener, nil
}

func join(here net.Conn, network, address string) {
	defer here.Close()
	there, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer there.Close()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{here, there}, {there, here}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1]) // either end may go at any time
			ended <- struct{}{}
		}()
	}
	<-ended // with one direction the other one goes: nobody here half-closes
}
