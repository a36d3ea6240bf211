package layout

import (
	"errors"
	"strings"
	"testing"
)

// Requirement: L2.
func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want Size
	}{
		{"1", 1},
		{"4096", 4096},
		{"34359738368", 32 * GiB},
		{"32G", 32 * GiB},
		{"32GiB", 32 * GiB},
		{"32g", 32 * GiB},
		{"32gib", 32 * GiB},
		{"32GIB", 32 * GiB},
		{"32gIb", 32 * GiB},
		{"1K", 1024},
		{"1M", 1 << 20},
		{"1G", 1 << 30},
		{"1T", 1 << 40},
		{"1P", 1 << 50},
		{"3PiB", 3 << 50},
		{"0x1000", 4096},
		{"0xabcdef", 0xabcdef},
		{"0xABCDEF", 0xabcdef},
		{"0x0010", 16}, // zeros in front are the habit of hexadecimal
		{"0xB", 11},    // a digit, not a unit
		{"8191P", 8191 * PiB},
		{"9223372036854775807", MaxSize},
		{"0x7fffffffffffffff", MaxSize},
		{"9007199254740991K", MaxSize - 1023},
		{"8589934591G", MaxSize - GiB + 1},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

// Requirement: L2.
func TestParseSizeRejects(t *testing.T) {
	const (
		units   = "units: K, M, G, T, P, all binary"
		largest = "the largest size is 8191P"
		example = `write bytes or a binary unit, such as "64M"`
		noUnit  = "a hexadecimal number counts bytes and takes no unit"
	)
	tests := []struct{ text, reason, hint string }{
		{"", "is empty", example},

		{"32GB", `unknown unit "GB"`, "units are binary: write 32G"},
		{"32gb", `unknown unit "gb"`, "units are binary: write 32G"},
		{"512MB", `unknown unit "MB"`, "units are binary: write 512M"},
		{"1kB", `unknown unit "kB"`, "units are binary: write 1K"},
		{"32Gi", `unknown unit "Gi"`, "units are binary: write 32G"},
		{"32GiBs", `unknown unit "GiBs"`, "units are binary: write 32G"},
		{"032GB", `unknown unit "GB"`, "units are binary: write 32G"},
		{"4096B", `unknown unit "B"`, "units are binary: write 4096"},
		{"32E", `unknown unit "E"`, units},
		{"32x", `unknown unit "x"`, units},
		{"1e3", `unknown unit "e3"`, units},
		{"1_000", `unknown unit "_000"`, units},
		{"1,5G", `unknown unit ",5G"`, units},
		{"32ＧiB", `unknown unit "ＧiB"`, units},
		{"32\u212a", "unknown unit \"\u212a\"", units}, // the Kelvin sign folds to k
		{"32\xff", `unknown unit "\xff"`, units},
		{"32\x00", `unknown unit "\x00"`, units},
		{"0x", `unknown unit "x"`, units},
		{"9999PB", `unknown unit "PB"`, largest},

		{"1.5G", "must be a whole number", "write 1536M"},
		{"1.5GiB", "must be a whole number", "write 1536M"},
		{"1.5g", "must be a whole number", "write 1536M"},
		{"1.5GB", "must be a whole number", "units are binary: write 1536M"},
		{"0.5P", "must be a whole number", "write 512T"},
		{".5K", "must be a whole number", "write 512"},
		{"2.0G", "must be a whole number", "write 2G"},
		{"2.G", "must be a whole number", "write 2G"},
		{"0.0009765625G", "must be a whole number", "write 1M"},
		{"1.0009765625M", "must be a whole number", "write 1025K"},
		{"1.3G", "must be a whole number", "write 1331M"},
		{"1.5", "must be a whole number", "write 2"},
		{"1.5E", "must be a whole number", units},
		{"1.2.3G", "must be a whole number", ""},
		{".", "must be a whole number", ""},
		{"0.0G", "must be a whole number", ""},
		{"0.1", "must be a whole number", ""},
		{"9000.5P", "must be a whole number", largest},
		{strings.Repeat("9", 400) + ".5G", "must be a whole number", ""},
		{"0x1.8", "is not a hexadecimal number", noUnit},

		{"-1", "must not have a sign", "write 1"},
		{"+32G", "must not have a sign", "write 32G"},
		{"-32GB", "must not have a sign", "units are binary: write 32G"},
		{"-0x10", "must not have a sign", "write 0x10"},
		{"-", "must not have a sign", example},
		{"-0", "must not have a sign", ""},

		{"0", "must not be zero", ""},
		{"0K", "must not be zero", ""},
		{"0PiB", "must not be zero", ""},
		{"0x0", "must not be zero", ""},

		{"32 G", "must not contain spaces", "write 32G"},
		{" 32G", "must not contain spaces", "write 32G"},
		{"32G\n", "must not contain spaces", "write 32G"},
		{"32\u00a0GB", "must not contain spaces", "units are binary: write 32G"},
		{"\t", "must not contain spaces", example},
		{"- 1", "must not contain spaces", "write 1"},

		{"010", "must not have a leading zero", "write 10"},
		{"007G", "must not have a leading zero", "write 7G"},
		{"00", "must not have a leading zero", ""},

		{"0xfg", "is not a hexadecimal number", noUnit},
		{"0x10K", "is not a hexadecimal number", noUnit},
		{"0x_1", "is not a hexadecimal number", noUnit},
		{"0x-1", "is not a hexadecimal number", noUnit},

		{"9223372036854775808", "is larger than 2^63-1 bytes", largest},
		{"18446744073709551615", "is larger than 2^63-1 bytes", largest},
		{"18446744073709551616", "is larger than 2^63-1 bytes", largest},
		{"8192P", "is larger than 2^63-1 bytes", largest},
		{"16384P", "is larger than 2^63-1 bytes", largest}, // 2^64
		{"16385P", "is larger than 2^63-1 bytes", largest}, // 1P modulo 2^64
		{"9007199254740992K", "is larger than 2^63-1 bytes", largest},
		{"0x8000000000000000", "is larger than 2^63-1 bytes", largest},
		{"0xffffffffffffffffff", "is larger than 2^63-1 bytes", largest},
		{strings.Repeat("9", 400), "is larger than 2^63-1 bytes", largest},

		{"G", "must start with a digit", example},
		{"memory", "must start with a digit", example},
		{"３２G", "must start with a digit", example}, // full width
		{"٣٢G", "must start with a digit", example}, // Arabic-Indic
		{"~", "must start with a digit", example},
		{"true", "must start with a digit", example},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.text)
		var e *SizeError
		if !errors.As(err, &e) || got != 0 {
			t.Errorf("ParseSize(%.30q) = %d, %v, want 0 and a *SizeError", tt.text, got, err)
			continue
		}
		if e.Text != tt.text || e.Reason != tt.reason || e.Hint != tt.hint {
			t.Errorf("ParseSize(%.30q): %q, hint %q, want %q, hint %q", tt.text, e.Reason, e.Hint, tt.reason, tt.hint)
		}
		if !strings.HasPrefix(e.Error(), "size ") || !strings.HasSuffix(e.Error(), ": "+tt.reason) {
			t.Errorf("ParseSize(%.30q).Error() = %q", tt.text, e)
		}
	}
}

