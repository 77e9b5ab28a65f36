import { useEffect, useMemo, useState } from "preact/hooks";
import { Conversation } from "./conversation";
import { index, rows, whole, type Entry, type Row, type Run, type Stamp, type Whole } from "./data";
import { remembered } from "./remember";
import { go, link, toEntry, type Route } from "./route";
import { Text, cost, count, many, plain, time, words } from "./text";
import { converse, parse } from "./transcript";
import { Badge, Empty, Facts, Id, Long, Section, Value } from "./ui";
import { Tokens, Waterfall } from "./waterfall";

export function ScenarioPage({ run, route }: { run: Run; route: Route }) {
  const [, , , name, model] = route.path;
  const fault = route.query.get("fault") ?? "", trial = Number(route.query.get("trial") ?? 0);
  const row = useMemo(() => rows(run).find((r) => r.name === name && r.model === model && r.fault === fault && r.trial === trial), [run, name, model, fault, trial]);
  const [opened, set] = useState<{ row: Row; whole?: Whole; error?: string } | null>(null);
  useEffect(() => {
    if (!row) return;
    let still = true;
    remembered.last = row;
    whole(row).then((w) => still && set({ row, whole: w }), (e: Error) => still && set({ row, error: e.message }));
    return () => { still = false; };
  }, [row]);
  if (!row) return <Empty title="This run has no such scenario"><p><Text of={name} /> with <Text of={model} /> is not in it. <a href={link(["run", run.id])}>See what is</a></p></Empty>;
  if (opened?.row !== row) return <p class="lead" role="status">Opening…</p>;
  if (!opened.whole) return <Empty title="The scenario cannot be shown"><p>{opened.error}. Draw the page again: <code>retake view</code></p></Empty>;
  return <Shown row={row} {...opened.whole} />;
}

// around are the rows before and after this one, among those that were listed last.
export function around(row: Row | null): { before?: Row; after?: Row; n: number; of: number } {
  if (!row) return { n: 0, of: 0 };
  const list = remembered.rows.includes(row) ? remembered.rows : rows(row.run);
  const n = list.indexOf(row);
  return { before: list[n - 1], after: list[n + 1], n: n + 1, of: list.length };
}

function Shown({ row, entry: e, stamp, text }: Whole & { row: Row }) {
  const { before, after, n, of } = around(row);
  const items = useMemo(() => converse(parse(text)), [text]);
  const others = rows(row.run).filter((r) => r.name === row.name && r !== row).slice(0, 60);
  const elsewhere = index.runs.filter((r) => r !== row.run && r.entries.name.length > 0);
  return (
    <article class="scenario">
      <nav class="step" aria-label="Scenarios in the list">
        <a href={remembered.back || link(["run", row.run.id])}>← {count(n)} of {count(of)}</a>
        <span>
          {before ? <a rel="prev" href={toEntry(before)} title={plain(before.name)}>before <kbd>k</kbd></a> : <span class="off">before</span>}
          {after ? <a rel="next" href={toEntry(after)} title={plain(after.name)}>next <kbd>j</kbd></a> : <span class="off">next</span>}
        </span>
      </nav>
      <h1><Badge of={e.verdict} big /> <Text of={e.name} most={300} />{e.fault && <small> under <Text of={e.fault} most={300} /></small>}{e.trial ? <small> trial {e.trial}</small> : null}</h1>
      {e.why && <p class="why"><Text of={e.why} /></p>}
      <Facts of={[
        ["model", <Text of={e.model} most={200} />], ["owner", e.owner && <Text of={e.owner} most={200} />], ["acts", e.part && <Text of={e.part} />], ["clock", e.clock], ["latency", time(e.figures.latency_us)], ["tokens", count(e.figures.tokens.total)],
        ["cost", cost(e.figures.cost_usd) + (e.figures.tool_cost_usd ? ` + ${cost(e.figures.tool_cost_usd)} for tools` : "")], ["calls", `${many(e.figures.model_attempts, "model attempt")}, ${many(e.figures.tool_calls, "tool call")}`],
        ["task_id", stamp && <Id of={stamp.task_id} />], ["file", <code><Text of={e.file} most={300} /></code>],
        ["labels", e.labels?.length ? <span class="labels">{e.labels.map((l) => <a key={l} href={link(["run", row.run.id], { label: l })}><Text of={l} most={100} /></a>)}</span> : ""],
      ]} />
      <Reasons of={e} />
      <div class="columns">
        <div>
          <Section id="conversation" title="Conversation" note={text ? undefined : "none"}>
            {text ? <Conversation items={items} entry={e} /> : <p>The run ended before anything was said{e.outcome.detail ? <>: <Text of={e.outcome.detail} /></> : "."}</p>}
          </Section>
        </div>
        <div>
          <Section id="latency" title="Latency" note={`${time(e.figures.latency_us)}, ${e.clock} clock`}><Waterfall of={e} /></Section>
          <Section id="tokens" title="Tokens and cost" note={cost(e.figures.cost_usd)}><Tokens of={e} /></Section>
          <Attempts of={e} stamp={stamp} />
          <Rest of={e} />
          {others.length > 0 && (
            <Section id="others" title="The same scenario otherwise" note={count(others.length)}>
              <ul class="plain">{others.map((r) => <li key={r.n}><Badge of={r.verdict} /> <a href={toEntry(r)}><Text of={r.model} />{r.fault && <> under <Text of={r.fault} /></>}{r.trial > 0 && <> trial {r.trial}</>}</a>
                {" "}<a class="side" href={link(["diff", row.run.id, row.run.id, "one"], { name: row.name, a: sideOf(row), b: sideOf(r) })}>differences</a></li>)}</ul>
            </Section>
          )}
          {elsewhere.length > 0 && (
            <Section id="elsewhere" title="In other runs">
              <label class="pick"><span>Compare with the run of</span><select value="" onChange={(ev) => go(link(["diff", ev.currentTarget.value, row.run.id, "one"], { name: row.name, a: sideOf(row), b: sideOf(row) }))}>
                <option value="">choose…</option>{elsewhere.map((r) => <option key={r.id} value={r.id}>{plain(r.id)}</option>)}</select></label>
            </Section>
          )}
        </div>
      </div>
    </article>
  );
}

