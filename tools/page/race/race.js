/* The race: two machines side by side. */

export function race(place) {
  place.replaceChildren("…");
}
