package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A region is a range of the pool file, in bytes. It is a flag.Value of the form
// OFFSET:SIZE.
type region struct {
	offset int64
	size   int
}

func (r *region) String() string { return fmt.Sprintf("%d:%d", r.offset, r.size) }

// Set reads a region as it stands on the command line.
func (r *region) Set(text string) error {
	offset, size, ok := strings.Cut(text, ":")
	if !ok {
		return fmt.Errorf("region %q is not of the form OFFSET:SIZE", text)
	}
	var err error
	if r.offset, err = strconv.ParseInt(offset, 10, 64); err != nil {
		return err
	}
	if r.size, err = strconv.Atoi(size); err != nil {
		return err
	}
	if r.offset < 0 || r.size <= 0 {
		return fmt.Errorf("region %q is empty or negative", text)
	}
	return nil
}

// mapRegion maps a range of the pool for reading and writing, shared with every
// other process that maps it. The caller gives it back with syscall.Munmap.
func mapRegion(pool string, r region) ([]byte, error) {
	f, err := os.OpenFile(pool, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if int64(r.size) > info.Size()-r.offset { // touching such a page would be a SIGBUS
		return nil, fmt.Errorf("region %s lies outside of pool %q with its %d bytes", &r, pool, info.Size())
	}
	data, err := syscall.Mmap(int(f.Fd()), r.offset, r.size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping region %s of pool %q: %w", &r, pool, err)
	}
	return data, nil
}
