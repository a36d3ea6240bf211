package relaytest

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
)

// eachTransport runs a test over every transport.
func eachTransport(t *testing.T, test func(t *testing.T, client, server Conn)) {
	for _, transport := range Transports() {
		t.Run(transport.Name, func(t *testing.T) {
			NoLeaks(t)
			client, server, err := transport.Open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				client.Close()
				server.Close()
			})
			test(t, client, server)
		})
	}
}

func TestEachDirectionEndsByItself(t *testing.T) {
	eachTransport(t, func(t *testing.T, client, server Conn) {
		sent := bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
		go func() {
			client.Write(sent)
			client.CloseWrite()
		}()
		if got, err := io.ReadAll(server); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("ReadAll = %d bytes, %v, want the %d that were sent", len(got), err, len(sent))
		}
		go func() {
			server.Write([]byte("answer"))
			server.Close()
		}()
		if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
			t.Errorf("ReadAll after CloseWrite = %q, %v, want \"answer\"", got, err)
		}
	})
}

func TestCloseWakesAReader(t *testing.T) {
	eachTransport(t, func(t *testing.T, client, server Conn) {
		done := make(chan error)
		go func() {
			_, err := client.Read(make([]byte, 1))
			done <- err
		}()
		client.Close()
		if err := <-done; err == nil {
			t.Error("Read = nil after Close")
		}
		if n, err := server.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("Read at the far end = %d, %v, want 0, EOF", n, err)
		}
	})
}

func TestCloseWakesAWriter(t *testing.T) {
	eachTransport(t, func(t *testing.T, client, server Conn) {
		done := make(chan error)
		go func() {
			var err error
			for err == nil {
				_, err = client.Write(make([]byte, 64<<10))
			}
			done <- err
		}()
		if _, err := io.ReadFull(server, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if err := <-done; err == nil {
			t.Error("Write to a closed end = nil")
		}
	})
}

func TestUsingAClosedPipeFails(t *testing.T) {
	for _, open := range []func() (Conn, Conn){Pipe, func() (Conn, Conn) { return BufferedPipe(8) }} {
		client, server := open()
		server.Close()
		if n, err := client.Write([]byte("x")); n != 0 || err != io.ErrClosedPipe {
			t.Errorf("Write to a closed far end = %d, %v, want 0, ErrClosedPipe", n, err)
		}
		if n, err := server.Read(make([]byte, 1)); n != 0 || err != io.ErrClosedPipe {
			t.Errorf("Read of a closed end = %d, %v, want 0, ErrClosedPipe", n, err)
		}
		client.CloseWrite()
		if _, err := client.Write([]byte("x")); err != io.ErrClosedPipe {
			t.Errorf("Write after CloseWrite = %v, want ErrClosedPipe", err)
		}
		client.Close()
		client.Close()
	}
}

func TestPipeWriteWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := Pipe()
		written := make(chan int)
		go func() {
			n, _ := client.Write([]byte("abc"))
			written <- n
		}()
		synctest.Wait()
		select {
		case n := <-written:
			t.Fatalf("Write = %d without a reader", n)
		default:
		}
		io.ReadFull(server, make([]byte, 3))
		if n := <-written; n != 3 {
			t.Errorf("Write = %d, want 3", n)
		}
		go func() {
			n, _ := client.Write([]byte("abc"))
			written <- n
		}()
		io.ReadFull(server, make([]byte, 1))
		server.Close()
		if n := <-written; n != 1 {
			t.Errorf("Write to an end that closed after a byte = %d, want 1", n)
		}
	})
}

func TestBufferedPipeHoldsItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := BufferedPipe(4)
		if n, err := client.Write([]byte("abcd")); n != 4 || err != nil {
			t.Fatalf("Write = %d, %v, want 4, nil", n, err)
		}
		second := make(chan error)
		go func() {
			_, err := client.Write([]byte("e"))
			second <- err
		}()
		synctest.Wait()
		select {
		case <-second:
			t.Fatal("Write found room in a full pipe")
		default:
		}
		if got := make([]byte, 8); true {
			n, _ := server.Read(got)
			if string(got[:n]) != "abcd" {
				t.Errorf("Read = %q, want abcd", got[:n])
			}
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// Two writers at a time do not mix their bytes, and a bubble knows that both wait.
func TestPipeWritersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := Pipe()
		for _, text := range []string{"aaaa", "bbbb"} {
			go client.Write([]byte(text))
		}
		synctest.Wait()
		got := make([]byte, 8)
		for i := range got {
			if _, err := server.Read(got[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if s := string(got); s != "aaaabbbb" && s != "bbbbaaaa" {
			t.Errorf("read %q, want one text after the other", s)
		}
		client.Close()
		server.Close()
	})
}

var errTorn = errors.New("torn")
