package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Requirements: L1, L3. Guest memory comes first, then the regions as declared.
func TestPlaceOfEightGPUs(t *testing.T) {
	requests := []Request{{Name: MemoryRegion, Size: 32 * GiB}}
	for i := range 8 {
		requests = append(requests, Request{Name: fmt.Sprintf("mi300x-%d.vram", i), Size: 8 * GiB})
	}
	for _, page := range []Size{4 * KiB, 16 * KiB, 64 * KiB} {
		regions, size, problems := Place(requests, page)
		if problems != nil {
			t.Fatalf("Place with page %v: %v", page, problems)
		}
		if size != 96*GiB {
			t.Errorf("page %v: pool of %v, want 96G", page, size)
		}
		m := Machine{Size: size, Regions: regions}
		for name, want := range map[string]Addr{
			"memory": 0, "mi300x-0.vram": Addr(32 * GiB), "mi300x-1.vram": Addr(40 * GiB), "mi300x-7.vram": Addr(88 * GiB),
		} {
			if r, ok := m.Region(name); !ok || r.Offset != want {
				t.Errorf("page %v: %s at %v, %v, want %v", page, name, Size(r.Offset), ok, Size(want))
			}
		}
		if names := names(regions); !slices.IsSorted(names[1:]) || names[0] != "memory" || len(names) != 9 {
			t.Errorf("page %v: order is %q, want that of the requests", page, names)
		}
	}
}

func names(regions []Region) []string {
	var names []string
	for _, r := range regions {
		names = append(names, r.Name)
	}
	return names
}

const top = MaxSize + 1 // 2^63, the first end that does not fit

// Requirements: L1, L2.
func TestPlace(t *testing.T) {
	const k4, k16, k64 = 4 * KiB, 16 * KiB, 64 * KiB
	type request = [2]Size // size and alignment
	tests := []struct {
		name     string
		page     Size
		requests []request
		offsets  []Size
		size     Size
	}{
		{"nothing", k4, nil, nil, 0},
		{"memory alone", k4, []request{{64 * MiB, 0}}, []Size{0}, 64 * MiB},
		{"one page", k4, []request{{k4, 0}}, []Size{0}, k4},
		{"default alignment", k4, []request{{k4, 0}, {k4, 0}, {k4, 0}}, []Size{0, 2 * MiB, 4 * MiB}, 4*MiB + k4},
		{"default alignment, 16 KiB pages", k16, []request{{k16, 0}, {k16, 0}}, []Size{0, 2 * MiB}, 2*MiB + k16},
		{"default alignment, 64 KiB pages", k64, []request{{k64, 0}, {k64, 0}}, []Size{0, 2 * MiB}, 2*MiB + k64},
		{"default alignment of pages above 2 MiB", 16 * MiB, []request{{16 * MiB, 0}, {32 * MiB, 0}}, []Size{0, 16 * MiB}, 48 * MiB},
		{"pages of 2 MiB", 2 * MiB, []request{{2 * MiB, 0}, {2 * MiB, 0}}, []Size{0, 2 * MiB}, 4 * MiB},
		{"end rounded up to 2 MiB", k4, []request{{2*MiB + k4, 0}, {k4, 0}}, []Size{0, 4 * MiB}, 4*MiB + k4},
		{"end that needs no rounding", k4, []request{{4 * MiB, 0}, {k4, 0}}, []Size{0, 4 * MiB}, 4*MiB + k4},
		{"one page before the boundary", k4, []request{{4*MiB - k4, 0}, {k4, 0}}, []Size{0, 4 * MiB}, 4*MiB + k4},
		{"alignment of one page", k4, []request{{k4, 0}, {k4, k4}, {k4, k4}}, []Size{0, k4, 2 * k4}, 3 * k4},
		{"alignment below the default", k4, []request{{k4, 0}, {k4, 64 * KiB}}, []Size{0, 64 * KiB}, 64*KiB + k4},
		{"alignment above the default", k4, []request{{2 * MiB, 0}, {k4, GiB}, {k4, 0}}, []Size{0, GiB, GiB + 2*MiB}, GiB + 2*MiB + k4},
		{"one alignment does not move the others", k4, []request{{k4, 0}, {k4, GiB}, {k4, k4}}, []Size{0, GiB, GiB + k4}, GiB + 2*k4},
		{"alignment of the first", k4, []request{{k4, GiB}}, []Size{0}, k4},
		{"largest pool", k4, []request{{top - 2*k4, 0}, {k4, k4}}, []Size{0, top - 2*k4}, top - k4},
		{"largest region", k4, []request{{top - k4, 0}}, []Size{0}, top - k4},
		{"largest alignment at 0", k4, []request{{k4, top}}, []Size{0}, k4},
		{"largest alignment that has room", k4, []request{{k4, 0}, {k4, top / 2}}, []Size{0, top / 2}, top/2 + k4},
		{"smallest page", 1, []request{{3, 0}, {5, 4}, {1, 1}}, []Size{0, 4, 9}, 10},
		{"largest page", GiB, []request{{GiB, 0}, {GiB, 0}}, []Size{0, GiB}, 2 * GiB},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var requests []Request
			for i, r := range tt.requests {
				requests = append(requests, Request{fmt.Sprint("r", i), r[0], r[1]})
			}
			regions, size, problems := Place(requests, tt.page)
			if problems != nil {
				t.Fatalf("Place = %v, want no problem", problems)
			}
			if regions == nil {
				t.Fatal("Place = nil, want a list, empty at least")
			}
			var offsets []Size
			for i, r := range regions {
				offsets = append(offsets, Size(r.Offset))
				if r.Name != requests[i].Name || r.Size != requests[i].Size || r.End() != r.Offset+Addr(r.Size) {
					t.Errorf("region %d = %+v, want name and size of %+v", i, r, requests[i])
				}
			}
			if !slices.Equal(offsets, tt.offsets) || size != tt.size {
				t.Errorf("Place = %v, pool %v, want %v, %v", offsets, size, tt.offsets, tt.size)
			}
			if size%tt.page != 0 {
				t.Errorf("pool of %d is not a multiple of the page", size)
			}
		})
	}
}

