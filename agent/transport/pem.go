package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxPEM is the largest file of certificates, in bytes; all authorities of a
// Linux distribution are a quarter of it.
const maxPEM = 1 << 20

// readAuthorities takes a file of certificates and nothing else: who puts a
// private key there has mistaken it for provider.clientCert, whose certificate
// would become an authority.
func readAuthorities(name string) ([]*x509.Certificate, error) {
	blocks, _, err := readPEM(name)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for i, b := range blocks {
		if b.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a block %q, want certificates alone", b.Type)
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of %d: %w", i+1, len(blocks), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// readClientCert takes a file with a certificate, those between it and its
// authority, and the private key, in any order but the certificates'.
//
// As ssh does, it refuses a key that is the person's own and that others can
// read. A key of somebody else, such as one that is mounted into a container,
// is theirs to protect.
func readClientCert(name string) (*tls.Certificate, error) {
	blocks, info, err := readPEM(name)
	if err != nil {
		return nil, err
	}
	if exposed(info) {
		return nil, fmt.Errorf("others can read the private key (mode %04o), make it yours alone: chmod 600", info.Mode().Perm())
	}
	var certs, keys bytes.Buffer
	for _, b := range blocks {
		switch {
		case b.Type == "CERTIFICATE":
			err = pem.Encode(&certs, b)
		case b.Type == "ENCRYPTED PRIVATE KEY", strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED"):
			return nil, errors.New("the private key is encrypted, want one without a passphrase: openssl pkey -in FILE")
		case strings.HasSuffix(b.Type, "PRIVATE KEY") && keys.Len() > 0:
			return nil, errors.New("it holds more than one private key")
		case strings.HasSuffix(b.Type, "PRIVATE KEY"):
			err = pem.Encode(&keys, b)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case certs.Len() == 0:
		return nil, errors.New("it holds no certificate, want the certificate and its private key in one file")
	case keys.Len() == 0:
		return nil, errors.New("it holds no private key, want the certificate and its private key in one file")
	}
	c, err := tls.X509KeyPair(certs.Bytes(), keys.Bytes())
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// readPEM returns all blocks of a file, at least one. A damaged block, which
// package pem passes over, is an error.
func readPEM(name string) ([]*pem.Block, fs.FileInfo, error) {
	data, info, err := readFile(name)
	if err != nil {
		return nil, nil, err
	}
	var blocks []*pem.Block
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		blocks = append(blocks, b)
	}
	begun := bytes.Count(data, []byte("-----BEGIN "))
	switch {
	case len(data) == 0:
		return nil, nil, errors.New("it is empty")
	case begun == 0:
		return nil, nil, errors.New("it is not PEM: there is no -----BEGIN CERTIFICATE-----")
	case len(blocks) != begun:
		return nil, nil, fmt.Errorf("%d of its %d PEM blocks can be read, the others are damaged or cut off", len(blocks), begun)
	}
	return blocks, info, nil
}

// readFile reads a regular file of up to maxPEM bytes; opening anything else
// could wait for ever. Errors leave the name to the caller.
func readFile(name string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, errors.New("it is no regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, nil, bare(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, bare(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	switch {
	case err != nil:
		return nil, nil, bare(err)
	case len(data) > maxPEM:
		return nil, nil, fmt.Errorf("it is larger than %d bytes", maxPEM)
	}
	return data, info, nil
}

// bare takes the operation and the name off an error.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
