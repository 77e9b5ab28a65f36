// Builds ../page.html, the one file that the package embeds: the script and the
// styles of src in the frame of page.html, under a policy that names them by their
// hashes, so that nothing else in the page runs.
//
//   node build.mjs [OUT]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = ["chrome103", "firefox115", "safari16.4"];

async function bundle(entry, more) {
  const out = await build({ absWorkingDir: here, entryPoints: [entry], bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", target, ...more });
  const text = out.outputFiles[0].text.trim();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${entry}: what it builds to would end its own element`);
  return text;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const licence = (name) => {
  const { version } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`;
};

const script = await bundle("src/main.tsx", { format: "iife", jsx: "automatic", jsxImportSource: "preact" });
const style = await bundle("src/styles.css", {});
const policy = ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "img-src data:", "connect-src 'none'", "base-uri 'none'", "form-action 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'"].join("; ");
const fill = { LICENCES: licence("preact"), POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "page.html"), "utf8").replace(/\{\{([A-Z]+)\}\}/g, (_, name) => fill[name]);
writeFileSync(process.argv[2] ?? join(here, "..", "page.html"), page);
