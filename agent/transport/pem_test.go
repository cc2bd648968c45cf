package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// authority issues certificates for tests.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// file holds its certificate.
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	a.cert = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority " + rand.Text()}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, &a.key.PublicKey)
	a.file = write(t, "ca.pem", 0o644, certPEM(a.cert.Raw))
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sign makes a certificate from c: valid for an hour, if c does not say.
func (a *authority) sign(c *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	a.t.Helper()
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	c.NotBefore = c.NotAfter.Add(-24 * time.Hour)
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

// issue makes a certificate for this machine and model.invalid, for both sides.
func (a *authority) issue(change func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "leaf"}, DNSNames: []string{"model.invalid"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(c)
	}
	key := newKey(a.t)
	return tls.Certificate{Certificate: [][]byte{a.sign(c, &key.PublicKey).Raw}, PrivateKey: key}
}

// clientFile writes a certificate with its key, as provider.clientCert wants it.
func (a *authority) clientFile(c tls.Certificate) string {
	a.t.Helper()
	return write(a.t, "client.pem", 0o600, certPEM(c.Certificate[0])+keyPEM(a.t, c))
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func certPEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func keyPEM(t *testing.T, c tls.Certificate) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func write(t *testing.T, name string, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCAFileThatIsNone(t *testing.T) {
	a := newAuthority(t)
	leaf := a.issue(nil)
	whole := certPEM(a.cert.Raw)
	for name, c := range map[string]struct{ path, want string }{
		"missing":        {filepath.Join(t.TempDir(), "none.pem"), "no such file or directory"},
		"directory":      {t.TempDir(), "it is no regular file"},
		"device":         {os.DevNull, "it is no regular file"},
		"empty":          {write(t, "f", 0o644, ""), "it is empty"},
		"not PEM":        {write(t, "f", 0o644, string(a.cert.Raw)), "it is not PEM"},
		"too large":      {write(t, "f", 0o644, strings.Repeat("#", maxPEM+1)), "it is larger than 1048576 bytes"},
		"cut off":        {write(t, "f", 0o644, whole+whole[:len(whole)/2]), "1 of its 2 PEM blocks can be read"},
		"damaged first":  {write(t, "f", 0o644, strings.Replace(whole, "\n", "\n!", 1)+whole), "1 of its 2 PEM blocks can be read"},
		"no certificate": {write(t, "f", 0o644, whole+certPEM([]byte("x"))), "certificate 2 of 2: "},
		"a key":          {write(t, "f", 0o644, whole+keyPEM(t, leaf)), `it holds a block "PRIVATE KEY", want certificates alone`},
	} {
		if name == "missing" && runtime.GOOS == "windows" {
			c.want = "cannot find the file"
		}
		_, err := New(Options{CAFile: c.path})
		want := "read provider.caFile " + quote(c.path) + ": "
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s… %s", name, err, want, c.want)
		}
	}
}

func TestCAFileWithTextBetween(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	c, err := New(Options{CAFile: write(t, "f", 0o644, "# first\n"+certPEM(a.cert.Raw)+"\r\n# second\n"+certPEM(b.cert.Raw)+"end\n")})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.routes[0].authorities); got != 2 {
		t.Errorf("got %d authorities, want 2", got)
	}
}

func TestClientCertThatIsNone(t *testing.T) {
	a := newAuthority(t)
	one, two := a.issue(nil), a.issue(nil)
	cert, key := certPEM(one.Certificate[0]), keyPEM(t, one)
	secret := strings.Split(key, "\n")[1]
	der, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no key":         {cert, "it holds no private key"},
		"no certificate": {key, "it holds no certificate"},
		"another's key":  {cert + keyPEM(t, two), "private key does not match"},
		"two keys":       {cert + key + keyPEM(t, two), "more than one private key"},
		"encrypted":      {cert + strings.ReplaceAll(key, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), "the private key is encrypted"},
		"encrypted, old": {cert + strings.Replace(key, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1), "the private key is encrypted"},
		"damaged":        {cert + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der[:20]})), "parse private key"},
		"cut off":        {cert + key[:len(key)/2], "1 of its 2 PEM blocks can be read"},
	} {
		path := write(t, "client.pem", 0o600, c.text)
		_, err := New(Options{ClientCert: path, Origin: "https://model.invalid"})
		want := "read provider.clientCert " + quote(path) + ": "
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s… %s", name, err, want, c.want)
		} else if strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), string(der[:8])) {
			t.Errorf("%s: bytes of the key in %q", name, err)
		}
	}
}

func TestClientCertNeedsAnOrigin(t *testing.T) {
	a := newAuthority(t)
	file := a.clientFile(a.issue(nil))
	for _, base := range []string{"", "model.invalid", "https://user:hunter2@model.invalid:port/"} {
		_, err := New(Options{ClientCert: file, Origin: base})
		if err == nil || !strings.Contains(err.Error(), "base URL is not valid") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", base, err)
		}
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"` }
