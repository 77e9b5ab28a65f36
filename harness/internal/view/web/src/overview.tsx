import { useState } from "preact/hooks";
import { Chart } from "./chart";
import { index, type Run } from "./data";
import { go, link } from "./route";
import { modelsOf } from "./run";
import { Text, cost, count, many, plain, time, when } from "./text";
import { Badge, Empty, Section, Shares, verdictCounts } from "./ui";

export const worst = (v: Record<string, number>) => ["broken", "invalid", "fail", "diverged", "not_run"].find((k) => v[k]) ?? "pass";

export function Overview() {
  const [two, choose] = useState<string[]>([]);
  const { runs, matrices, problems } = index;
  if (!runs.length && !matrices.length) return (
    <Empty title="There are no reports here yet">
      <p>Run the scenarios, and draw this page again:</p>
      <pre class="code">retake run{"\n"}retake view</pre>
      <Problems all={problems} />
    </Empty>
  );
  const pick = (id: string) => choose(two.includes(id) ? two.filter((x) => x !== id) : [...two.slice(-1), id]);
  return (
    <>
      <h1>Reports</h1>
      <p class="lead">{many(runs.length, "run")}{matrices.length > 0 && `, ${many(matrices.filter((m) => m.kind === "sweep").length, "sweep")} and ${many(matrices.filter((m) => m.kind === "drill").length, "drill")}`}.</p>
      <Problems all={problems} />
      {runs.length > 1 && <Section id="over-time" title="Models over time"><Chart runs={[...runs].reverse()} /></Section>}
      {runs.length > 0 && (
        <Section id="runs" title="Runs" note={runs.length > 1 && (
          <button type="button" disabled={two.length !== 2} onClick={() => go(link(["diff", ...runs.filter((r) => two.includes(r.id)).map((r) => r.id).reverse()]))}>
            Compare {two.length === 2 ? "the two" : "two: choose " + (2 - two.length)}
          </button>
        )}>
          <div class="scroll" role="region" aria-label="Runs" tabIndex={0}>
            <table class="runs">
              <thead><tr>{runs.length > 1 && <th scope="col"><span class="sr">Choose to compare</span></th>}<th scope="col">Run</th><th scope="col">Verdicts</th><th scope="col">Models</th>
                <th scope="col" class="num">Scenarios</th><th scope="col" class="num">Tokens</th><th scope="col" class="num">Cost</th><th scope="col" class="num">p50</th><th scope="col" class="num">p99</th></tr></thead>
              <tbody>{runs.map((r) => <RunLine key={r.id} run={r} chosen={two.includes(r.id)} onChoose={runs.length > 1 ? () => pick(r.id) : undefined} />)}</tbody>
            </table>
          </div>
        </Section>
      )}
      <Matrices kind="sweep" title="Sweeps" of="Model" />
      <Matrices kind="drill" title="Drills" of="Tool" />
    </>
  );
}

function RunLine({ run, chosen, onChoose }: { run: Run; chosen: boolean; onChoose?: () => void }) {
  const t = run.totals, v = run.run.volatile;
  return (
    <tr class={chosen ? "at" : ""}>
      {onChoose && <td><input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`compare ${plain(run.id)}`} /></td>}
      <th scope="row"><a href={link(["run", run.id])}>{when(v.started)}</a>{run.run.live && <span class="tag">live</span>}{v.interrupted && <span class="tag">interrupted</span>}<small><Text of={run.id} /></small></th>
      <td><div class="verdicts"><Badge of={worst(t.verdicts)} /><Shares label="verdicts" of={verdictCounts(t.verdicts)} /></div></td>
      <td><Text of={modelsOf(run)} /></td>
      <td class="num">{count(run.size)}</td>
      <td class="num">{count(t.figures.tokens.total)}</td>
      <td class="num">{cost(t.figures.cost_usd)}</td>
      <td class="num">{time(t.run_latency_us.p50)}</td>
      <td class="num">{time(t.run_latency_us.p99)}</td>
    </tr>
  );
}

function Matrices({ kind, title, of }: { kind: "sweep" | "drill"; title: string; of: string }) {
  const all = index.matrices.map((m, n) => ({ m, n })).filter(({ m }) => m.kind === kind);
  if (!all.length) return null;
  return (
    <Section id={kind + "s"} title={title}>
      <div class="scroll" role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead><tr><th scope="col">{kind === "sweep" ? "Scenario" : "Drill"}</th><th scope="col">{of}</th><th scope="col">Result</th><th scope="col" class="num">Held</th><th scope="col" class="num">Breached</th>
            <th scope="col" class="num">{kind === "sweep" ? "Diverged" : "Hazards"}</th><th scope="col" class="num">Does not apply</th></tr></thead>
          <tbody>{all.map(({ m, n }) => (
            <tr key={n}>
              <th scope="row"><a href={link([kind, n])}><Text of={m.name} most={200} /></a></th>
              <td class="once"><Text of={m.of} most={100} /></td>
              <td><div class="verdicts"><Badge of={m.breached ? "breached" : m.warnings ? "warning" : m.held ? "held" : "not run"} />
                <Shares label="results" of={[["held", m.held], ["breached", m.breached], ["diverged", m.diverged], ["warning", m.warnings], ["not run", m.not_run]]} /></div></td>
              <td class="num">{count(m.held)}</td><td class="num">{count(m.breached)}</td><td class="num">{count(kind === "sweep" ? m.diverged : m.warnings)}</td><td class="num">{count(m.not_applicable)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Section>
  );
}

function Problems({ all }: { all: string[] }) {
  if (!all.length) return null;
  return (
    <div class="card warn" role="note">
      <h2>{many(all.length, "report")} could not be read whole</h2>
      <ul>{all.map((p, n) => <li key={n}><Text of={p} /></li>)}</ul>
    </div>
  );
}
