// What Go put into the page: an index that is opened at once, and chunks of
// entries that are opened when somebody looks. Everything in here may be anything
// that a model, a tool or a person wrote; it is only ever shown as text.

export type Verdict = "pass" | "fail" | "invalid" | "broken" | "diverged" | "not_run";
export const verdicts: Verdict[] = ["fail", "invalid", "broken", "diverged", "not_run", "pass"];

export interface Tokens { input: number | null; cache_read: number | null; cache_write: number | null; output: number | null; reasoning: number | null; total: number }
export interface Figures { iterations: number; model_attempts: number; tool_calls: number; tool_attempts: number; tokens: Tokens; cost_usd: number | null; tool_cost_usd?: number; latency_us: number }
export interface Percentiles { n: number; p50: number | null; p90: number | null; p99: number | null; max: number | null }
export interface Reason { class: string; layer?: string; part: string; what: string; where?: string; line?: number; diff?: string; why?: string; next?: string }
export interface ModelCall {
  ordinal: number; attempt_id: number; attempt: number; at_us: number; latency_us: number; status: number; class?: string; error?: string; model?: string;
  stop?: string; raw_stop?: string[]; stream: boolean; calls?: string[]; tokens?: Tokens; cost_usd?: number; raw_usage?: unknown; problems?: string[];
}
export interface ToolAttempt { attempt_id: number; attempt: number; latency_us: number; outcome: string; class?: string; code?: string }
export interface ToolCall {
  ordinal: number; tool: string; args_hash: string; at_us: number; latency_us: number; outcome: string; class?: string; write: boolean; cost_usd?: number; attempts: ToolAttempt[];
}
export interface Entry {
  name: string; model: string; fault?: string; trial?: number; api: string; file: string; verdict: Verdict; part?: string; owner?: string; why?: string; rollback?: string;
  labels?: string[]; clock: string; reasons: Reason[]; warnings?: string[]; outcome: { class: string; detail?: string; stop?: string; answer?: string }; figures: Figures;
  token_audit: { wire: number; agent: number | null; agree: boolean | null }; model_calls: ModelCall[]; tool_calls: ToolCall[];
  contract: { rule: string; state: string; breaches?: string[] }[]; effects: { tool: string; count: number; by?: string }[];
  faults?: { name: string; spec: string; times: number; at?: string; why_not?: string }[];
  hashes: { scenario?: string; prompt?: string; tools?: string; cassette?: string }; transcript?: { file: string; line: number };
}
export interface Stamp { task_id: string; attempt_ids: string[]; real_us: number }
export interface Totals {
  scenarios: number; verdicts: Record<string, number>; figures: Figures; unpriced: number;
  model_latency_us: Percentiles; tool_latency_us: Percentiles; run_latency_us: Percentiles; error_classes: Record<string, number>;
}
interface Columns {
  name: number[]; model: number[]; fault: number[]; trial: number[]; verdict: number[]; part: number[]; owner: number[]; what: number[]; labels: number[]; classes: number[];
  hashes: number[]; text: number[]; calls: number[]; tools: number[]; tokens: number[]; latency: number[]; cost: (number | null)[]; real: number[];
}
export interface Run {
  where: string; totals: Totals; entries: Columns; chunks: { n: number; entries: number; stamps: number }[];
  run: { tool: string; go: string; seed: number; prices_as_of?: string; live?: boolean; trials?: number; volatile: { id: string; started: string; ended: string; real_us: number; interrupted?: boolean; parallel: number } };
  // Made here:
  id: string; models: string[]; size: number;
}
export interface Matrix {
  kind: "sweep" | "drill"; where: string; name: string; of: string; held: number; breached: number; diverged: number; warnings: number; not_applicable: number; not_run: number; chunk: number;
}
export interface Index { format: string; runs: Run[]; matrices: Matrix[]; problems: string[]; strings: string[]; lists: number[][] }
interface Chunk { entries: Entry[]; text: number[]; texts: string[] }
export interface Whole { entry: Entry; stamp?: Stamp; text: string }

