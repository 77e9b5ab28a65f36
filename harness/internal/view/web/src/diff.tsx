import { useEffect, useMemo, useState } from "preact/hooks";
import { index, keyOf, rows, whole, type Row, type Run, type Whole } from "./data";
import { remembered } from "./remember";
import { go, link, refine, toEntry, type Route } from "./route";
import { Name, filterOf, filtered, modelsOf } from "./run";
import { sideOf } from "./scenario";
import { Text, cost, count, many, plain, time, when, words } from "./text";
import { diff, type Side } from "./transcript";
import { Badge, Empty, Facts, Section } from "./ui";
import { Grid, cell } from "./virtual";

interface Pair { a?: Row; b?: Row; changed: number; how: string }

// pairUp puts the entries of two runs side by side. A model of each that the other
// does not have is taken for the same one's next version, when there is one such.
function pairUp(a: Run, b: Run): { pairs: Pair[]; models: [string, string] | null } {
  const onlyA = a.models.filter((m) => !b.models.includes(m)), onlyB = b.models.filter((m) => !a.models.includes(m));
  const models: [string, string] | null = onlyA.length === 1 && onlyB.length === 1 ? [onlyA[0], onlyB[0]] : null;
  const left = new Map(rows(a).map((r) => [keyOf(models && r.model === models[0] ? { ...r, model: models[1] } : r), r]));
  const pairs: Pair[] = [];
  for (const r of rows(b)) {
    const key = keyOf(r), l = left.get(key);
    left.delete(key);
    pairs.push(judge(l, r));
  }
  for (const l of left.values()) pairs.push(judge(l, undefined));
  return { pairs: pairs.map((p, n) => ({ p, n })).sort((x, y) => y.p.changed - x.p.changed || x.n - y.n).map(({ p }) => p), models };
}

function judge(a?: Row, b?: Row): Pair {
  if (!a || !b) return { a, b, changed: 3, how: a ? "only before" : "only after" };
  if (a.verdict !== b.verdict) return { a, b, changed: b.verdict === "pass" ? 4 : 5, how: `${words(a.verdict)} → ${words(b.verdict)}` };
  if (a.text !== b.text) return { a, b, changed: 2, how: "another conversation" };
  if (a.what !== b.what) return { a, b, changed: 2, how: "another reason" };
  if (a.tokens !== b.tokens || a.cost !== b.cost || (a.latency !== b.latency && !a.real)) return { a, b, changed: 1, how: "other figures" };
  return { a, b, changed: 0, how: "the same" };
}

export function DiffPage({ route }: { route: Route }) {
  const [, ia, ib, one] = route.path;
  const a = index.runs.find((r) => r.id === ia), b = index.runs.find((r) => r.id === ib);
  if (!a || !b) return <Empty title="Choose two runs"><Choose a={a} b={b} /></Empty>;
  if (one === "one") return <OneDiff a={a} b={b} route={route} />;
  return <Runs a={a} b={b} route={route} />;
}

function Choose({ a, b }: { a?: Run; b?: Run }) {
  const pick = (name: string, now: Run | undefined, then: (id: string) => string) => (
    <label class="pick"><span>{name}</span><select value={now?.id ?? ""} onChange={(e) => go(then(e.currentTarget.value))}>
      {!now && <option value="">choose…</option>}{index.runs.map((r) => <option key={r.id} value={r.id}>{when(r.run.volatile.started)} {plain(modelsOf(r)).slice(0, 40)}</option>)}</select></label>
  );
  return <div class="choose">{pick("before", a, (id) => link(["diff", id, b?.id ?? ""]))}{pick("after", b, (id) => link(["diff", a?.id ?? "", id]))}
    {a && b && <button type="button" onClick={() => go(link(["diff", b.id, a.id]))}>Swap</button>}</div>;
}

const inputs = ["scenario", "prompt", "tools", "cassette"];

