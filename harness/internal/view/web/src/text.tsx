import type { ComponentChildren } from "preact";

// What a person must see and cannot: control characters, those that turn the
// direction of text, that have no width, and in which text can be hidden.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const spelled = (c: string) => "U+" + c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");

// plain is for attributes, titles and places that hold text alone.
export const plain = (s: string | undefined) => clip(s ?? "", 300).replace(hidden, (c) => `⟨${spelled(c)}⟩`);

// clip is the beginning of a text that may be a megabyte.
export const clip = (s: string, most: number) => (s.length > most ? s.slice(0, most) + "…" : s);

// Text shows what somebody wrote: as text, with what hides in it made visible, in a
// direction of its own, and not more of it than a place is for.
export function Text({ of, most = 2000 }: { of: string | undefined; most?: number }) {
  const s = clip(of ?? "", most);
  if (s.search(hidden) < 0) return <bdi>{s}</bdi>;
  const out: ComponentChildren[] = [];
  let from = 0;
  for (const m of s.matchAll(hidden)) {
    out.push(s.slice(from, m.index), <span class="hidden-char" title="a character that does not show">{spelled(m[0])}</span>);
    from = m.index! + m[0].length;
  }
  out.push(s.slice(from));
  return <bdi>{out}</bdi>;
}

const number = new Intl.NumberFormat("en");
export const count = (n: number | null | undefined) => (n == null ? "–" : number.format(n));
export const many = (n: number, one: string, more = one + "s") => `${count(n)} ${n === 1 ? one : more}`;

export function cost(n: number | null | undefined): string {
  if (n == null) return "not known";
  if (n === 0) return "$0";
  return "$" + (n >= 100 ? number.format(Math.round(n)) : n >= 1 ? n.toFixed(2) : n.toPrecision(3));
}

export function time(us: number | null | undefined): string {
  if (us == null) return "–";
  if (us === 0) return "0 s";
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${us < 1e4 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
  const s = us / 1e6;
  if (s < 60) return `${s < 10 ? s.toFixed(2) : s.toFixed(1)} s`;
  const m = Math.floor(s / 60);
  return m < 60 ? `${m} min ${Math.round(s % 60)} s` : `${Math.floor(m / 60)} h ${m % 60} min`;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
export function when(rfc3339: string): string {
  const t = Date.parse(rfc3339);
  return Number.isNaN(t) ? plain(rfc3339) : day.format(t) + " UTC";
}

export const words = (s: string) => s.replaceAll("_", " ");
