package live

import "time"

// SetTime has the session take the time from elsewhere.
func (s *Session) SetTime(since func() time.Duration) { s.since = since }
