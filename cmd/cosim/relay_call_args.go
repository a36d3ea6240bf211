package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/cosim-go/cosim/cmd/cosim/internal/response"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/topology/diag"
)

// A callArg is an argument of a call.
type callArg struct {
	media  string
	source string // a file, or the text itself
	text   bool
}

// stdinSource is the file that stands for standard input.
const stdinSource = "-"

// An argFlag adds arguments to a call, in the order of the command line.
type argFlag struct {
	f    *callFlags
	text bool
}

func (a argFlag) String() string { return "" }

func (a argFlag) Type() string {
	if a.text {
		return "MEDIA=TEXT"
	}
	return "MEDIA=FILE"
}

func (a argFlag) Set(text string) error {
	media, source, err := splitArg(text)
	if err != nil {
		return err
	}
	if source == "" && !a.text {
		return fmt.Errorf("there is no file after %s=", media)
	}
	a.f.args = append(a.f.args, callArg{media, source, a.text})
	return nil
}

// splitArg splits an argument at the last = before which there is a media URN, which it returns in its canonical form.
func splitArg(text string) (media, source string, err error) {
	if !strings.Contains(text, "=") {
		return "", "", fmt.Errorf("there is no = between a media URN and what it is of")
	}
	for end := strings.LastIndexByte(text, '='); end >= 0; end = strings.LastIndexByte(text[:end], '=') {
		urn, failed := caps.ParseMedia(text[:end])
		if failed == nil {
			return urn.String(), text[end+1:], nil
		}
		err = failed
	}
	return "", "", fmt.Errorf("it does not begin with a media URN, such as media: or media:ext=pdf: %w", err)
}

// open opens the arguments, and returns them with the regular files that they read. What was opened is closed by the
// function that comes with them.
func (f *callFlags) open(stdin io.Reader, show *callDisplay) (args []call.Arg, read []fs.FileInfo, closeAll func(), err error) {
	var files []*os.File
	closeAll = func() {
		for _, file := range files {
			file.Close()
		}
	}
	for _, a := range f.args {
		switch {
		case a.text:
			show.expect(int64(len(a.source)))
			args = append(args, call.Arg{Media: a.media, Body: show.count(strings.NewReader(a.source))})
			continue
		case a.source == stdinSource:
			show.expect(-1)
			if file, ok := stdin.(*os.File); ok {
				if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
					read = append(read, info)
				}
			}
			args = append(args, call.Arg{Media: a.media, Body: show.count(stdin)})
			continue
		}
		file, err := os.Open(a.source)
		if err != nil {
			closeAll()
			return nil, nil, nil, refused(fmt.Sprintf("cannot read the argument %q: %v", a.source, plainError(err)))
		}
		files = append(files, file)
		size := int64(-1)
		if info, err := file.Stat(); err == nil {
			if info.IsDir() {
				closeAll()
				return nil, nil, nil, refused(fmt.Sprintf("cannot read the argument %q: it is a directory", a.source))
			}
			if info.Mode().IsRegular() {
				size = info.Size()
				read = append(read, info)
			}
		}
		show.expect(size)
		args = append(args, call.Arg{Media: a.media, Body: show.count(file)})
	}
	return args, read, closeAll, nil
}

// A callSink is where a response goes.
type callSink struct {
	streams  *response.Streams
	events   *response.Events // nil unless events are wanted
	toStdout bool             // streams write to standard output
}

// callSink returns where the response goes, which is none of the files that are read.
func (c *cli) callSink(f *callFlags, read []fs.FileInfo) (*callSink, error) {
	s := &callSink{}
	info, err := os.Stat(f.output)
	directory := strings.HasSuffix(f.output, "/") || err == nil && info.IsDir()
	for _, other := range read {
		if err == nil && os.SameFile(info, other) {
			return nil, refused(fmt.Sprintf("cannot write to %q: %v", f.output, response.ErrSpared), "write to another file")
		}
	}
	switch {
	case f.output == "" || f.output == stdinSource:
		s.streams, s.toStdout = response.To(c.stdout), true
	case directory:
		if err := os.Mkdir(f.output, 0o777); err != nil && !os.IsExist(err) {
			return nil, refused(fmt.Sprintf("cannot make the directory %q: %v", f.output, plainError(err)))
		}
		s.streams = response.ToDirectory(f.output, read...)
	default:
		s.streams = response.ToFile(f.output, read...)
	}
	if c.format == "json" {
		s.events = response.NewEvents(c.stdout, s.toStdout)
	}
	return s, nil
}

func (s *callSink) event(e *call.Event, show *callDisplay) error {
	if s.events != nil {
		if err := s.events.Event(e); err != nil {
			return &response.PlaceError{Err: err}
		}
	}
	if s.events != nil && s.toStdout {
		return nil
	}
	if s.toStdout && (e.Kind == call.EventData || e.Kind == call.EventItem) {
		show.giveWay()
	}
	return s.streams.Event(e)
}

func (s *callSink) success(info frame.EndInfo) error {
	if s.events == nil {
		return nil
	}
	if err := s.events.Success(info); err != nil {
		return &response.PlaceError{Err: err}
	}
	return nil
}

// nearest returns the name that was most likely meant; caps are compared as they write themselves.
func nearest(name string, names []string) string {
	if c, err := caps.Parse(name); err == nil {
		name = c.String()
	}
	return diag.Suggest(name, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name }))
}

func shellWord(word string) string { return shellescape.Quote(word) }
