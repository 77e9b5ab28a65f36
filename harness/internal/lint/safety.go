package lint

import (
	"regexp"
	"slices"
	"strings"
)

// safetyRules are the rules of what a tool may do.
func safetyRules() []toolRule {
	return []toolRule{
		{Rule{
			"tool/write-key", Error, "a write without an idempotency key and without an approval, that does not say idempotentHint: true either",
			"answers get lost and turns are regenerated: the second call is a second order",
			"take an idempotency_key and answer a repeated one with the first result; or say approval: true where a person decides", "E5",
		}, true, true, writeKey},
		{Rule{
			"tool/write-when", Error, "a write whose description does not say when it may be called",
			"a model that is eager calls it in the turn in which the user only asks what it would cost",
			"say it in the description: only after the user has confirmed …", "E7",
		}, true, true, writeWhen},
		{Rule{
			"tool/universal", Error, "one tool for everything: a switch with a free payload, a name that promises to do anything",
			"no rule, approval or limit can be set on it, since nobody knows what it will do",
			"make a narrow tool for each operation, with arguments of its own", "E7",
		}, true, true, universal},
		{Rule{
			"tool/reads-and-writes", Error, "one tool that reads and writes, by an argument that chooses",
			"approved for a look, it deletes; not approved, it cannot even look",
			"make a read and a write of it", "E7",
		}, true, true, readsAndWrites},
		{Rule{
			"tool/asks-secret", Error, "an input that asks for a password, a key or card data",
			"the model has to know it to pass it on, so it is in every log of every host on the way",
			"let the user sign in at the host or at your page, and take a reference", "E7",
		}, true, true, asksSecret},
		{Rule{
			"tool/excess-privilege", Error, "an input that takes SQL, a command, or whom it acts for, or that switches a check off; a tool for everybody's data at once",
			"it may do whatever the server's own account may, and a text that another tool returned is enough to have it done",
			"make narrow tools with arguments of their own, and take who it is from the session's token", "E11",
		}, true, true, excessPrivilege},
	}
}

// key spells what holds an idempotency key.
var key = regexp.MustCompile(`^(idempotency(_key|_token|_id)?|idempotent_key|idem_key|client_token|client_request_id|request_id|request_key|request_token|dedup(e|lication)?_(id|key|token))$`)

func hasKey(t *Tool) bool {
	found := t.Key != nil
	properties(objectOf(t.Input), func(_, name string, _ object) { found = found || key.MatchString(spelled(name)) })
	return found
}

// harmless is a write that by its own word destroys nothing and comes to the same
// when it is repeated, such as a draft; the drill finds out whether that is so.
func harmless(t *Tool) bool {
	h := t.Hints
	return h != nil && h.Destructive != nil && !*h.Destructive && yes(h.Idempotent)
}

func writeKey(c *toolCheck) {
	if c.readOnly() || c.tool.Partial || c.tool.Approval || hasKey(c.tool) || c.tool.Hints != nil && yes(c.tool.Hints.Idempotent) {
		return
	}
	if !c.set.Server && c.tool.Effect == "" {
		return // that is found already
	}
	c.find(spot{part: partName}, "a repeated call does it again: it has no idempotency key, and nobody approves it")
}

// whenWords are ways to say when a tool may be called.
var whenWords = regexp.MustCompile(`(?i)\b(only (after|when|if|once|on|with|for|where|upon)|(after|once|when|if|unless|until|before) (the )?(user|customer|person|caller|human|someone|somebody)|` +
	`(requires?|needs?|with|without|upon|on) (the |an? )?((user|customer|person)('s)? )?(explicit |prior |express )?(confirmation|approval|consent|permission|agreement)|` +
	`(do not|don't|never|must not be|not to be) (call|use|run|invoke|called|used)|(has|have) (explicitly )?(confirmed|approved|agreed|asked|consented)|at the (user|customer)'s request|` +
	`use this when|call (this|it) (after|when|once|only))\b`)

func writeWhen(c *toolCheck) {
	if c.readOnly() || c.tool.Partial || c.tool.Description == "" || harmless(c.tool) {
		return
	}
	if !c.set.Server && c.tool.Effect == "" {
		return
	}
	if !whenWords.MatchString(c.tool.Description) {
		c.find(spot{part: partDescription}, "it writes, and its description does not say when it may be called")
	}
}

var (
	switches = []string{"operation", "operation_name", "operation_type", "action", "action_name", "action_type", "op", "method", "method_name", "function", "function_name", "verb", "endpoint", "tool", "tool_name", "command_name", "request_type"}
	payloads = []string{"payload", "params", "parameters", "arguments", "args", "data", "body", "options", "input", "request", "kwargs", "fields", "values"}
	queries  = []string{"sql", "sql_query", "query_sql", "raw_sql", "raw_query", "sql_statement", "statement", "graphql", "graphql_query", "mongo_query", "where_clause"}
	programs = []string{"command", "cmd", "shell", "shell_command", "command_line", "script", "bash", "code", "python_code", "javascript", "expression_code"}

	anything = regexp.MustCompile(`^(do_anything|do_everything|do_any|do_action|execute|execute_any|execute_anything|execute_action|execute_operation|run_anything|perform_action|perform_operation|universal|universal_tool|call_api|api_request|http_request|generic_request|invoke)$`)
	ofSQL    = regexp.MustCompile(`(?i)\b(sql|select statement|where clause)\b`)
)

