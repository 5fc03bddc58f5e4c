/*
 * The page's one script. A part of the page is a function that fills an element: every element with
 * data-tidemark="NAME" gets the part of that name, here and in the chapters of the guide.
 */
import { race } from "./race/race.js";
import { prompt } from "./prompt/prompt.js";
import { complain, element, unfit } from "./lib/dom.js";

const PARTS = { race, prompt };

/** Fills one element; a part that fails says so in its place, and the others go on. */
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
