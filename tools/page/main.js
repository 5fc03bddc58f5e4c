/*
 * The page's only script. A part of the page is a function that fills an element: every element with
 * data-tidemark="NAME" gets the part with that name, here and in the chapters of the guide.
 */
import { race } from "./race/race.js";
import { prompt } from "./prompt/prompt.js";
import { step } from "./step/step.js";
import { complain, element, unfit } from "./lib/dom.js";

const PARTS = { race, prompt, step };

/** Fills one element. A part that fails reports it in its place; the other parts still run. */
function fill(place) {
  const part = PARTS[place.dataset.tidemark];
  if (!part) return;
  try {
    part(place);
  } catch (error) {
    complain(place, `This part of the page could not start: ${error.message}`);
  }
}

const why = unfit();
for (const place of document.querySelectorAll("[data-tidemark]")) {
  if (why) complain(place, why);
  else fill(place);
}
for (const place of document.querySelectorAll("[data-build]")) place.replaceChildren(element("code", {}, BUILD));
