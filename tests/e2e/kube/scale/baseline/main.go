// Command baseline is what Evenkeel is measured beside, each in a process as small as Go makes it:
//
//	baseline read KUBECONFIG               a client that reads what Evenkeel reads, and drops it
//	baseline inform KUBECONFIG TYPE        client-go's informers of the same, TYPE "json" or "protobuf"
//	baseline nothing ADDRESS CERT KEY CA   an extender that passes every node and scores it 0
//	baseline silent ADDRESS CERT KEY CA    one that passes every node and gives no scores at all
//
// Each prints one line of JSON when it is there, and runs until it is killed.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Resources that Evenkeel watches, by path. Of pods it leaves out those that have finished.
var resources = []struct{ path, query string }{
	{"/api/v1/nodes", ""},
	{"/api/v1/pods", "fieldSelector=" + unfinishedEscaped + "&"},
	{"/api/v1/namespaces", ""},
	{"/api/v1/services", ""},
	{"/api/v1/replicationcontrollers", ""},
	{"/apis/apps/v1/replicasets", ""},
	{"/apis/apps/v1/statefulsets", ""},
}

const (
	unfinished        = "status.phase!=Succeeded,status.phase!=Failed"
	unfinishedEscaped = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
)

// there is the line that is printed.
type there struct {
	At    time.Time `json:"at"`
	Bytes int64     `json:"bytes,omitempty"`
	Pods  int       `json:"pods,omitempty"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var result there
	var err error
	switch {
	case len(args) == 2 && args[0] == "read":
		result.Bytes, err = read(args[1])
	case len(args) == 3 && args[0] == "inform":
		result.Pods, err = inform(args[1], args[2])
	case len(args) == 5 && args[0] == "nothing":
		err = serveNothing(args[1], args[2], args[3], args[4], scoreNone)
	case len(args) == 5 && args[0] == "silent":
		err = serveNothing(args[1], args[2], args[3], args[4], scoreNobody)
	default:
		err = fmt.Errorf("usage: see the comment on top of main.go")
	}
	if err != nil {
		return err
	}
	result.At = time.Now()
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		return err
	}
	select {} // measured from outside now
}
