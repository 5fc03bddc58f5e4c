/*
 * Runs at build time: tables.js OUT MAP FILE.c... writes what the stepper needs besides the module: the text of each
 * policy, and the addresses of its variables. They give names to lists, of which the module only knows the address of
 * the head.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const VARIABLE =
  /^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\S*\/(?:kernel\/mm\/policy\/(\w+)|tools\/vmsim\/(\w+))\.o:\(\.(?:bss|data)\.([\w.]+)\)$/;

/**
 * By policy: [address, bytes, name] of each variable, in order. The simulator's own process is `mm` for every policy.
 */
export function variables(map) {
  const table = {};
  for (const line of map.split("\n")) {
    const [, address, bytes, policy, ours, name] = VARIABLE.exec(line) ?? [];
    if (policy) (table[policy] ??= []).push([parseInt(address, 16), parseInt(bytes, 16), name]);
    else if (ours && name === "sim_mm") (table[""] ??= []).push([parseInt(address, 16), parseInt(bytes, 16), "mm"]);
  }
  return table;
}

/** The texts by file name: the policies, and the headers in their folder. */
export function texts(files) {
  const table = {};
  for (const file of files) {
    table[basename(file)] = readFileSync(file, "utf8");
    for (const [, header] of table[basename(file)].matchAll(/^#include "(\w+\.h)"$/gm))
      try {
        table[header] = readFileSync(join(dirname(file), header), "utf8");
      } catch {
        // In another folder: errno.h.
      }
  }
  return table;
}

const [out, map, ...files] = process.argv.slice(2);
if (out) writeFileSync(out, JSON.stringify({ variables: variables(readFileSync(map, "utf8")), texts: texts(files) }));
