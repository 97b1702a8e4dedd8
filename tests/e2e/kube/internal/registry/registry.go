// Package registry puts HTTPS in front of crane's registry of images, which has none of its own: engines and
// kubelets ask for it.
package registry

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

// Run serves until it is killed.
func Run(args []string) int {
	flags := flag.NewFlagSet("registry", flag.ExitOnError)
	listen := flags.String("listen", "", "address")
	behind := flags.String("behind", "", "URL of crane's")
	cert := flags.String("cert", "", "file")
	key := flags.String("key", "", "file")
	_ = flags.Parse(args) // ends the process on errors
	to, err := url.Parse(*behind)
	if err == nil {
		err = http.ListenAndServeTLS(*listen, *cert, *key, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		}})
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
