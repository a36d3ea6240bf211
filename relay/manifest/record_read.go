package manifest

import (
	"fmt"
)

var recordFields = []field[Record]{
	{"registry_url", true, func(r *reader, v *Record) error {
		return readRegistry(r, &v.Install.Registry, &v.Install.HasRegistry)
	}},
	{"channel", true, channelField(func(v *Record) *string { return &v.Install.Channel })},
	{"id", true, textField(func(v *Record) *string { return &v.Install.ID })},
	{"version", true, textField(func(v *Record) *string { return &v.Install.Version })},
	{"sha256", true, textField(func(v *Record) *string { return &v.Install.SHA256 })},
	{"cap_groups", false, readRecordGroups},
	{"attachment_error", false, readAttachmentError},
	{"runtime_stats", false, readStats},
	{"lifecycle", false, textField(func(v *Record) *string { return (*string)(&v.Lifecycle) })},
}

var attachmentFields = []field[AttachmentError]{
	{"kind", true, textField(func(e *AttachmentError) *string { return (*string)(&e.Kind) })},
	{"message", true, textField(func(e *AttachmentError) *string { return &e.Message })},
	{"detected_at_unix_seconds", true, func(r *reader, e *AttachmentError) (err error) {
		e.DetectedAt, err = r.signed()
		return err
	}},
}

var statsFields = []field[RuntimeStats]{
	{"running", true, func(r *reader, s *RuntimeStats) (err error) { s.Running, err = r.boolean(); return err }},
	{"pools", true, readRecordPools},
	{"pid", false, optionalField(func(s *RuntimeStats) **uint64 { return &s.PID })},
	{"active_request_count", true, numberField(func(s *RuntimeStats) *uint64 { return &s.ActiveRequests })},
	{"peer_request_count", true, numberField(func(s *RuntimeStats) *uint64 { return &s.PeerRequests })},
	{"memory_footprint_mb", true, numberField(func(s *RuntimeStats) *uint64 { return &s.FootprintMB })},
	{"memory_rss_mb", true, numberField(func(s *RuntimeStats) *uint64 { return &s.RSSMB })},
	{"last_heartbeat_unix_seconds", false, func(r *reader, s *RuntimeStats) error {
		n, err := r.signed()
		s.LastHeartbeat = &n
		return err
	}},
	{"restart_count", true, numberField(func(s *RuntimeStats) *uint64 { return &s.Restarts })},
	{"protocol_drops_total", false, optionalField(func(s *RuntimeStats) **uint64 { return &s.Drops })},
	{"protocol_stragglers_total", false, optionalField(func(s *RuntimeStats) **uint64 { return &s.Stragglers })},
	{"protocol_overruns_total", false, optionalField(func(s *RuntimeStats) **uint64 { return &s.Overruns })},
}

// readRegistry reads where a cartridge was published, which null says of one that was not.
func readRegistry(r *reader, registry *string, has *bool) (err error) {
	if r.null() {
		return nil
	}
	*has = true
	*registry, err = r.text()
	return err
}

func channelField[T any](to func(*T) *string) func(*reader, *T) error {
	return func(r *reader, v *T) error {
		s, err := r.text()
		if err == nil && s != ChannelRelease && s != ChannelNightly {
			return fmt.Errorf("is %s, want %q or %q", quote(s), ChannelRelease, ChannelNightly)
		}
		*to(v) = s
		return err
	}
}

func readAttachmentError(r *reader, v *Record) error {
	v.AttachmentError = new(AttachmentError)
	return readObject(r, v.AttachmentError, attachmentFields, &v.AttachmentError.Extra)
}

func readStats(r *reader, v *Record) error {
	v.Stats = new(RuntimeStats)
	return readObject(r, v.Stats, statsFields, &v.Stats.Extra)
}

// readRecord reads a record, which an error names by its id once that is known.
func readRecord(r *reader) (Record, error) {
	var v Record
	err := readObject(r, &v, recordFields, &v.Extra)
	if v.Lifecycle == "" {
		v.Lifecycle = LifecycleDiscovered
	}
	if err != nil && v.Install.ID != "" {
		err = within("("+quote(v.Install.ID)+")", err)
	}
	return v, err
}
