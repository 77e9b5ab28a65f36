import { useState } from "preact/hooks";

type Choice = "auto" | "light" | "dark";
const next: Record<Choice, Choice> = { auto: "light", light: "dark", dark: "auto" };

function kept(): Choice {
  try {
    const v = localStorage.getItem("retake-theme");
    return v === "light" || v === "dark" ? v : "auto";
  } catch { return "auto"; } // a page from disk may not be allowed to keep anything
}

export function applyTheme(choice: Choice = kept()) {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

export function Theme() {
  const [choice, set] = useState(kept);
  const turn = () => {
    const to = next[choice];
    try { localStorage.setItem("retake-theme", to); } catch { /* until the page is closed, then */ }
    applyTheme(to);
    set(to);
  };
  return <button type="button" id="theme" onClick={turn} title={`Colours: ${choice}`} aria-label={`Colours: ${choice}; change to ${next[choice]}`}>
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d={choice === "auto" ? "M8 2a6 6 0 010 12z" : choice === "dark" ? "M8 2a6 6 0 010 12A6 6 0 018 2z" : ""} fill="currentColor" /></svg><span>{choice}</span></button>;
}
