/* refused.mjs <{strings, frames}: what the stepper's form says of each: the references, or the sentence that refuses it. */
import { readFileSync } from "node:fs";
import { frameNumber, parse } from "../../tools/page/step/strings.js";

function answer(check) {
  try {
    return check();
  } catch (error) {
    return error.message;
  }
}

const { strings, frames } = JSON.parse(readFileSync(0, "utf8"));
const answers = {
  strings: strings.map((text) => answer(() => parse(text))),
  frames: frames.map((text) => answer(() => (frameNumber(text), null))),
};
process.stdout.write(JSON.stringify(answers));