export let index: Index;

// Row is one entry as the index knows it.
export interface Row {
  run: Run; n: number; name: string; model: string; fault: string; trial: number; verdict: Verdict; part: string; owner: string; what: string;
  labels: string[]; classes: string[]; hashes: string[]; text: number; calls: number; tools: number; tokens: number; latency: number; cost: number | null;
  real: boolean; // its time is that of this machine, and differs each time
}

async function unpack<T>(base64: string): Promise<T> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as T;
}

const loaded = new Promise<void>((done) => {
  if (document.readyState !== "loading") done();
  else addEventListener("DOMContentLoaded", () => done(), { once: true });
});

const held = new Map<number, Promise<unknown>>();
const mostHeld = 24;

// chunk opens a chunk; a few are kept open.
export function chunk<T>(n: number): Promise<T> {
  let found = held.get(n) as Promise<T> | undefined;
  if (found) held.delete(n);
  else {
    found = (async () => {
      if (!document.getElementById(`chunk-${n}`)) await loaded;
      const at = document.getElementById(`chunk-${n}`);
      if (!at) throw new Error("a part of this page is missing: it was cut off on its way here");
      return unpack<T>(at.textContent ?? "");
    })();
  }
  held.set(n, found);
  if (held.size > mostHeld) held.delete(held.keys().next().value!);
  return found;
}

export async function openIndex(): Promise<void> {
  const at = document.getElementById("index");
  if (!at) throw new Error("the page has no reports in it");
  index = await unpack<Index>(at.textContent ?? "");
  if (index.format !== "retake.view/1") throw new Error(`the reports in this page have the format ${index.format}`);
  const seen = new Set<string>();
  for (const r of index.runs) {
    r.id = r.run.volatile.id || r.where;
    // Two copies of one run are two; a merged report may have the id of a shard.
    for (let n = 2; seen.has(r.id); n++) r.id = `${r.run.volatile.id || r.where} (${n})`;
    seen.add(r.id);
    r.size = r.entries.name.length;
    r.models = [...new Set(r.entries.model)].map((m) => index.strings[m]).sort();
  }
  index.runs.sort((a, b) => (a.run.volatile.started < b.run.volatile.started ? 1 : a.run.volatile.started > b.run.volatile.started ? -1 : 0));
}

const rowsOf = new WeakMap<Run, Row[]>();

// rows are a run's entries; objects are made once a run, when it is first looked at.
export function rows(r: Run): Row[] {
  let all = rowsOf.get(r);
  if (all) return all;
  const { strings: s, lists } = index;
  const words = lists.map((l) => l.map((n) => s[n]));
  const e = r.entries;
  all = e.name.map((name, n) => ({
    run: r, n, name: s[name], model: s[e.model[n]], fault: s[e.fault[n]], trial: e.trial[n], verdict: s[e.verdict[n]] as Verdict, part: s[e.part[n]], owner: s[e.owner[n]], what: s[e.what[n]],
    labels: words[e.labels[n]], classes: words[e.classes[n]], hashes: words[e.hashes[n]], text: e.text[n], calls: e.calls[n], tools: e.tools[n], tokens: e.tokens[n], latency: e.latency[n], cost: e.cost[n], real: e.real[n] === 1,
  }));
  rowsOf.set(r, all);
  return all;
}

// whole opens an entry with its ids and its transcript.
export async function whole(row: Row): Promise<Whole> {
  let at = row.n;
  for (const c of row.run.chunks) {
    if (at >= c.n) {
      at -= c.n;
      continue;
    }
    const [entries, stamps] = await Promise.all([chunk<Chunk>(c.entries), chunk<Stamp[]>(c.stamps)]);
    const text = entries.text[at];
    return { entry: entries.entries[at], stamp: stamps[at], text: text < 0 ? "" : entries.texts[text] };
  }
  throw new Error("the report has no such scenario");
}

export const keyOf = (r: { name: string; model: string; fault: string; trial: number }) => [r.name, r.model, r.fault, r.trial || ""].join("\u0000");