function Runs({ a, b, route }: { a: Run; b: Run; route: Route }) {
  const { pairs, models } = useMemo(() => pairUp(a, b), [a, b]);
  const f = filterOf(route.query), how = route.query.get("how") ?? "";
  const shown = useMemo(() => pairs.filter((p) => (how === "all" || p.changed > 0) && filtered([p.b ?? p.a!], f).length > 0), [pairs, route.query.toString()]);
  remembered.back = location.hash;
  const [at, setAt] = useState(-1);
  const n = (test: (p: Pair) => boolean) => pairs.filter(test).length;
  const worse = n((p) => p.changed === 5), better = n((p) => p.changed === 4), only = n((p) => p.changed === 3), same = n((p) => p.changed === 0);
  const changedInputs = inputs.filter((_, k) => pairs.some((p) => p.a && p.b && (p.a.hashes[k] ?? "") !== (p.b.hashes[k] ?? "")));
  const open = (k: number) => { const p = shown[k]; go(toOne(a, b, p)); };
  return (
    <div class="fill">
      <h1>What changed</h1>
      <Choose a={a} b={b} />
      <Facts of={[
        ["passes no more", count(worse)], ["passes now", count(better)], ["in one run only", count(only)], ["the same", count(same)],
        ["inputs that differ", changedInputs.join(", ") || "none"], ["models", models ? <><Text of={models[0]} /> → <Text of={models[1]} />, paired by scenario</> : <Text of={modelsOf(b)} />],
        ["tokens", `${count(a.totals.figures.tokens.total)} → ${count(b.totals.figures.tokens.total)}`], ["cost", `${cost(a.totals.figures.cost_usd)} → ${cost(b.totals.figures.cost_usd)}`],
        ["latency p50", `${time(a.totals.run_latency_us.p50)} → ${time(b.totals.run_latency_us.p50)}`], ["written by", a.run.tool === b.run.tool ? "" : `${plain(a.run.tool)} → ${plain(b.run.tool)}`],
      ]} />
      <search class="filters">
        <label class="find"><span class="sr">Search names, reasons, owners, labels and classes</span><input id="search" type="search" placeholder="Search  ( / )" value={f.q} onInput={(e) => refine({ q: e.currentTarget.value })} autocomplete="off" spellcheck={false} /></label>
        <fieldset class="segments"><legend class="sr">Which scenarios</legend>{[["", `changed ${count(pairs.length - same)}`], ["all", `all ${count(pairs.length)}`]].map(([k, name]) =>
          <label key={k} class={k === how ? "on" : ""}><input type="radio" name="how" checked={k === how} onChange={() => refine({ how: k })} />{name}</label>)}</fieldset>
      </search>
      {shown.length === 0 ? <Empty title={pairs.length === same ? "The two runs are the same" : "Nothing fits"}><p>{pairs.length === same ? "Every scenario has the same verdict, the same conversation and the same figures, but for times that were real." : "No scenario that changed fits what is asked for."}</p></Empty> : (
        <Grid className="diffs" label="Scenarios that changed" count={shown.length} height={innerWidth < 720 ? 62 : 34} columns={4} at={at} onAt={setAt} onOpen={open}
          head={<><div role="columnheader" aria-colindex={1} class="c-cell">Before</div><div role="columnheader" aria-colindex={2} class="c-cell">After</div><div role="columnheader" aria-colindex={3} class="c-name">Scenario</div><div role="columnheader" aria-colindex={4} class="c-how">Change</div></>}
          row={(k, column) => {
            const p = shown[k], r = p.b ?? p.a!;
            return (
              <>
                <div {...cell(0, column)} class="c-cell">{p.a ? <Badge of={p.a.verdict} /> : <span class="none">not there</span>}</div>
                <div {...cell(1, column)} class="c-cell">{p.b ? <Badge of={p.b.verdict} /> : <span class="none">not there</span>}</div>
                <div {...cell(2, column, "rowheader")} class="c-name"><a href={toOne(a, b, p)} tabIndex={-1}><Name of={r} /></a>{b.models.length > 1 && <span class="what"> <Text of={r.model} /></span>}</div>
                <div {...cell(3, column)} class="c-how">{p.how}{p.a && p.b && p.a.tokens !== p.b.tokens && `, ${count(p.b.tokens - p.a.tokens)} tokens`.replace(", ", p.b.tokens > p.a.tokens ? ", +" : ", ")}</div>
              </>
            );
          }} />
      )}
    </div>
  );
}

function toOne(a: Run, b: Run, p: Pair): string {
  if (!p.a || !p.b) return toEntry((p.a ?? p.b)!);
  return link(["diff", a.id, b.id, "one"], { name: p.b.name, a: sideOf(p.a), b: sideOf(p.b) });
}

function find(run: Run, name: string, side: string | null): Row | undefined {
  return rows(run).find((r) => r.name === name && sideOf(r) === side) ?? rows(run).find((r) => r.name === name && r.verdict !== "pass") ?? rows(run).find((r) => r.name === name);
}

