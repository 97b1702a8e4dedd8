package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is a CA of the scene's own: for the daemon's listeners, the API server and clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	serial      int64
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // only key and certificate making: nothing that an attack could touch
	}
	return value
}

func newAuthority() *authority {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "attack scene"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	return &authority{certificate: must(x509.ParseCertificate(der)), key: key, serial: 1,
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// issue makes a pair for servers and clients alike; `edit` may change what it says.
func (a *authority) issue(commonName string, edit func(*x509.Certificate)) (cert, key []byte) {
	a.serial++
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: commonName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	if edit != nil {
		edit(template)
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key))
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must(x509.MarshalECPrivateKey(private))})
}

// client is the TLS side of a caller with this certificate; no name: without one.
func (a *authority) client(commonName string, edit func(*x509.Certificate)) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	config := &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"http/1.1"}}
	if commonName != "" {
		cert, key := a.issue(commonName, edit)
		config.Certificates = []tls.Certificate{must(tls.X509KeyPair(cert, key))}
	}
	return config
}

func write(folder, name string, text []byte) string {
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		panic(err)
	}
	return path
}
