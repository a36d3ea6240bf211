package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// recipe runs one of the demo's scripts as a recipe and returns what it made.
func recipe(t *testing.T, script string, env ...string) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "image")
	program, err := filepath.Abs("../" + script)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "COSIM_IMAGE="+path, "COSIM_WORKSPACE="+dir)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return out, err
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return image, nil
}

func TestInitramfsHoldsTheGuest(t *testing.T) {
	archive, err := recipe(t, "make-initramfs")
	if err != nil {
		t.Fatalf("%v\n%s", err, archive)
	}
	again, err := recipe(t, "make-initramfs")
	if err != nil {
		t.Fatalf("%v\n%s", err, again)
	}
	if len(again) != len(archive) {
		t.Errorf("two builds have %d and %d bytes", len(archive), len(again))
	}
	dir := t.TempDir()
	cmd := exec.Command("cpio", "-i", "--quiet", "-d")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(archive)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpio: %v\n%s", err, out)
	}
	want, err := os.ReadFile("../init")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "init")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("/init of the archive is not the script init (%v)", err)
	}
	for _, name := range []string{"init", "bin/busybox"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v, want mode 755", name, info, err)
		}
	}
	// It starts without a dynamic linker and knows every command of the guest.
	list, err := exec.Command(filepath.Join(dir, "bin/busybox"), "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, applet := range []string{"blockdev", "cmp", "dd", "devmem", "hexdump", "poweroff", "sha256sum", "sha512sum", "stty"} {
		if !strings.Contains("\n"+string(list), "\n"+applet+"\n") {
			t.Errorf("busybox has no %s", applet)
		}
	}
}

// packKernel makes a Debian package that holds a kernel, in the cache of the recipes.
func packKernel(t *testing.T, cache, version, content string) {
	t.Helper()
	root := t.TempDir()
	name := "linux-image-" + version + "-cloud-amd64"
	for file, text := range map[string]string{
		"DEBIAN/control":          "Package: " + name + "\nVersion: 1\nArchitecture: amd64\nMaintainer: nobody\nDescription: test\n",
		"boot/vmlinuz-" + version: content,
		"boot/config-" + version:  "no kernel",
	} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("dpkg-deb", "-b", root, filepath.Join(cache, name+"_1_amd64.deb")).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
}

// offline hides apt-get from the recipes.
func offline(t *testing.T) string {
	return "PATH=" + newFakeHost(t, "dirname", "find", "sort", "tail", "mkdir", "dpkg-deb", "tar", "sed").bin
}

func TestKernelComesFromTheCacheWithoutANetwork(t *testing.T) {
	cache := t.TempDir()
	packKernel(t, cache, "6.1.0-9", "the older kernel")
	packKernel(t, cache, "6.1.0-10", "the newer kernel")
	kernel, err := recipe(t, "fetch-kernel", "COSIM_CACHE="+cache, offline(t))
	if err != nil || string(kernel) != "the newer kernel" {
		t.Errorf("fetch-kernel = %q, %v", kernel, err)
	}
}

func TestKernelNeedsAPackage(t *testing.T) {
	out, err := recipe(t, "fetch-kernel", "COSIM_CACHE="+t.TempDir(), offline(t))
	if err == nil || !strings.Contains(string(out), "cannot get package linux-image-cloud-amd64") {
		t.Errorf("fetch-kernel = %v\n%s", err, out)
	}
}

func TestKernelNeedsAWholePackage(t *testing.T) {
	cache := t.TempDir()
	packKernel(t, cache, "6.1.0-9", "")
	if out, err := recipe(t, "fetch-kernel", "COSIM_CACHE="+cache, offline(t)); err == nil {
		t.Errorf("fetch-kernel took an empty kernel: %s", out)
	}
}
