/* steps.js STEP.WASM STEP.JSON <JOBS: runs of the stepper's engine, without a browser. Prints what each comes to. */
import { readFileSync } from "node:fs";
import { Engine } from "../../tools/page/step/engine.js";

const [wasm, tables] = process.argv.slice(2);
const engine = await Engine.load(readFileSync(wasm), JSON.parse(readFileSync(tables, "utf8")));
const jobs = JSON.parse(readFileSync(0, "utf8"));
const results = [];
for (const job of jobs) results.push(await engine.run(job));
process.stdout.write(JSON.stringify({ policies: engine.policies, results }));
