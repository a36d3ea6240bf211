package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/tool"
	"github.com/cosim-go/cosim/runtime/plan"
)

// NeedsOverlay reports whether a disk has a layer of the session's own.
func NeedsOverlay(d *plan.Disk) bool { return d.Target != d.Backing }

// CreateOverlay makes the overlay of a disk with the plan's qemu-img, with mode 0600
// less the umask. The directory must exist. A file that is there already is an error
// (fs.ErrExist) and is left alone; where making it fails, no file is left.
func CreateOverlay(ctx context.Context, d *plan.Disk) (err error) {
	if err := CheckSize(d); err != nil {
		return err
	}
	// qemu-img writes over any file that is not in use. So the name is taken first, and
	// what it writes over is this.
	f, err := os.OpenFile(d.Target, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("making the overlay of disk %q: %w", d.ID, err)
	}
	err = f.Close()
	if err == nil {
		err = tool.Run(ctx, tool.Command{Path: d.Tool, Args: overlayArgs(d)})
	}
	if err != nil {
		return errors.Join(fmt.Errorf("making the overlay of disk %q: %w", d.ID, err), os.Remove(d.Target))
	}
	return nil
}

// overlayArgs names the backing file absolutely, since a relative name would mean the
// overlay's directory, and with its format, which is never probed.
func overlayArgs(d *plan.Disk) []string {
	args := []string{"create", "-q", "-f", "qcow2", "-F", d.Format, "-b", d.Backing, d.Target}
	if d.Size != 0 {
		args = append(args, strconv.FormatUint(uint64(d.Size), 10))
	}
	return args
}