// sideOf names an entry among those of its scenario.
export const sideOf = (r: { model: string; fault: string; trial: number }) => JSON.stringify([r.model, r.fault, r.trial]);

function Reasons({ of: e }: { of: Entry }) {
  const outcome = e.outcome.class !== "completed" || e.outcome.detail;
  if (!e.reasons.length && !e.warnings?.length && !e.rollback && !outcome) return null;
  return (
    <section class="reasons" aria-label="Reasons">
      {e.reasons.map((r, n) => (
        <div key={n} class={`card reason ${r.class === "diverged" ? "v-diverged" : "v-fail"}`}>
          <h2>{words(r.class)} <small>{r.layer ? `${r.layer}, ` : ""}the {r.part} has to act</small></h2>
          <Long of={r.what} />
          <dl class="pairs">
            {r.where && <div><dt>where</dt><dd><code><Text of={r.where} /></code></dd></div>}
            {r.why && <div><dt>why</dt><dd><Text of={r.why} /></dd></div>}
            {r.next && <div class="next"><dt>next</dt><dd><Text of={r.next} /></dd></div>}
          </dl>
          {r.diff && <details open={r.diff.length < 3000}><summary>difference</summary><Diffed of={r.diff} /></details>}
        </div>
      ))}
      {outcome && <p class="note">The run ended as <b><Text of={e.outcome.class} /></b>{e.outcome.detail && <>: <Text of={e.outcome.detail} /></>}</p>}
      {e.warnings?.map((w, n) => <p key={n} class="card warn"><b>warning</b> <Text of={w} /></p>)}
      {e.rollback && <p class="rollback"><b>rollback</b> <Text of={e.rollback} /></p>}
    </section>
  );
}

export function Diffed({ of }: { of: string }) {
  if (of.length > 200_000) return <Long code of={of} />;
  return <pre class="code diff">{of.split("\n").map((l, n) => <span key={n} class={l[0] === "+" ? "new" : l[0] === "-" ? "gone" : ""}><Text of={l} />{"\n"}</span>)}</pre>;
}

