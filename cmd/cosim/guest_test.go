package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/cosim-go/cosim/runtime/qmp"
)

const realQEMU = "qemu-system-x86_64"

// needQEMU ends a test that starts QEMU: skipped with -short, failed where there is none.
func needQEMU(t *testing.T) {
	t.Helper()
	needTool(t, realQEMU)
}

// The echo guest is a boot sector. It prints "echo" on its serial line and sends back
// each byte that it gets there. With '.' it powers off, and QEMU exits with 0; with '!'
// it makes QEMU exit with 1, by QEMU's isa-debug-exit.
var echoGuest = []byte{
	0x31, 0xc0, 0x8e, 0xd8, 0xfc, //	start:	xor ax,ax; mov ds,ax; cld
	0xbe, 0x4b, 0x7c, //			mov si,msg
	0xac, 0x84, 0xc0, 0x74, 0x05, //	hello:	lodsb; test al,al; jz loop
	0xe8, 0x2c, 0x00, 0xeb, 0xf6, //		call putc; jmp hello
	0xba, 0xfd, 0x03, 0xec, //		loop:	mov dx,0x3fd; in al,dx	(COM1 line status)
	0xa8, 0x01, 0x74, 0xf8, //			test al,1; jz loop	(data ready)
	0xba, 0xf8, 0x03, 0xec, //			mov dx,0x3f8; in al,dx	(COM1 data)
	0x3c, '!', 0x74, 0x09, //			cmp al,'!'; je fail
	0x3c, '.', 0x74, 0x0d, //			cmp al,'.'; je off
	0xe8, 0x13, 0x00, 0xeb, 0xe7, //		call putc; jmp loop
	0x30, 0xc0, 0xba, 0x01, 0x05, //	fail:	xor al,al; mov dx,0x501
	0xee, 0xeb, 0xdf, //			out dx,al; jmp loop	(exit with 2*al+1)
	0xb8, 0x00, 0x20, 0xba, 0x04, 0x06, //	off:	mov ax,0x2000; mov dx,0x604
	0xef, 0xeb, 0xd6, //			out dx,ax; jmp loop	(PM1a_CNT: sleep, S5)
	0x50, 0xba, 0xfd, 0x03, //		putc:	push ax; mov dx,0x3fd
	0xec, 0xa8, 0x20, 0x74, 0xfb, //	wait:	in al,dx; test al,0x20; jz wait	(transmitter empty)
	0x58, 0xba, 0xf8, 0x03, 0xee, 0xc3, //		pop ax; mov dx,0x3f8; out dx,al; ret
	'e', 'c', 'h', 'o', '\r', '\n', 0, //	msg
}

// echoTopology runs the echo guest, and a device of its own beside it.
const echoTopology = `
-- echo.yaml --
version: 1
machines:
  - id: m0
    vhost:
      kind: qemu-vhost
      memory: 16M
      params: {accel: tcg, cpu: qemu64}
      disks: [{id: boot, path: echo.img, format: raw, mode: direct}]
      args: [-device, "isa-debug-exit,iobase=0x501,iosize=1"]
    devices:
      - {id: lsi, kind: qemu-device, params: {device: lsi53c895a}}
`

// newEchoWorkspace is a workspace with the image of the echo guest.
func newEchoWorkspace(t *testing.T, files string) *workspace {
	t.Helper()
	needQEMU(t)
	w := newWorkspace(t, files)
	image := make([]byte, 1<<20) // the firmware does not boot from a disk of one sector
	copy(image, echoGuest)
	image[510], image[511] = 0x55, 0xaa
	w.write("echo.img", string(image))
	return w
}

// monitor connects to a QEMU of a session that runs.
func (w *workspace) monitor(socket string) *qmp.Client {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w.t.Cleanup(cancel)
	client, err := qmp.Dial(ctx, socket)
	if err == nil {
		err = client.Negotiate(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return client
}

// The guest does what it says, so that tests can rely on it.
func TestEchoGuest(t *testing.T) {
	for key, status := range map[string]int{".": 0, "!": 1} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			w := newEchoWorkspace(t, "")
			qemu := exec.Command(realQEMU, "-nodefaults", "-display", "none", "-machine", "q35,accel=tcg", "-m", "16M",
				"-drive", "file="+w.path("echo.img")+",format=raw,if=virtio", "-device", "isa-debug-exit,iobase=0x501,iosize=1", "-serial", "stdio")
			keys, err := qemu.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			p := startProcess(t, qemu)
			if !p.stdout.await("echo\r\n") {
				t.Fatalf("the guest does not boot: %s", p.stderr)
			}
			keys.Write([]byte("ab\x03"))
			if !p.stdout.await("echo\r\nab\x03") {
				t.Errorf("the guest printed %q", p.stdout)
			}
			keys.Write([]byte(key))
			if got := p.wait(); got != status {
				t.Errorf("QEMU = %d, want %d", got, status)
			}
		})
	}
}
