import { useLayoutEffect, useState } from "preact/hooks";

// Route is where somebody is: the words of the hash between slashes, and what is
// asked for behind the question mark. The hash is all that a link has to carry.
export interface Route { path: string[]; query: URLSearchParams }

const part = (s: string) => {
  try { return decodeURIComponent(s); } catch { return s; }
};

export function parse(hash: string): Route {
  const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path ? path.split("/").map(part) : [], query: new URLSearchParams(query ?? "") };
}

export function link(path: (string | number)[], query?: URLSearchParams | Record<string, string>): string {
  const q = new URLSearchParams(query as Record<string, string>).toString();
  return "#/" + path.map((p) => encodeURIComponent(String(p))).join("/") + (q ? "?" + q : "");
}

export const go = (to: string) => { location.hash = to; };

// refine changes what is asked for, without a step that "back" would undo.
export function refine(change: Record<string, string | null>) {
  const { path, query } = parse(location.hash);
  for (const [k, v] of Object.entries(change)) {
    if (v === null || v === "") query.delete(k);
    else query.set(k, v);
  }
  history.replaceState(history.state, "", link(path, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [hash, set] = useState(location.hash);
  useLayoutEffect(() => {
    const seen = () => set(location.hash);
    addEventListener("hashchange", seen);
    return () => removeEventListener("hashchange", seen);
  }, []);
  return parse(hash);
}

type Named = { run: { id: string }; name: string; model: string; fault: string; trial: number };
export const toEntry = (r: Named) => link(["run", r.run.id, "scenario", r.name, r.model], { ...(r.fault && { fault: r.fault }), ...(r.trial && { trial: String(r.trial) }) });
