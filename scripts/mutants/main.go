package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/cosim-go/cosim/scripts/mutants/requirements"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "mutants:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	pattern := flags.String("run", "", "only the mutants whose ID, such as T6, matches this `regexp`, as with go test")
	list := flags.Bool("list", false, "list the mutants, and run nothing")
	required := flags.Bool("requirements", false, "print which tests name each requirement, and run nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	ids, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	if *required {
		return requirements.Print(out, root)
	}
	all, err := table()
	if err != nil {
		return err
	}
	chosen := all[:0]
	for _, m := range all {
		if ids.MatchString(m.id) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant has an ID that matches %q", *pattern)
	}
	if *list {
		for _, m := range chosen {
			fmt.Fprintf(out, "%-4s%-12s%s (%s)\n", m.id, m.test.module, m.what, m.file)
		}
		return nil
	}
	return kill(ctx, out, root, chosen)
}

// repository is the root of the working tree that this directory belongs to.
func repository(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("finding the root of the repository: %w", err)
	}
	return strings.TrimSuffix(string(root), "\n"), nil
}

// kill runs the tests of every mutant. The error counts those that are not killed.
func kill(ctx context.Context, out io.Writer, root string, list []mutant) (err error) {
	t, err := copyTree(ctx, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.remove()) }()
	start := time.Now()
	tests, broken, err := t.baseline(ctx, list)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d tests pass without mutants (%s)\n", tests, since(start))
	for w, problem := range broken {
		fmt.Fprintf(out, "%s %s cannot tell: %s\n", w.module, w.packages, problem)
	}
	alive := 0
	for _, m := range list {
		if broken[m.test.where()] != "" {
			alive++
			fmt.Fprintf(out, "%-4sERROR: its tests cannot tell: %s\n", m.id, m.what)
			continue
		}
		verdict, killed, err := t.try(ctx, m)
		if err != nil {
			return err
		}
		if !killed {
			alive++
		}
		fmt.Fprintf(out, "%-4s%s\n", m.id, verdict)
	}
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants are not killed", alive, len(list))
	}
	fmt.Fprintf(out, "%d mutants, all killed (%s)\n", len(list), since(start))
	return nil
}

func since(start time.Time) string { return fmt.Sprintf("%.1f s", time.Since(start).Seconds()) }
