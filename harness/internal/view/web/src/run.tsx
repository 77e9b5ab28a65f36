import { useMemo, useState } from "preact/hooks";
import { index, rows, verdicts, type Row, type Run, type Verdict } from "./data";
import { go, link, refine, toEntry, type Route } from "./route";
import { Text, clip, cost, count, many, plain, time, when, words } from "./text";
import { Badge, Empty, Facts, Select, Shares, Sign, tone, verdictCounts } from "./ui";
import { Grid, cell } from "./virtual";
import { remembered } from "./remember";

export interface Filter { q: string; verdict: string; class: string; label: string; part: string; model: string }
export const filterOf = (q: URLSearchParams): Filter => ({
  q: q.get("q") ?? "", verdict: q.get("verdict") ?? "", class: q.get("class") ?? "", label: q.get("label") ?? "", part: q.get("part") ?? "", model: q.get("model") ?? "",
});

const haystacks = new WeakMap<Row, string>();
function haystack(r: Row): string {
  let s = haystacks.get(r);
  if (s === undefined) haystacks.set(r, (s = [r.name, r.fault, r.model, r.owner, r.what, r.part, ...r.labels, ...r.classes].join("\n").toLowerCase()));
  return s;
}

export function filtered(all: Row[], f: Filter): Row[] {
  const asked = f.q.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((r) => (!f.verdict || f.verdict.split(",").includes(r.verdict)) && (!f.model || r.model === f.model) && (!f.part || r.part === f.part) &&
    (!f.class || r.classes.includes(f.class)) && (!f.label || r.labels.includes(f.label)) && asked.every((w) => haystack(r).includes(w)));
}

const tally = (all: Row[], of: (r: Row) => string[]): [string, number][] => {
  const n = new Map<string, number>();
  for (const r of all) for (const v of of(r)) if (v) n.set(v, (n.get(v) ?? 0) + 1);
  return [...n].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};

// modelsOf names a run's models, where there are not too many.
export const modelsOf = (r: Run) => r.models.slice(0, 4).map((m) => clip(m, 60)).join(", ") + (r.models.length > 4 ? ` and ${r.models.length - 4} more` : "");

// crossed tells whether models are run with the same scenarios, so that a matrix says more than a list.
function crossed(all: Row[]): boolean {
  const of = new Map<string, string>();
  let several = 0;
  for (const r of all) {
    const key = r.name + "\u0000" + r.fault, first = of.get(key);
    if (first === undefined) of.set(key, r.model);
    else if (first !== r.model) several++;
  }
  return several * 3 > of.size;
}

export function RunPage({ run, route }: { run: Run; route: Route }) {
  const all = rows(run), f = filterOf(route.query);
  const shown = useMemo(() => filtered(all, f), [run, route.query.toString()]);
  const choices = useMemo(() => ({ class: tally(all, (r) => r.classes), label: tally(all, (r) => r.labels), part: tally(all, (r) => [r.part]), model: tally(all, (r) => [r.model]) }), [run]);
  const usual = useMemo(() => (crossed(all) ? "matrix" : "list"), [run]);
  const view = route.query.get("view") ?? usual;
  remembered.view = view;
  remembered.rows = shown;
  remembered.back = location.hash;
  const t = run.totals, v = run.run.volatile;
  return (
    <div class="fill">
      <div class="run-head">
        <h1>Run of {when(v.started)}</h1>
        <Facts of={[
          ["run", <code><Text of={run.id} /></code>], ["scenarios", count(run.size)], ["models", <Text of={modelsOf(run)} />], ["tokens", count(t.figures.tokens.total)],
          ["cost", cost(t.figures.cost_usd) + (t.unpriced ? `, without ${many(t.unpriced, "run")}` : "")], ["latency p50, p99", `${time(t.run_latency_us.p50)}, ${time(t.run_latency_us.p99)}`],
          ["by", <Text of={run.run.tool} />], ["models answered", run.run.live ? "live" : ""], ["trials", run.run.trials ? count(run.run.trials) : ""], ["ended", v.interrupted ? "interrupted: not everything was run" : ""],
        ]} />
        <Shares label="verdicts" of={verdictCounts(t.verdicts)} />
      </div>
      <Filters f={f} choices={choices} all={all} view={view} />
      <p class="found" role="status">{shown.length === all.length ? `${many(all.length, "run")} of scenarios` : `${count(shown.length)} of ${many(all.length, "run")} of scenarios`}
        {index.runs.length > 1 && <a href={link(["diff", before(run), run.id])}>Compare with the run before</a>}</p>
      {shown.length === 0 ? (
        <Empty title={all.length ? "Nothing fits" : "The report is empty"}>
          {all.length ? <p>No scenario of this run fits all that is asked for. <button type="button" onClick={() => refine({ q: null, verdict: null, class: null, label: null, part: null, model: null })}>Ask for nothing</button></p>
            : <p>No scenario was run: see what <code>retake list</code> finds, and whether a label leaves all out.</p>}
        </Empty>
      ) : view === "matrix" ? <MatrixView all={shown} run={run} /> : <ListView all={shown} run={run} route={route} />}
    </div>
  );
}

