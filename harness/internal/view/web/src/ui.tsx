import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { verdicts, type Verdict } from "./data";
import { Text, count, many, plain, words } from "./text";

// A sign of its own for each state, so that colour is never the only one.
const signs: Record<string, string> = {
  pass: "M3.5 8.5l3 3 6-7", held: "M3.5 8.5l3 3 6-7",
  fail: "M4 4l8 8M12 4l-8 8", breached: "M4 4l8 8M12 4l-8 8",
  invalid: "M8 3v6M8 12v.6", warning: "M8 3v6M8 12v.6",
  broken: "M9.5 2L5 8.5h5.5L6.5 14", diverged: "M8 14V9L4 4.5M8 9l4-4.5M4 4.5V8M4 4.5h3.4",
  not_run: "M3.5 8h9", "not run": "M3.5 8h9", "not applicable": "M7.5 8h1",
};

export function Sign({ of }: { of: string }) {
  return <svg class="sign" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false"><path d={signs[of] ?? "M8 3v6M8 12v.6"} /></svg>;
}

const kinds: Record<string, string> = { held: "pass", breached: "fail", warning: "invalid", "not run": "not_run", "not applicable": "none" };
export const tone = (state: string) => "v-" + (kinds[state] ?? (verdicts.includes(state as Verdict) ? state : "invalid"));

export function Badge({ of, children, big }: { of: string; children?: ComponentChildren; big?: boolean }) {
  return <span class={`badge ${tone(of)}${big ? " big" : ""}`}><Sign of={of} />{children ?? words(of)}</span>;
}

// Shares draws counts as one bar; its words say the same.
export function Shares({ of, label }: { of: [string, number][]; label: string }) {
  const all = of.reduce((n, [, k]) => n + k, 0);
  const said = of.filter(([, n]) => n > 0).map(([s, n]) => `${count(n)} ${words(s)}`).join(", ") || "nothing";
  return (
    <span class="shares" role="img" aria-label={`${label}: ${said}`}>
      {of.filter(([, n]) => n > 0).map(([s, n]) => <span key={s} class={tone(s)} style={{ flexGrow: n / (all || 1), minWidth: "3px" }} />)}
    </span>
  );
}

export const verdictCounts = (v: Record<string, number>): [string, number][] => ["pass", ...verdicts.filter((x) => x !== "pass")].map((k) => [k, v[k] ?? 0]);

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2>{children}</div>;
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return <dl class="facts">{of.filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

// Section is a part of a page that can be linked and folded away.
export function Section({ title, note, children, id }: { title: string; note?: ComponentChildren; children: ComponentChildren; id: string }) {
  return (
    <section class="card" aria-labelledby={id}>
      <header><h2 id={id}>{title}</h2>{note !== undefined && <span class="note">{note}</span>}</header>
      {children}
    </section>
  );
}

const most = 4000;

// Long shows a text that may be a megabyte on one line: its beginning, until
// somebody asks for the whole.
export function Long({ of, code }: { of: string; code?: boolean }) {
  const [all, show] = useState(false);
  const cut = !all && of.length > most + 200;
  const Tag = code ? "pre" : "div";
  return (
    <>
      <Tag class={code ? "code" : "prose"}><Text of={cut ? of.slice(0, most) + "…" : of} most={Infinity} /></Tag>
      {cut && <button type="button" class="more" onClick={() => show(true)}>Show all {count(of.length)} characters</button>}
    </>
  );
}

// Value shows JSON with one member a line, and other text as it is. Numbers stay as
// they are written: only white space is put between what is there.
export function Value({ of }: { of: string }) {
  return <Long code of={of.length < 1 << 20 ? pretty(of) : of} />;
}

export function pretty(json: string): string {
  const s = json.trim();
  if (s[0] !== "{" && s[0] !== "[") return json;
  try { JSON.parse(s); } catch { return json; }
  let out = "", depth = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (c === '"') {
      let end = i + 1;
      while (s[end] !== '"') end += s[end] === "\\" ? 2 : 1;
      out += s.slice(i, end + 1);
      i = end;
    } else if (c === "{" || c === "[") {
      const rest = /^\s*[}\]]/.exec(s.slice(i + 1, i + 64));
      if (rest) { out += c + rest[0].trim(); i += rest[0].length; } else out += c + "\n" + "  ".repeat(++depth);
    } else if (c === "}" || c === "]") out += "\n" + "  ".repeat(--depth) + c;
    else if (c === ",") out += ",\n" + "  ".repeat(depth);
    else if (c === ":") out += ": ";
    else if (!/\s/.test(c)) out += c;
  }
  return out;
}

// Copied is a value that is often taken elsewhere.
export function Id({ of }: { of: string }) {
  return <code class="id" title={plain(of)}><Text of={of} /></code>;
}

export function Select({ label, value, all, onPick, any = "any" }: { label: string; value: string; all: [string, number][]; onPick: (v: string) => void; any?: string }) {
  return (
    <label class="pick"><span>{label}</span>
      <select value={value} onChange={(e) => onPick(e.currentTarget.value)}>
        <option value="">{any}</option>
        {value && !all.some(([v]) => v === value) && <option value={value}>{plain(value)} (none)</option>}
        {all.map(([v, n]) => <option key={v} value={v}>{plain(words(v))} ({count(n)})</option>)}
      </select>
    </label>
  );
}

export const scenarios = (n: number) => many(n, "scenario");
