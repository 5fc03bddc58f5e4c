/* steps.mjs STEP.WASM STEP.JSON <JOBS: runs of the stepper's engine, without a browser. Prints what each comes to. */
import { readFileSync } from "node:fs";
import { Engine } from "../../tools/page/step/engine.js";
import { victims, why } from "../../tools/page/step/words.js";

const [wasm, tables] = process.argv.slice(2);
const engine = await Engine.load(readFileSync(wasm), JSON.parse(readFileSync(tables, "utf8")));
const results = [];
for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  const { rows, ...rest } = await engine.run(job);
  results.push({ ...rest, rows: rows.map((row) => ({ ...row, why: why(row), victims: victims(row) })) });
}
process.stdout.write(JSON.stringify({ results }));
