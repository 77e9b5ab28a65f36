import { useEffect, useState } from "preact/hooks";
import { chunk, index, type Matrix } from "./data";
import { refine, type Route } from "./route";
import { Text, count, many, plain } from "./text";
import { Badge, Empty, Facts, Section, Sign, tone } from "./ui";

interface Outcome { spec: string; state: string; class?: string; detail?: string; why?: string; breaches?: { rule: string; part: string; what: string }[]; command?: string }
interface Sweep {
  scenario: string; model: string; clock: string; seed: number; columns: { name: string; of: string }[]; rows: { fault: string; cells: { state?: string; runs?: Outcome[] }[] }[];
  pairs?: { totals: { runs: number; breached: number }; new_breaches: Outcome[] }; left_out: number; totals: { runs: number };
}
interface Drill {
  drill: string; tool: string;
  rows: { id: string; form?: string; title: string; why: string; state: string; what?: string; do?: string; notes?: string[]; steps?: { do: string; by?: string; answer?: string; before?: number; after?: number }[] }[];
}

export function MatrixPage({ kind, route }: { kind: "sweep" | "drill"; route: Route }) {
  const m: Matrix | undefined = index.matrices[Number(route.path[1])];
  const [doc, set] = useState<{ of: Matrix; doc?: unknown; error?: string } | null>(null);
  useEffect(() => {
    if (m) chunk(m.chunk).then((d) => set({ of: m, doc: d }), (e: Error) => set({ of: m, error: e.message }));
  }, [m]);
  if (!m || m.kind !== kind) return <Empty title={`There is no such ${kind}`}><p><a href="#/">See all reports</a></p></Empty>;
  if (doc?.of !== m) return <p class="lead" role="status">Opening…</p>;
  if (doc.error) return <Empty title={`The ${kind} cannot be shown`}><p>{doc.error}</p></Empty>;
  return kind === "sweep" ? <SweepView m={m} doc={doc.doc as Sweep} route={route} /> : <DrillView m={m} doc={doc.doc as Drill} />;
}

const Counts = ({ m }: { m: Matrix }) => (
  <ul class="counts">{([["held", m.held], ["breached", m.breached], ["diverged", m.diverged], ["warning", m.warnings], ["not applicable", m.not_applicable], ["not run", m.not_run]] as [string, number][])
    .filter(([, n]) => n > 0).map(([s, n]) => <li key={s}><Badge of={s} /> {count(n)}</li>)}</ul>
);

function SweepView({ m, doc, route }: { m: Matrix; doc: Sweep; route: Route }) {
  const at = (route.query.get("cell") ?? "").split(",").map(Number);
  const cell = route.query.has("cell") ? doc.rows[at[0]]?.cells[at[1]] : undefined;
  return (
    <>
      <h1>Sweep of <Text of={doc.scenario} /></h1>
      <Facts of={[["model", <Text of={doc.model} />], ["runs", count(doc.totals.runs)], ["clock", doc.clock], ["seed", String(doc.seed)], ["left out", doc.left_out ? count(doc.left_out) : ""], ["file", <code><Text of={m.where} /></code>]]} />
      <Counts m={m} />
      <div class={cell ? "beside" : ""}>
        <div class="scroll tall" role="region" aria-label="Faults and places" tabIndex={0}>
          <table class="sweep">
            <caption class="sr">Faults by the places where they struck</caption>
            <thead><tr><th scope="col">Fault</th>{doc.columns.map((c) => <th key={c.name} scope="col" title={plain(c.of)}><Text of={c.name} /></th>)}</tr></thead>
            <tbody>{doc.rows.map((r, y) => (
              <tr key={r.fault}><th scope="row"><Text of={r.fault} /></th>
                {r.cells.map((c, x) => <td key={x}>{c.state ? (
                  <button type="button" class={`cell ${tone(c.state)}`} aria-pressed={c === cell} aria-label={`${plain(r.fault)} at ${plain(doc.columns[x]?.of)}: ${c.state}, ${many(c.runs?.length ?? 0, "run")}`} title={c.state}
                    onClick={() => refine({ cell: c === cell ? null : `${y},${x}` })}><Sign of={c.state} /></button>
                ) : <span class="sr">another side's fault</span>}</td>)}</tr>
            ))}</tbody>
          </table>
        </div>
        {cell && (
          <Section id="cell" title={`${plain(doc.rows[at[0]].fault)} at ${plain(doc.columns[at[1]].of)}`} note={<button type="button" onClick={() => refine({ cell: null })}>close</button>}>
            {cell.runs?.length ? cell.runs.map((o, n) => <OutcomeView key={n} of={o} />) : <p>No run was made here.</p>}
          </Section>
        )}
      </div>
      <p class="note">{doc.columns.map((c) => `${plain(c.name)} ${plain(c.of)}`).join(" · ")}</p>
      {doc.pairs && <Section id="pairs" title="Two faults at once" note={`${count(doc.pairs.totals.runs)} runs, ${count(doc.pairs.totals.breached)} breached`}>
        {doc.pairs.new_breaches.length ? doc.pairs.new_breaches.map((o, n) => <OutcomeView key={n} of={o} />) : <p>No two faults breach what neither breaches alone.</p>}</Section>}
    </>
  );
}

const OutcomeView = ({ of: o }: { of: Outcome }) => (
  <div class="outcome">
    <p><Badge of={o.state} /> <code><Text of={o.spec} /></code>{o.class && <> ended as <Text of={o.class} /></>}</p>
    {o.why && <p><Text of={o.why} /></p>}
    {o.detail && <p class="note"><Text of={o.detail} /></p>}
    {o.breaches?.map((b, n) => <p key={n}><b><Text of={b.rule} /></b> ({b.part}): <Text of={b.what} /></p>)}
    {o.command && <pre class="code"><Text of={o.command} /></pre>}
  </div>
);

function DrillView({ m, doc }: { m: Matrix; doc: Drill }) {
  const order = ["breached", "warning", "not run", "held", "not applicable"];
  const all = [...doc.rows].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return (
    <>
      <h1>Drill <Text of={doc.drill} /></h1>
      <Facts of={[["tool", <code><Text of={doc.tool} /></code>], ["invariants", count(doc.rows.length)], ["file", <code><Text of={m.where} /></code>]]} />
      <Counts m={m} />
      <ol class="drill">{all.map((r) => (
        <li key={r.id + r.form}><details open={r.state === "breached"} class={`card ${tone(r.state)}`}>
          <summary><Badge of={r.state} /> <b>{r.id}{r.form && <> <Text of={r.form} /></>}</b> <span><Text of={r.title} /></span></summary>
          {r.what && <p><Text of={r.what} /></p>}
          <p class="note"><Text of={r.why} /></p>
          {r.do && <p class="next"><b>next</b> <Text of={r.do} /></p>}
          {r.notes?.map((n, k) => <p key={k} class="note"><Text of={n} /></p>)}
          {r.steps?.length ? <ol class="steps">{r.steps.map((s, k) => (
            <li key={k}><code><Text of={s.do} /></code>{s.by && <> by <Text of={s.by} /></>}{s.answer && <> → <code><Text of={s.answer} /></code></>}{s.before !== undefined && <small class={s.after !== undefined && s.after - s.before > 1 ? "bad" : ""}> effects {s.before}{s.after !== undefined && ` → ${s.after}`}</small>}</li>
          ))}</ol> : null}
        </details></li>
      ))}</ol>
    </>
  );
}
