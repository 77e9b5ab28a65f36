package fault

// catalogue is every fault, in the order in which it is shown. It is never
// changed.
var catalogue = []*Fault{
	&overloaded,
	&reset,
	&truncatedStream,
	&emptyTurn,
	&pause,

	&unavailable,
	&lostAck,

	&regenerate,
}
