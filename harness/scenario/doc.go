// Package scenario reads the specifications below scenarios/. This comment is
// the manual for them.
//
// A scenario is one YAML file that shows one behaviour of an agent. Its name is
// its path without .yaml: scenarios/travel/umbrella.yaml is travel/umbrella.
//
//	why: The critical path, two look-ups and then one that needs both.
//	owner: travel-team
//	labels: [smoke, travel]
//	inputs: {home: Greenwich}
//	system: You plan the day of a person who lives in ${home}.
//	task: When do I have to leave for my meeting, and do I need an umbrella?
//	model: claude-opus-4-8
//	expect:
//	  stop: done
//	  calls:
//	    - tool: get_weather
//	      args: {city: London, date: {date: 2026-07-14}}
//	    - get_travel_time
//	  answer: {contains: ["14:00"]}
//
// # What must be there
//
// why says what the scenario shows, owner who acts when it fails, and task (or
// turns, for more than one) what the user says. A model is named here, or by
// default_models in retake.yaml. Every field, with its meaning, is in
// scenario.schema.json beside this file; an editor shows it after the first line
//
//	# yaml-language-server: $schema=…/scenario.schema.json
//
// # Inputs
//
// ${name} in system, opening, task and turns is replaced by the input of that
// name. An unknown placeholder is an error, and so is an input that nothing
// uses. $${ is a literal ${.
//
// # Before the first turn
//
// opening has messages that come before it: examples, or what a framework tells
// its model in another role than system.
//
//	opening:
//	  - developer: Answer in one sentence.
//	  - user: Is it far to Mars?
//	  - assistant: About seven months by today's ships.
//
// # An agent of your own
//
// The agent is the reference loop, or a program in any language:
//
//	agent:
//	  build: [go, build, -o, '${build}/agent', ./agent]
//	  command: ['${build}/agent', --state, '${scratch}/state.json']
//	  env: [LOG_LEVEL=debug]
//	  task: stdin
//
// It is started for each run, in the project's folder, with PATH, HOME, what env
// says and what retake sets: the addresses at which it asks the model
// (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL and others that SDKs
// read), keys that are none, RETAKE_MODEL, RETAKE_TASK_ID, and RETAKE_MCP_URL, where
// it finds the scenario's tools. task says how it is told the task: as its last
// argument (argument, the default), on its standard input (stdin), in RETAKE_TASK
// (env) or in another variable ({env: NAME}). Its exit code 0 ends the run as
// completed; with any other the run ends as its last attempt at the model failed,
// or else as agent. The answer is what the model said last; answer: stdout takes
// what the program wrote. limits: time (here 10m when nothing is said) ends it, with
// all that it has started.
//
// system, tools and limits then say what is expected of it, and may be left out:
// nothing of them is sent. A tool that it does not take from RETAKE_MCP_URL is one
// of its own, of which retake sees what the model is told. What only the reference
// loop obeys (opening, stream, max_tokens, params, tool_choice,
// parallel_tool_calls, on_partial) is refused, and so is a second turn.
//
// # Tools
//
// A file tools.yaml beside the scenario (or the one that tools_from names,
// relative to the scenario's folder) has declarations for several scenarios:
//
//	tools:
//	  - name: book_table
//	    description: Books a table. Only after the user has confirmed.
//	    input: {type: object, properties: {guests: {type: integer}, key: {type: string}}, required: [guests], additionalProperties: false}
//	    effect: write
//	    key: {field: key, from: host}
//	    timeout: 10s
//	    retry: {attempts: 3, backoff: 500ms}
//	    approval: true
//
// A tool that the provider runs is passed on as it is declared there:
//
//	tools:
//	  - name: web_search
//	    provider: {type: web_search_20250305, name: web_search, max_uses: 2}
//
// A scenario without tools has all of them; tools: [a, b] picks some by name,
// and may hold declarations of its own among the names; tools: [] is none. A
// tool that does not say effect: read counts as a write. Schemas are compiled
// when the file is read; they may refer to nothing outside themselves.
//
// For Gemini the spelling of a schema's types decides where it goes: types in
// capitals (OBJECT) are the API's own dialect and go into parameters, others are
// JSON Schema and go into parametersJsonSchema.
//
// # Where tools run
//
// A tool answers from the tools' recording, unless run says where it really is:
//
//	servers:
//	  shop: {command: [shop-server, --db, ":memory:"], env: [SHOP_KEY, MODE=test]}
//	  maps: {url: "https://maps.example/mcp", headers: {Authorization: {env: MAPS_TOKEN, prefix: "Bearer "}}}
//	tools:
//	  - name: find_gift
//	    run: {mcp: shop}
//	  - name: route
//	    run: {mcp: maps, tool: get_route}
//	  - name: stock
//	    effect: read
//	    run: {http: {method: GET, url: "https://stock.example/items/{id}"}}
//	  - name: weigh
//	    effect: read
//	    run: {command: [./weigh, --json], env: [SCALE]}
//
// Servers may be described in retake.yaml too, for all scenarios. What a tool on
// an MCP server does not say itself (description, input, output, effect) is the
// server's word, asked when the run begins; without the annotation readOnlyHint it
// is a write. A key that the host makes is taken out of the server's schema: the model is
// not asked for it. All of a server's tools, some, or some with more said of them:
//
//	tools: {from: shop}
//	tools: {from: shop, names: [find_gift, create_order]}
//	tools:
//	  from: shop
//	  with: [{name: create_order, key: {field: idempotency_key, from: host}, timeout: 10s}]
//
// A program may also be reached by its address, and be built before its first run:
//
//	servers:
//	  shop:
//	    build: [go, build, -o, '${build}/shop', ./cmd/shop]
//	    command: ['${build}/shop', --http, '127.0.0.1:${port}', --db, '${scratch}/shop.db']
//	    url: 'http://127.0.0.1:${port}/mcp'
//
// ${build} is a folder that lasts as long as retake, ${scratch} one for the run
// alone, and ${port} a free port. Nothing of them is left.
//
// At an endpoint {id} stands for an argument; the others are the JSON body, or the
// query of a GET or DELETE. The headers X-Retake-Task-Id, X-Retake-Attempt-Id and,
// with key, Idempotency-Key go along. A command gets the arguments as JSON on its
// standard input and answers in JSON; it finds the ids in RETAKE_TASK_ID and
// RETAKE_ATTEMPT_ID. Programs are started in the project's folder, see PATH, HOME
// and what env names, and are ended with all that they have started.
//
// An error that a tool reports as {"ok":false,"error":{"code":…,"message":…,
// "retryable":…}} is told to the model as it is, and so is the text of an MCP tool with
// isError. What of it looks like internals or a secret is kept back, and is a breach of
// W8. Of anything else that goes wrong the model is told what kind it is, never the
// tool's words.
//
// A variable of the environment that a tool is given must be named under secrets
// in retake.yaml. Such a run is on the real clock and starts its servers for itself
// alone; the model still answers from its recording. A fault that waits longer than
// real_wait_cap does not strike there: say how long, with: {delay: 1s}.
//
// # Effects in the world
//
// What the messages say was done is one thing; what was done another. effects says
// how the effects of a tool are counted where they are:
//
//	effects:
//	  create_order: {sql: {database: 'sqlite:${scratch}/shop.db', query: select count(*) from orders}}
//	  send_mail: {mcp: mail, tool: list_sent, pointer: /mails}
//	  post: {http: {url: 'https://blog.example/posts'}, pointer: /total}
//	  write_note: {mcp: files, tool: list_directory, args: {path: notes}, matches: '\[FILE\]'}
//
// by a query that gives one number (SQLite, or Postgres: {env: DATABASE_URL}), by a
// tool that reads, or by an address. pointer leads to a number, or to what has as
// many members; matches counts in a text. It is counted before and after the run, and expect: effects then is
// about the difference. Where other runs may change what is counted, such runs are
// made one after the other. What is counted has to be expected, and what is expected
// of a tool that really runs should be counted: calls that reach it say nothing of
// what it did. A Go test imports the driver: modernc.org/sqlite, or
// github.com/jackc/pgx/v5/stdlib.
//
// # In whose name
//
//	principals:
//	  alice: {headers: {Authorization: {env: ALICE_TOKEN, prefix: "Bearer "}}}
//	  bob: {headers: {Authorization: Bearer not-a-token}}
//	turns:
//	  - {user: Order the lamp., as: alice}
//	  - {user: What has Alice ordered?, as: bob}
//
// The tools of a turn are called in its principal's name: with the headers at an
// address, or by a program of its own with env. as beside turns is for all that name
// nobody. One whom a server does not let in gets the error UNAUTHORIZED.
//
// # More than one turn, and where the run ends
//
//	turns:
//	  - Find me a table for two.
//	  - user: Take the one at eight.
//	limits: {iterations: 6, tokens: 20000, tool_calls: 8, time: 2m, parallel: 4}
//	give_up: {repeated_calls: 3, pauses: 5, tool_errors: 2}
//	on_partial: stop
//
// Whichever limit is met first ends the run with its class (iteration_cap,
// token_budget, …), which expect: outcome may ask for. on_partial: stop ends it
// when one of several parallel calls fails; report, the default, tells the model.
//
// # Refusing a tool, and finding a recording
//
//	guard: [{tool: delete_account, reason: Ask a person first.}]
//	replay: {match: normalised, ignore: [/metadata/user_id, /messages/*/name]}
//
// A guarded call does not reach its tool; the model is told BLOCKED_BY_POLICY
// and the reason. ignore names parts of the request's body that differ from run to
// run and must not count in finding its recording; * is any member or element.
//
// # A person's approval
//
//	tools: [{name: commit_order, approval: true}, …]
//	approvals:
//	  - {tool: commit_order, call: 1, decision: deny}
//	  - {tool: commit_order, decision: approve}
//
// A tool with approval: true runs only when a person has agreed to the call. The
// script says what the person decides, for the how-manieth call or for each: approve,
// deny, edit (approves with args in the place of the model's), late (refused for
// now; the same call is approved when it is made again) and never. Without a script
// nobody approves, and the model is told NOT_APPROVED; where tools really run and
// retake has a terminal, the person at it is asked.
//
// # Expectations
//
// Only what is written is checked, besides outcome (completed), the golden file
// (golden: false turns it off) and the contract, which always is. calls lists
// the tool calls in order; calls: {match: unordered, list: […]} (or subset,
// superset) holds them otherwise. An entry is a tool's name, or
//
//	tool: create_order
//	args: {sku: A-17, note: {contains: gift}, amount: {number: 12.5, tolerance: 0.01}}
//	args_match: superset
//
// An argument is a value, or one matcher: {date: 2026-07-14}, {contains: text},
// {regexp: expression}, {number: n, tolerance: d}. A value that looks like a
// matcher is written {equals: value}. undeclared: true is for a call of a tool
// that the scenario does not declare.
//
// attempts counts the HTTP attempts at the model, told has texts that the results
// shown to the model contain, and breaches the rules of the contract that must
// be breached (and no others): what a scenario shows may be that a mistake is found.
//
// # Judges
//
// What no comparison of texts can tell, a model may be asked:
//
//	expect:
//	  judge:
//	    - question: Does the text advise to take an umbrella?
//	      answers: [yes, no]
//	      accept: yes
//	      model: gpt-5.5-mini
//
// The judge is shown the final text, or with about: transcript all that was said
// and done (but not by which model), and has to reply with one of the answers and
// nothing else; letter case and spaces around it do not count. One that is not in
// accept fails the run. Anything else decides nothing: the run is inconclusive, with
// the class unjudged. retake.yaml says under models where a judge is asked.
//
// What judges say is recorded, in cassettes/NAME/judge/MODEL.yaml for the runs with
// the model MODEL, and of a run under faults that ends otherwise in
// cassettes/NAME/judge/MODEL/ID.yaml. A replay asks nobody; where the agent's answer
// has changed, there is no recording for it, and the run fails until the judges are
// asked again: retake record NAME --judges. What judges cost is told apart from
// what the run has cost, and no limit of the scenario holds for it.
//
// The judged text may try to talk to the judge. It stands between lines that it
// cannot contain, and what is invisible in it is spelled out; but a judge is a
// model, and can be wrong. How often it is can be measured: retake judge-check.
//
// # Faults
//
// faults lists runs of their own beside the one without: each is a fault of the
// catalogue (`retake faults`) at an exact place, and what must hold then. They need
// no recording of their own, and cost no real time.
//
//	seed: 7
//	faults:
//	  - fault: model.rate_limit
//	    id: asked-to-wait
//	    at: {call: 2}
//	    with: {retry_after: 20s}
//	    expect: {attempts: 4, latency: {max: 30s}}
//	  - fault: tool.unavailable
//	    at: {tool: get_weather, call: every}
//	    times: every
//	    on_divergence: script
//	    script:
//	      - when: {tool: get_weather, code: UPSTREAM_UNAVAILABLE}
//	        text: I cannot tell whether it will rain.
//	    expect: {answer: {contains: [cannot tell]}, told: UPSTREAM_UNAVAILABLE}
//
// at says where: the model call, or with a tool the call among those of that tool
// (without, among all tool calls); the attempt of that call; the event of a
// streamed answer. What it leaves out is the first place that fits. times is how
// many attempts in a row it strikes, so that times: 1, the default, leaves the next
// attempt alone; every never does. chance strikes each place that at allows with
// that probability, by the seed. with has parameters; and has further faults of
// the same run. id names the run: on the command line, in reports, in go test
// and for its golden transcript (golden/NAME/MODEL/ID.golden). It is the fault's
// name where it is left out, and distinct in the scenario. A fault that never
// strikes fails its run.
//
// What the expect of a run under faults does not say is the scenario's, but for
// golden (false) and attempts (unchecked). A run that is to end otherwise than
// completed, or is one of a scenario that does, takes over only the effects, tokens,
// cost and latency. To expect nothing of what would be taken over, write
// effects: {}, breaches: [].
//
// A model that was recorded cannot answer what it never saw: where a fault changes
// what the model is told, the recording ends. on_divergence says how the run goes
// on. stop, the default, checks what happened until there; what stays unchecked
// makes the run diverged, which is no pass, unless {accept: reason} says why it is
// enough. script goes on with the model's turns that are written under script: each
// request is answered by the first turn that was not said yet and whose when fits,
// and every turn has to be said. recorded replays a cassette that was recorded
// under the fault (cassettes/NAME/MODEL/ID.yaml).
//
// # YAML
//
// Unknown fields and fields given twice are errors. Values that are passed
// through (params, arguments, schemas) become JSON by their written text: 12.50
// stays 12.50, 2026-07-14 and 14:00 are texts. true, false, null and numbers in
// JSON's spelling are such; a word that other YAML readers take for a number or
// a truth value (017, .5, 0x1F, True, ~) is an error until it is quoted or
// spelled as JSON does. Anchors and aliases may be used, merge keys (<<) and
// tags may not. A file is UTF-8, with or without a byte order mark, its lines
// end in LF or CRLF.
package scenario
