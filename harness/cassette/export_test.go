package cassette

import "net/http"

// The two readers, for the tests that hold them together.
var (
	ReadFast = readFast
	ReadYAML = readYAML
)

// BadDisk is the file system with faults: what Fault returns for an operation
// (create, open, write, sync, rename, remove, truncate) happens instead; a write
// puts half of its bytes first. Fault may panic. Nothing waits for the disk.
type BadDisk struct{ Fault func(operation string) error }

func (d BadDisk) createTemp(dir, pattern string) (diskFile, error) {
	if err := d.Fault("create"); err != nil {
		return nil, err
	}
	f, err := realDisk{}.createTemp(dir, pattern)
	return badFile{f, d}, err
}

func (d BadDisk) openAppend(path string) (diskFile, error) {
	if err := d.Fault("open"); err != nil {
		return nil, err
	}
	f, err := realDisk{}.openAppend(path)
	return badFile{f, d}, err
}

func (d BadDisk) rename(from, to string) error {
	if err := d.Fault("rename"); err != nil {
		return err
	}
	return realDisk{}.rename(from, to)
}

func (d BadDisk) remove(path string) error {
	if err := d.Fault("remove"); err != nil {
		return err
	}
	return realDisk{}.remove(path)
}

type badFile struct {
	diskFile
	disk BadDisk
}

func (f badFile) Write(p []byte) (n int, err error) {
	fault := true
	defer func() {
		if fault {
			n, _ = f.diskFile.Write(p[:len(p)/2])
		}
	}()
	if err := f.disk.Fault("write"); err != nil {
		return 0, err
	}
	fault = false
	return f.diskFile.Write(p)
}

func (f badFile) Sync() error {
	return f.disk.Fault("sync")
}

func (f badFile) Truncate(size int64) error {
	if err := f.disk.Fault("truncate"); err != nil {
		return err
	}
	return f.diskFile.Truncate(size)
}

// RecordOn and RecordToolsOn are recorders on a file system with faults.
func RecordOn(d BadDisk, path string, o Recording) (*Recorder, error) { return recordOn(d, path, o) }

func RecordToolsOn(d BadDisk, path string, o ToolRecording) (*ToolRecorder, error) {
	return recordToolsOn(d, path, o)
}

// PartialOf is what a partial file's bytes hold: the numbers of its exchanges.
func PartialOf(data []byte) (numbers []int, size int64, torn bool) {
	kept := parsePartial(data, "x")
	for _, r := range kept.records {
		numbers = append(numbers, r.number)
	}
	return numbers, kept.size, kept.torn
}

// AppendPartial appends an exchange to a partial file's bytes.
func AppendPartial(dst []byte, number int, f *File) []byte {
	text, err := Encode(nil, f)
	if err != nil {
		panic(err)
	}
	return appendRecord(dst, number, text)
}

// BodiesOfPartial are the requests that a partial file keeps, one after the other.
func BodiesOfPartial(data []byte) (all []byte) {
	kept := parsePartial(data, "x")
	for i := range kept.records {
		all = append(all, kept.records[i].in.Request.Body...)
	}
	return all
}

// FileOnce files an exchange with go-vcr, and does nothing else.
func FileOnce(req *http.Request, sent []byte, resp *http.Response, got []byte) error {
	_, err := filed(&exchange{req: req, sent: sent, resp: resp, got: got})
	return err
}
