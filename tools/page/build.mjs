/*
 * Builds the page: build.mjs OUT NODE_MODULES NAME=FILE...
 *
 * A page opened as a file may not fetch, import a module or start a worker by its address; it may only load classic
 * scripts. So all code becomes one such script, page.js, which contains the worker's code as a text. Each FILE becomes
 * the script data/NAME.js, which delivers its bytes, compressed and in base64 (lib/data.js receives them).
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { gallery } from "./gallery/gallery.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const [out, modules, ...data] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), "x.js"));
const esbuild = require("esbuild");

const TARGET = ["chrome100", "firefox115", "safari16.4"];
const LICENCES = { v86: "v86/LICENSE", "xterm.js": "@xterm/xterm/LICENSE" };
// The C library's licence: as tools/musl.sh leaves it, or as the package installs it.
const MUSL = ["build/musl/usr/share/doc/musl-dev/copyright", "/usr/share/doc/musl-dev/copyright"];

/** Options of all bundles: one script without imports. */
function options(entry) {
  return {
    entryPoints: [join(HERE, entry)],
    bundle: true,
    write: false,
    format: "iife",
    target: TARGET,
    minify: true,
    legalComments: "none",
    charset: "utf8",
    nodePaths: [resolve(modules)],
    external: ["node:*", "fs", "crypto", "perf_hooks"], // v86 uses them only in Node
    loader: { ".css": "text" },
    logLevel: "warning",
  };
}

/** `import code from "worker:./x.js"`: the text of a worker, bundled on its own. */
const workers = {
  name: "worker",
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path.slice(7)),
      namespace: "worker",
    }));
    build.onLoad({ filter: /./, namespace: "worker" }, async ({ path }) => {
      const { outputFiles } = await esbuild.build({ ...options(""), entryPoints: [path] });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

async function bundled(entry, define) {
  const { outputFiles } = await esbuild.build({ ...options(entry), plugins: [workers], define });
  return outputFiles[0].text;
}

/** Writes data/NAME.js. Returns the hash of the bytes. */
function packed(name, bytes) {
  const text = gzipSync(bytes, { level: 9 }).toString("base64");
  writeFileSync(join(out, "data", `${name}.js`), `tidemarkData(${JSON.stringify(name)},${bytes.length},"${text}");\n`);
  return createHash("sha256").update(bytes).digest("hex");
}

function licences() {
  mkdirSync(join(out, "licences"));
  for (const [name, file] of Object.entries(LICENCES))
    cpSync(join(modules, file), join(out, "licences", `${name}.txt`));
  cpSync(join(HERE, "../../LICENSE"), join(out, "licences", "tidemark.txt"));
  const musl = MUSL.find(existsSync);
  if (!musl) throw new Error(`the C library's terms are not in ${MUSL[0]}: rm -r build/musl, and make it again`);
  cpSync(musl, join(out, "licences", "musl.txt"));
  cpSync(join(HERE, "licences.txt"), join(out, "licences", "README.txt"));
}

/** The page's styles: those of the terminal, style.css, and those of the parts. */
function stylesheet() {
  const parts = readdirSync(HERE, { withFileTypes: true }).filter((one) => one.isDirectory());
  const own = parts.map((one) => join(HERE, one.name, `${one.name}.css`)).filter(existsSync);
  const all = [join(modules, "@xterm/xterm/css/xterm.css"), join(HERE, "style.css"), ...own];
  return all.map((file) => readFileSync(file, "utf8")).join("\n");
}

/** Constants for the code: the policies of this build, and the two that race on a first visit. */
function constants(build) {
  const policies = process.env.PAGE_POLICIES.split(" ");
  const first = process.env.VM || "2q";
  if (!policies.includes(first))
    throw new Error(`VM=${first}: it cannot be on the page; there are: ${policies.join(" ")}`);
  const pair = [first, first === "ws" ? "2q" : "ws"];
  const values = { BUILD: build, POLICIES: policies, PAIR: pair };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
}

async function main() {
  for (const folder of ["data", "licences"]) rmSync(join(out, folder), { recursive: true, force: true });
  mkdirSync(join(out, "data"), { recursive: true });
  const hashes = {};
  for (const one of data) {
    const at = one.indexOf("=");
    hashes[one.slice(0, at)] = packed(one.slice(0, at), readFileSync(one.slice(at + 1)));
  }
  const both = createHash("sha256").update(hashes.kernel + hashes.initramfs);
  const build = both.digest("hex").slice(0, 12);
  writeFileSync(join(out, "page.js"), await bundled("main.js", constants(build)));
  const styles = stylesheet();
  const { list, card } = gallery(out, process.env.PAGE_POLICIES.split(" "), process.env.URL);
  const parts = { "/* style.css */": styles, "<!-- gallery -->": list, "<!-- card -->": card };
  const text = readFileSync(join(HERE, "index.html"), "utf8");
  const page = Object.entries(parts).reduce((all, [place, part]) => all.replace(place, () => part), text);
  licences();
  writeFileSync(join(out, "style.css"), styles);
  writeFileSync(join(out, "index.html"), page); // last, because make checks the date of this file
}

try {
  await main();
} catch (error) {
  console.error(`tools/page/build.mjs: ${error.message}`);
  process.exitCode = 1;
}
