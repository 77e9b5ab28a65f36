package wire

// Normal appends the canonical text of what a request means.
func Normal(dst []byte, c Codec, r *Request) []byte {
	c.Canonical(r)
	body, _ := c.EncodeRequest(dst, r)
	return body
}
