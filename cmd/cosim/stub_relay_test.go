package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// stubRelay is one end of a relay socket: stub-relay dial SOCKET SAY GOT sends what the file
// SAY has in hex, ends its direction, and writes all that comes, in hex, to the file GOT. With
// listen, it takes first and speaks then; the file SOCKET.up is there while it waits.
func stubRelay() { stubMain(runStubRelay(os.Args[1:])) }

func runStubRelay(args []string) error {
	say, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(string(say)), ""))
	if err != nil {
		return err
	}
	conn, err := stubConnection(args[0], args[1])
	if err != nil {
		return err
	}
	defer conn.Close()
	steps := []func() error{func() error {
		_, err := conn.Write(data)
		return errors.Join(err, conn.CloseWrite())
	}, func() error {
		got, err := io.ReadAll(conn)
		return errors.Join(err, os.WriteFile(args[3], []byte(hex.EncodeToString(got)+"\n"), 0o600))
	}}
	if args[0] == "listen" {
		slices.Reverse(steps)
	}
	return errors.Join(steps[0](), steps[1]())
}

// stubConnection accepts one connection, or makes one as soon as somebody listens.
func stubConnection(how, path string) (*net.UnixConn, error) {
	address := &net.UnixAddr{Name: path, Net: "unix"}
	if how == "listen" {
		l, err := net.ListenUnix("unix", address)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		if err := os.WriteFile(path+".up", nil, 0o600); err != nil {
			return nil, err
		}
		defer os.Remove(path + ".up")
		return l.AcceptUnix()
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		conn, err := net.DialUnix("unix", nil, address)
		late := time.Now().After(deadline)
		if err == nil || late || !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED) {
			if late {
				err = fmt.Errorf("after 10 s: %w", err)
			}
			return conn, err
		}
	}
}
