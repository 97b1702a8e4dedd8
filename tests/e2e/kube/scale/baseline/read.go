package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The parameters of Evenkeel's first request, and what stands in the bookmark that ends the listing.
const (
	watchList = "watch=1&allowWatchBookmarks=true&timeoutSeconds=600&sendInitialEvents=true" +
		"&resourceVersionMatch=NotOlderThan&resourceVersion="
	endOfList = `"k8s.io/initial-events-end":"true"`
)

// read gets every resource's listing, all at the same time as Evenkeel does, over HTTP/1.1 as it does,
// and returns how many bytes that were.
func read(kubeconfig string) (int64, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return 0, err
	}
	config.TLSClientConfig.NextProtos = []string{"http/1.1"}
	config.DisableCompression = true
	transport, err := rest.TransportFor(config)
	if err != nil {
		return 0, err
	}
	counts, errs := make([]int64, len(resources)), make([]error, len(resources))
	var group sync.WaitGroup
	for i, r := range resources {
		group.Go(func() {
			counts[i], errs[i] = readOne(transport, config.Host+r.path+"?"+r.query+watchList)
		})
	}
	group.Wait()
	var sum int64
	for i, err := range errs {
		if err != nil {
			return 0, fmt.Errorf("%s: %w", resources[i].path, err)
		}
		sum += counts[i]
	}
	return sum, nil
}

func readOne(transport http.RoundTripper, url string) (count int64, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return 0, fmt.Errorf("%s", response.Status)
	}
	// The body stays open: a watch goes on after its listing.
	return readToEnd(response.Body)
}

// readToEnd looks for the mark in what comes, also where it is cut by the end of a buffer.
func readToEnd(body io.Reader) (count int64, err error) {
	mark := []byte(endOfList)
	buffer := make([]byte, 64<<10)
	kept := 0 // bytes of the last round that may begin the mark
	for {
		n, err := body.Read(buffer[kept:])
		count += int64(n)
		if bytes.Contains(buffer[:kept+n], mark) {
			return count, nil
		}
		if err != nil {
			return count, fmt.Errorf("the listing ends early: %w", err)
		}
		tail := min(kept+n, len(mark)-1)
		copy(buffer, buffer[kept+n-tail:kept+n])
		kept = tail
	}
}