function Attempts({ of: e, stamp }: { of: Entry; stamp?: Stamp }) {
  const id = (n: number) => { const s = stamp?.attempt_ids[n - 1]; return s ? <Id of={s} /> : "–"; };
  if (!e.model_calls.length && !e.tool_calls.length) return null;
  return (
    <Section id="attempts" title="Attempts" note={count(e.model_calls.length + e.tool_calls.reduce((n, t) => n + t.attempts.length, 0))}>
      <div class="scroll" role="region" aria-label="Attempts" tabIndex={0}>
        <table class="small">
          <thead><tr><th scope="col">Call</th><th scope="col" class="num">Try</th><th scope="col">Outcome</th><th scope="col" class="num">Took</th><th scope="col">attempt_id</th></tr></thead>
          <tbody>
            {e.model_calls.map((m) => (
              <tr key={"m" + m.ordinal} class={m.class ? "bad" : ""}><th scope="row">model {m.ordinal}</th><td class="num">{m.attempt}</td>
                <td><Text of={words(m.class ?? m.stop ?? "answered")} />{m.status !== 200 && m.status !== 0 && ` ${m.status}`}{m.error && <small><Text of={m.error} /></small>}{m.problems?.length ? <small><Text of={m.problems.map(words).join(", ")} /></small> : null}</td>
                <td class="num">{time(m.latency_us)}</td><td>{id(m.attempt_id)}</td></tr>
            ))}
            {e.tool_calls.flatMap((t) => t.attempts.map((a) => (
              <tr key={`t${t.ordinal}.${a.attempt}`} class={a.class ? "bad" : ""}><th scope="row"><Text of={t.tool} /> {t.write && <span class="tag">write</span>}<small title="sha256 of the canonical arguments">args {t.args_hash.slice(0, 8)}</small></th><td class="num">{a.attempt}</td>
                <td><Text of={words(a.outcome)} />{a.class && <small>{words(a.class)}{a.code && <> (<Text of={a.code} />)</>}</small>}</td><td class="num">{time(a.latency_us)}</td><td>{id(a.attempt_id)}</td></tr>
            )))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Rest({ of: e }: { of: Entry }) {
  const order = ["breached", "not observable", "held", "not applicable"];
  const rules = [...e.contract].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const held = rules.filter((r) => r.state === "held").length;
  return (
    <>
      {e.faults?.length ? (
        <Section id="faults" title="Faults" note={count(e.faults.length)}>
          <ul class="plain">{e.faults.map((f, n) => <li key={n}><span class="bolt" aria-hidden="true">⚡</span> <b><Text of={f.name} /></b> {f.times ? `struck ${f.times === 1 ? "once" : `${f.times} times`}` : "did not strike"}{f.at && <>, first at <Text of={f.at} /></>}{f.why_not && <>: <Text of={f.why_not} /></>}<small><code><Text of={f.spec} /></code></small></li>)}</ul>
        </Section>
      ) : null}
      {e.effects.length > 0 && (
        <Section id="effects" title="Effects">
          <table class="small"><thead><tr><th scope="col">Tool</th><th scope="col" class="num">Effects</th><th scope="col">Counted by</th></tr></thead>
            <tbody>{e.effects.map((f) => <tr key={f.tool}><th scope="row"><Text of={f.tool} /></th><td class="num">{f.count}</td><td>{f.by === "probe" ? "the world itself" : "calls that reached the tool"}</td></tr>)}</tbody></table>
        </Section>
      )}
      {rules.length > 0 && (
        <Section id="contract" title="Contract" note={`${held} of ${rules.length} held`}>
          <ul class="rules">{rules.map((r) => (
            <li key={r.rule}><Badge of={r.state}>{r.rule}</Badge> <span class="sr">{r.state}</span>{r.breaches?.map((b, n) => <p key={n}><Text of={b} /></p>)}</li>
          ))}</ul>
        </Section>
      )}
      <Section id="hashes" title="What it was run with">
        <dl class="pairs">{(["scenario", "prompt", "tools", "cassette"] as const).map((k) => e.hashes[k] && <div key={k}><dt>{k}</dt><dd><code class="hash" title={e.hashes[k]}>{e.hashes[k]!.slice(0, 16)}</code></dd></div>)}
          {e.token_audit.agent !== null && <div><dt>tokens</dt><dd>{count(e.token_audit.wire)} on the wire, {count(e.token_audit.agent)} by the agent{e.token_audit.agree === false && <b> (they differ)</b>}</dd></div>}
          {e.transcript && <div><dt>transcript</dt><dd><code><Text of={`${e.transcript.file}:${e.transcript.line}`} /></code></dd></div>}</dl>
        {e.model_calls.some((m) => m.raw_usage !== undefined) && <details><summary>Usage as the provider reports it</summary>{e.model_calls.map((m) => m.raw_usage !== undefined && <div key={m.ordinal}><b>model {m.ordinal}</b><Value of={JSON.stringify(m.raw_usage)} /></div>)}</details>}
      </Section>
    </>
  );
}
