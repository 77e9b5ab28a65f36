// A transcript is text, an event a line: a word in the first ten columns, and
// further lines of the same event behind ten spaces.
export interface Event { kind: string; text: string; line: number }

export function parse(text: string): Event[] {
  const out: Event[] = [];
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  lines.forEach((line, i) => {
    if (line.startsWith("          ") || line === "") {
      if (out.length) out[out.length - 1].text += "\n" + line.slice(10);
      return;
    }
    const space = line.indexOf(" ");
    out.push({ kind: space < 0 ? line : line.slice(0, space), text: space < 0 ? "" : line.slice(space).replace(/^ {1,9}/, ""), line: i + 1 });
  });
  return out;
}

export interface Call { label: string; name: string; args: string; cut: boolean; results: { text: string; error: boolean }[]; notes: string[]; as?: string }
export type Item =
  | { kind: "say"; who: string; text: string }
  | { kind: "call"; call: Call }
  | { kind: "stop"; text: string; ordinal: number }
  | { kind: "fault"; name: string; place: string }
  | { kind: "note"; what: string; text: string; bad: boolean };

// converse gathers a call with its result and its attempts. What does not follow
// the form is a note: nothing of a transcript is left out.
export function converse(events: Event[]): Item[] {
  const out: Item[] = [];
  const calls = new Map<string, Call>();
  let answers = 0;
  for (const e of events) {
    const label = /^(call-\S+)(?: |$)/.exec(e.text)?.[1] ?? "";
    const rest = e.text.slice(label.length).trimStart();
    switch (e.kind) {
      case "scenario": case "model":
        break;
      case "call": {
        const m = /^(\S+)(?: (cut or invalid: ?))?\s?([^]*)$/.exec(rest);
        if (!label || !m) { out.push({ kind: "note", what: e.kind, text: e.text, bad: false }); break; }
        const call: Call = { label, name: m[1], args: m[3], cut: m[2] !== undefined, results: [], notes: [] };
        calls.set(label, call);
        out.push({ kind: "call", call });
        break;
      }
      case "result": {
        const call = calls.get(label);
        const error = /^error(?: |$)/.test(rest);
        const text = error ? rest.slice(6) : rest;
        if (call) call.results.push({ text, error });
        else out.push({ kind: "note", what: "result", text: e.text, bad: error });
        break;
      }
      case "as": {
        const call = calls.get(label);
        if (call) call.as = rest;
        else out.push({ kind: "note", what: "as", text: e.text, bad: false });
        break;
      }
      case "attempt": {
        const call = calls.get(label);
        if (call) call.notes.push(rest);
        else out.push({ kind: "note", what: "attempt", text: e.text, bad: true });
        break;
      }
      case "stop": out.push({ kind: "stop", text: e.text, ordinal: answers++ }); break;
      case "fault": {
        const [name, ...place] = e.text.split(" ");
        out.push({ kind: "fault", name, place: place.join(" ") });
        break;
      }
      case "problem": case "begin": case "outcome": case "block":
        out.push({ kind: "note", what: e.kind, text: e.text, bad: e.kind === "problem" || (e.kind === "outcome" && e.text !== "completed") });
        break;
      default: out.push({ kind: "say", who: e.kind, text: e.text });
    }
  }
  return out;
}

export type Side = { kind: "same" | "gone" | "new"; text: string; left?: number; right?: number };

// diff compares two texts line by line. Beyond so many lines that an exact answer
// would take long, what lies between the equal beginning and end is all changed.
export function diff(a: string[], b: string[]): Side[] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let endA = a.length, endB = b.length;
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const out: Side[] = [];
  for (let i = 0; i < from; i++) out.push({ kind: "same", text: a[i], left: i, right: i });
  const n = endA - from, m = endB - from;
  if (n * m > 4e6) {
    for (let i = from; i < endA; i++) out.push({ kind: "gone", text: a[i], left: i });
    for (let j = from; j < endB; j++) out.push({ kind: "new", text: b[j], right: j });
  } else {
    const width = m + 1;
    const longest = new Uint32Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
      longest[i * width + j] = a[from + i] === b[from + j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
    let i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[from + i] === b[from + j]) { out.push({ kind: "same", text: a[from + i], left: from + i++, right: from + j++ }); }
      else if (i < n && (j >= m || longest[(i + 1) * width + j] >= longest[i * width + j + 1])) { out.push({ kind: "gone", text: a[from + i], left: from + i++ }); }
      else out.push({ kind: "new", text: b[from + j], right: from + j++ });
    }
  }
  for (let i = endA, j = endB; i < a.length; i++, j++) out.push({ kind: "same", text: a[i], left: i, right: j });
  return out;
}
