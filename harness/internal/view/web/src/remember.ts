import type { Row } from "./data";

// What a page leaves for the next one: the rows that "next" and "before" go
// through, where "back" leads, and the row that was open.
export const remembered: { rows: Row[]; back: string; last: Row | null; view: string } = { rows: [], back: "", last: null, view: "" };
