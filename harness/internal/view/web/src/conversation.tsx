import { useEffect, useState } from "preact/hooks";
import type { Entry, ModelCall, ToolCall } from "./data";
import { Text, cost, count, time, words } from "./text";
import type { Call, Item } from "./transcript";
import { Long, Value } from "./ui";

const mostFirst = 200;

// Conversation shows what was said, in turns; calls are folded.
export function Conversation({ items, entry }: { items: Item[]; entry: Entry }) {
  const [open, setOpen] = useState(0); // 0: as they are; odd: all open; even: all closed
  const [all, showAll] = useState(false);
  useEffect(() => {
    const toggle = () => setOpen((n) => n + 1);
    addEventListener("retake:fold", toggle);
    return () => removeEventListener("retake:fold", toggle);
  }, []);
  // An answer and its figures belong together when there are as many of the one as of the other.
  const answered = entry.model_calls.filter((m) => m.stop || m.tokens);
  const stops = items.filter((i) => i.kind === "stop").length;
  const models = answered.length === stops ? answered : [];
  const tools = new Map<string, ToolCall>();
  const calls = items.flatMap((i) => (i.kind === "call" ? [i.call] : []));
  if (calls.length === entry.tool_calls.length) calls.forEach((c, n) => { if (entry.tool_calls[n].tool === c.name) tools.set(c.label, entry.tool_calls[n]); });
  const shown = all ? items : items.slice(0, mostFirst);
  return (
    <>
      {calls.length > 0 && <button type="button" class="more" aria-pressed={open % 2 === 1} onClick={() => setOpen(open + 1)}>{open % 2 ? "Fold" : "Unfold"} all calls <kbd>e</kbd></button>}
      <ol class="talk">{shown.map((i, n) => <One key={n} item={i} model={i.kind === "stop" ? models[i.ordinal] : undefined} tool={i.kind === "call" ? tools.get(i.call.label) : undefined} open={open} />)}</ol>
      {shown.length < items.length && <button type="button" class="more" onClick={() => showAll(true)}>Show {count(items.length - shown.length)} more</button>}
    </>
  );
}

function One({ item: i, model, tool, open }: { item: Item; model?: ModelCall; tool?: ToolCall; open: number }) {
  switch (i.kind) {
    case "say":
      return <li class={`say ${["system", "user", "assistant", "reasoning", "refusal", "answer"].includes(i.who) ? i.who : "other"}`}><span class="who"><Text of={i.who === "answer" ? "the agent answered" : i.who} /></span>
        {i.who === "system" || i.who === "reasoning" ? <details open={i.text.length < 280}><summary>{count(i.text.length)} characters</summary><Long of={i.text} /></details> : <Long of={i.text} />}</li>;
    case "call":
      return <li><Folded call={i.call} tool={tool} open={open} /></li>;
    case "stop":
      return <li class="stop"><span>{model ? `model ${model.ordinal}: ` : ""}<Text of={words(i.text)} /></span>{model && <span>{time(model.latency_us)}{model.tokens && `, ${count(model.tokens.total)} tokens`}{model.cost_usd !== undefined && `, ${cost(model.cost_usd)}`}</span>}</li>;
    case "fault":
      return <li class="fault"><span class="bolt" aria-hidden="true">⚡</span><b>fault</b> <Text of={i.name} /> <span class="place">struck <Text of={i.place} /></span></li>;
    default:
      return <li class={`aside${i.bad ? " bad" : ""}`}><b><Text of={i.what} /></b> <Text of={i.text} /></li>;
  }
}

function Folded({ call, tool, open }: { call: Call; tool?: ToolCall; open: number }) {
  const bad = call.cut || call.results.some((r) => r.error) || call.notes.length > 0;
  const [is, set] = useState(bad);
  useEffect(() => { if (open > 0) set(open % 2 === 1); }, [open]);
  const brief = call.args.length > 90 ? call.args.slice(0, 90) + "…" : call.args;
  return (
    <details class={`call${bad ? " bad" : ""}`} open={is} onToggle={(e) => set((e.currentTarget as HTMLDetailsElement).open)}>
      <summary><span class="fn"><Text of={call.name} most={120} /></span> <span class="brief"><Text of={brief} /></span>
        <span class="end">{tool?.write && <span class="tag">write</span>}{call.results.some((r) => r.error) && <span class="tag bad">error</span>}{call.notes.length > 0 && <span class="tag bad">{call.notes.length === 1 ? "an attempt failed" : `${call.notes.length} attempts failed`}</span>}{!call.results.length && <span class="tag">no result</span>}{tool && time(tool.latency_us)}</span></summary>
      <dl>
        <dt>{call.label}{call.as && <> as <Text of={call.as} /></>} arguments{call.cut && " (cut or invalid)"}</dt><dd><Value of={call.args} /></dd>
        {call.notes.map((n, k) => <div key={"n" + k} class="note bad"><dt class="sr">attempt</dt><dd><Text of={words(n)} /></dd></div>)}
        {call.results.map((r, k) => <div key={k}><dt>{r.error ? "result: an error" : "result"}</dt><dd><Value of={r.text} /></dd></div>)}
      </dl>
    </details>
  );
}
