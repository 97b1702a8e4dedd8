package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// verdict is what a probe has come to think of one run of a container.
type verdict struct {
	of       *container
	liveness bool // otherwise readiness
	good     bool
	why      string // it is not
}

// probe asks again and again until ctx ends, and reports each change of mind; at first a container is alive
// and not ready.
func probe(ctx context.Context, c *container, address string, p *v1.Probe, liveness bool, report func(verdict)) {
	if !pause(ctx, time.Duration(p.InitialDelaySeconds)*time.Second) {
		return
	}
	good, inRow, last := liveness, int32(0), false
	for {
		err := httpProbe(ctx, c.Container, address, p)
		if ctx.Err() != nil {
			return
		}
		if said := err == nil; said != last || inRow == 0 {
			last, inRow = said, 0
		}
		inRow++
		if last != good && (last && inRow >= p.SuccessThreshold || !last && inRow >= p.FailureThreshold) {
			good = last
			why := ""
			if err != nil {
				why = err.Error()
			}
			report(verdict{c, liveness, good, why})
		}
		if !pause(ctx, time.Duration(p.PeriodSeconds)*time.Second) {
			return
		}
	}
}

// pause says whether the time went by before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// httpProbe is nil if the container answers with 200 to 399. Certificates are not verified, and every probe
// has a connection of its own, as kubelets do it.
func httpProbe(ctx context.Context, c *v1.Container, address string, p *v1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.TimeoutSeconds)*time.Second)
	defer cancel()
	return httpGet(ctx, c, address, p.HTTPGet, "kube-probe/1.36")
}

func httpGet(ctx context.Context, c *v1.Container, address string, get *v1.HTTPGetAction, agent string) error {
	number, err := portOf(c, get)
	if err != nil {
		return err
	}
	host := get.Host
	if host == "" {
		host = address
	}
	path, query, _ := strings.Cut(get.Path, "?")
	to := url.URL{Scheme: strings.ToLower(string(get.Scheme)), Host: net.JoinHostPort(host, strconv.Itoa(number)), Path: path, RawQuery: query}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", agent)
	for _, header := range get.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 10<<10)) // for a message only
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("HTTP probe failed with statuscode: %d (%s)", response.StatusCode, body)
	}
	return nil
}

// portOf a probe, which may name one of the container's.
func portOf(c *v1.Container, get *v1.HTTPGetAction) (int, error) {
	if number := get.Port.IntValue(); number != 0 {
		return number, nil
	}
	for _, port := range c.Ports {
		if port.Name == get.Port.StrVal {
			return int(port.ContainerPort), nil
		}
	}
	return 0, fmt.Errorf("container %s has no port named %q", c.Name, get.Port.StrVal)
}
