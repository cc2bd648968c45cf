package llmtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// chunking says how a body reaches the client.
type chunking struct {
	name string
	// sizes of the writes, over and over; none writes the case's own pieces.
	sizes []int
	// framed sends the body as HTTP chunks instead of up to the connection's
	// end.
	framed bool
	// read bounds what the client's connection gives out at once, 0 for no
	// bound: writes alone do not keep bytes apart on a fast socket.
	read int
}

// slowLimit is the body size from which bytes are not sent one at a time.
const slowLimit = 100_000

func chunkings(c *testCase) []chunking {
	all := []chunking{
		{name: "whole"},
		{name: "odd", sizes: []int{7, 1, 13, 64, 2, 1021}, framed: true, read: 17},
		{name: "bytes", sizes: []int{1}, read: 1},
	}
	if c.size() > slowLimit {
		all[1].sizes, all[1].read = []int{8191, 1, 65537}, 4093
		return all[:2]
	}
	return all
}

// server answers every request with one case, on a socket of its own, with
// exactly the bytes of the case.
type server struct {
	addr string
	read int
}

func serve(t *testing.T, c *testCase, cut chunking) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			// A client that leaves early is part of some cases.
			_ = respond(conn, c, cut)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return &server{addr: l.Addr().String(), read: cut.read}
}

// client reaches the server alone.
func (s *server) client() *http.Client {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, s.addr)
		if err != nil || s.read == 0 {
			return conn, err
		}
		return &slowConn{Conn: conn, most: s.read}, nil
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// slowConn gives out a few bytes at a time.
type slowConn struct {
	net.Conn
	most int
}

func (c *slowConn) Read(b []byte) (int, error) {
	return c.Conn.Read(b[:min(len(b), c.most)])
}

func respond(conn net.Conn, c *testCase, cut chunking) error {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return err
	}
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n", c.status, http.StatusText(c.status))
	if err := c.header.Write(conn); err != nil {
		return err
	}
	frame := "Connection: close\r\n\r\n"
	if cut.framed {
		frame = "Transfer-Encoding: chunked\r\n\r\n"
	}
	if _, err := io.WriteString(conn, frame); err != nil {
		return err
	}
	for _, piece := range cut.pieces(c) {
		if cut.framed {
			piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			return err
		}
	}
	if c.hold {
		_, err := io.Copy(io.Discard, conn) // until the client leaves
		return err
	}
	if cut.framed {
		_, err = io.WriteString(conn, "0\r\n\r\n")
	}
	return err
}

// pieces cuts the body.
func (k chunking) pieces(c *testCase) []string {
	var out []string
	turn := 0
	for _, p := range c.pieces {
		for len(p) > 0 {
			n := len(p)
			if len(k.sizes) > 0 {
				n = min(n, k.sizes[turn%len(k.sizes)])
				turn++
			}
			out = append(out, p[:n])
			p = p[n:]
		}
	}
	return out
}
