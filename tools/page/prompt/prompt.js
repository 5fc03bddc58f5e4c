/* The prompt: a terminal with the whole system. */

export function prompt(place) {
  place.replaceChildren("…");
}
