import { options, type ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

// mostPrinted is how many rows a printed page has: paper does not scroll.
const mostPrinted = 3000;

interface Props {
  label: string;
  count: number;
  height: number; // of a row, in pixels
  columns: number; // that the arrow keys go through
  head: ComponentChildren; // a row of column headings
  at: number; // the current row; -1 for none
  onAt: (row: number) => void;
  onOpen: (row: number, column: number) => void;
  row: (n: number, column: number) => ComponentChildren; // its cells; column is the current one, or -1
  className?: string;
}

// Grid is a table of which only the visible rows are there. One of its cells is in
// the order of the tab key; the arrows, Page Up and Down, Home and End go on.
export function Grid({ label, count, height, columns, head, at, onAt, onOpen, row, className }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [tall, setTall] = useState(800);
  const [column, setColumn] = useState(0);
  const [printed, print] = useState(false);

  useLayoutEffect(() => {
    const el = box.current!;
    const measure = () => setTall(el.clientHeight || 800);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    const now = (on: boolean) => () => {
      const wait = options.debounceRendering;
      options.debounceRendering = (f) => f();
      print(on);
      options.debounceRendering = wait;
    };
    const before = now(true), after = now(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => { watch.disconnect(); removeEventListener("beforeprint", before); removeEventListener("afterprint", after); };
  }, []);

  // Other rows are looked at from the first on.
  const counted = useRef(count);
  if (counted.current !== count) {
    counted.current = count;
    if (box.current) box.current.scrollTop = 0;
    if (top !== 0) setTop(0);
  }

  const focusTo = useRef(false);
  const move = (to: number, col = column) => {
    const n = Math.max(0, Math.min(count - 1, to));
    const el = box.current!;
    const headTall = (el.firstElementChild as HTMLElement).offsetHeight;
    if (n * height < el.scrollTop) el.scrollTop = n * height;
    else if ((n + 1) * height + headTall > el.scrollTop + el.clientHeight) el.scrollTop = (n + 1) * height + headTall - el.clientHeight;
    setTop(el.scrollTop);
    focusTo.current = true;
    setColumn(Math.max(0, Math.min(columns - 1, col)));
    onAt(n);
  };
  useLayoutEffect(() => {
    if (!focusTo.current) return;
    focusTo.current = false;
    (box.current!.querySelector('[data-current="true"]') as HTMLElement | null)?.focus({ preventScroll: true });
  });

  const page = Math.max(1, Math.floor(tall / height) - 2);
  const key = (e: KeyboardEvent) => {
    if (e.altKey || e.ctrlKey || e.metaKey || count === 0) return;
    const now = Math.max(0, at);
    const steps: Record<string, () => void> = {
      ArrowDown: () => move(at < 0 ? 0 : now + 1), ArrowUp: () => move(now - 1), PageDown: () => move(now + page), PageUp: () => move(now - page),
      Home: () => move(0), End: () => move(count - 1),
      ...(columns > 1 && { ArrowRight: () => move(now, column + 1), ArrowLeft: () => move(now, column - 1) }),
      Enter: () => onOpen(now, column),
    };
    const step = steps[e.key];
    if (!step || (e.key === "Enter" && (e.target as HTMLElement).tagName === "A")) return;
    e.preventDefault();
    step();
  };

  const first = printed ? 0 : Math.max(0, Math.floor(Math.min(top, Math.max(0, count * height - tall)) / height) - 6);
  const last = printed ? Math.min(count, mostPrinted) : Math.min(count, Math.ceil((top + tall) / height) + 6);
  const shown = [];
  // The current row stays in the document when it scrolls away, so that the focus does.
  const far = !printed && at >= 0 && at < count && (at < first || at >= last) ? at : -1;
  for (let n = first; n < last; n++) shown.push(n);
  if (far >= 0) shown.push(far);
  const current = at >= 0 && at < count ? at : 0;
  return (
    <div class={`grid ${className ?? ""}`} ref={box} role="grid" aria-label={label} aria-rowcount={count + 1} aria-colcount={columns} onKeyDown={key}
      style={printed ? {} : { maxHeight: `${Math.max(count * height + 52, 160)}px` }}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div class="grid-head" role="row" aria-rowindex={1}>{head}</div>
      <div class="grid-body" role="rowgroup" style={printed ? {} : { height: `${count * height}px` }}>
        {shown.map((n) => (
          <div key={n} role="row" aria-rowindex={n + 2} aria-selected={n === at} class={n === at ? "grid-row at" : "grid-row"}
            style={printed ? {} : { transform: `translateY(${n * height}px)`, height: `${height}px` }}>
            {row(n, n === current ? column : -1)}
          </div>
        ))}
      </div>
      {printed && count > mostPrinted && <p>Only the first {mostPrinted} of {count} rows are printed; filter to print the others.</p>}
    </div>
  );
}

// cell are the attributes of a cell of the grid.
export const cell = (n: number, column: number, role: "gridcell" | "rowheader" = "gridcell") => ({ role, "aria-colindex": n + 1, tabIndex: n === column ? 0 : -1, "data-current": n === column });