function OneDiff({ a, b, route }: { a: Run; b: Run; route: Route }) {
  const name = route.query.get("name") ?? "";
  const ra = find(a, name, route.query.get("a")), rb = find(b, name, route.query.get("b"));
  const [both, set] = useState<{ a: Row; b: Row; whole?: [Whole, Whole]; error?: string } | null>(null);
  useEffect(() => {
    if (!ra || !rb) return;
    let still = true;
    Promise.all([whole(ra), whole(rb)]).then((w) => still && set({ a: ra, b: rb, whole: w }), (e: Error) => still && set({ a: ra, b: rb, error: e.message }));
    return () => { still = false; };
  }, [ra, rb]);
  if (!ra || !rb) return <Empty title="It is in one of the two runs only"><p><a href={link(["diff", a.id, b.id])}>Back to what changed</a></p></Empty>;
  if (both?.a !== ra || both.b !== rb) return <p class="lead" role="status">Opening…</p>;
  if (!both.whole) return <Empty title="The two cannot be shown"><p>{both.error}</p></Empty>;
  const [wa, wb] = both.whole;
  const back = a === b ? toEntry(ra) : link(["diff", a.id, b.id]);
  return (
    <article>
      <nav class="step" aria-label="Back"><a href={back}>← {a === b ? "the scenario" : "what changed"}</a></nav>
      <h1><Text of={name} most={300} /></h1>
      <div class="two">{([["before", a, ra, wa], ["after", b, rb, wb]] as [string, Run, Row, Whole][]).map(([side, run, r, w]) => (
        <div key={side} class="card"><h2>{side} <a href={toEntry(r)}><Text of={[r.model, r.fault && `under ${r.fault}`, r.trial && `trial ${r.trial}`].filter(Boolean).join(", ")} /></a></h2>
          <p><Badge of={r.verdict} /> {when(run.run.volatile.started)}</p>
          {w.entry.reasons.slice(0, 3).map((x, n) => <p key={n} class="note"><Text of={x.what.slice(0, 600)} /></p>)}
          <Facts of={[["tokens", count(r.tokens)], ["cost", cost(r.cost)], ["latency", time(r.latency)], ["calls", `${r.calls} + ${r.tools}`]]} /></div>
      ))}</div>
      <p class="note">{inputs.filter((_, k) => (ra.hashes[k] ?? "") !== (rb.hashes[k] ?? "")).map((x) => `another ${x}`).join(", ") || "the same scenario, prompt, tools and cassette"}</p>
      <Section id="sides" title="Conversations side by side"><SideBySide a={wa.text} b={wb.text} /></Section>
    </article>
  );
}

const around = 4, mostRows = 1500, mostLine = 2000;

function SideBySide({ a, b }: { a: string; b: string }) {
  const [all, showAll] = useState(false);
  const lines = useMemo(() => pairLines(diff(linesOf(a), linesOf(b))), [a, b]);
  const first = lines.findIndex((l) => l.kind !== "same");
  if (first < 0) return <p>The conversations are the same, in all {many(lines.length, "line")}.</p>;
  const near = new Set<number>();
  lines.forEach((l, n) => { if (l.kind !== "same") for (let k = n - around; k <= n + around; k++) near.add(k); });
  const shown: (number | "gap")[] = [];
  for (let n = 0; n < lines.length && shown.length < mostRows; n++) {
    if (all || near.has(n)) shown.push(n);
    else if (shown[shown.length - 1] !== "gap") shown.push("gap");
  }
  const text = (s: string | undefined) => (s === undefined ? "" : <Text of={s} most={mostLine} />);
  return (
    <>
      <p class="note">The first difference is at line {first + 1}. <button type="button" class="more" aria-pressed={all} onClick={() => showAll(!all)}>{all ? "Show what differs" : "Show every line"}</button></p>
      <div class="scroll" role="region" aria-label="Conversations side by side" tabIndex={0}>
        <table class="sides"><thead><tr><th scope="col">Line</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
          <tbody>{shown.map((n, k) => n === "gap" ? <tr key={k} class="gap"><td colSpan={3}>the same for some lines</td></tr> : (
            <tr key={k} class={lines[n].kind}><th scope="row">{(lines[n].left ?? lines[n].right!) + 1}</th>
              <td class={lines[n].kind === "same" ? "" : "gone"}>{lines[n].a !== undefined && lines[n].kind !== "same" && <span class="sr">before: </span>}{text(lines[n].a)}</td>
              <td class={lines[n].kind === "same" ? "" : "new"}>{lines[n].b !== undefined && lines[n].kind !== "same" && <span class="sr">after: </span>}{text(lines[n].b)}</td></tr>
          ))}</tbody></table>
      </div>
      {shown.length >= mostRows && <p>More differs than is shown here.</p>}
    </>
  );
}

const linesOf = (s: string) => s.replace(/\n$/, "").split("\n");

interface Line { kind: "same" | "changed"; a?: string; b?: string; left?: number; right?: number }

// pairLines puts what is gone beside what is new in its place.
function pairLines(all: Side[]): Line[] {
  const out: Line[] = [];
  let gone: Side[] = [], fresh: Side[] = [];
  const flush = () => {
    for (let n = 0; n < Math.max(gone.length, fresh.length); n++) out.push({ kind: "changed", a: gone[n]?.text, b: fresh[n]?.text, left: gone[n]?.left, right: fresh[n]?.right });
    gone = []; fresh = [];
  };
  for (const s of all) {
    if (s.kind === "gone") gone.push(s);
    else if (s.kind === "new") fresh.push(s);
    else { flush(); out.push({ kind: "same", a: s.text, b: s.text, left: s.left, right: s.right }); }
  }
  flush();
  return out;
}

