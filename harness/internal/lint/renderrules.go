package lint

// The rules of what is seen of a widget when it is shown.
var (
	rendersResults = Rule{
		"widget/renders-results", Error, "a widget that, given results, does not show them",
		"a person sees an empty frame, or a spinner, in the place of the answer",
		"let it show what the tool answers when ui/notifications/tool-result comes", "E10",
	}
	rendersEmpty = Rule{
		"widget/renders-empty", Error, "a widget that, given nothing found, shows nothing, waits, or does not say why",
		"nobody knows whether nothing was found or nothing works",
		"show the reason that the tool gives", "E10",
	}
	rendersError = Rule{
		"widget/renders-error", Error, "a widget that, given an error, shows nothing or waits for ever",
		"a person waits for what never comes",
		"show the error's message and what to do next, and stop waiting", "E11",
	}
	errorNext = Rule{
		"widget/error-next", Warning, "a widget that, given an error, has nothing but the error's own words",
		"a person is left alone with an error",
		"say what to do next, or give a button for it", "E10",
	}
	rawValue = Rule{
		"widget/raw-value", Error, "a widget that shows undefined, NaN or [object Object]",
		"a field that is missing is shown as a word of the programming language",
		"show what a person can read when a field is missing", "E10",
	}
	scriptError = Rule{
		"widget/script-error", Error, "a widget whose script ends with an exception",
		"what comes after it is not done",
		"mend the script", "E10",
	}
	markupRuns = Rule{
		"widget/markup-runs", Error, "a widget that takes the texts of an answer for markup",
		"who writes a product's name runs scripts in the widget of everybody who sees it",
		"set textContent, never innerHTML", "L5",
	}
	undeclaredRequest = Rule{
		"widget/undeclared-request", Error, "a widget that, when it is shown, loads from where its CSP does not let it, or leaves its page",
		"hosts stop it, and what it brings is missing; where they do not, it carries out what it is shown",
		"name the origin in the CSP, or put what it brings into the page", "E10",
	}
	overflows = Rule{
		"widget/overflows", Warning, "a widget that is wider than its frame",
		"on a telephone a part of it is cut off",
		"let it wrap", "E10",
	}
)

func renderRules() []Rule {
	return []Rule{rendersResults, rendersEmpty, rendersError, errorNext, rawValue, scriptError, markupRuns, undeclaredRequest, overflows}
}
