package adapters

// ChannelName names the socket pair between a machine's vhost and one of its devices.
func ChannelName(m *Machine, index int) string {
	return m.Model.ID + "/" + m.Model.Devices[index].ID
}

// Channels numbers the descriptors that a vhost inherits: one for each attachment with
// a channel, from [FirstFD], in order of devices. The numbers stand by attachment, 0
// where there is no channel.
func Channels(attachments []Attachment) (fds []FD, numbers []int) {
	numbers = make([]int, len(attachments))
	for i, a := range attachments {
		if a.Channel != "" {
			numbers[i] = FirstFD + len(fds)
			fds = append(fds, FD{Number: numbers[i], Channel: a.Channel})
		}
	}
	return fds, numbers
}

// GuestMemory finds the file that holds the guest's memory where it is not in the pool.
func GuestMemory(attachments []Attachment) (File, bool) {
	for _, a := range attachments {
		if a.Memory != nil {
			return *a.Memory, true
		}
	}
	return File{}, false
}
