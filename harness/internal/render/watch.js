// Runs in the widget's page before anything of its own, and tells the host page
// what a person would see.
(() => {
  "use strict";
  const told = RETAKE_WATCH;
  document.currentScript.remove();
  const most = 20;
  const seen = { errors: [], console: [], refused: [], markup: false };
  const note = (list, text) => {
    text = String(text).slice(0, 500);
    if (list.length < most && !list.includes(text)) list.push(text);
  };

  addEventListener("error", (event) => {
    if (event instanceof ErrorEvent) note(seen.errors, event.message);
  }, true);
  addEventListener("unhandledrejection", (event) => note(seen.errors, event.reason));
  document.addEventListener("securitypolicyviolation", (event) => {
    note(seen.refused, event.effectiveDirective + " " + event.blockedURI);
  });
  const complain = console.error;
  console.error = (...args) => {
    note(seen.console, args.map(String).join(" "));
    complain.apply(console, args);
  };
  window.retakeMarkup = () => { seen.markup = true; };

  if (told.older) {
    window.openai = {
      toolInput: told.input, toolOutput: told.output, toolResponseMetadata: null, widgetState: null,
      theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", displayMode: "inline", locale: "en",
      maxHeight: innerHeight, safeArea: { insets: { top: 0, bottom: 0, left: 0, right: 0 } },
      userAgent: { device: { type: innerWidth < 600 ? "mobile" : "desktop" }, capabilities: { hover: true, touch: false } },
      callTool: () => Promise.reject(new Error("no tool is called here")),
      sendFollowUpMessage: async () => {}, openExternal: () => {}, notifyIntrinsicHeight: () => {},
      requestDisplayMode: async () => ({ mode: "inline" }), requestClose: () => {}, requestModal: async () => {},
      setWidgetState: async (state) => { window.openai.widgetState = state; },
    };
  }

  const roots = () => {
    const all = [document.body];
    for (let i = 0; i < all.length; i++) {
      for (const e of all[i] ? all[i].querySelectorAll("*") : []) if (e.shadowRoot) all.push(e.shadowRoot);
    }
    return all.filter(Boolean);
  };
  const find = (selector) => roots().flatMap((root) => [...root.querySelectorAll(selector)]).concat(
    [document.documentElement, document.body].filter((e) => e && e.matches(selector)));
  const visible = (e) => {
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false;
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };

  // Texts that can be seen, each with whether it is a heading.
  function texts() {
    const out = [];
    for (const root of roots()) {
      const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode()) {
        const parent = n.parentElement || (root.host ?? document.body);
        if (n.data.trim() === "" || parent.closest("script,style,template,noscript") || !visible(parent)) continue;
        out.push({ text: n.data.trim().slice(0, 2000), heading: !!parent.closest("h1,h2,h3,h4,h5,h6,[role=heading]") });
        if (out.length >= 1000) return out;
      }
    }
    for (const e of find("input,textarea,img[alt]").filter(visible)) {
      const text = e.alt || e.value;
      if (text && e.type !== "password") out.push({ text: String(text).slice(0, 2000), heading: false });
    }
    return out;
  }

  const endless = (e) => e.getAnimations().some((a) => a.playState === "running" && a.effect.getComputedTiming().iterations === Infinity);
  const named = /(^|[\s_-])(spinner|loading|loader|skeleton)([\s_-]|$)/i;

  function waiting() {
    const out = [];
    const add = (what, elements) => { if (elements.some(visible)) out.push(what); };
    add('aria-busy="true"', find('[aria-busy="true"]'));
    add('data-state="loading"', find('[data-state~="loading"]'));
    add("a progress bar", find("progress:not([value]),[role=progressbar]:not([aria-valuenow])"));
    add("a spinner", find("[class]").filter((e) => named.test(e.getAttribute("class")) && endless(e)));
    return out;
  }

  function look() {
    const shown = texts();
    return {
      ...seen,
      text: roots().map((r) => r.innerText ?? "").join("\n").slice(0, 20000) + "\n" + shown.map((t) => t.text).join("\n").slice(0, 20000),
      texts: shown, waiting: waiting(),
      states: [...new Set(find("[data-state]").filter(visible).map((e) => e.dataset.state))].slice(0, most),
      controls: find("button,a[href],input,select,textarea,[role=button],[role=link]").filter(visible).length,
      drawn: find("canvas,iframe,object,embed,video").filter(visible).length,
      markup: seen.markup || find("[data-retake-markup]").length > 0,
      tall: document.body ? Math.ceil(document.body.getBoundingClientRect().bottom) : 0,
      wide: Math.max(0, document.documentElement.scrollWidth - innerWidth),
      asked: [...new Set(performance.getEntriesByType("resource").filter((r) => /^(https?|wss?):/.test(r.name) && r.initiatorType !== "img")
        .map((r) => new URL(r.name).origin))].filter((o) => !seen.refused.some((r) => r.includes(" " + o))).slice(0, most),
    };
  }

  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.retake !== told.token) return;
    event.stopImmediatePropagation();
    parent.postMessage({ retake: told.token, seen: look() }, "*");
  });
})();
