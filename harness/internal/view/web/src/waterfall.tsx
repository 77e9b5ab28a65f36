import type { Entry } from "./data";
import { Text, cost, count, plain, time, words } from "./text";

const mostLines = 400;

interface Bar { what: string; kind: "model" | "tool"; at: number; took: number; bad: string; parts: { took: number; bad: boolean }[] }

function bars(e: Entry): Bar[] {
  const out: Bar[] = [
    ...e.model_calls.map((m) => ({ what: `model ${m.ordinal}`, kind: "model" as const, at: m.at_us, took: m.latency_us, bad: m.class ?? "", parts: [{ took: m.latency_us, bad: !!m.class }] })),
    ...e.tool_calls.map((t) => ({ what: t.tool, kind: "tool" as const, at: t.at_us, took: t.latency_us, bad: t.class ?? "", parts: t.attempts.map((a) => ({ took: a.latency_us, bad: !!a.class })) })),
  ];
  return out.sort((a, b) => a.at - b.at);
}

// Waterfall is a table: when each call began and what it took, with a bar of it.
export function Waterfall({ of: e }: { of: Entry }) {
  const all = bars(e);
  if (!all.length) return <p>Nothing was called.</p>;
  const end = Math.max(1, ...all.map((b) => b.at + b.took));
  return (
    <div class="scroll" role="region" aria-label="Latency of each call" tabIndex={0}>
      <table class="small waterfall">
        <thead><tr><th scope="col">Call</th><th scope="col" class="num">At</th><th scope="col" class="num">Took</th><th scope="col" class="bar"><span class="sr">Drawn</span><span aria-hidden="true">0</span><span aria-hidden="true">{time(end)}</span></th></tr></thead>
        <tbody>{all.slice(0, mostLines).map((b, n) => (
          <tr key={n} class={b.bad ? "bad" : ""}><th scope="row"><Text of={b.what} />{b.bad && <small>{words(b.bad)}</small>}</th><td class="num">{time(b.at)}</td><td class="num">{time(b.took)}</td>
            <td class="bar"><div aria-hidden="true"><span class={`b ${b.kind}`} style={{ left: `${(100 * b.at) / end}%`, width: `max(3px, ${(100 * b.took) / end}%)` }}>
              {b.parts.map((p, k) => <i key={k} class={p.bad ? "bad" : ""} style={{ flexGrow: String(p.took || 0.001) }} />)}</span></div></td></tr>
        ))}</tbody>
      </table>
      {all.length > mostLines && <p>The first {mostLines} of {count(all.length)} calls.</p>}
    </div>
  );
}

const sorts = [["input", "input"], ["cache_read", "cache read"], ["cache_write", "cache write"], ["output", "output"]] as const;

// Tokens stacks what each model call used.
export function Tokens({ of: e }: { of: Entry }) {
  const calls = e.model_calls.filter((m) => m.tokens);
  if (!calls.length) return <p>No tokens were reported{e.model_calls.length ? "" : ": the model was not called"}.</p>;
  const most = Math.max(1, ...calls.map((m) => m.tokens!.total));
  const priced = calls.some((m) => m.cost_usd !== undefined);
  const seen = sorts.filter(([k]) => calls.some((m) => m.tokens![k]));
  return (
    <>
      <ul class="legend">{seen.map(([k, name]) => <li key={k}><span class={`swatch t-${k}`} aria-hidden="true" />{name} {count(e.figures.tokens[k])}</li>)}{e.figures.tokens.reasoning ? <li>of the output, reasoning {count(e.figures.tokens.reasoning)}</li> : null}</ul>
      <div class="scroll" role="region" aria-label="Tokens of each model call" tabIndex={0}>
        <table class="small">
          <thead><tr><th scope="col">Call</th>{seen.map(([k, name]) => <th key={k} scope="col" class="num">{name}</th>)}{priced && <th scope="col" class="num">Cost</th>}<th scope="col" class="bar"><span class="sr">Drawn</span></th></tr></thead>
          <tbody>{calls.slice(0, mostLines).map((m) => (
            <tr key={m.ordinal}><th scope="row">model {m.ordinal}</th>{seen.map(([k]) => <td key={k} class="num">{count(m.tokens![k])}</td>)}{priced && <td class="num">{cost(m.cost_usd)}</td>}
              <td class="bar"><div class="stack" aria-hidden="true" style={{ width: `${(100 * m.tokens!.total) / most}%` }}>{seen.map(([k]) => <i key={k} class={`t-${k}`} style={{ flexGrow: String(m.tokens![k] ?? 0) }} />)}</div></td></tr>
          ))}</tbody>
        </table>
      </div>
      <Cost of={e} />
    </>
  );
}

// Cost stacks what the calls cost: each model call, then each tool call that has a price.
function Cost({ of: e }: { of: Entry }) {
  const parts = [...e.model_calls.map((m) => ({ what: `model ${m.ordinal}`, kind: "t-input", cost: m.cost_usd })), ...e.tool_calls.map((t) => ({ what: t.tool, kind: "t-tool", cost: t.cost_usd }))].filter((p) => p.cost);
  if (!parts.length) return null;
  const all = parts.reduce((n, p) => n + p.cost!, 0);
  const tools = parts.reduce((n, p) => n + (p.kind === "t-tool" ? p.cost! : 0), 0);
  return (
    <div class="cost">
      <ul class="legend"><li><span class="swatch t-input" aria-hidden="true" />the model {cost(all - tools)}</li>{tools > 0 && <li><span class="swatch t-tool" aria-hidden="true" />tools {cost(tools)}</li>}</ul>
      <div class="stack" aria-hidden="true">{parts.map((p, n) => <i key={n} class={p.kind} title={`${plain(p.what)}: ${cost(p.cost)}`} style={{ flexGrow: String(p.cost! / all) }} />)}</div>
    </div>
  );
}
