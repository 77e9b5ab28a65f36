package cassette

// The two readers, for the tests that hold them together.
var (
	ReadFast = readFast
	ReadYAML = readYAML
)