// Requirement: L2.
func TestPlaceRejects(t *testing.T) {
	const page = 4 * KiB
	ok := Request{Name: "ok", Size: page}
	sized := func(s Size) Request { return Request{Size: s} }
	aligned := func(a Size) Request { return Request{Size: page, Align: a} }
	tests := []struct {
		name     string
		page     Size
		requests []Request
		want     string
	}{
		{"no size", page, []Request{ok, sized(0)}, "1 size"},
		{"part of a page", page, []Request{sized(page / 2)}, "0 size"},
		{"one byte more", page, []Request{sized(2*page + 1)}, "0 size"},
		{"multiple of a smaller page alone", 64 * KiB, []Request{sized(96 * KiB)}, "0 size"},
		{"alignment of no power of two", page, []Request{ok, aligned(3 * MiB)}, "1 align"},
		{"alignment below one page", page, []Request{aligned(2 * KiB)}, "0 align"},
		{"alignment below a larger page", 64 * KiB, []Request{{Size: 64 * KiB, Align: 16 * KiB}}, "0 align"},
		{"alignment of all bits", page, []Request{aligned(math.MaxUint64)}, "0 align"},
		{"every problem at once", page, []Request{{Size: 1, Align: 3}, ok, sized(5), aligned(7)}, "0 size, 0 align, 2 size, 3 align"},
		{"a problem beside a size above the limit", page, []Request{{Size: top, Align: 3}, sized(1)}, "0 overflow, 0 align, 1 size"},
		{"size above the limit", page, []Request{ok, sized(top)}, "1 overflow"},
		{"size that only 64 bits hold", page, []Request{sized(math.MaxUint64 - page + 1)}, "0 overflow"},
		{"end one byte above the limit", page, []Request{sized(top - page), {Size: page, Align: page}}, "1 overflow"},
		{"end that wraps", page, []Request{sized(top - page), {Size: top - page, Align: page}, ok}, "1 overflow"},
		{"start that is rounded above the limit", page, []Request{sized(top - page), ok}, "1 overflow"},
		{"start that has no room for its alignment", page, []Request{ok, {Size: page, Align: top}}, "1 overflow"},
		{"end after rounding", page, []Request{{Size: top/2 + page}, {Size: top / 4, Align: top / 2}}, "1 overflow"},
		{"a later sum", page, []Request{sized(top / 2), sized(top / 4), sized(top / 4), ok}, "2 overflow"},
		{"no page size", 0, []Request{ok}, "0 page"},
		{"page size of no power of two", 12 * KiB, []Request{ok}, "0 page"},
		{"page size above 1 GiB", 2 * GiB, []Request{ok}, "0 page"},
	}
	words := map[error]string{ErrSize: "size", ErrAlign: "align", ErrOverflow: "overflow", ErrPage: "page"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			regions, size, problems := Place(tt.requests, tt.page)
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprint(p.Index, " ", words[p.Err]))
				if !errors.Is(p, p.Err) || !strings.Contains(p.Error(), p.Err.Error()) {
					t.Errorf("%v does not wrap %v", p, p.Err)
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("Place = %q, want %q", strings.Join(got, ", "), tt.want)
			}
			if regions != nil || size != 0 {
				t.Errorf("Place = %v, %v beside its problems, want none", regions, size)
			}
		})
	}
}

