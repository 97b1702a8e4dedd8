// Package pki makes the certificates of a test's control plane.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Pair is a certificate and its key in PEM.
type Pair struct {
	Cert, Key []byte
}

// Authority signs.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Of everything for which no other time is asked, before and after now: longer than any test has a
// clock jump.
const valid = 2 * 366 * 24 * time.Hour

// NewAuthority makes a CA.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	pair, cert, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return &Authority{Pair: pair, cert: cert, key: key}, nil
}

// LoadAuthority is for one that somebody else made; of several certificates it is the first.
func LoadAuthority(p Pair) (*Authority, error) {
	pair, err := p.TLS()
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the authority's key is a %T", pair.PrivateKey)
	}
	return &Authority{Pair: p, cert: cert, key: key}, nil
}

// Server issues a certificate for the names and IP addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	now := time.Now()
	return a.server(now.Add(-valid), now.Add(valid), hosts)
}

// ServerUntil is one that ends at that time, and began an hour ago.
func (a *Authority) ServerUntil(end time.Time, hosts ...string) (Pair, error) {
	return a.server(time.Now().Add(-time.Hour), end, hosts)
}

func (a *Authority) server(begin, end time.Time, hosts []string) (Pair, error) {
	template, err := newTemplate(pkix.Name{CommonName: hosts[0]})
	if err != nil {
		return Pair{}, err
	}
	template.NotBefore, template.NotAfter = begin, end
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(template)
}

// Client issues a certificate that kube-apiserver takes for this user in these groups.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	template, err := newTemplate(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return Pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

func (a *Authority) issue(template *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	pair, _, err := sign(template, a.cert, key, a.key)
	return pair, err
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-valid), NotAfter: now.Add(valid),
	}, nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (Pair, *x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, nil, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, cert, nil
}

// Write puts the pair into dir/name.crt and dir/name.key.
func (p Pair) Write(dir, name string) error {
	if err := os.WriteFile(filepath.Join(dir, name+".crt"), p.Cert, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".key"), p.Key, 0o600)
}

// TLS is the pair as crypto/tls wants it.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.Cert, p.Key) }

// Pool trusts the certificates of the PEM text.
func Pool(pem []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool
}
