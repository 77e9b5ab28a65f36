import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { index } from "./data";
import { remembered } from "./remember";
import { go, link, refine, toEntry, type Route } from "./route";
import { around } from "./scenario";

const listed: [string, string][] = [
  ["/", "search"], ["j, k", "the next scenario, the one before"], ["↑ ↓ Page Up, Page Down, Home, End", "through a list"], ["← →", "through the columns of a list"], ["Enter", "open"],
  ["u", "up: back to the list"], ["o", "all reports"], ["n", "the newest run"], ["m", "list or matrix"], ["f", "failures only, or all"], ["d", "compare with the run before"], ["e", "unfold or fold all calls"], ["t", "light, dark, or as the system says"], ["?", "this page"],
];

const lists = () => document.querySelector<HTMLElement>('.grid [data-current="true"]');

// useKeys are the keys of one letter. They can be turned off, for who speaks to the
// computer.
export function useKeys(route: Route) {
  const now = useRef(route);
  now.current = route;
  useLayoutEffect(() => {
    const press = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.key === "Escape" && at.id === "search") { at.blur(); lists()?.focus(); return; }
      if (e.ctrlKey || e.metaKey || e.altKey || off() || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && (at as HTMLInputElement).type !== "checkbox" && (at as HTMLInputElement).type !== "radio") return;
      if (document.querySelector("dialog[open]")) return;
      const act = actions(now.current)[e.key];
      if (!act) return;
      e.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function actions({ path, query }: Route): Record<string, () => void> {
  const run = index.runs.find((r) => r.id === path[1]);
  const inScenario = path[0] === "run" && path[2] === "scenario";
  const step = (way: "before" | "after") => {
    if (inScenario) {
      const to = around(remembered.last)[way];
      if (to) go(toEntry(to));
      return;
    }
    const cell = lists();
    cell?.focus();
    cell?.dispatchEvent(new KeyboardEvent("keydown", { key: way === "after" ? "ArrowDown" : "ArrowUp", bubbles: true }));
  };
  const older = run && index.runs[index.runs.indexOf(run) + 1];
  return {
    "/": () => document.getElementById("search")?.focus(),
    "?": () => dispatchEvent(new Event("retake:help")),
    j: () => step("after"), k: () => step("before"),
    u: () => go(inScenario ? remembered.back || link(["run", path[1]]) : path[3] === "one" ? link(path.slice(0, 3)) : "#/"),
    o: () => go("#/"),
    n: () => index.runs[0] && go(link(["run", index.runs[0].id])),
    e: () => dispatchEvent(new Event("retake:fold")),
    t: () => document.getElementById("theme")?.click(),
    ...(run && !inScenario && path[0] === "run" && {
      m: () => refine({ view: remembered.view === "list" ? "matrix" : "list" }),
      f: () => refine({ verdict: query.has("verdict") ? null : "fail,invalid,broken,diverged,not_run" }),
    }),
    ...(run && older && path[0] === "run" && { d: () => go(link(["diff", older.id, run.id])) }),
  };
}

const off = () => { try { return localStorage.getItem("retake-keys") === "off"; } catch { return false; } };

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [keys, set] = useState(!off());
  useLayoutEffect(() => {
    const open = () => { if (!dialog.current!.open) dialog.current!.showModal(); };
    addEventListener("retake:help", open);
    return () => removeEventListener("retake:help", open);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="help" onClick={(e) => { if (e.target === dialog.current) dialog.current!.close(); }}>
      <form method="dialog"><h2 id="help">Keyboard</h2><button aria-label="Close" autofocus>✕</button></form>
      <dl class="keys">{listed.map(([k, what]) => <div key={k}><dt><kbd>{k}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p><label><input type="checkbox" checked={keys} onChange={(e) => {
        set(e.currentTarget.checked);
        try { localStorage.setItem("retake-keys", e.currentTarget.checked ? "on" : "off"); } catch { /* until the page is closed, then */ }
      }} /> keys of one letter are on</label></p>
      <p class="note">An address of this page holds what is shown: the run, the scenario, the filter. It can be sent to somebody who has the same file. Characters that do not show, such as those that turn the direction of text, are spelled out: <span class="hidden-char">U+202E</span></p>
    </dialog>
  );
}
