package fault

// catalogue is every fault, in the order in which it is shown. It is never
// changed.
var catalogue = []*Fault{
	&overloaded,
	&reset,
	&truncatedStream,
	&emptyTurn,
	&pause,

	&timeoutBefore,
	&lostAck,
	&slow,
	&unavailable,
	&cutAnswer,
	&leakyError,
	&badOutput,
	&oversized,
	&injection,
	&empty,
	&partialBatch,
	&duplicateDelivery,
	&notRetryable,
	&panicking,
	&cancelled,
	&lateResult,
	&lyingHint,

	&regenerate,
}
