import { Component, render, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { index, openIndex } from "./data";
import { DiffPage } from "./diff";
import { Help, useKeys } from "./keys";
import { MatrixPage } from "./matrix";
import { Overview } from "./overview";
import { link, useRoute, type Route } from "./route";
import { RunPage } from "./run";
import { ScenarioPage } from "./scenario";
import { plain, when } from "./text";
import { applyTheme, Theme } from "./theme";
import { Empty } from "./ui";

class Guard extends Component<{ children: ComponentChildren; at: string }, { error: Error | null; at: string }> {
  state = { error: null as Error | null, at: this.props.at };
  static getDerivedStateFromError(error: Error) { return { error }; }
  componentDidUpdate() { if (this.state.error && this.state.at !== this.props.at) this.setState({ error: null, at: this.props.at }); }
  componentDidCatch(error: Error) { console.error(error); this.setState({ at: this.props.at }); }
  render() {
    if (!this.state.error) return this.props.children;
    return <Empty title="This part cannot be shown"><p>{plain(this.state.error.message)}</p><p>The report may be of another version of retake: draw the page again with <code>retake view</code>, or go to <a href="#/">all reports</a>.</p></Empty>;
  }
}

function Page({ route }: { route: Route }) {
  const [kind, id, part] = route.path;
  if (!kind) return <Overview />;
  if (kind === "sweep" || kind === "drill") return <MatrixPage kind={kind} route={route} />;
  if (kind === "diff") return <DiffPage route={route} />;
  const run = index.runs.find((r) => r.id === id);
  if (kind !== "run" || !run) return <Empty title="Nothing is here"><p>This page has no such report. <a href="#/">See what it has</a></p></Empty>;
  if (part === "scenario") return <ScenarioPage run={run} route={route} />;
  return <RunPage key={run.id} run={run} route={route} />;
}

function titleOf(route: Route): string {
  const [kind, id, part, name] = route.path;
  const said = !kind ? "reports" : part === "scenario" ? name : kind === "diff" ? (route.query.get("name") ?? "what changed") : kind === "run" ? "run " + id : `${kind} of ${index.matrices[Number(id)]?.name ?? ""}`;
  return plain(said) + " · retake";
}

function App() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = route.path.join("/") + (route.query.get("fault") ?? "") + (route.query.get("trial") ?? "");
  const first = useRef(true);
  useLayoutEffect(() => {
    document.title = titleOf(route);
    if (first.current) { first.current = false; return; }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  useKeys(route);
  const run = index.runs.find((r) => r.id === route.path[1]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to the reports</a>
      <header class="top">
        <nav aria-label="Where you are"><a class="brand" href="#/">retake</a>
          {run && route.path[0] === "run" && <><span aria-hidden="true">/</span><a href={link(["run", run.id])}>{when(run.run.volatile.started)}</a></>}
          {route.path[0] === "diff" && <><span aria-hidden="true">/</span><a href={link(route.path.slice(0, 3))}>what changed</a></>}
        </nav>
        <div class="tools"><Theme /><button type="button" onClick={() => dispatchEvent(new Event("retake:help"))} aria-label="Keyboard and help" title="Keyboard and help">?</button></div>
      </header>
      <main id="main" tabIndex={-1} ref={main}><Guard at={place}><Page route={route} /></Guard></main>
      <Help />
    </>
  );
}

// watch asks the server that made the page whether there is something newer.
function watch() {
  const seen = document.documentElement.dataset.served;
  if (seen === undefined) return;
  new EventSource("events?seen=" + seen).addEventListener("changed", () => location.reload());
}

const root = document.getElementById("page")!;
applyTheme();
openIndex().then(
  () => {
    root.textContent = "";
    render(<App />, root);
    document.documentElement.dataset.ready = "";
    performance.mark("retake:shown");
    watch();
  },
  (e: Error) => {
    const old = typeof DecompressionStream === "undefined";
    root.querySelector("#first")!.textContent = old ? "This browser is too old to open the reports: Chrome 103, Firefox 115 and Safari 16.4 can." : `The reports in this page cannot be opened: ${e.message}. Draw it again: retake view`;
  },
);
