import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { index, rows, type Run } from "./data";
import { cost, count, plain, time, when } from "./text";

interface Sum { n: number; pass: number; tokens: number; cost: number | null; times: number[] }
const measures = {
  pass: { name: "Passed", of: (s: Sum) => (100 * s.pass) / s.n, say: (v: number) => `${v.toFixed(v < 100 && v > 99 ? 1 : 0)} %`, most: 100 },
  cost: { name: "Cost a scenario", of: (s: Sum) => (s.cost === null ? null : s.cost / s.n), say: (v: number) => cost(v), most: 0 },
  tokens: { name: "Tokens a scenario", of: (s: Sum) => s.tokens / s.n, say: (v: number) => count(Math.round(v)), most: 0 },
  latency: { name: "Median latency", of: (s: Sum) => s.times.sort((a, b) => a - b)[Math.ceil(s.times.length / 2) - 1], say: (v: number) => time(v), most: 0 },
};
type Measure = keyof typeof measures;

const sums = new WeakMap<Run, Map<string, Sum>>();
function sumOf(r: Run): Map<string, Sum> {
  let all = sums.get(r);
  if (all) return all;
  all = new Map();
  const e = r.entries;
  for (const row of r.size > 4000 ? [] : rows(r)) add(all, row.model, row.verdict === "pass", row.tokens, row.cost, row.latency);
  if (r.size > 4000) {
    // Columns alone: objects are made when somebody opens the run.
    const names = new Map(r.models.map((m) => [m, m]));
    for (let n = 0; n < r.size; n++) add(all, names.get(word(e.model[n]))!, word(e.verdict[n]) === "pass", e.tokens[n], e.cost[n], e.latency[n]);
  }
  sums.set(r, all);
  return all;
}

const word = (n: number) => index.strings[n];

function add(all: Map<string, Sum>, model: string, pass: boolean, tokens: number, dollars: number | null, latency: number) {
  let s = all.get(model);
  if (!s) all.set(model, (s = { n: 0, pass: 0, tokens: 0, cost: 0, times: [] }));
  s.n++;
  if (pass) s.pass++;
  s.tokens += tokens;
  s.cost = s.cost === null || dollars === null ? null : s.cost + dollars;
  s.times.push(latency);
}

const marks = ["circle", "square", "diamond", "triangle", "cross", "ring"] as const;
function Mark({ kind, x, y }: { kind: number; x: number; y: number }) {
  switch (marks[kind % marks.length]) {
    case "square": return <rect x={x - 3.5} y={y - 3.5} width="7" height="7" />;
    case "diamond": return <path d={`M${x} ${y - 5}l5 5-5 5-5-5z`} />;
    case "triangle": return <path d={`M${x} ${y - 5}l5 8.6h-10z`} />;
    case "cross": return <path class="line" d={`M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8`} />;
    case "ring": return <circle class="hollow" cx={x} cy={y} r="4" />;
    default: return <circle cx={x} cy={y} r="4" />;
  }
}

// Chart shows one measure of each model from run to run. The table of runs below it
// says the same in words; so does the label of each point.
export function Chart({ runs }: { runs: Run[] }) {
  const [measure, set] = useState<Measure>("pass");
  const m = measures[measure];
  const models = [...new Set(runs.flatMap((r) => r.models))].sort();
  const box = useRef<HTMLDivElement>(null);
  const [w, setWidth] = useState(960);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setWidth(Math.max(300, box.current!.clientWidth)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const h = 190, left = 64, right = 16, top = 12, bottom = 26;
  const points = models.map((model) => runs.flatMap((r, i) => {
    const s = sumOf(r).get(model);
    const v = s && m.of(s);
    return v == null ? [] : [{ i, v, r }];
  }));
  const all = points.flat().map((p) => p.v);
  const high = m.most || Math.max(...all, 0) * 1.1 || 1;
  const low = measure === "pass" ? Math.min(90, Math.floor(Math.min(...all, 100) / 10) * 10) : 0;
  const x = (i: number) => left + (runs.length < 2 ? 0.5 : i / (runs.length - 1)) * (w - left - right);
  const y = (v: number) => top + (1 - (v - low) / (high - low || 1)) * (h - top - bottom);
  const ticks = [low, (low + high) / 2, high];
  return (
    <div class="chart" ref={box}>
      <fieldset class="segments"><legend class="sr">What the chart shows</legend>
        {(Object.keys(measures) as Measure[]).map((k) => (
          <label key={k} class={k === measure ? "on" : ""}><input type="radio" name="measure" value={k} checked={k === measure} onChange={() => set(k)} />{measures[k].name}</label>
        ))}
      </fieldset>
      <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${m.name} of ${models.length} models over ${runs.length} runs; last: ${models.map((n, k) => `${plain(n)} ${points[k].length ? m.say(points[k][points[k].length - 1].v) : "none"}`).join(", ")}`}>
        {ticks.map((t) => <g key={t} class="tick"><line x1={left} x2={w - right} y1={y(t)} y2={y(t)} /><text x={left - 8} y={y(t) + 4} text-anchor="end">{m.say(t)}</text></g>)}
        <g class="tick"><text x={x(0)} y={h - 6} text-anchor="start">{when(runs[0].run.volatile.started).replace(" UTC", "")}</text>
          <text x={x(runs.length - 1)} y={h - 6} text-anchor="end">{when(runs[runs.length - 1].run.volatile.started).replace(" UTC", "")}</text></g>
        {points.map((all, k) => (
          <g key={models[k]} class={`series s${k % 6}`}>
            {all.length > 1 && <polyline points={all.map((p) => `${x(p.i)},${y(p.v)}`).join(" ")} />}
            {all.map((p) => <g key={p.i}><Mark kind={k} x={x(p.i)} y={y(p.v)} /><title>{`${plain(models[k])}, ${when(p.r.run.volatile.started)}: ${m.say(p.v)}`}</title></g>)}
          </g>
        ))}
      </svg>
      <ul class="legend">{models.map((n, k) => (
        <li key={n}><svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" class={`series s${k % 6}`}><Mark kind={k} x={7} y={7} /></svg>{plain(n)}</li>
      ))}</ul>
    </div>
  );
}
