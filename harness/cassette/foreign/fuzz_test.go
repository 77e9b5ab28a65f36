package foreign_test

import (
	"testing"

	"github.com/retake-harness/retake/harness/cassette"
	"github.com/retake-harness/retake/harness/cassette/foreign"
	"github.com/retake-harness/retake/harness/failure"
)

// law: whatever the bytes, they are refused with a class, or they are a cassette
// that can be written and read again.
func law(t *testing.T, data []byte) {
	t.Helper()
	f, err := foreign.Read(data, "f")
	if err != nil {
		if failure.Of(err) != failure.CassetteInvalid {
			t.Fatalf("an error of class %q: %v", failure.Of(err), err)
		}
		return
	}
	if f.Half == foreign.RequestOnly || f.Format == foreign.GoVCR {
		return
	}
	text, err := cassette.Encode(nil, f.File)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again, err := cassette.Read(text, "again")
	if err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, text)
	}
	if len(again.Interactions) != len(f.Interactions) {
		t.Fatalf("%d interactions became %d", len(f.Interactions), len(again.Interactions))
	}
}

// fuzzed seeds a target with the samples of some formats.
func fuzzed(f *testing.F, formats ...foreign.Format) {
	f.Helper()
	for _, s := range samples(f) {
		for _, format := range formats {
			if s.format == format {
				f.Add([]byte(s.text))
			}
		}
	}
	f.Fuzz(law)
}

func FuzzVCRpy(f *testing.F)   { fuzzed(f, foreign.VCRpy) }
func FuzzRubyVCR(f *testing.F) { fuzzed(f, foreign.RubyVCR) }
func FuzzHAR(f *testing.F)     { fuzzed(f, foreign.HAR) }

func FuzzHTTPRR(f *testing.F) {
	fuzzed(f, foreign.HTTPRR)
}

func FuzzBodies(f *testing.F) {
	f.Add([]byte(asked))
	f.Add([]byte(answered))
	f.Add([]byte(stream))
	fuzzed(f, foreign.Exchange)
}
