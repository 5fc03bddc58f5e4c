/*
 * parts.js STYLE OUT NODE_MODULES: the page's styles for a chapter of the book. They apply only within the parts; the
 * rest belongs to the book's theme, which also defines the dark colours there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [style, out, modules] = process.argv.slice(2);
const { transform } = createRequire(join(resolve(modules), "x.js"))("esbuild");
const text = readFileSync(style, "utf8");
const own = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "book.css"), "utf8");

// The palette stands in :root rules, one of them in a media query for dark mode.
const PALETTE = /:root \{[^}]*\}/g;
const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{[^}]*\}\s*\}/g;
const palette = text.replace(DARK, "").match(PALETTE).join("\n") + text.match(DARK).join("\n");
const rules = text
  .replace(DARK, "")
  .replace(PALETTE, "")
  .replaceAll(/\bbody \{/g, "&& {");
const { code } = await transform(`${palette}\n.part {\n${rules}\n}\n${own}`, {
  loader: "css",
  target: "chrome100",
  minify: true,
});
writeFileSync(out, code);