func universal(c *toolCheck) {
	input := objectOf(c.tool.Input)
	props := input.object("properties")
	var chooses, free string
	for _, name := range props.names() {
		p, word := props.object(name), spelled(name)
		switch {
		case slices.Contains(switches, word):
			chooses = name
		case isFree(p) && (free == "" || slices.Contains(payloads, word)):
			free = name
		}
	}
	switch {
	case chooses != "" && free != "":
		c.find(spot{partInput, "/properties/" + escape(chooses)}, "%q chooses what is done, and %q takes whatever goes with it", chooses, free)
	case anything.MatchString(spelled(c.tool.Name)):
		c.find(spot{part: partName}, "the name %q promises to do anything", c.tool.Name)
	}
}

// isFree tells that a property takes any value, or any object, or a text that holds
// one.
func isFree(p object) bool {
	if p["enum"] != nil || p["const"] != nil || p["$ref"] != nil {
		return false
	}
	described := p.object("properties") != nil || p["anyOf"] != nil || p["oneOf"] != nil || p["allOf"] != nil
	if p["additionalProperties"] != nil && p["additionalProperties"] != true {
		return false
	}
	untyped := p["type"] == nil && !described
	return untyped || p.isType("object") && !described || p.isType("string") && strings.Contains(strings.ToLower(p.text("description")), "json")
}

// readsAndWrites looks for an argument whose words read and write.
func readsAndWrites(c *toolCheck) {
	properties(objectOf(c.tool.Input), func(pointer, name string, p object) {
		var looks, changes string
		for _, word := range choices(p) {
			switch v := verb(word); {
			case writes(v):
				changes = word
			case reads(v):
				looks = word
			}
		}
		if looks != "" && changes != "" && (slices.Contains(switches, spelled(name)) || strings.HasSuffix(spelled(name), "mode")) {
			c.find(spot{partInput, pointer}, "%q chooses between looking (%s) and changing (%s)", name, looks, changes)
		}
	})
}

// choices are the texts that a property may be.
func choices(p object) []string {
	out := p.texts("enum")
	for _, word := range []string{"anyOf", "oneOf"} {
		forms, _ := p[word].([]any)
		for _, form := range forms {
			if m, ok := form.(map[string]any); ok {
				out = append(out, object(m).texts("enum")...)
				if s := object(m).text("const"); s != "" {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

var (
	secretName = regexp.MustCompile(`^(.*_)?(password|passwd|passphrase|pwd|secret|secret_key|client_secret|api_key|apikey|access_key|private_key|access_token|auth_token|bearer_token|refresh_token|session_token|` +
		`otp|one_time_code|mfa_code|credential|credentials|` +
		`card_number|cardnumber|credit_card|creditcard|card_no|cvv|cvc|cvv2|card_code|security_code|card_expiry|pan|iban|account_number|ssn|social_security_number|pin|pin_code)$`)
	// notSecret are names that look like it and are none.
	notSecret   = regexp.MustCompile(`^(reset_password|forgot_password|.*_(hint|policy|strength|length))$`)
	secretWords = regexp.MustCompile(`(?i)\b(the|your|user's|customer's|full) (password|api key|card number|credit card( number)?|cvv|cvc|security code|social security number)\b`)
)

func asksSecret(c *toolCheck) {
	properties(objectOf(c.tool.Input), func(pointer, name string, p object) {
		word := spelled(name)
		if p.isType("boolean") || notSecret.MatchString(word) {
			return
		}
		if secretName.MatchString(word) || secretWords.MatchString(p.text("description")) {
			c.find(spot{partInput, pointer}, "the argument %q asks for what no model should know", name)
		}
	})
}

var (
	actsFor = regexp.MustCompile(`^(user_id|customer_id|tenant|tenant_id|as_user|on_behalf_of|impersonate|impersonate_user|act_as|acting_user|is_admin|admin|sudo|privileged|elevated)$`)
	offs    = regexp.MustCompile(`^(force|bypass(_.*)?|skip_(.*)?(check|checks|validation|auth|approval|confirmation|limit|limits)|no_(check|checks|confirm)|ignore_(.*)?(limit|limits|policy|permissions)|disable_(.*)|override_(.*)?(limit|limits|policy|check))$`)
	allOf   = regexp.MustCompile(`^(admin|sudo|root)(_|$)|^(delete|drop|purge|wipe|clear|erase|truncate|reset|cancel|refund|export|dump|list|read|get)_(all|any|every|everything|entire|whole)(_|$)|(^|_)(database|all_users|all_customers|all_orders|everyone)$`)
)

func excessPrivilege(c *toolCheck) {
	name := spelled(c.tool.Name)
	if m := allOf.FindString(name); m != "" && (!c.readOnly() || strings.Contains(name, "users") || strings.Contains(name, "customers") || strings.HasPrefix(name, "admin")) {
		c.find(spot{part: partName}, "the name %q says that it reaches further than one user's own", c.tool.Name)
	}
	properties(objectOf(c.tool.Input), func(pointer, name string, p object) {
		word := spelled(name)
		isText := p.isType("string") && p["enum"] == nil && p["const"] == nil
		switch {
		case isText && (slices.Contains(queries, word) || strings.Contains(word, "query") && ofSQL.MatchString(p.text("description"))):
			c.find(spot{partInput, pointer}, "the argument %q takes a query of the model's own making", name)
		case isText && slices.Contains(programs, word):
			c.find(spot{partInput, pointer}, "the argument %q takes a command of the model's own making", name)
		case actsFor.MatchString(word):
			c.find(spot{partInput, pointer}, "the argument %q lets the model choose who it acts for, or with which rights", name)
		case !c.readOnly() && p.isType("boolean") && offs.MatchString(word):
			c.find(spot{partInput, pointer}, "the argument %q lets the model switch a check off", name)
		}
	})
}