func TestSizeString(t *testing.T) {
	tests := []struct {
		size          Size
		string, human string
	}{
		{0, "0", "0 B"},
		{1, "1", "1 B"},
		{512, "512", "512 B"},
		{1023, "1023", "1023 B"},
		{KiB, "1K", "1 KiB"},
		{1025, "1025", "1 KiB"},
		{4097, "4097", "4 KiB"},
		{1536, "1536", "1.5 KiB"},
		{MiB - 1, "1048575", "1 MiB"}, // not 1024 KiB
		{MiB - 52*KiB, "972K", "972 KiB"},
		{1536 * MiB, "1536M", "1.5 GiB"},
		{32 * GiB, "32G", "32 GiB"},
		{96 * GiB, "96G", "96 GiB"},
		{23*GiB + 512*MiB, "24064M", "23.5 GiB"},
		{GiB * 10 / 3, "3579139413", "3.3 GiB"},
		{TiB, "1T", "1 TiB"},
		{1024 * TiB, "1P", "1 PiB"},
		{8191 * PiB, "8191P", "8191 PiB"},
		{MaxSize, "9223372036854775807", "8192 PiB"},
	}
	for _, tt := range tests {
		if got := tt.size.String(); got != tt.string {
			t.Errorf("Size(%d).String() = %q, want %q", uint64(tt.size), got, tt.string)
		}
		if got := tt.size.Human(); got != tt.human {
			t.Errorf("Size(%d).Human() = %q, want %q", uint64(tt.size), got, tt.human)
		}
	}
}

// Requirement: L2.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"32G", "0x10", "1.5GiB", "-1 K", "9223372036854775808", "8191P", "", "032GB", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := ParseSize(text)
		if err != nil {
			e := err.(*SizeError)
			if size != 0 || e.Reason == "" || e.Text != text {
				t.Fatalf("ParseSize(%q) = %d, %#v", text, size, e)
			}
			checkAdvice(t, e)
			return
		}
		if size == 0 || size > MaxSize {
			t.Fatalf("ParseSize(%q) = %d, out of range", text, size)
		}
		if again, err := ParseSize(size.String()); err != nil || again != size {
			t.Fatalf("ParseSize(%q) = %d, written as %q and read as %d, %v", text, size, size, again, err)
		}
	})
}

// checkAdvice follows a hint: what it says to write is a size.
func checkAdvice(t *testing.T, e *SizeError) {
	t.Helper()
	_, advice, ok := strings.Cut(e.Hint, "write ")
	if !ok || strings.HasPrefix(advice, "bytes ") {
		return
	}
	if _, err := ParseSize(advice); err != nil {
		t.Fatalf("ParseSize(%q) hints %q: %v", e.Text, e.Hint, err)
	}
}