function before(run: Run): string {
  const at = index.runs.indexOf(run);
  return (index.runs[at + 1] ?? index.runs[at - 1]).id;
}

function Filters({ f, choices, all, view }: { f: Filter; choices: Record<"class" | "label" | "part" | "model", [string, number][]>; all: Row[]; view: string }) {
  const counts = useMemo(() => new Map(tally(all, (r) => [r.verdict])), [all]);
  const on = f.verdict ? f.verdict.split(",") : [];
  const toggle = (v: Verdict) => refine({ verdict: (on.includes(v) ? on.filter((x) => x !== v) : [...on, v]).join(",") });
  return (
    <search class="filters">
      <label class="find"><span class="sr">Search names, reasons, owners, labels and classes</span>
        <input id="search" type="search" placeholder="Search  ( / )" value={f.q} onInput={(e) => refine({ q: e.currentTarget.value })} autocomplete="off" spellcheck={false} /></label>
      <div class="chips" role="group" aria-label="Verdicts">
        {verdicts.filter((v) => counts.get(v) || on.includes(v)).map((v) => (
          <button key={v} type="button" class={`chip ${tone(v)}`} aria-pressed={on.includes(v)} onClick={() => toggle(v)}><Sign of={v} />{words(v)} <b>{count(counts.get(v) ?? 0)}</b></button>
        ))}
      </div>
      {(["class", "label", "part", "model"] as const).map((k) => (choices[k].length > (k === "model" ? 1 : 0)) &&
        <Select key={k} label={k} value={f[k]} all={choices[k]} onPick={(v) => refine({ [k]: v })} />)}
      <fieldset class="segments"><legend class="sr">Show as</legend>
        {["list", "matrix"].map((k) => <label key={k} class={k === view ? "on" : ""}><input type="radio" name="view" value={k} checked={k === view} onChange={() => refine({ view: k })} />{k}</label>)}
      </fieldset>
    </search>
  );
}

const narrow = () => innerWidth < 720;

const orders: Record<string, (a: Row, b: Row) => number> = {
  name: (a, b) => cmp(a.name, b.name) || a.n - b.n, verdict: (a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict) || a.n - b.n,
  model: (a, b) => cmp(a.model, b.model) || a.n - b.n, tokens: (a, b) => b.tokens - a.tokens, cost: (a, b) => (b.cost ?? -1) - (a.cost ?? -1), latency: (a, b) => b.latency - a.latency, calls: (a, b) => b.calls - a.calls,
};
const cmp = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export const Name = ({ of }: { of: { name: string; fault: string; trial: number } }) => (
  <span class="name" title={plain(of.name + (of.fault && ` under ${of.fault}`))}><Text of={of.name} most={200} />{of.fault && <span class="under"> under <Text of={of.fault} most={200} /></span>}{of.trial > 0 && <span class="under"> trial {of.trial}</span>}</span>
);