func TestRegionFindsByFullNameOnly(t *testing.T) {
	m := Machine{Regions: []Region{{Name: "memory"}, {Name: "gpu0.vram", Offset: 1}}}
	if r, ok := m.Region("gpu0.vram"); !ok || r.Offset != 1 {
		t.Errorf("Region = %v, %v, want the region", r, ok)
	}
	if r, ok := m.Region("vram"); ok {
		t.Errorf("Region(vram) = %v, want none", r)
	}
}

// Requirement: L4, the form of layout.json.
func TestLayoutAsJSON(t *testing.T) {
	l := Layout{Version, 4096, []Machine{
		{ID: "m0", Size: 40 * GiB, Regions: []Region{{Name: "memory", Size: 32 * GiB}, {Name: "mi300x-0.vram", Offset: Addr(32 * GiB), Size: 8 * GiB}}},
		{ID: "m1", Pool: "/dev/shm/x/m1.pool", Size: MaxSize, Regions: []Region{{Name: "memory", Size: MaxSize, File: "/dev/shm/y"}}},
	}}
	got, err := json.Marshal(l)
	want := `{"version":1,"page_size":4096,"machines":[{"id":"m0","size":42949672960,"regions":[{"name":"memory","offset":0,"size":34359738368},` +
		`{"name":"mi300x-0.vram","offset":34359738368,"size":8589934592}]},` +
		`{"id":"m1","pool":"/dev/shm/x/m1.pool","size":9223372036854775807,"regions":[{"name":"memory","offset":0,"size":9223372036854775807,"file":"/dev/shm/y"}]}]}`
	if err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v, want %s", got, err, want)
	}
}

// FuzzPlace holds every layout to the rules, and every refusal to a reason.
func FuzzPlace(f *testing.F) {
	f.Add(uint64(32*GiB), uint64(0), uint64(8*GiB), uint64(0), uint64(8*GiB), uint64(GiB), uint8(12))
	f.Add(uint64(top-4096), uint64(0), uint64(4096), uint64(4096), uint64(1), uint64(3), uint8(0))
	f.Fuzz(func(t *testing.T, s0, a0, s1, a1, s2, a2 uint64, pageBits uint8) {
		page := Size(1) << (pageBits % 31)
		requests := []Request{{"a", Size(s0), Size(a0)}, {"b", Size(s1), Size(a1)}, {"c", Size(s2), Size(a2)}}
		regions, size, problems := Place(requests, page)
		if (regions == nil) != (problems != nil) {
			t.Fatalf("Place = %v, %v", regions, problems)
		}
		var end Addr
		for i, r := range regions {
			align := cmp.Or(requests[i].Align, max(DefaultAlign, page))
			if r.Offset < end || Size(r.Offset)%align != 0 || Size(r.Offset)-Size(end) >= align {
				t.Fatalf("region %d at %d behind %d is not the next multiple of %d", i, r.Offset, end, align)
			}
			end = r.End()
			if end < r.Offset || Size(end) > MaxSize || Size(end)%page != 0 {
				t.Fatalf("region %d ends at %d", i, end)
			}
		}
		if regions != nil && Size(end) != size {
			t.Fatalf("pool of %d, the last region ends at %d", size, end)
		}
	})
}
