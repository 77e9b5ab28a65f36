package file

import "errors"

// ErrLocked says that somebody else has the lock.
var ErrLocked = errors.New("it is locked by another process")
