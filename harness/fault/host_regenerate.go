package fault

// regenerate is the whole task run again. In real life a user presses
// "regenerate", or a queue delivers the job a second time. A right host keeps the
// task's id and its keys, so that nothing happens twice.
var regenerate = Fault{
	Name:   "host.regenerate",
	What:   "the whole task is run a second time",
	Breaks: "every effect of the first run happens again",
	Right:  "same task id and same keys, new attempt ids, no new effect",
}