function ListView({ all, run, route }: { all: Row[]; run: Run; route: Route }) {
  const by = route.query.get("by") ?? "", up = route.query.get("up") === "1";
  const list = useMemo(() => {
    const order = orders[by];
    const sorted = order ? [...all].sort(order) : all;
    return up ? [...sorted].reverse() : sorted;
  }, [all, by, up]);
  remembered.rows = list;
  const [at, setAt] = useState(() => list.findIndex((r) => r === remembered.last));
  const small = narrow();
  const head = (id: string, name: string, n: number, num = false) => (
    <div role="columnheader" aria-colindex={n + 1} class={`c-${id}${num ? " num" : ""}`} aria-sort={by === id ? (up ? "ascending" : "descending") : "none"}>
      <button type="button" onClick={() => refine(by === id ? (up ? { by: null, up: null } : { up: "1" }) : { by: id, up: null })}>{name}{by === id && <span aria-hidden="true">{up ? " ↑" : " ↓"}</span>}</button>
    </div>
  );
  return (
    <Grid className="list" label={`Scenarios of the run ${plain(run.id)}`} count={list.length} height={small ? 62 : 34} columns={7} at={at} onAt={setAt} onOpen={(n) => go(toEntry(list[n]))}
      head={<>{head("verdict", "Verdict", 0)}{head("name", "Scenario", 1)}{head("model", "Model", 2)}{head("calls", "Calls", 3, true)}{head("tokens", "Tokens", 4, true)}{head("cost", "Cost", 5, true)}{head("latency", "Latency", 6, true)}</>}
      row={(n, column) => {
        const r = list[n];
        return (
          <>
            <div {...cell(0, column)} class="c-verdict"><Badge of={r.verdict} /></div>
            <div {...cell(1, column, "rowheader")} class="c-name"><a href={toEntry(r)} tabIndex={-1}><Name of={r} /></a>{r.what && <span class="what"> <Text of={r.what} /></span>}</div>
            <div {...cell(2, column)} class="c-model"><Text of={r.model} most={100} /></div>
            <div {...cell(3, column)} class="c-calls num">{r.calls} + {r.tools}</div>
            <div {...cell(4, column)} class="c-tokens num">{count(r.tokens)}</div>
            <div {...cell(5, column)} class="c-cost num">{cost(r.cost)}</div>
            <div {...cell(6, column)} class="c-latency num">{time(r.latency)}</div>
          </>
        );
      }} />
  );
}

// A row of the matrix is a scenario under a fault, with the trials of each model.
interface Line { name: string; fault: string; cells: Row[][] }

function MatrixView({ all, run }: { all: Row[]; run: Run }) {
  const models = run.models;
  const lines = useMemo(() => {
    const by = new Map<string, Line>();
    const column = new Map(models.map((m, n) => [m, n]));
    for (const r of all) {
      const key = r.name + "\u0000" + r.fault;
      let line = by.get(key);
      if (!line) by.set(key, (line = { name: r.name, fault: r.fault, cells: models.map(() => []) }));
      line.cells[column.get(r.model)!].push(r);
    }
    return [...by.values()];
  }, [all, run]);
  const [at, setAt] = useState(() => lines.findIndex((l) => remembered.last && l.name === remembered.last.name && l.fault === remembered.last.fault));
  const open = (n: number, column: number) => {
    const trials = column > 0 ? lines[n].cells[column - 1] : lines[n].cells.flat();
    const first = trials.find((r) => r.verdict !== "pass") ?? trials[0];
    if (first) go(toEntry(first));
  };
  return (
    <Grid className="matrix" label={`Scenarios and models of the run ${plain(run.id)}`} count={lines.length} height={34} columns={models.length + 1} at={at} onAt={setAt} onOpen={open}
      head={<><div role="columnheader" aria-colindex={1} class="c-name">Scenario</div>{models.map((m, k) => <div key={m} role="columnheader" aria-colindex={k + 2} class="c-cell" title={plain(m)}><Text of={m} most={100} /></div>)}</>}
      row={(n, column) => (
        <>
          <div {...cell(0, column, "rowheader")} class="c-name"><Name of={{ ...lines[n], trial: 0 }} /></div>
          {lines[n].cells.map((trials, k) => <div key={k} {...cell(k + 1, column)} class="c-cell">{trials.length > 0 ? <Trials of={trials} /> : <span class="none">not in this run</span>}</div>)}
        </>
      )} />
  );
}

function Trials({ of }: { of: Row[] }) {
  const first = of.find((r) => r.verdict !== "pass") ?? of[0];
  const pass = of.filter((r) => r.verdict === "pass").length;
  const verdict = verdicts.find((v) => of.some((r) => r.verdict === v))!;
  return <a href={toEntry(first)} tabIndex={-1}><Badge of={verdict}>{of.length > 1 ? <>{words(verdict)} <small>{pass} of {of.length} passed</small></> : undefined}</Badge></a>;
}
