/* Small helpers for making elements. */

/**
 * Makes an element with attributes (`on...` are listeners, true and false set and remove an attribute) and children,
 * elements or texts.
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(key, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Shows an error message at the beginning of `place`; a screen reader reads it out. */
export function complain(place, text) {
  place.querySelector(":scope > .note")?.remove();
  if (text) place.prepend(element("p", { class: "note", role: "alert" }, text));
}

/** Says why this browser cannot run the page's parts; "" if it can. */
export function unfit() {
  if (typeof WebAssembly !== "object")
    return "This browser has no WebAssembly, or WebAssembly is switched off: nothing here can run.";
  if (typeof Worker !== "function") return "This browser has no workers: nothing here can run.";
  if (typeof DecompressionStream !== "function" || !Array.prototype.findLast)
    return "This browser is too old for this page. Firefox from 113, Chromium from 100 and Safari from 16.4 on can show it.";
  return "";
}
